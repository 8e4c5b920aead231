"""What stands on a page out of what a model wrote, each statement with the words that carry it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from reflect.folding import fold
from reflect.model import Action, Finding, Operation, PageContent, PageSummary, Passage, Section
from reflect.triage.claude.checks import Checker, Claim, check_quote, shown
from reflect.triage.claude.evidence_blocks import between, harmless
from reflect.triage.claude.planning import in_time
from reflect.triage.claude.reflecting import BRANCH
from reflect.triage.claude.schemas import WriteAnswer, WrittenBullet
from reflect.triage.extractive.newest import replaced_on, superseded
from reflect.triage.extractive.writing import NOW, RESOLVED
from reflect.triage.words import folded

MOST_SECTIONS = 6
LINES_AROUND = 12
"""Lines of a page that are no statement: frontmatter, title, banner."""

LINES_PER_STATEMENT = 4
"""A sentence and the quote below it, each with an empty line."""

_PAGE_CHARS = 20_000
_HEADING = re.compile(r"^#{2,3}\s+(.+?)\s*#*\s*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Sheet:
    """One page to be written: its findings by the number they are sent under, oldest first."""

    action: Action
    page: PageSummary | None
    findings: Mapping[str, Finding]
    checker: Checker
    max_bullets: int
    max_lines: int

    @classmethod
    def of(
        cls,
        action: Action,
        page: PageSummary | None,
        in_repository: Callable[[str], bool],
        *,
        max_bullets: int,
        max_lines: int,
    ) -> Sheet:
        ordered = sorted(action.findings, key=in_time)
        numbered = {f"f{number}": finding for number, finding in enumerate(ordered, start=1)}
        body = page.body if page is not None else ""
        checker = Checker(in_repository, page=f"{action.title} {body}", superseded=superseded(ordered))
        return cls(action, page, numbered, checker, max_bullets, max_lines)

    @property
    def content(self) -> str:
        said = [self._block(name, finding) for name, finding in self.findings.items()]
        parts = [f"{self.action.operation.value}: {harmless(self.action.title)}", between("findings", said)]
        if self.page is not None:
            parts.append(between("page", [harmless(_sent(self.page))]))
        return "\n".join(parts) + "\n"

    def faults(self, answer: WriteAnswer) -> dict[str, str]:
        """What is wrong with `answer`, by the part that is; empty where it may land."""
        if answer.outcome == "no_changes":
            return self._no_changes_faults(answer)
        found: dict[str, str] = {}
        if self.page is None and (fault := self.checker.fault_of_name(answer.title, self._all)):
            found["title"] = fault
        for number, bullet in enumerate(answer.bullets, start=1):
            if fault := self.fault_of(bullet):
                found[f"bullet {number} ({shown(bullet.text)})"] = fault
        return found | self._whole_faults(answer)

    def fault_of(self, bullet: WrittenBullet) -> str | None:
        unknown = [name for name in bullet.findings if name not in self.findings]
        if unknown or not bullet.findings:
            return f"no finding {unknown[0]!r} was sent" if unknown else "it names no finding it rests on"
        cited = [self.findings[name] for name in bullet.findings]
        if not check_quote(bullet.quote, cited):
            return f"its quote {shown(bullet.quote)} does not stand in the findings it names"
        if bullet.replaces and (self.page is None or folded(bullet.replaces) not in folded(self.page.body)):
            return f"the page does not say {shown(bullet.replaces)}, which it is to replace"
        return self.checker.fault_of(Claim(fold(bullet.text), fold(bullet.heading), fold(bullet.quote), cited))

    def page_content(self, answer: WriteAnswer) -> PageContent:
        """The bullets as sections in the order of their first bullet; what replaces something comes first."""
        sections: dict[tuple[str, bool], list[Passage]] = {}
        quoted: set[str] = set()
        for bullet in answer.bullets:
            cited = [self.findings[name] for name in dict.fromkeys(bullet.findings)]
            first = self.page is not None and self._replaces(bullet, cited)
            heading = NOW if first else self._heading(bullet)
            sections.setdefault((heading, first), []).extend(_passages(bullet, cited, quoted))
        title = fold(answer.title) if self.page is None else self.action.title
        made = tuple(
            Section(heading=heading, passages=tuple(passages), first=first)
            for (heading, first), passages in sections.items()
        )
        return PageContent(title=title, sections=made, tags=self.action.tags)

    @property
    def _all(self) -> list[Finding]:
        return list(self.findings.values())

    def _no_changes_faults(self, answer: WriteAnswer) -> dict[str, str]:
        if self.page is None:
            return {"outcome": "there is no page yet, so there is something to say"}
        if answer.bullets or not answer.reason.strip():
            return {"outcome": "no_changes goes with a reason and without bullets"}
        return {}

    def _whole_faults(self, answer: WriteAnswer) -> dict[str, str]:
        found: dict[str, str] = {}
        used = {name for bullet in answer.bullets for name in bullet.findings}
        if missing := [name for name in self.findings if name not in used]:
            found["bullets"] = f"nothing is said of {', '.join(missing)} (omitted decision)"
        counts = Counter(fold(bullet.heading).casefold() for bullet in answer.bullets)
        if len(counts) > MOST_SECTIONS:
            found["sections"] = f"there are {len(counts)} of them, more than {MOST_SECTIONS}"
        if counts and max(counts.values()) > self.max_bullets:
            found["sections"] = f"one holds more than {self.max_bullets} bullets"
        lines = LINES_AROUND + 2 * len(counts) + LINES_PER_STATEMENT * len(answer.bullets)
        if self.page is None and lines > self.max_lines:
            found["length"] = f"the page would have about {lines} lines, more than {self.max_lines}"
        return found

    def _replaces(self, bullet: WrittenBullet, cited: Sequence[Finding]) -> bool:
        assert self.page is not None
        return bool(bullet.replaces) or any(replaced_on(self.page, finding) is not None for finding in cited)

    def _heading(self, bullet: WrittenBullet) -> str:
        if self.action.operation is Operation.RESOLVE and not self._standing(bullet):
            return RESOLVED
        return self._standing(bullet) or fold(bullet.heading)

    def _standing(self, bullet: WrittenBullet) -> str:
        """The page's own heading where the bullet names it, in the page's spelling."""
        wanted = fold(bullet.heading).casefold()
        headings = _HEADING.findall(self.page.body) if self.page is not None else []
        return next((fold(heading) for heading in headings if fold(heading).casefold() == wanted), "")

    def _block(self, name: str, finding: Finding) -> str:
        branch = "".join(
            f" | on {signal.replace(BRANCH, 'branch ')}" for signal in finding.signals if signal.startswith(BRANCH)
        )
        old = " | a later finding takes this back" if finding.id in self.checker.superseded else ""
        head = f"[{name} | {finding.said_at:%Y-%m-%d %H:%M} | {finding.speaker.value}{branch}{old}]"
        lines = [f"{head} {fold(finding.quote)}", *(f"  beside it: {fold(text)}" for text in finding.around)]
        return harmless("\n".join(lines))


def _passages(bullet: WrittenBullet, cited: Sequence[Finding], quoted: set[str]) -> list[Passage]:
    """The sentence, and below it, once on a page, the words it rests on; a sentence that is them stands as a quote."""
    carrier = next(each for each in cited if check_quote(bullet.quote, [each]))
    words = next(text for text in (carrier.quote, *carrier.around) if fold(bullet.quote) in fold(text))
    text = fold(bullet.text)
    newest = max(finding.said_at for finding in cited)
    evidence = tuple(dict.fromkeys(name for finding in cited for name in finding.evidence_ids))
    passages: list[Passage] = []
    if folded(text) != folded(words):
        passages.append(Passage(text=text, evidence_ids=evidence, said_at=newest, quoted=False))
    if folded(words) not in quoted:
        quoted.add(folded(words))
        ids = carrier.evidence_ids if words == carrier.quote else (carrier.evidence_id,)
        passages.append(Passage(text=fold(words), evidence_ids=ids, said_at=carrier.said_at))
    return passages


def _sent(page: PageSummary) -> str:
    """The page as it stands; of one that no page of ours could be, its headings and its first statement."""
    if len(page.body) <= _PAGE_CHARS:
        return page.body.strip()
    return "\n".join((f"# {page.title}", page.lead, *(f"## {heading}" for heading in _HEADING.findall(page.body))))
