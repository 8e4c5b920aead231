"""One secret of every family through the stages of a run and the prompts of a model."""

from __future__ import annotations

from pathlib import Path

from benchmarks.plain import ingest_without_prefect
from benchmarks.planted_secrets.whole import bytes_below, leaks, plant, planted, prompts
from reflect.evidence.messages import parse_message
from reflect.evidence.redaction import Redactor
from reflect.settings import Settings
from reflect.workspace import Workspace


def test_hazard_120_and_122_no_planted_secret_is_left_anywhere(tmp_path: Path) -> None:
    secrets = planted(each=1)
    repository = plant(tmp_path / "shop", secrets).path
    workspace = Workspace.open(repository, Settings(state_dir=tmp_path / "state"))
    ingest_without_prefect(workspace)
    ways = {"wiki": bytes_below(repository / ".reflect"), "state": bytes_below(tmp_path / "state")}
    ways["prompts"] = "\n".join(prompts(tmp_path, repository))
    assert all(ways.values())
    assert leaks(secrets, ways) == []


def test_hazard_120_a_secret_on_a_line_of_its_own_goes_before_the_lines_of_a_message_are_joined() -> None:
    message = parse_message("fix: the\nlogin\n\nIt was:\ndb:\n  password: swordfish\n  port: 5432\n")
    subject, body = message.redacted(Redactor().redact)
    assert subject == "fix: the login"
    assert body == "It was: db: password: [REDACTED:assignment] port: 5432"
