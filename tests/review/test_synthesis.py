"""Lessons that recur in several projects: asked of the organisation's operator, never written or shown elsewhere."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

import pytest
import yaml

from examples.sessions import GitRepository
from reflect.cli.app import run
from reflect.errors import ScopeError
from reflect.ledger.ledger import Ledger
from reflect.model import PageSummary, Source
from reflect.review.approving import approve
from reflect.review.bench import Bench
from reflect.review.deciding import reject
from reflect.review.synthesis import ProjectSource, propose_recurring, synthesise
from reflect.scope.projects import Project, Registry
from reflect.scope.review import ReviewItem
from reflect.scope.vocabulary import ORGANISATION, MemoryType, Reason, Scope
from reflect.settings import Settings
from reflect.workspace import Workspace
from tests.review.house import ADA, EPOCH, night, said
from tests.written import assert_page_written, assert_row_written

LESSON = "no, we decided to take advisory locks in Postgres, Redis lost them during the failover"
REWORDED = "no, we decided to take advisory locks in Postgres because Redis lost them in the failover"
RULE = "no, always squash before you merge, nobody reads the small steps"
OPPOSITE = "no, never squash before you merge, everybody reads the small steps"
OWN = "no, the zeppelin importer has to keep blank lines, the customer counts them"


@dataclass(frozen=True)
class House:
    folder: Path
    settings: Settings
    names: tuple[str, ...]

    @property
    def registry(self) -> Registry:
        return Registry(
            tuple(Project(project_id=name, workspace_roots=(str(self.folder / name),)) for name in self.names)
        )

    def opened(self, name: str) -> Workspace | None:
        return Workspace.open(self.folder / name, self.settings) if (self.folder / name).is_dir() else None

    @contextmanager
    def bench(self) -> Iterator[Bench]:
        with Ledger.open(self.settings.ledger) as ledger:
            yield Bench.of_organisation(
                ledger, self.registry, self.opened, self.settings, ADA, home=self.folder / "home"
            )

    def sources(self) -> list[ProjectSource]:
        with self.bench() as bench:
            found = []
            for project in bench.registry.projects:
                wiki = bench.wiki(project.project_id)
                assert wiki is not None
                found.append(ProjectSource(project, bench.ledger.reflexions(project.project_id), wiki.pages))
            return found

    def files(self) -> dict[str, bytes]:
        return {
            str(path.relative_to(self.folder)): path.read_bytes()
            for name in (*self.names, "home")
            for path in sorted((self.folder / name / ".reflect").rglob("*"))
            if path.is_file()
        }


def house(folder: Path, **learned: tuple[str, ...]) -> House:
    """Projects with a wiki, each compiled from one session in which `learned` was said."""
    settings = Settings(state_dir=folder / "state", source_date_epoch=EPOCH)
    for number, (name, claims) in enumerate(learned.items()):
        git = GitRepository.create(folder / name)
        git.commit(f"feat: begin {name}", {"a.py": "x = 1\n", ".reflect/config.yaml": f"project_id: {name}\n"})
        git.checkpoint_branch([(f"{number:012x}", [said(f"s-{name}", git.path, *claims)])])
        night(Workspace.open(git.path, settings))
    return House(folder, settings, tuple(learned))


@pytest.fixture(scope="module")
def three(tmp_path_factory: pytest.TempPathFactory) -> House:
    """Read only: what recurs in two of three projects, once in other words, a rule, its opposite, and one's own."""
    return house(tmp_path_factory.mktemp("three"), shop=(LESSON, OWN), store=(REWORDED, RULE), tools=(RULE, OPPOSITE))


def found(three: House) -> tuple[ReviewItem, ...]:
    return synthesise(three.sources(), (), three.registry)


def item_about(items: tuple[ReviewItem, ...], word: str) -> ReviewItem:
    (one,) = [item for item in items if word in item.claim]
    return one


def test_r2_what_two_projects_learned_is_proposed_as_a_global_reflection(three: House) -> None:
    """R2: in other words too; proposed, global, below what a tool would act on, and nobody's project's."""
    item = item_about(found(three), "advisory locks")
    assert (item.project_id, item.reasons[0]) == (ORGANISATION, Reason.CROSS_PROJECT_EVIDENCE)
    assert (item.proposed.scope, item.proposed.project_id, item.proposed.memory_type) == (
        Scope.GLOBAL,
        None,
        MemoryType.REFLECTION,
    )
    assert item.proposed.scope_confidence <= 0.6
    assert (item.narrowest_scope, item.approvable) == (None, True)
    assert {one.project_id for one in item.evidence_items} == {"shop", "store"}


def test_r2_a_standing_rule_is_a_candidate_preference(three: House) -> None:
    """R2, second outcome."""
    item = item_about(found(three), "squash")
    assert (item.always_on, item.proposed.memory_type) == (True, MemoryType.CANDIDATE_PREFERENCE)


def test_what_one_project_learned_and_what_says_the_opposite_do_not_recur(three: House) -> None:
    items = found(three)
    assert len(items) == 2
    told = " ".join(item.model_dump_json() for item in items)
    assert "zeppelin" not in told
    assert "everybody reads" not in told


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        (LESSON, REWORDED, True),
        (LESSON, LESSON.upper() + "!", True),
        (RULE, OPPOSITE, False),
        ("retry the payment call 3 times then give up", "retry the payment call 5 times then give up", False),
        ("keep the settings file in the repository root", "don't keep the settings file in the repository root", False),
        ("run the linter before the tests", "run the linter after the tests", False),
        ("use tabs", "use spaces", False),
        ("テストは必ずローカルで実行する", "テストは必ずローカルで実行しない", False),
        ("テストは必ずローカルで実行する", "テストは必ずローカルで実行する。", True),
    ],
)
def test_only_what_says_the_same_recurs(three: House, one: str, other: str, same: bool) -> None:
    shop, store, _ = three.sources()
    pair = [_saying(shop, one), _saying(store, other)]
    assert len(synthesise(pair, (), three.registry)) == same
    assert synthesise(pair, (), three.registry) == synthesise(pair[::-1], (), three.registry)


def _saying(source: ProjectSource, text: str) -> ProjectSource:
    """The source with one record and one page, both saying `text`."""
    row, page = source.rows[0], source.pages[0]
    said_on = {"body": f"# T\n\n> {text}\n", "sources": (Source.of(row.evidence_ids[0]),)}
    return replace(
        source,
        rows=[row.model_copy(update={"intervention": text})],
        pages=[page.model_copy(update=said_on)],
    )


def test_one_wording_and_only_one_is_carried_over(three: House) -> None:
    item = item_about(found(three), "advisory locks")
    assert len(item.action.findings) == 1
    assert set(item.action.evidence_ids) == {"000000000000/0", "000000000001/0"}


def test_the_order_of_projects_records_and_pages_never_matters(three: House) -> None:
    expected, sources, dice = found(three), three.sources(), Random(7)
    for _ in range(10):
        dice.shuffle(sources)
        mixed = [
            replace(
                one, rows=dice.sample(list(one.rows), len(one.rows)), pages=dice.sample(list(one.pages), len(one.pages))
            )
            for one in sources
        ]
        assert synthesise([*mixed, mixed[0]], (), three.registry) == expected


@pytest.mark.parametrize(
    "spoiled",
    [
        {"dropped_at": "2026-01-01"},
        {"origin": "untrusted"},
        {"origin": "derived"},
        {"scope": None},
        {"project_id": "elsewhere"},
        {"scope_source": None},
        {"memory_type": MemoryType.CANDIDATE_PREFERENCE},
        {"evidence_ids": ()},
        {"intervention": "words that stand on no page of this project"},
    ],
    ids=lambda spoiled: next(iter(spoiled)),
)
def test_what_a_project_did_not_accept_does_not_count(three: House, spoiled: dict[str, object]) -> None:
    sources = [
        replace(one, rows=[row.model_validate(row.model_dump() | spoiled) for row in one.rows])
        if one.project.project_id == "store"
        else one
        for one in three.sources()
    ]
    assert synthesise(sources, (), three.registry) == ()


@pytest.mark.parametrize(
    "keys",
    [
        {"project_id": "shop"},
        {"scope": "task"},
        {"scope_source": "guess"},
        {"memory_type": "candidate_preference"},
        {},
    ],
    ids=lambda keys: next(iter(keys), "none"),
)
def test_a_lesson_on_a_page_that_its_project_may_not_see_does_not_count(three: House, keys: dict[str, object]) -> None:
    def spoiled(page: PageSummary) -> PageSummary:
        return page.model_copy(update={"scope_keys": {**page.scope_keys, **keys} if keys else {}})

    sources = [
        replace(one, pages=[spoiled(page) for page in one.pages]) if one.project.project_id == "store" else one
        for one in three.sources()
    ]
    assert synthesise(sources, (), three.registry) == ()


def test_r2_a_lesson_that_was_dropped_since_takes_the_question_along(tmp_path: Path) -> None:
    """R2: what an operator would make global must still be accepted where it was learned."""
    made = house(tmp_path, shop=(LESSON,), store=(REWORDED,))
    with made.bench() as bench:
        (item,) = propose_recurring(bench).proposed
        one = item.evidence_items[0]
        bench.ledger.change_reflexions(
            str(one.project_id), {one.id: lambda row: row.dropped("not so", "2026-02-01T00:00:00+00:00")}
        )
        with pytest.raises(ScopeError, match=rf"{one.id} does not exist any more"):
            approve(bench, item, widen=True, confirmed=True)
        assert bench.ledger.queue(ORGANISATION)[0].status == "expired_evidence"
    assert not list((tmp_path / "home").rglob("*/wiki/*/*.md"))


def test_a_page_that_is_gone_takes_its_lesson_along(three: House) -> None:
    sources = [replace(one, pages=()) if one.project.project_id == "store" else one for one in three.sources()]
    assert synthesise(sources, (), three.registry) == ()


def test_memory_switched_off_gives_nothing(three: House) -> None:
    off = [
        replace(one, project=one.project.model_copy(update={"memory_enabled": one.project.project_id != "store"}))
        for one in three.sources()
    ]
    assert synthesise(off, (), three.registry) == ()


def test_r2_the_queue_of_the_organisation_and_nothing_else(tmp_path: Path) -> None:
    """R2: no file, no record and no project's queue changes; again, and after a no, nothing is asked twice."""
    made = house(tmp_path, shop=(LESSON,), store=(REWORDED,))
    before = made.files()
    with made.bench() as bench:
        rows = {name: bench.ledger.reflexions(name) for name in (*made.names, ORGANISATION)}
        (item,) = propose_recurring(bench).proposed
        assert propose_recurring(bench).proposed == ()
        assert made.files() == before
        assert {name: bench.ledger.reflexions(name) for name in (*made.names, ORGANISATION)} == rows
        assert [bench.ledger.queue(name) for name in made.names] == [(), ()]
        assert [one.id for one in bench.ledger.queue(ORGANISATION)] == [item.id]
        reject(bench, item)
        assert propose_recurring(bench).proposed == ()


def test_a_rejected_lesson_is_not_asked_again_when_a_third_project_learns_it(tmp_path: Path) -> None:
    two = house(tmp_path, shop=(LESSON,), store=(REWORDED,))
    with two.bench() as bench:
        reject(bench, propose_recurring(bench).proposed[0])
    three = house(tmp_path / "more", tools=(LESSON,))
    with two.bench() as bench:
        known = bench.ledger.queue(ORGANISATION)
    registry = Registry((*two.registry.projects, *three.registry.projects))
    assert len(synthesise([*two.sources(), *three.sources()], (), registry)) == 1
    assert synthesise([*two.sources(), *three.sources()], known, registry) == ()


def test_r2_approved_by_an_operator_it_lands_in_the_organisations_own_wiki(tmp_path: Path) -> None:
    """R2, and the gate: global, an operator's, certain; and then it is no question any more."""
    made = house(tmp_path, shop=(LESSON,), store=(REWORDED,))
    with made.bench() as bench:
        (item,) = propose_recurring(bench).proposed
        done = approve(bench, item, widen=True, confirmed=True)
        assert done.page is not None
        page = (made.folder / "home" / ".reflect" / "wiki" / done.page).read_text()
        (row,) = bench.ledger.reflexions(ORGANISATION)
        assert_row_written(row, project=None, scope_source="operator", workspace_root=None)
        assert propose_recurring(bench).proposed == ()
        own = bench.wiki(ORGANISATION)
        assert own is not None
        assert synthesise(made.sources(), (), made.registry, own.pages) == ()
    assert_page_written(page, project=None, scope_source="operator")


def test_the_command_names_what_it_could_not_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = house(tmp_path, shop=(LESSON,), store=(REWORDED,))
    monkeypatch.setenv("REFLECT_STATE_DIR", str(made.settings.state_dir))
    members = [{"id": name, "repository": str(tmp_path / name)} for name in (*made.names, "gone")]
    file = tmp_path / "organisation.yaml"
    file.write_text(yaml.safe_dump({"name": "o", "home": str(tmp_path / "home"), "projects": members}))
    assert run(["org", "synthesise", "--organisation", str(file), "--json"]) == 0
    shown = json.loads(capsys.readouterr().out)
    assert ([one["claim"] for one in shown["proposed"]], shown["unread"]) == ([LESSON], ["gone"])
