"""`log.md`: what each run did, oldest first. Entries are only ever added at the end.

The heading of an entry carries the run's id: the ledger's rows of a run count only while its entry stands here, so a
wiki that was thrown away, or a clone without it, is compiled again. The log never has frontmatter.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date

from reflect.model import Operation
from reflect.wiki.markdown import fold

TITLE = "# Wiki Ingest Log"

_RUN = r"[0-9A-Za-z_-]+"
_LANDED = re.compile(rf"^## \[\d{{4}}-\d{{2}}-\d{{2}}\] ingest \| run ({_RUN})(?: \||[ \t]*\r?$)", re.MULTILINE)

_ENTRY = re.compile(rf"## \[(\d{{4}}-\d{{2}}-\d{{2}})\] (ingest|archive|review) \| (?:run|item) ({_RUN})(?: \||$)")
_CHANGE = re.compile(r"- (create|update|resolve|archive) (.+\.md)")

_APPROVED = re.compile(rf"^## \[\d{{4}}-\d{{2}}-\d{{2}}\] review \| item ({_RUN}) \|", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class LogEntry:
    """One run's entry. `day` is the UTC day of the newest evidence it took in; `changes` are in the order written."""

    day: date
    run_id: str
    changes: Sequence[tuple[Operation, str]]

    def render(self) -> str:
        """The entry as Markdown, ending in a line feed."""
        counts = Counter(operation for operation, _ in self.changes)
        said = f"{counts[Operation.CREATE]} created, {counts[Operation.UPDATE]} updated"
        heading = f"## [{self.day}] ingest | run {self.run_id} | {said}, {counts[Operation.RESOLVE]} resolved"
        return "\n".join([heading, *(f"- {operation} {fold(path)}" for operation, path in self.changes)]) + "\n"


def archive_entry(day: date, run_id: str, moves: Sequence[tuple[str, str]]) -> str:
    """The entry of the pages that a run moved to the archive."""
    heading = f"## [{day}] archive | run {run_id} | {len(moves)} moved"
    return "\n".join([heading, *(f"- archive {fold(path)} -> {fold(target)}" for path, target in moves)]) + "\n"


def review_entry(day: date, item_id: str, operation: Operation, path: str) -> str:
    """The entry of a page that an operator's approval of the review item `item_id` wrote."""
    return f"## [{day}] review | item {item_id} | approved\n- {operation} {fold(path)}\n"


def landed_approvals(log_text: str) -> frozenset[str]:
    """The ids of the review items whose approval stands in this wiki."""
    return frozenset(_APPROVED.findall(log_text))


def with_entry(log: bytes | None, entry: str) -> bytes:
    """`log` with `entry` at its end, unless it stands there; what stood there stays byte for byte."""
    if log is None or not log.strip():
        return (log or b"") + f"{TITLE}\n\n{entry}".encode()
    newline = b"\r\n" if b"\r\n" in log else b"\n"
    written = entry.encode().replace(b"\n", newline)
    if _heading_stands(log, written.splitlines()[0]):
        return log
    ends = log.endswith((b"\n", b"\r"))
    gap = b"" if log.endswith((b"\n\n", b"\r\n\r\n")) else newline
    return log + (b"" if ends else newline) + gap + written


def changes_of(log_text: str) -> Iterator[tuple[date, str, str]]:
    """What the log says was done: the day, the word for it and the page, in the order written; a page that was moved
    by the path it had. Lines in no known form are passed over: people write here too."""
    day: date | None = None
    for line in log_text.splitlines():
        if line.startswith("## "):
            entry = _ENTRY.match(line.rstrip())
            day = _day(entry[1]) if entry else None
        elif day is not None and (change := _CHANGE.fullmatch(line.rstrip())):
            yield day, change[1], change[2].partition(" -> ")[0]


def _day(written: str) -> date | None:
    try:
        return date.fromisoformat(written)
    except ValueError:
        return None


def landed_runs(log_text: str) -> frozenset[str]:
    """The ids of the runs whose pages stand in this wiki."""
    return frozenset(_LANDED.findall(log_text))


def newest_landed(log_text: str) -> str | None:
    """The run whose pages landed last in this wiki, None where none did."""
    found = _LANDED.findall(log_text)
    return found[-1] if found else None


def _heading_stands(log: bytes, heading: bytes) -> bool:
    return any(line.rstrip() == heading.rstrip() for line in log.splitlines())
