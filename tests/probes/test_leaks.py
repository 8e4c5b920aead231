"""Ten projects, 200 marks, one night over all of them: no way out of one project shows another's mark.

A probe counts only where the mark's own project shows it by the same way: a way that shows nothing proves nothing.
"""

from __future__ import annotations

import csv
import itertools
import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from examples.obedient_model import answer
from examples.sessions import ClaudeTranscript, GitRepository, StoredSession
from reflect.health.document import LISTS
from reflect.mcp.pages import list_pages
from reflect.mcp.tools import TOOLS
from reflect.organisation.estate import Estate
from reflect.organisation.health import reports_folder
from reflect.overview.briefing import briefing
from reflect.overview.sessions import find_sessions, list_sessions
from reflect.overview.timeline import timeline
from reflect.pipeline.engine import premises_of
from reflect.pipeline.intake import take_in
from reflect.pipeline.triage import gather, plan_pages, reflect_on_session
from reflect.review.corrections import lessons_for
from reflect.review.deciding import reject
from reflect.scope.vocabulary import ORGANISATION
from reflect.search.answer import Query
from reflect.search.find import search
from reflect.search.place import search_folder
from reflect.search.qmd.install import install
from reflect.search.setup import set_up_qmd
from reflect.triage.claude.building import engine_asking
from reflect.triage.claude.messages import Ask, Reply
from reflect.workspace import Workspace
from tests.conftest import ROOT, CommandLine, command_line_in
from tests.flows.test_repository import ask

pytestmark = pytest.mark.xdist_group("prefect")

PROJECTS = tuple(f"{name}-desk" for name in "amber birch cedar delta ember fjord grove heath islet jetty".split())
MARKS = 20
IN_QMD = PROJECTS[:3]
"""Projects that are searched with qmd too; each takes seconds to index."""

TEMPLATES = (
    "no, never call the {mark} adapter inside a transaction",
    "please always run the {mark} check before you commit",
    "we decided to keep {mark} orders in cents, because floats lose money",
    "don't retry the {mark} queue, it doubles the load",
)
"""What every project's people say, in the same words but for the mark: each is a question in the others' words."""

CORRECTED = "we do not speak of"
_CONSONANTS, _VOWELS = "bdfgklmnprstvz", "aeiou"
Ways = dict[str, dict[str, str]]


def marks_of(project: str) -> tuple[str, ...]:
    """Twenty invented words of `project`, no word of one a part of another's."""
    start = PROJECTS.index(project) * MARKS
    syllables = ("".join(pair) for pair in itertools.product(_CONSONANTS, _VOWELS))
    words = itertools.product(list(syllables), repeat=2)
    return tuple("".join(word) + "quor" for word in itertools.islice(words, start, start + MARKS))


def grow(path: Path, project: str) -> None:
    """A repository that says each of its marks: ten in sessions, ten in commits, and one again outside the project."""
    made = GitRepository.create(path)
    marks = marks_of(project)
    for number, mark in enumerate(marks[10:]):
        made.commit(f"fix: take {mark} out of the loop\n\nThe {mark} lock was held because nobody released it in time.",
                    {f"src/{mark}.py": f"n = {number}\n"})  # fmt: skip
    sessions = []
    for number, mark in enumerate(marks[:10]):
        said = TEMPLATES[number % len(TEMPLATES)].format(mark=mark)
        transcript = ClaudeTranscript(f"{project}-{number}", cwd=str(path)).prompt(f"look at {mark}.py")
        transcript.reply(f"I changed {mark}.py.").prompt(said).reply("Done.")
        sessions.append((f"{PROJECTS.index(project):02x}{number:010x}", transcript))
    strayed = ClaudeTranscript(f"{project}-strayed", cwd=str(path)).prompt("look around")
    strayed.cwd = "/somewhere/else"
    strayed.prompt(f"no, always close the {marks[0]} valve before you open the other one").reply("Done.")
    sessions.append((f"{PROJECTS.index(project):02x}ffffffffff", strayed))
    made.checkpoint_branch([(name, [StoredSession(one.encode(), name)]) for name, one in sessions])


def say_more(path: Path, project: str) -> None:
    """Something that no page says yet, so that a model is asked what to do with it."""
    transcript = ClaudeTranscript(f"{project}-later", cwd=str(path)).prompt("look at the importer").reply("I did.")
    transcript.prompt(
        f"no, the {marks_of(project)[1]} importer has to keep blank lines, because the customer counts them"
    )
    made = [StoredSession(transcript.encode(), transcript.session_id)]
    GitRepository(path).checkpoint_branch([(f"{PROJECTS.index(project):02x}eeeeeeeeee", made)])


class Listening:
    """A model that does as it is told, and remembers everything that it was sent."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.systems: list[str] = []
        self.purposes: list[str] = []

    def ask(self, ask: Ask) -> Reply:
        self.systems.append(ask.system)
        self.heard.append(ask.content)
        self.purposes.append(ask.purpose)
        return Reply(data=answer(ask.schema, ask.content), stop_reason="end_turn", usage={}, request_id="r")


@dataclass(frozen=True)
class Night:
    """What one night of the organisation left, by way out and project."""

    ways: Ways
    shared: Mapping[str, str]
    asked: int


@pytest.fixture(scope="module")
def night(tmp_path_factory: pytest.TempPathFactory, prefect_server: str) -> Night:
    root = tmp_path_factory.mktemp("leaks")
    for project in PROJECTS:
        grow(root / project, project)
    projects = [{"id": project, "repository": str(root / project)} for project in PROJECTS]
    file = root / "organisation.yaml"
    described = {"name": "leaks", "home": str(root / "home"), "state_dir": str(root / "state"), "projects": projects}
    file.write_text(yaml.safe_dump(described))
    command_line = command_line_in(root / "state", prefect_server)
    told = command_line.json("org", "ingest", "--organisation", file)
    assert {one["state"] for one in told["projects"]} == {"done"}
    command_line("org", "synthesise", "--organisation", file)
    ways: Ways = {}
    estate = Estate.load(file)
    _correct_each(estate)
    for project in PROJECTS:
        say_more(root / project, project)
        workspace = estate.workspace(project)
        assert workspace is not None
        for way, text in _ways_out(workspace):
            ways.setdefault(way, {})[project] = text
    ways["organisation's report"] = _told_of_each(command_line, file, reports_folder(estate))
    ways["Prefect artifacts"] = _artifacts(prefect_server)
    ways["logs"] = _logs(prefect_server)
    ways["qmd's index"] = {project: _indexed_by_qmd(estate, project) for project in IN_QMD}
    with estate.ledger() as ledger:
        asked = [item.model_dump_json() for item in ledger.queue(ORGANISATION)]
    home = root / "home" / ".reflect"
    pages = "".join(page.read_text() for page in sorted(home.rglob("*.md"))) if home.exists() else ""
    return Night(ways, {"organisation's queue": "\n".join(asked), "organisation's wiki": pages}, len(asked))


def _correct_each(estate: Estate) -> None:
    """An operator's correction in every project, in words with a mark: it rides in that project's prompts alone."""
    with estate.bench("Ada <ada@example.com>") as bench:
        for project in PROJECTS:
            (item,) = bench.ledger.queue(project)
            reject(bench, item, f"{CORRECTED} {marks_of(project)[0]} any more")


def _ways_out(workspace: Workspace) -> Iterator[tuple[str, str]]:
    """Everything that a reader of one project meets, as text."""
    wiki = workspace.wiki.folder
    pages = [page for page in sorted(wiki.rglob("*.md")) if page.name not in ("index.md", "log.md")]
    yield "pages", "\n".join(f"{page}\n{page.read_text()}" for page in pages)
    yield "table of contents", (wiki / "index.md").read_text()
    yield "log", (wiki / "log.md").read_text()
    yield "search index", _bytes_below(search_folder(workspace.settings.state, workspace.git.root))
    with workspace.ledger() as ledger:
        project = workspace.project.project_id
        rows = [row.model_dump_json() for row in ledger.reflexions(project)]
        queue = [item.model_dump_json() for item in ledger.queue(project)]
        last = ledger.last_run(project)
    yield "reflexions and queue", "\n".join([*rows, *queue])
    assert last is not None
    yield "report", json.dumps(last.report)
    listening = _asked(workspace)
    yield "prompts", "\n".join(listening.heard)
    yield "instructions", "\n".join(listening.systems)
    yield "briefing", briefing(workspace, max_lines=2000).text
    listed = list_sessions(workspace)
    yield "sessions", listed.model_dump_json()
    yield "a session", "\n".join(one.text for line in listed.sessions for one in find_sessions(workspace, line.id))
    yield "timeline", timeline(workspace, days=36_500).model_dump_json()
    yield "Model Context Protocol", "\n".join(_told_to_agents(workspace))


def _told_to_agents(workspace: Workspace) -> Iterator[str]:
    """What an agent is given that asks for every page there is, and in the words that all projects share."""
    tools = {tool.name: tool for tool in TOOLS}
    listed, more = list_pages(workspace, None)
    assert listed and more is None
    for page in listed:
        yield tools["page"].call(workspace, {"path": page.path}).model_dump_json()
    for asked in ("transaction adapter", "check before commit", "orders in cents", "retry queue"):
        yield tools["search"].call(workspace, {"query": asked, "limit": 50}).model_dump_json()
    yield tools["lint"].call(workspace, {}).model_dump_json()
    yield tools["status"].call(workspace, {}).model_dump_json()


def _bytes_below(folder: Path) -> str:
    return "".join(file.read_bytes().decode("latin-1") for file in sorted(folder.rglob("*")) if file.is_file())


def _asked(workspace: Workspace) -> Listening:
    """What a model is sent for the whole of the project's evidence, as if nothing had been read before."""
    listening = Listening()
    told = replace(premises_of(workspace), corrections=lessons_for(workspace))
    engine = engine_asking(listening, {}, workspace.config, told)
    fresh = workspace.settings.model_copy(update={"ledger_url": f"sqlite:///{workspace.git.common_dir}/probe.db"})
    intake = take_in(replace(workspace, settings=fresh), engine)
    found = gather((session, reflect_on_session(engine, session), None) for session in intake.batch.sessions)
    findings = [*found.findings, *engine.reflect_on_commits(intake.batch.commits)]
    pages = {page.path: page for page in intake.wiki.pages}
    for action in plan_pages(engine, findings, intake, workspace).actions:
        engine.write(action, pages.get(action.path))
    assert set(listening.purposes) == {"reflect", "plan", "write"}
    assert any(CORRECTED in told for told in listening.systems)
    return listening


def _indexed_by_qmd(estate: Estate, project: str) -> str:
    """Every byte that qmd keeps for a project: its own database and the files it was given."""
    install(ROOT / ".venv" / "qmd")
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("REFLECT_QMD_DIR", str(ROOT / ".venv" / "qmd"))
        workspace = estate.workspace(project)
        assert workspace is not None
        _, said = set_up_qmd(workspace, wanted=False)
        assert "searches the collection" in said
        folder = search_folder(workspace.settings.state, workspace.git.root)
        return "".join(_bytes_below(home) for home in sorted(folder.glob("qmd-*")))


def _told_of_each(command_line: CommandLine, file: Path, folder: Path) -> dict[str, str]:
    """The rows of each project in the report of the organisation's wikis: in its page, its JSON and its CSV files.

    Each project gets a page with a link that leads nowhere first, so that there is something to tell.
    """
    for project in PROJECTS:
        page = sorted((file.parent / project / ".reflect" / "wiki").glob("*/*.md"))[0]
        page.write_text(page.read_text() + f"\n[gone](gone-{marks_of(project)[0]}.md)\n")
    command_line("org", "lint", "--organisation", file)
    told = json.loads((folder / "lint-health.json").read_text())
    rows = [row for name in LISTS for row in told[name]]
    rows += [row for name in LISTS for row in csv.DictReader((folder / f"{name}.csv").read_text().splitlines(True))]
    found = {project: json.dumps([row for row in rows if row.get("project") == project]) for project in PROJECTS}
    html = (folder / "lint-health.html").read_text()
    shown = {mark for project in PROJECTS for mark in marks_of(project) if mark in html}
    assert shown == {mark for project in PROJECTS for mark in marks_of(project) if mark in found[project]}
    common = json.dumps([row for row in rows if "project" not in row])
    return {project: text + common for project, text in found.items()}


def _logs(server: str) -> dict[str, str]:
    """What the task of each project logged, and the tasks nested in it."""
    runs: dict[str, Any] = {}
    for offset in itertools.count(0, 200):
        page = ask(server, "task_runs", sort="ID_DESC", limit=200, offset=offset)
        runs |= {run["id"]: run for run in page}
        if not page:
            break
    found: dict[str, str] = {}
    for project in PROJECTS:
        own = sorted(name for name, run in runs.items() if _is_within(run, runs, f"project:{project}"))
        logs = ask(server, "logs", logs={"task_run_id": {"any_": own}}, limit=200)
        found[project] = "\n".join([*(runs[name]["name"] for name in own), *(log["message"] for log in logs)])
    return found


def _is_within(run: Any, runs: Mapping[str, Any], tag: str) -> bool:
    parents = [one["id"] for one in run["task_inputs"].get("__parents__", ())]
    return tag in run["tags"] or any(one in runs and _is_within(runs[one], runs, tag) for one in parents)


def _artifacts(server: str) -> dict[str, str]:
    found: dict[str, str] = {}
    for one in ask(server, "artifacts", limit=200):
        for project in PROJECTS:
            if str(one["key"]).endswith(project):
                found[project] = found.get(project, "") + json.dumps(one["data"]) + str(one["description"])
    return found


def counted_in(ways: Ways) -> dict[str, int]:
    """How many probes count, by way out: each mark that its own project shows there, once for every other project."""
    return {
        way: sum(mark in text for project, text in by.items() for mark in marks_of(project)) * (len(by) - 1)
        for way, by in sorted(ways.items())
    }


def leaks_in(ways: Ways) -> list[str]:
    """Every mark that another project's way shows, whether its own shows it or not."""
    return [
        f"{mark} of {project} in {way} of {other}"
        for way, by in sorted(ways.items())
        for other, text in by.items()
        for project in PROJECTS
        if project != other
        for mark in marks_of(project)
        if mark in text
    ]


def test_no_way_out_shows_another_projects_mark(night: Night, record_property: Callable[[str, object], None]) -> None:
    counted = counted_in(night.ways)
    record_property("probes that counted", counted)
    print(f"leak probes that counted: {sum(counted.values())} ({counted})")
    assert leaks_in(night.ways) == []
    assert all(counted.values()), "a way that shows no project its own marks proves nothing"
    assert sum(counted.values()) > 5_000


def test_a_leak_is_told_whichever_way_it_takes(night: Night) -> None:
    """Of a mark that its own project shows there as of one that it does not."""
    for way, by in night.ways.items():
        project, other = list(by)[:2]
        for mark in (marks_of(project)[0], marks_of(project)[-1]):
            leaking = {**night.ways, way: {**by, other: f"{by[other]} {mark}"}}
            assert leaks_in(leaking) == [f"{mark} of {project} in {way} of {other}"]


def test_nothing_is_written_for_all_projects_before_an_operator_speaks(night: Night) -> None:
    assert night.shared["organisation's wiki"] == ""
    assert night.shared["organisation's queue"].count('"status":"pending"') == night.asked


def test_a_question_in_anothers_words_finds_only_ones_own(
    tmp_path_factory: pytest.TempPathFactory, night: Night
) -> None:
    root = next(path for path in tmp_path_factory.getbasetemp().glob("leaks*") if path.is_dir())
    estate = Estate.load(root / "organisation.yaml")
    probes = 0
    for asking in PROJECTS:
        workspace = estate.workspace(asking)
        assert workspace is not None
        own = marks_of(asking)
        for number, other in enumerate(project for project in PROJECTS if project != asking):
            mark = marks_of(other)[number]
            question = Query(text=TEMPLATES[number % len(TEMPLATES)].format(mark=mark), limit=50)
            found = "\n".join(f"{hit.path} {hit.title} {hit.snippet}" for hit in search(workspace, question).hits)
            assert not [theirs for p in PROJECTS if p != asking for theirs in marks_of(p) if theirs in found]
            probes += any(mine in found for mine in own)
    print(f"search probes that counted: {probes}")
    assert probes == len(PROJECTS) * (len(PROJECTS) - 1)
