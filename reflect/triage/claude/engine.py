"""The Claude engine: reflect, plan and write by a model, with every answer checked before anything rests on it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from reflect.configuration import Format, FormatSection
from reflect.errors import EngineError
from reflect.model import (
    Action,
    Commit,
    EvidenceMode,
    Finding,
    Outcome,
    PageContent,
    PageSummary,
    Plan,
    Session,
    digest,
)
from reflect.triage.categories import Categories
from reflect.triage.claude import planning, reflecting
from reflect.triage.claude.answers import Kept, KeptInMemory, Questioner
from reflect.triage.claude.chunks import chunked, commit_groups
from reflect.triage.claude.evidence_blocks import Item, between, harmless, items_of_commits, items_of_session
from reflect.triage.claude.faults import CapReached, ProviderFault, Refused, Unreadable
from reflect.triage.claude.messages import Ask, Asking
from reflect.triage.claude.prompt import load_prompt
from reflect.triage.claude.schemas import (
    PlanAnswer,
    ReflectAnswer,
    WriteAnswer,
    plan_schema,
    reflect_schema,
    write_schema,
)
from reflect.triage.claude.writing import LINES_AROUND, LINES_PER_STATEMENT, MOST_SECTIONS, Sheet
from reflect.triage.engine import NoChanges, Unusable
from reflect.triage.extractive.engine import ExtractiveEngine
from reflect.triage.extractive.places import Places

REFLECT_TOKENS = 4_000
PLAN_TOKENS = 8_000
WRITE_TOKENS = 4_000

_FEWEST_ON_A_PAGE = 4


def _as_it_is(text: str) -> str:
    return text


def _is_nowhere(_: str) -> bool:
    return False


def _is_hidden(_: PageSummary) -> bool:
    return False


@dataclass(frozen=True)
class Surroundings:
    """What the engine is told of where it works.

    `models` names the model of each purpose. `redact` takes secrets out of a text, `in_repository` says
    whether an identifier occurs in the repository, `shows` whether a page may be seen here: no other is ever sent.
    `corrections` are what an operator taught the plan step. `prefilter` sends of a session only the person's turns and
    those in which the embedded engine hears something.
    """

    models: Mapping[str, str]
    format: Format = field(default_factory=Format)
    redact: Callable[[str], str] = _as_it_is
    in_repository: Callable[[str], bool] = _is_nowhere
    shows: Callable[[PageSummary], bool] = _is_hidden
    corrections: tuple[str, ...] = ()
    prefilter: bool = False


class ClaudeEngine:
    """Asks `asking`, keeps what was answered in `kept`, and falls back to `embedded` where the model refuses.

    `version` names the model and the prompt of *reflect* and nothing else: another plan or write prompt re-asks no
    reflection.
    """

    def __init__(
        self,
        asking: Asking,
        surroundings: Surroundings,
        *,
        kept: Kept | None = None,
        embedded: ExtractiveEngine | None = None,
        name: str = "claude",
    ) -> None:
        self.name = name
        self.asking = asking
        self._around = surroundings
        self._questions = Questioner(asking, surroundings.models, kept or KeptInMemory(), surroundings.redact)
        self._embedded = embedded or ExtractiveEngine()
        filtered = "-prefiltered" if surroundings.prefilter else ""
        self.version = f"{surroundings.models.get('reflect', 'default')}-{load_prompt('reflect').version}{filtered}"

    def reflect(self, session: Session, mode: EvidenceMode) -> tuple[Finding, ...]:
        """The findings of one session, chunk by chunk. Raises ProviderFault, CapReached or Unusable."""
        items = self._prefiltered(session, mode, items_of_session(session, mode))
        try:
            found = [self._reflect_on(part, session.id, session=session, mode=mode) for part in chunked(items)]
        except Refused:
            return self._embedded.reflect(session, mode)
        return reflecting.merged(found)

    def commit_groups(self, commits: Sequence[Commit]) -> tuple[tuple[Commit, ...], ...]:
        return commit_groups(commits)

    def reflect_on_commits(self, commits: Sequence[Commit]) -> tuple[Finding, ...]:
        """The findings of `commits`. Raises ProviderFault, CapReached or Unusable."""
        found = [self._reflect_on_group(group) for group in commit_groups(commits)]
        return reflecting.merged(found)

    def plan(
        self, findings: Sequence[Finding], pages: Sequence[PageSummary], format: Format, max_new_pages: int
    ) -> Plan:
        """What to do with every finding. Where the model cannot be asked, what is left waits for the next run."""
        own = [page for page in pages if self._around.shows(page)]
        draft = planning.Draft(own, format, Places(page.path for page in pages))
        categories = Categories.of(format, (page.category for page in own))
        parts = planning.questions(planning.sorted_out(findings, draft, categories))
        for number, part in enumerate(parts):
            if number and draft.created >= max_new_pages:  # what waits is not paid for again every night
                reason = f"over the cap of {max_new_pages} new pages in one run"
                draft.settle(part.values(), Outcome.PENDING, reason)
            else:
                self._plan_part(part, draft, max_new_pages)
        return Plan(
            actions=tuple(sorted(draft.actions.values(), key=lambda action: (action.path, action.id))),
            fates=tuple(sorted(draft.fates, key=lambda fate: (planning.in_time(fate.finding), fate.finding.id))),
        )

    def write(self, action: Action, page: PageSummary | None) -> PageContent:
        """What `action` adds to `page`. Raises NoChanges, Unusable, ProviderFault or CapReached."""
        section = self._around.format.categories.get(action.category) or FormatSection(name=action.category)
        sheet = Sheet.of(
            action,
            page,
            self._around.in_repository,
            max_bullets=section.max_bullets,
            max_lines=self._around.format.max_lines,
        )
        prompt = load_prompt("write")
        system = prompt.system(
            category=action.category,
            purpose=harmless(section.purpose or section.name),
            entry_fields=_entry_fields(section),
            max_bullets=section.max_bullets,
            max_sections=MOST_SECTIONS,
        )
        ask = Ask("write", action.path, system, sheet.content, write_schema(), WRITE_TOKENS, prompt.version)
        try:
            judged = self._questions.ask(ask, WriteAnswer, sheet.faults)
        except Refused:
            return self._embedded.write(action, page)
        except Unreadable as error:
            raise Unusable(str(error)) from error
        if judged.faults:
            part, reason = next(iter(judged.faults.items()))
            raise Unusable(f"What the model wrote for {action.path} did not stand twice: {part}: {reason}.")
        if judged.answer.outcome == "no_changes":
            raise NoChanges(f"{action.path} says it already: {judged.answer.reason}")
        return sheet.page_content(judged.answer)

    def _prefiltered(self, session: Session, mode: EvidenceMode, items: Sequence[Item]) -> Sequence[Item]:
        if not self._around.prefilter:
            return items
        heard = {finding.position for finding in self._embedded.reflect(session, mode)}
        return [item for item in items if item.speaker.value == "person" or item.position in heard]

    def _reflect_on_group(self, group: Sequence[Commit]) -> tuple[Finding, ...]:
        commits = {str(commit.id): commit for commit in group}
        subject = f"{len(group)} commits to {max(group, key=lambda one: (one.at, one.sha)).sha[:12]}"
        try:
            found = [self._reflect_on(part, subject, commits=commits) for part in chunked(items_of_commits(group))]
        except Refused:
            return self._embedded.reflect_on_commits(group)
        return reflecting.merged(found)

    def _reflect_on(
        self,
        items: Sequence[Item],
        subject: str,
        *,
        session: Session | None = None,
        mode: EvidenceMode = EvidenceMode.FULL,
        commits: Mapping[str, Commit] | None = None,
    ) -> tuple[Finding, ...]:
        reading = reflecting.Reading({item.id: item for item in items}, session, mode, commits)
        prompt = load_prompt("reflect")
        branch = (
            f"branch: {harmless(session.branch)}\n" if session and session.branch and mode is EvidenceMode.FULL else ""
        )
        content = branch + between("evidence", [item.render() for item in items]) + "\n"
        ask = Ask("reflect", subject, prompt.system(), content, reflect_schema(), REFLECT_TOKENS, prompt.version)
        try:
            judged = self._questions.ask(ask, ReflectAnswer, reading.faults)
        except Unreadable as error:
            raise Unusable(str(error)) from error
        return reading.findings(judged.answer)

    def _plan_part(self, part: Mapping[str, Finding], draft: planning.Draft, max_new_pages: int) -> None:
        folders = planning.folders(draft.format, draft.pages)
        most = max(_FEWEST_ON_A_PAGE, (draft.format.max_lines - LINES_AROUND) // (LINES_PER_STATEMENT + 1))
        pages = planning.pages_for(part.values(), draft.live)
        question = planning.Question(part, pages, list(folders), self._around.in_repository, most)
        ask = self._plan_ask(question, folders, draft.format, max_new_pages - draft.created)
        findings = list(part.values())
        try:
            judged = self._questions.ask(ask, PlanAnswer, question.faults)
        except (ProviderFault, CapReached) as error:
            draft.settle(findings, Outcome.PENDING, str(error))
        except Refused:
            self._plan_embedded(findings, draft, max_new_pages - draft.created)
        except EngineError as error:
            draft.settle(findings, Outcome.QUARANTINED, str(error))
        else:
            planning.apply(judged.answer, question, judged.faults, draft, max_new_pages)

    def _plan_ask(self, question: planning.Question, folders: Mapping[str, str], format: Format, most_new: int) -> Ask:
        prompt = load_prompt("plan")
        system = prompt.system(
            sections="\n".join(_folder_line(folder, told, format) for folder, told in folders.items()),
            corrections=_corrections(self._around.corrections),
            max_findings=question.most_findings,
            max_new_pages=max(0, most_new),
        )
        subject = f"{len(question.findings)} findings"
        return Ask("plan", subject, system, question.content, plan_schema(folders), PLAN_TOKENS, prompt.version)

    def _plan_embedded(self, findings: Sequence[Finding], draft: planning.Draft, most_new: int) -> None:
        """The embedded engine's plan for a part that the model refused, joined with what stands in `draft`."""
        planned = self._embedded.plan(findings, draft.pages, draft.format, max(0, most_new))
        for action in planned.actions:
            draft.places.new(action.category, action.slug, digest(action.id))
            draft.add(action)
        draft.fates += planned.fates


def _folder_line(folder: str, told: str, format: Format) -> str:
    section = format.categories.get(folder)
    fields = f" (entries say: {', '.join(section.entry_fields)})" if section and section.entry_fields else ""
    return harmless(f"- {folder}: {told}{fields}")


def _entry_fields(section: FormatSection) -> str:
    if not section.entry_fields:
        return ""
    return harmless(f"Entries there say, as far as the findings do: {', '.join(section.entry_fields)}.\n")


def _corrections(corrections: Sequence[str]) -> str:
    if not corrections:
        return ""
    listed = "\n".join(harmless(f"- {' '.join(each.split())}") for each in corrections)
    return f"\nWhat an operator corrected in earlier plans:\n\n{listed}\n"
