"""Scope keys are made in one place, and pages and records are written by one function each.

A second place would be a second policy, and would be wrong first. So every place that makes or writes is listed here
with the reason why it may; a new one fails until it is.
"""

from __future__ import annotations

import ast
from functools import cache

import pytest

from tests.scope.sweep import FILE, KEY, Use, modules, uses

Listed = dict[str, dict[str, str]]

KEYS_MADE: Listed = {
    KEY: {
        "reflect/scope/metadata.py::build_scope_metadata": "the one builder",
        "reflect/scope/binding.py::_written": "asks the builder for Rule 1's keys",
        "reflect/scope/binding.py::_queued": "fills what a question proposes, which nothing stores",
        "reflect/scope/binding.py::_rejected": "fills what nothing proposes",
        "reflect/scope/resolve.py::_for_global_page": "fills what a question about a global page proposes",
        "reflect/scope/page_keys.py::_merged": "asks the builder again, with the root made relative",
        "reflect/scope/page_keys.py::approved_keys": "asks the builder again, with the root made relative",
        "reflect/scope/approval.py::settle": "asks the builder in an operator's name, for everyone",
        "reflect/scope/approval.py::_for_project": "asks the builder in an operator's name, for a project",
        "reflect/review/reclassify.py::_stamped": "asks the builder in a classifier's name, never for everyone",
        "reflect/review/reclassify.py::verdict_on": "fills a line of a file that a person reviews",
        "reflect/scope/stored.py::resolve_stored_scope": "reads stored keys",
        "reflect/scope/stored.py::ResolvedMemoryScope.as_invalid": "makes what was read count for nothing",
        "reflect/scope/visibility.py::Candidate.of": "copies what was read into what an index keeps beside a row",
        "reflect/scope/resolve.py::_Case._one_review_evidence": "copies what was read onto a question's evidence",
        "reflect/scope/recurring.py::_evidence": "copies what was read onto a question's evidence",
    },
    "reflect.scope.metadata.build_scope_metadata": {
        "reflect/scope/binding.py::_written": "Rule 1",
        "reflect/scope/page_keys.py::_merged": "keys that the builder made, on a page",
        "reflect/scope/page_keys.py::approved_keys": "keys that the builder made, on a page",
        "reflect/scope/approval.py::settle": "an operator's word, for everyone",
        "reflect/scope/approval.py::_for_project": "an operator's word, for a project",
        "reflect/review/reclassify.py::_stamped": "a reviewed file, never for everyone",
    },
    "reflect.scope.metadata.ScopeKeys": {
        "reflect/scope/metadata.py::build_scope_metadata": "the one builder",
        "reflect/scope/metadata.py::": "names its fields",
    },
    "reflect.scope.stored.ResolvedMemoryScope": {
        "reflect/scope/stored.py::resolve_stored_scope": "what stored keys mean",
        "reflect/scope/context.py::ScopeContext.scope_of": "a session or commit is its repository's",
        "reflect/scope/context.py::ScopeContext.scope_of_page": "a page without keys, of sources that are here",
        "reflect/scope/context.py::ScopeContext.scope_of_session": "a session is the one project's that it ran in",
        "reflect/search/sources.py::commit_document": "a commit is its repository's",
    },
    "reflect.scope.proposal.EvidenceScope": {
        "reflect/scope/context.py::ScopeContext.scope_of": "a session or commit of the repository that is read",
        "reflect/scope/resolve.py::_Case.evidence": "the page as it stands, as a fact",
        "reflect/scope/recurring.py::recurring_item": "accepted lessons, as facts of their projects",
    },
    "reflect.scope.binding.ProposedScope": {
        "reflect/scope/binding.py::_written": "what is written",
        "reflect/scope/binding.py::_queued": "what an approval would write",
        "reflect/scope/binding.py::_rejected": "nothing",
    },
    "reflect.scope.binding.Binding": {
        "reflect/scope/binding.py::_written": "a write, with the builder's keys",
        "reflect/scope/binding.py::_queued": "a question, without keys",
        "reflect/scope/binding.py::_rejected": "a refusal, without keys",
    },
    "reflect.scope.binding.bind": {
        "reflect/scope/resolve.py::_Case.bound": "every action of a run",
        "reflect/scope/recurring.py::recurring_item": "every lesson of several projects",
    },
    "reflect.scope.gate.gate": {
        "reflect/scope/resolve.py::bind_action": "every action of a run",
        "reflect/scope/recurring.py::recurring_item": "every lesson of several projects",
    },
    "reflect.scope.gate.Gated": {"reflect/scope/gate.py::gate": "the one gate"},
    "reflect.scope.resolve.BoundAction": {"reflect/scope/resolve.py::bind_action": "bound and gated"},
    "reflect.scope.approval.Approval": {
        "reflect/scope/approval.py::settle": "for everyone",
        "reflect/scope/approval.py::_for_project": "for a project",
    },
    "reflect.scope.approval.settle": {
        "reflect/scope/approval.py::approve": "an operator's choice, looked at first",
        "reflect/review/words.py::_where": "shows what approving would write",
        "reflect/review/corrections.py::lesson_of": "an operator's correction, for the project of the plan",
        "reflect/pipeline/approved.py::_landed_late": "a choice that stands in the ledger and in no wiki yet",
    },
    "reflect.scope.approval.approve": {"reflect/review/approving.py::approve": "an operator approves"},
    "reflect.scope.page_keys.PageKeys": {
        "reflect/scope/page_keys.py::page_keys": "of what Rule 1 writes",
        "reflect/scope/page_keys.py::approved_keys": "of what an operator approved",
    },
    "reflect.scope.page_keys.page_keys": {"reflect/scope/resolve.py::_Case.page_keys": "a write that was bound"},
    "reflect.scope.page_keys.approved_keys": {
        "reflect/pipeline/approved.py::draft_approved": "the page of what an operator approved"
    },
    "reflect.scope.reflexion.Reflexion": {
        "reflect/scope/rows.py::lesson": "of a finding that is bound or approved",
        "reflect/scope/rows.py::correction": "of an operator's correction to a plan",
        "reflect/review/reflexions.py::_record": "of a line of a file, its scope and approval taken off",
        "reflect/review/preimages.py::Preimages.read": "a record as it was, to give its scope back",
        "reflect/ledger/reading.py::reflexion": "as it is stored",
        "reflect/ledger/reading.py::all_reflexions": "as they are stored",
        "reflect/ledger/reviewing.py::_rows_of": "as they are stored",
        "reflect/ledger/keeping.py::change": "as it is stored",
    },
    "reflect.scope.rows.lesson": {
        "reflect/scope/resolve.py::_Case._row": "a finding that was bound",
        "reflect/review/approving.py::_rows": "a finding that an operator approved",
    },
    "reflect.scope.rows.correction": {"reflect/review/corrections.py::lesson_of": "a correction with a reason"},
    "reflect.scope.review.ReviewItem": {
        "reflect/scope/review.py::question": "the one place that makes a question",
        "reflect/ledger/reviewing.py::_item": "as it is stored",
    },
    "reflect.scope.review.question": {
        "reflect/scope/resolve.py::_Case.item": "a run's questions",
        "reflect/scope/recurring.py::recurring_item": "the organisation's own",
    },
}
"""Every place that makes scope keys, or a value that carries them, and why. Only the builder turns values into keys."""

WRITES: Listed = {
    "reflect.wiki.draft.draft_page": {
        "reflect/pipeline/write.py::Desk.write": "the pages of a run",
        "reflect/pipeline/approved.py::draft_approved": "the page of what an operator approved",
    },
    "reflect.wiki.landing.Landing": {
        "reflect/pipeline/index.py::land": "the files of a run",
        "reflect/pipeline/index.py::_note_last_run": "`.last_run` alone, where nothing was new",
        "reflect/pipeline/index.py::_without_edited": "asks which pages a person changed meanwhile",
        "reflect/pipeline/archive.py::archive": "moves pages with their keys as they are",
        "reflect/pipeline/approved.py::land_approved": "the page of what an operator approved",
        "reflect/publish/retry.py::note_outcome": "the note that pages wait to be written back; no page",
        "reflect/lint/mend.py::_land": "mends what lint found on pages, their scope keys as they are",
        "reflect/wiki/landing.py::recover": "finishes what was killed",
    },
    FILE: {
        "reflect/wiki/landing.py": "the one landing",
        "reflect/wiki/files.py": "what the landing writes with",
        "reflect/wiki/scaffold.py": "an empty wiki's folders and configuration",
        "reflect/review/preimages.py": "records as they were, below the state folder",
        "reflect/cli/reclassify.py": "proposals for a person to review, where they say",
        "reflect/cli/reflexions.py": "an export, where a person says",
        "reflect/cli/hook.py": "an agent's settings",
        "reflect/cli/status_at_once.py": "what status said last, below the state folder",
        "reflect/health/frames.py": "renames a column of such a report; no file",
        "reflect/ledger/set_aside.py": "moves a damaged ledger aside",
        "reflect/lint/verified.py": "what lint looked at before, below the state folder",
        "reflect/triage/claude/answers.py": "a model's answers, below the state folder",
        "reflect/evidence/git.py": "git's own folders",
        "reflect/organisation/clones.py": "clones and their work trees",
        "reflect/organisation/listing.py": "what a forge listed, below the state folder",
        "reflect/search/qmd/collection.py": "copies of pages for qmd's index, below the state folder",
        "reflect/search/qmd/install.py": "qmd itself, below the state folder",
    },
    "reflect.ledger.recording.reflexion_row": {
        "reflect/ledger/recording.py::_reflexions": "the records of a run; a known one is kept as it is",
        "reflect/ledger/reviewing.py::put_reflexion": "a record that no run made",
        "reflect/ledger/reviewing.py::replace_reflexion": "a record that somebody changed",
    },
    "reflect.ledger.reviewing.put_reflexion": {
        "reflect/ledger/reviewing.py::decide": "what a decision on a question made of a lesson",
        "reflect/ledger/keeping.py::take_over": "a record from a file, without a scope",
    },
    "reflect.ledger.reviewing.replace_reflexion": {
        "reflect/ledger/reviewing.py::put_reflexion": "a lesson that was recorded before",
        "reflect/ledger/keeping.py::change": "a record that was dropped, reclassified or restored",
        "reflect/ledger/keeping.py::take_over": "a record that its owner dropped in a file",
    },
    "the table reflexions": {
        "reflect/ledger/recording.py::add_run": "new records of a run",
        "reflect/ledger/reviewing.py::put_reflexion": "new records of no run",
        "reflect/ledger/reviewing.py::replace_reflexion": "a record in the place of itself",
    },
    "reflect.ledger.recording.item_row": {
        "reflect/ledger/recording.py::_review_items": "the questions of a run",
        "reflect/ledger/keeping.py::propose": "the questions of an organisation, which no run asked",
    },
    "the table review_items": {
        "reflect/ledger/recording.py::add_run": "new questions of a run",
        "reflect/ledger/recording.py::_ask_again": "opens a question whose evidence had changed",
        "reflect/ledger/recording.py::_supersede": "closes what a newer question asks",
        "reflect/ledger/reviewing.py::_write": "what an operator decided",
        "reflect/ledger/keeping.py::propose": "new questions of an organisation",
    },
}
"""Every place from which a page or a record is written, and why. One builder, one landing, one row."""

LISTED = KEYS_MADE | WRITES


@cache
def found() -> set[Use]:
    """Everything of what is listed that the product makes and writes, with its place."""
    return {one for file, tree in modules().items() for one in uses(file, tree, LISTED)}


def not_listed(what: str, used: set[Use]) -> set[str]:
    return {place for name, place in used if name == what} - set(LISTED[what])


@pytest.mark.parametrize("what", LISTED)
def test_single_builder_single_writer_ast_sweep(what: str) -> None:
    """R1 and R2: a place that is not listed fails, and so does a reason without a place."""
    assert not_listed(what, found()) == set()
    assert set(LISTED[what]) <= {place for name, place in found() if name == what}
    assert all(reason.strip() for reason in LISTED[what].values())


OFFENDERS = {
    "a keyword": (KEY, "page(scope_source='operator')"),
    "a dict": (KEY, "row.model_copy(update={'scope': 'global'})"),
    "a subscript": (KEY, "data['workspace_root'] = '/'"),
    "an attribute": (KEY, "row.scope_confidence = 1.0"),
    "setattr": (KEY, "object.__setattr__(row, 'scope', 'global')"),
    "pairs": (KEY, "dict([('scope', 'global')])"),
    "a line of a page": (KEY, "text = 'status: active\\nscope: global\\n'"),
    "a line that is filled in": (KEY, "text = f'scope_source: {source}\\n'"),
    "the builder": (
        "reflect.scope.metadata.build_scope_metadata",
        "from reflect.scope.metadata import build_scope_metadata\nbuild_scope_metadata(**keys)",
    ),
    "under another name": (
        "reflect.scope.metadata.ScopeKeys",
        "from reflect.scope.metadata import ScopeKeys as Keys\nKeys('global', None, None, 1.0, 'operator')",
    ),
    "through its module": (
        "reflect.ledger.reviewing.put_reflexion",
        "from reflect.ledger import reviewing\nreviewing.put_reflexion(connection, project, row, made_by='me')",
    ),
    "through a module of another name": (
        "reflect.scope.binding.Binding",
        "import reflect.scope.binding as b\nb.Binding(decision=None)",
    ),
    "handed on": (
        "reflect.ledger.reviewing.replace_reflexion",
        "from functools import partial\nfrom reflect.ledger.reviewing import replace_reflexion\n"
        "write = partial(replace_reflexion, connection)",
    ),
    "read from text": (
        "reflect.scope.reflexion.Reflexion",
        "from reflect.scope.reflexion import Reflexion\nReflexion.model_validate_json(line)",
    ),
    "a draft": ("reflect.wiki.draft.draft_page", "from reflect.wiki.draft import draft_page\ndraft_page(action)"),
    "a landing": ("reflect.wiki.landing.Landing", "from reflect.wiki.landing import Landing\nLanding(folder, 'run')"),
    "a statement": (
        "the table reflexions",
        "from sqlalchemy import insert\nfrom reflect.ledger.tables import reflexions\ninsert(reflexions)",
    ),
    "a statement on a table of another name": (
        "the table review_items",
        "from sqlalchemy import update as change\nfrom reflect.ledger.tables import review_items as q\nchange(q)",
    ),
    "SQL": ("the table reflexions", "connection.exec_driver_sql('INSERT OR REPLACE INTO reflexions VALUES (1)')"),
    "a text written": (FILE, "page.write_text('# Page')"),
    "a file opened for writing": (FILE, "open(page, 'w').write('# Page')"),
    "a file opened by its path": (FILE, "page.open(mode='xb').write(b'# Page')"),
    "a file put in the place of another": (FILE, "import os\nos.replace(draft, page)"),
    "a path put in the place of another": (FILE, "draft.replace(page)"),
}
"""What somebody might add tomorrow, and what it has to be found as."""


@pytest.mark.parametrize("how", OFFENDERS)
def test_a_new_place_is_found(how: str) -> None:
    """In a function of a new module: nothing but the list would let it pass."""
    what, code = OFFENDERS[how]
    body = "\n".join(f"    {line}" for line in code.splitlines())
    file = "reflect/pipeline/added.py"
    used = uses(file, ast.parse(f"def added():\n{body}\n"), LISTED)
    assert not_listed(what, used) == {file if what == FILE else f"{file}::added"}


@pytest.mark.parametrize(
    "code",
    [
        "def shown(row: Reflexion) -> ScopeKeys | None:\n    return None",
        "rows: tuple[Reflexion, ...] = ()",
        "isinstance(row, Reflexion)",
        "keys['scope']",
        "x = row.scope",
        "'scope' in keys",
        "log.info('scope: binding %d actions', 3)",
        "text.replace('a', 'b')",
        "replace(row, project_id='p')",
        "open(page).read()",
        "open(page, 'rb').read()",
        "select(reflexions)",
    ],
)
def test_what_makes_and_writes_nothing_needs_no_reason(code: str) -> None:
    head = (
        "from reflect.scope.metadata import ScopeKeys\nfrom reflect.scope.reflexion import Reflexion\n"
        "from reflect.ledger.tables import reflexions\nfrom sqlalchemy import select\n"
    )
    assert uses("reflect/added.py", ast.parse(head + code), LISTED) == set()


def test_a_place_in_a_file_that_is_listed_is_found_as_well() -> None:
    file = "reflect/review/approving.py"
    tree = ast.parse("from reflect.scope.rows import lesson\n\n\ndef another():\n    return lesson\n")
    assert not_listed("reflect.scope.rows.lesson", uses(file, tree, LISTED)) == {f"{file}::another"}
