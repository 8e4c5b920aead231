"""Values for tests of the wiki, in one line each."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from hypothesis import HealthCheck, settings

from reflect.model import (
    Action,
    EvidenceMode,
    Finding,
    Operation,
    Origin,
    PageContent,
    Passage,
    ReflectionKind,
    Section,
    Speaker,
)
from reflect.wiki.draft import PageDraft, draft_page
from reflect.wiki.frontmatter import Written
from reflect.wiki.related import Neighbours
from reflect.wiki.store import WikiState

for_any = settings(deadline=None, derandomize=True, database=None, suppress_health_check=[HealthCheck.too_slow])
"""How properties are tried: the same inputs on every machine, and no clock."""

PAGES = Path(__file__).parents[1] / "data" / "pages"
SESSION = "4ecb34b81a12/0"
OTHER_SESSION = "b2a5adf63dd2/1"
COMMIT = "993631c0abcd" + "0" * 28
DAY = datetime(2026, 5, 1, 23, 30, tzinfo=UTC)
KEYS: dict[str, Written] = {"memory_type": "fact", "scope": "project", "project_id": "0123", "always_on": False}


def stored(name: str) -> bytes:
    return (PAGES / name).read_bytes()


def passage(text: str, *evidence: str, at: datetime = DAY, quoted: bool = True) -> Passage:
    return Passage(text=text, evidence_ids=evidence or (SESSION,), said_at=at, quoted=quoted)


def content(
    *passages: Passage, heading: str = "What was said", title: str = "Retry policy", tags: tuple[str, ...] = ()
) -> PageContent:
    return PageContent(title=title, sections=(Section(heading=heading, passages=passages),), tags=tags)


def finding(quote: str = "cap at three", evidence: str = SESSION) -> Finding:
    return Finding(
        quote=quote,
        headline=quote,
        category="decisions",
        kind=ReflectionKind.PROCEDURAL,
        evidence_id=evidence,
        position=1,
        speaker=Speaker.PERSON,
        said_at=DAY,
        score=1.0,
        signals=(),
        origin=Origin.CLEAN,
        evidence=EvidenceMode.FULL,
    )


def action(
    path: str = "decisions/retry-policy.md",
    operation: Operation = Operation.CREATE,
    findings: tuple[Finding, ...] = (),
    digest: bool = False,
) -> Action:
    category, _, name = path.rpartition("/")
    return Action(
        operation=operation,
        category=category,
        slug=name.removesuffix(".md"),
        title="Retry policy",
        reason="said twice",
        findings=findings,
        digest=digest,
    )


def drafted(
    page: PageContent, current: bytes | None = None, *, of: Action | None = None, state: WikiState | None = None
) -> PageDraft:
    wanted = of or action(operation=Operation.CREATE if current is None else Operation.UPDATE)
    neighbours = Neighbours.of(state or WikiState())
    return draft_page(wanted, page, current, keys=KEYS, neighbours=neighbours)


def put(folder: Path, path: str, text: str | bytes) -> Path:
    """Write one file below `folder` and return its place."""
    file = folder / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def page_text(title: str = "T", body: str = "Text.", **keys: str) -> str:
    """A page whose frontmatter holds `keys` as they are written."""
    block = "".join(f"{key}: {value}\n" for key, value in ({"status": "active"} | keys).items())
    return f"---\n{block}---\n\n# {title}\n\n{body}\n"


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below `folder`."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file()}
