"""Cards for judges: what a run published, and controls, each with its evidence and without its maker's name."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from reflect.model import Commit, EvidenceBatch, Session, Source, Speaker
from reflect.triage.extractive.sentences import paragraphs, sentences
from reflect.wiki.page import Page
from reflect.wiki.passages import CitedQuote, cited_quotes

CONTROL = "control"
"""Where a card comes from that no page stands behind."""

_AROUND = 700


@dataclass(frozen=True, slots=True)
class Card:
    """Statements under a title. `origin` is the page's path, or `CONTROL`; judges are not shown it."""

    origin: str
    title: str
    statements: tuple[str, ...]
    evidence: tuple[str, ...]

    def render(self, number: int) -> str:
        said = (f"{place}. {statement}" for place, statement in enumerate(self.statements, 1))
        shown = (f"```text\n{text}\n```" for text in self.evidence)
        return "\n".join((f"## Card {number}: {self.title}", "", *said, "", "Evidence:", "", *shown, ""))


class Sources:
    """The words behind a citation, as a judge may see them."""

    def __init__(self, batch: EvidenceBatch) -> None:
        self._commits = {Source.of(commit.id): commit for commit in batch.commits}
        self._sessions: dict[Source, list[Session]] = {}
        for session in batch.sessions:
            self._sessions.setdefault(Source.of(session.id), []).append(session)

    def behind(self, quote: CitedQuote) -> Iterator[str]:
        for source in quote.sources:
            if commit := self._commits.get(source):
                yield _message(commit)
            for session in self._sessions.get(source, ()):
                yield from _turn_with(session, quote.text)


def page_cards(pages: Iterable[tuple[Page, str]], sources: Sources) -> Iterator[Card]:
    """A card for each page and what its body was before the run: with the statements that are new on it."""
    for page, before in pages:
        stood = {quote.text for quote in cited_quotes(before)}
        new = [quote for quote in cited_quotes(page.body) if quote.text not in stood]
        if new:
            evidence = dict.fromkeys(text for quote in new for text in sources.behind(quote))
            yield Card(page.path, page.title, tuple(quote.text for quote in new), tuple(evidence))


def control_cards(batch: EvidenceBatch, published: Iterable[str], count: int, seed: int) -> Iterator[Card]:
    """Cards put together from sentences nobody published, one to three that stand side by side."""
    known = "\n".join(published)
    chance = random.Random(seed)
    candidates = [
        (kept, text) for text in _texts(batch) if (kept := [said for said in _said(text) if said not in known])
    ]
    for lines, text in chance.sample(candidates, min(count, len(candidates))):
        begin = chance.randrange(len(lines))
        chosen = tuple(lines[begin : begin + chance.randint(1, 3)])
        yield Card(CONTROL, chosen[0][:70], chosen, (text,))


def sheet(cards: Sequence[Card], seed: int) -> tuple[str, Mapping[str, str]]:
    """The cards in an order that tells nothing, as one text, and the origin of each by its number."""
    shuffled = random.Random(seed).sample(cards, len(cards))
    text = "\n".join(card.render(number) for number, card in enumerate(shuffled, 1))
    return text, {str(number): card.origin for number, card in enumerate(shuffled, 1)}


def _texts(batch: EvidenceBatch) -> Iterator[str]:
    yield from map(_message, batch.commits)
    for session in batch.sessions:
        for turn in session.turns:
            if turn.speaker is Speaker.PERSON and turn.text.strip():
                yield f"A person typed:\n{turn.text[: 2 * _AROUND]}"


def _said(text: str) -> list[str]:
    prose = paragraphs(text.partition("\n")[2])
    return [said for paragraph in prose for said in sentences(paragraph.text) if 20 < len(said) < 400]


def _message(commit: Commit) -> str:
    return f"Commit {commit.sha[:12]}: {commit.subject}\n{commit.body}".rstrip()


def _turn_with(session: Session, quote: str) -> Iterator[str]:
    """What the person typed that holds `quote`, cut where it is long, and what the agent had said before it."""
    folded = " ".join(quote.split())
    before = ""
    for turn in session.turns:
        if turn.speaker is Speaker.ASSISTANT and turn.text.strip():
            before = turn.text
        at = " ".join(turn.text.split()).find(folded)
        if turn.speaker is Speaker.PERSON and at >= 0:
            text = " ".join(turn.text.split())
            said = text[max(0, at - _AROUND) : at + len(folded) + _AROUND]
            yield f"The agent had said (its end): {before[-_AROUND:]}\nA person typed: {said}"
            return
