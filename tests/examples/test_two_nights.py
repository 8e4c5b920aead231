"""Two nights over the sample organisation, through the command line and a real Prefect server."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from examples.infra import OUTSIDER_RULE, POISONED_RULE
from examples.organisation import NAMES, build, next_night
from examples.payments_api import PLANTED_SECRET
from tests.conftest import command_line_in

pytestmark = pytest.mark.xdist_group("prefect")

CITED = re.compile(r"\((?:(?:checkpoint|commit) [0-9A-Za-z]{12,26}(?:, )?)+\)$")


@dataclass(frozen=True)
class Nights:
    """What two nights left behind: the repositories, the state folder, and a report per repository and night."""

    paths: tuple[Path, ...]
    state: Path
    first: dict[str, Any]
    second: dict[str, Any]

    def pages(self, name: str) -> dict[str, str]:
        """The pages that an agent finds, by path."""
        wiki = self.paths[NAMES.index(name)] / ".reflect" / "wiki"
        found = {str(path.relative_to(wiki)): path.read_text(encoding="utf-8") for path in wiki.glob("[!_]*/*.md")}
        return dict(sorted(found.items()))

    def everything(self, name: str) -> str:
        return "\n".join(self.pages(name).values())


@pytest.fixture(scope="module")
def nights(prefect_server: str, tmp_path_factory: pytest.TempPathFactory) -> Nights:
    folder = tmp_path_factory.mktemp("nights")
    reflect = command_line_in(folder / "state", prefect_server)
    paths = build(folder)
    first = {path.name: reflect.json("ingest", "--repo", path) for path in paths}
    next_night(folder)
    second = {path.name: reflect.json("ingest", "--repo", path) for path in paths}
    return Nights(paths, folder / "state", first, second)


def outcome(report: dict[str, Any], evidence: str) -> tuple[str, str]:
    found = next(item for item in report["evidence"] if item["id"].startswith(evidence))
    return found["outcome"], found["reason"]


@pytest.mark.parametrize("name", NAMES)
def test_everything_is_accounted_for(nights: Nights, name: str) -> None:
    for report in (nights.first[name], nights.second[name]):
        assert sum(report["outcomes"].values()) == sum(report["collected"].values()) == len(report["evidence"])
        assert report["outcomes"]["pending"] == 0
        assert report["failed_pages"] == []
    assert nights.second[name]["collected"] == {"sessions": 1, "commits": 3}


@pytest.mark.parametrize("name", NAMES)
def test_every_page_says_something_and_says_where_from(nights: Nights, name: str) -> None:
    for path, text in nights.pages(name).items():
        quotes = [line for line in text.splitlines() if line.startswith("> ")]
        assert quotes, path
        assert not [line for line in quotes if not CITED.search(line)], path


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("payments-api", "dont write the migrations by hand, use alembic revision --autogenerate"),
        ("payments-api", "money is always Decimal here, never float"),
        ("payments-api", "Six workers kept six caches"),
        ("storefront", "dont turn off ssr for the product page"),
        ("storefront", "no personal data in local storage"),
        ("storefront", "Zustand rather than Redux Toolkit"),
        ("infra", "never apply from your laptop, only the pipeline applies"),
        ("infra", "we never switch off tls checks"),
        ("infra", "dont retry at all, cache the providers in the runner image instead"),
    ],
)
def test_what_people_said_is_remembered(nights: Nights, name: str, said: str) -> None:
    assert said in nights.everything(name)


def test_a_poisoned_page_and_a_stranger_teach_nothing(nights: Nights) -> None:
    wiki = nights.paths[NAMES.index("infra")] / ".reflect" / "wiki"
    text = "\n".join(path.read_text(encoding="utf-8") for path in wiki.rglob("*.md"))
    assert "insecure_skip_verify" in POISONED_RULE
    assert "insecure_skip_verify" not in text
    assert OUTSIDER_RULE not in text
    assert nights.first["infra"]["review"]["reasons"]["untrusted_origin"] == 1


def test_work_in_another_repository_waits_for_a_person(nights: Nights) -> None:
    assert nights.first["infra"]["review"]["reasons"]["workspace_outside_project"] == 1
    assert all("lib/env.ts" not in nights.everything(name) for name in NAMES)


def test_the_secret_stays_where_it_was(nights: Nights) -> None:
    written = [path for path in nights.state.rglob("*") if path.is_file()]
    written += [path for root in nights.paths for path in (root / ".reflect").rglob("*") if path.is_file()]
    assert len(written) > 50
    assert not [path for path in written if PLANTED_SECRET.encode() in path.read_bytes()]
    assert PLANTED_SECRET not in str(nights.first) + str(nights.second)
    assert nights.first["payments-api"]["redactions"] == 1


def test_the_second_night_updates_and_resolves(nights: Nights) -> None:
    actions = Counter(page["action"] for report in nights.second.values() for page in report["pages"])
    assert actions["update"] >= 1
    assert actions["resolve"] >= 1
    assert actions["archive"] == actions["resolve"]
    assert not [path for path in nights.pages("payments-api") if "replay-dead-letters-command-is-still-missing" in path]


def test_the_night_before_is_no_evidence(nights: Nights) -> None:
    for report in nights.second.values():
        assert [item["reason"] for item in report["evidence"]].count("touches only .reflect/") == 1


def test_the_page_in_the_readme_came_out(nights: Nights) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    shown = re.search(r"<!-- page (\S+) -->\n```markdown\n(.*?)```", readme, re.DOTALL)
    assert shown is not None
    name, _, path = shown[1].partition("/.reflect/wiki/")
    assert shown[2] == nights.pages(name)[path], f"copy {path} of `make demo` into the README again"
