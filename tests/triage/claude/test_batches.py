"""Nights in batches: half the price, asked once whatever goes wrong, and read by whichever run comes after."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reflect.configuration import Config
from reflect.ledger.calls import CallRow
from reflect.model import Outcome
from reflect.report import RunReport
from reflect.triage.claude.estimating import Estimate, Estimating
from reflect.triage.claude.fake_answers import Served
from reflect.triage.claude.fake_api import FakeApi
from reflect.triage.claude.faults import Refused
from reflect.triage.claude.prices import Usage, cost, halved, published
from reflect.triage.claude.reading import FIGURES
from tests.conftest import ROOT
from tests.triage.claude.api import ASK
from tests.triage.claude.nights import OBEY, Shop, on, purpose_of

LESSONS = (
    "never use floats in the cart totals, because rounding lost money",
    "please use the ledger for every refund",
    "don't retry the mailer, it sends everything twice",
)
NIGHT_BY_NIGHT = (
    "always ask the gateway before you ship",
    "never send invoices without euros",
    "don't touch the parser on Fridays",
    "we decided to drop redis because nobody needs it",
)
ASKED = len(LESSONS) + 1
"""Questions about what is new: a checkpoint each, and the commits."""
BATCH = "claude: {mode: batch}\n"
LATER = timedelta(hours=1)
SECRET = "AKIAIOSFODNN7EXAMPLQ"


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """A shop with three new checkpoints and nothing read yet."""
    shop = Shop.create(tmp_path_factory.mktemp("batches") / "fresh")
    shop.say(1, LESSONS)
    return shop


@pytest.fixture(scope="module")
def asked_live(fresh: Shop, tmp_path_factory: pytest.TempPathFactory) -> Shop:
    """What the same evidence comes to without batches."""
    shop = fresh.copied(tmp_path_factory.mktemp("batches") / "live")
    with FakeApi(OBEY) as api:
        shop.night(api)
    return shop


@pytest.fixture
def shop(fresh: Shop, tmp_path: Path) -> Shop:
    made = fresh.copied(tmp_path / "shop")
    made.configure(BATCH)
    return made


@pytest.fixture
def api() -> Iterator[FakeApi]:
    with FakeApi(OBEY) as served:
        yield served


def rows(shop: Shop) -> tuple[CallRow, ...]:
    workspace = shop.workspace
    with workspace.ledger() as ledger:
        return ledger.model_calls(workspace.project.project_id)


def custom_ids(api: FakeApi) -> list[str]:
    return [one["custom_id"] for batch in api.batches.taken for one in batch.requests]


def notes(report: RunReport) -> str:
    return "\n".join(report.notes)


def until_done(shop: Shop, api: FakeApi, **more: Any) -> RunReport:
    """Runs, with all batches ended between them, until nothing waits."""
    for _ in range(6):
        report = shop.night(api, **more)
        if not report.outcomes[Outcome.PENDING]:
            return report
        api.batches.end()
    raise AssertionError(f"still waiting: {report.notes}")


def test_scenario_19_three_runs_make_the_pages_of_one(shop: Shop, asked_live: Shop, api: FakeApi) -> None:
    first = shop.night(api)
    assert first.outcomes[Outcome.PENDING] == ASKED and first.exit_code == 0
    assert "went out as the batch msgbatch_1" in notes(first)
    assert shop.left().wiki == {}

    waiting = shop.night(api)
    assert "still in progress" in notes(waiting) and waiting.exit_code == 0
    assert [len(batch.requests) for batch in api.batches.taken] == [ASKED], "nothing was sent again"

    api.batches.end()
    planned = shop.night(api)
    assert planned.outcomes[Outcome.PENDING] == len(LESSONS) and planned.exit_code == 0
    assert [purpose_of(request.body) for request in api.asked] == ["plan"]
    assert {purpose_of(one["params"]) for one in api.batches.taken[1].requests} == {"write"}

    api.batches.end()
    landed = shop.night(api)
    assert landed.outcomes[Outcome.COMPILED] == len(LESSONS)
    assert shop.left().pages == asked_live.left().pages
    assert shop.left().of_pages == asked_live.left().of_pages
    assert len(custom_ids(api)) == len(set(custom_ids(api))) and len(api.asked) == 1


def test_what_was_paid_is_half_and_equals_the_server(shop: Shop, api: FakeApi) -> None:
    until_done(shop, api)
    paid = rows(shop)
    columns = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")
    for column, figure in zip(columns, FIGURES, strict=True):
        assert sum(getattr(row, column) for row in paid) == api.total(figure)
    assert len(paid) == len(api.batches.billed) + len(api.asked)
    assert {row.status for row in paid} == {"ok"}
    prices = published()
    for row in paid:
        usage = Usage(row.input_tokens, row.output_tokens, row.cache_read_tokens, row.cache_write_tokens)
        price = prices[row.model] if row.purpose == "plan" else halved(prices[row.model])
        assert row.usd == pytest.approx(cost(usage, price))


def test_new_evidence_in_between_takes_nothing_from_what_waits(shop: Shop, api: FakeApi) -> None:
    """Every night brings something new: what was planned before is still written as it was planned."""
    shop.night(api)
    for day, lesson in enumerate(NIGHT_BY_NIGHT, start=2):
        api.batches.end()
        shop.say(day, [lesson])
        report = shop.night(api)
    writes = [one for batch in api.batches.taken for one in batch.requests if purpose_of(one["params"]) == "write"]
    assert len(custom_ids(api)) == len(set(custom_ids(api)))
    assert report.pages and len(shop.left().pages) >= 4
    until_done(shop, api)
    assert len(shop.left().pages) == len(LESSONS) + len(NIGHT_BY_NIGHT)
    assert len(writes) <= len(LESSONS) + len(NIGHT_BY_NIGHT), "no page was asked about twice"


def test_what_belongs_to_a_page_that_waits_is_written_after_it(shop: Shop, api: FakeApi) -> None:
    shop.night(api)
    api.batches.end()
    shop.say(2, [LESSONS[1]])
    shop.night(api)
    shop.say(3, ["please use the ledger for every refund, because auditors ask"])
    api.batches.end()
    report = until_done(shop, api)
    assert report.outcomes[Outcome.QUARANTINED] == 0
    ledger = [page for page in shop.left().pages.values() if b"ledger for every refund" in page]
    assert ledger and any(b"auditors ask" in page for page in ledger)


def test_caps_hold_before_anything_is_sent(shop: Shop, api: FakeApi) -> None:
    shop.configure("claude: {mode: batch, caps: {repository_usd: 0.0000001}}\n")
    report = shop.night(api)
    assert api.requests == [] and report.exit_code == 0
    assert all("cap of" in item.reason for item in report.evidence if item.outcome is Outcome.PENDING)


def test_a_cap_lets_out_as_many_as_it_holds(shop: Shop, api: FakeApi) -> None:
    shop.night(api)
    (one, *_) = rows(shop)
    other = shop.copied(shop.folder.parent / "other")
    (other.folder / "state" / "ledger.db").unlink()
    other.configure(f"claude: {{mode: batch, caps: {{repository_usd: {one.usd * 2.5}}}}}\n")
    with FakeApi(OBEY) as again:
        other.night(again)
        assert [len(batch.requests) for batch in again.batches.taken] == [2]


# Sending


@pytest.mark.parametrize(
    "fault",
    [
        pytest.param(Served(status=500), id="scenario-20-500-after-acceptance"),
        pytest.param(Served(status=529), id="529"),
        pytest.param(Served(cut=20), id="cut"),
        pytest.param(Served(body=b"<html>"), id="html"),
        pytest.param(Served(body=b'{"id": 3}'), id="no-id"),
        pytest.param(Served(status=409), id="409-not-accepted"),
    ],
)
def test_a_batch_is_sent_once_however_the_provider_answers(
    shop: Shop, asked_live: Shop, api: FakeApi, fault: Served
) -> None:
    api.batches.faults["create"] = [fault]
    assert "is not known" in notes(shop.night(api))
    taken = len(api.batches.taken)
    assert "may be at the provider" in notes(shop.night(api)) and len(api.batches.taken) == taken
    until_done(shop, api, later=LATER)
    assert len(custom_ids(api)) == len(set(custom_ids(api)))
    assert shop.left().pages == asked_live.left().pages
    assert [row.status for row in rows(shop)].count("lost") == 0


@pytest.mark.parametrize("status", [400, 401, 413, 429])
def test_a_batch_that_was_refused_costs_nothing_and_goes_out_again(shop: Shop, api: FakeApi, status: int) -> None:
    api.batches.faults["create"] = [Served(status=status)]
    report = shop.night(api)
    assert "took no batch" in notes(report) and report.exit_code == 0
    assert {(row.status, row.usd) for row in rows(shop)} == {("failed", 0.0)}
    until_done(shop, api)
    assert len(shop.left().pages) == len(LESSONS)


def test_a_batch_that_never_arrived_goes_out_again_once_that_is_certain(shop: Shop, api: FakeApi) -> None:
    api.batches.faults["create"] = [Served(status=503, ended="dropped")]
    shop.night(api)
    assert "may be at the provider" in notes(shop.night(api))
    assert api.batches.taken == []
    assert "go out again" in notes(shop.night(api, later=LATER))
    assert [len(batch.requests) for batch in api.batches.taken] == [ASKED]


def test_other_peoples_batches_are_never_taken_for_ours(shop: Shop, fresh: Shop, api: FakeApi, tmp_path: Path) -> None:
    """The same key may serve many: batches of the same size and time, some of them ended, are somebody else's."""
    stranger = fresh.copied(tmp_path / "stranger")
    stranger.configure(BATCH)
    stranger.say(2, ["never let strangers in"])
    for _ in range(5):
        (stranger.folder / "state" / "ledger.db").unlink(missing_ok=True)
        stranger.night(api)
    api.batches.end()
    shop.say(2, ["always greet the neighbours first"])
    api.batches.faults["create"] = [Served(status=500)]
    shop.night(api)
    assert len(api.batches.taken) == 6 and {len(batch.requests) for batch in api.batches.taken} == {5}
    api.batches.end()
    until_done(shop, api, later=LATER)
    assert len(api.batches.taken) == 7, "the lost one was found among all, and the pages were asked about"


KILLED = """
import os, signal, sys
sys.path.insert(0, {root!r})
from pathlib import Path
from reflect.triage.claude.sdk import SdkWire
from tests.triage.claude.nights import Shop
from types import SimpleNamespace
real = SdkWire.send_batch
def killed(self, requests, timeout_s):
    {before}
    real(self, requests, timeout_s)
    os.kill(os.getpid(), signal.SIGKILL)
SdkWire.send_batch = killed
Shop(Path({folder!r})).night(SimpleNamespace(url={url!r}))
"""
DIE = "os.kill(os.getpid(), signal.SIGKILL)"


@pytest.mark.parametrize("before", [pytest.param("", id="after-it-was-sent"), pytest.param(DIE, id="before")])
def test_a_process_killed_between_sending_and_knowing(shop: Shop, asked_live: Shop, api: FakeApi, before: str) -> None:
    program = KILLED.format(root=str(ROOT), folder=str(shop.folder), url=api.url, before=before)
    environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == -signal.SIGKILL, done.stderr
    assert len(api.batches.taken) == (0 if before else 1)
    assert "may be at the provider" in notes(shop.night(api))
    until_done(shop, api, later=LATER)
    assert len(custom_ids(api)) == len(set(custom_ids(api)))
    assert shop.left().pages == asked_live.left().pages


def test_two_processes_at_once_send_each_question_once(shop: Shop, api: FakeApi, tmp_path: Path) -> None:
    """Two clones of a repository on one ledger, both at the same moment."""
    program = (
        f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
        "from pathlib import Path; from types import SimpleNamespace; from tests.triage.claude.nights import Shop\n"
        f"Shop(Path(sys.argv[1])).night(SimpleNamespace(url={api.url!r}))"
    )
    with shop.workspace.ledger():
        """It is made before the two meet: how it is made is tried elsewhere."""
    clone = tmp_path / "clone"
    clone.mkdir()
    subprocess.run(["cp", "-r", str(shop.folder / "shop"), str(clone / "shop")], check=True)
    (clone / "state").symlink_to(shop.folder / "state")
    api.batches.faults["create"] = [Served(slow_s=1.0)]
    environment = {**os.environ, "NO_PROXY": "127.0.0.1"}
    runs = [
        subprocess.Popen([sys.executable, "-c", program, str(at)], env=environment, stderr=subprocess.PIPE, text=True)
        for at in (shop.folder, clone)
    ]
    for run in runs:
        _, told = run.communicate(timeout=120)
        assert run.returncode == 0, told
    assert sorted(custom_ids(api)) == sorted(set(custom_ids(api))) and len(custom_ids(api)) == ASKED
    assert sum(row.status == "asked" for row in rows(shop)) == ASKED


# Collecting


@pytest.mark.parametrize(
    ("served", "status"),
    [
        pytest.param(Served(status=400), "failed", id="errored"),
        pytest.param(Served(ended="expired"), "failed", id="scenario-19-expired"),
        pytest.param(Served(ended="canceled"), "failed", id="canceled"),
        pytest.param(Served({"findings": []}, ended="partly_succeeded"), "lost", id="a-type-of-the-future"),
        pytest.param(Served({"findings": []}, ended="missing"), "lost", id="no-line-for-it"),
        pytest.param(Served({"findings": []}, changes={"usage": None}), "lost", id="no-usage"),
    ],
)
def test_what_did_not_succeed_is_no_success_and_goes_out_once_more(
    shop: Shop, asked_live: Shop, served: Served, status: str
) -> None:
    with FakeApi(on("reflect", served, about="mailer")) as api:
        shop.night(api)
        api.batches.end()
        second = shop.night(api)
        assert "1 of the 4 questions of the batch msgbatch_1 got no answer" in notes(second)
        assert [row.status for row in rows(shop)].count(status) == 1
        again = [one for one in api.batches.taken[1].requests if purpose_of(one["params"]) == "reflect"]
        assert len(again) == 1
        until_done(shop, api)
        assert set(shop.left().pages) == set(asked_live.left().pages)


def test_a_batch_that_was_cancelled_is_asked_again(shop: Shop, asked_live: Shop, api: FakeApi) -> None:
    shop.night(api)
    api.batches.taken[0].status = "canceling"
    assert "still in progress" in notes(shop.night(api))
    until_done(shop, api)
    assert shop.left().pages == asked_live.left().pages


@pytest.mark.parametrize(
    ("endpoint", "fault"),
    [
        ("retrieve", Served(status=500)),
        ("retrieve", Served(body=b"<html>")),
        ("retrieve", Served(body=b'{"processing_status": "resting"}')),
        ("results", Served(status=503)),
        ("results", Served(cut=10)),
        ("results", Served(cut=900)),
        ("results", Served(body=b"\xff\n")),
    ],
)
def test_results_that_cannot_be_read_are_read_again(
    shop: Shop, asked_live: Shop, api: FakeApi, endpoint: str, fault: Served
) -> None:
    shop.night(api)
    api.batches.end()
    api.batches.faults[endpoint] = [fault]
    report = shop.night(api)
    assert "cannot be read yet" in notes(report) and report.exit_code == 0
    until_done(shop, api)
    assert len(custom_ids(api)) == len(set(custom_ids(api)))
    assert shop.left().pages == asked_live.left().pages


def test_results_that_never_read_are_given_up_in_the_end(shop: Shop, api: FakeApi) -> None:
    shop.night(api)
    api.batches.end()
    api.batches.faults["results"] = [Served(body=b"no line\n")]
    assert "got no answer" in notes(shop.night(api, later=timedelta(days=3)))


def test_a_batch_nobody_has_any_more_is_sent_again(shop: Shop, api: FakeApi) -> None:
    shop.night(api)
    api.batches.taken.clear()
    assert "has no batch" in notes(shop.night(api))
    assert len(api.batches.taken) == 1


def test_answers_are_there_for_another_machine(shop: Shop, asked_live: Shop, api: FakeApi, tmp_path: Path) -> None:
    """The ledger alone goes along: no answer is kept beside it."""
    shop.night(api)
    api.batches.end()
    shop.night(api)
    there = shop.copied(tmp_path / "there")
    subprocess.run(["rm", "-rf", str(there.folder / "state" / "results")], check=True)
    until_done(there, api)
    assert there.left().pages == asked_live.left().pages
    assert len(custom_ids(api)) == len(set(custom_ids(api)))


def test_no_secret_of_an_answer_is_kept(shop: Shop) -> None:
    def leaks(body: Any, good: Any) -> Any:
        return {"findings": [{**good["findings"][0], "headline": f"never show {SECRET}"}]}

    with FakeApi(on("reflect", leaks, about="mailer")) as api:
        shop.night(api)
        api.batches.end()
        shop.night(api)
        assert SECRET.encode() not in shop.everything_on_disk
        until_done(shop, api)
        assert SECRET.encode() not in shop.everything_on_disk


def test_a_wrong_answer_is_asked_for_once_more_in_the_next_batch(shop: Shop, asked_live: Shop) -> None:
    def invents(body: Any, good: Any) -> Any:
        return {"findings": [{**good["findings"][0], "quote": "nobody said this"}]}

    with FakeApi(on("reflect", invents, about="mailer")) as api:
        shop.night(api)
        api.batches.end()
        shop.night(api)
        (again,) = [one for one in api.batches.taken[1].requests if purpose_of(one["params"]) == "reflect"]
        assert "could not be used" in again["params"]["messages"][0]["content"]
        until_done(shop, api)
        assert set(shop.left().pages) == set(asked_live.left().pages)


def test_a_dry_run_halves_what_would_go_in_a_batch() -> None:
    told = []
    for mode in ("live", "batch"):
        config = Config.model_validate({"claude": {"mode": mode}}).claude
        counted = Estimate()
        with pytest.raises(Refused):
            Estimating(config, published(), counted).ask(ASK)
        told.append(counted.counted[0][1])
    assert told[1] == pytest.approx(told[0] / 2)
