"""The sessions of a repository: what was said, what became of it, and which pages rest on it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from datetime import UTC, datetime

from reflect.errors import ConfigurationError
from reflect.evidence.checkpoints import read_stored
from reflect.evidence.folders import NewFolder, new_folders
from reflect.evidence.redaction import Redactor
from reflect.ledger.reading import Account
from reflect.model import Outcome, SourceKind, Value
from reflect.overview.visible import Visible
from reflect.search.find import up_to_date
from reflect.workspace import Workspace

NOT_READ = "not read yet"


class SessionLine(Value):
    """One session. `at` is when it began, None where that is not recorded; `outcome` None where no run has read it.

    `shown` is what an engine was shown of it (`full`, `user_turns`; empty for nothing), `tainted_by` why not all;
    `pages` are those that cite its checkpoint.
    """

    id: str
    checkpoint: str
    at: datetime | None
    agent: str
    branch: str
    title: str
    outcome: Outcome | None
    reason: str
    shown: str
    tainted_by: str
    pages: tuple[str, ...]


class SessionDetail(SessionLine):
    """One session with the words that a person typed in it and its summary, redacted."""

    text: str


class Sessions(Value):
    """All sessions, newest first. `withheld` more belong to another project and are not shown."""

    sessions: tuple[SessionLine, ...]
    withheld: int


def list_sessions(workspace: Workspace, visible: Visible | None = None) -> Sessions:
    """Every session that the project may see, read by a run or not."""
    seen = visible or Visible.of(workspace)
    with workspace.ledger() as ledger:
        accounts = ledger.accounts(workspace.project.project_id, workspace.landed_runs())
    cited = _citing(seen)
    redactor = Redactor(workspace.config.redact)
    folders = [folder for folder in _folders(workspace) if folder.id not in seen.withheld_sessions]
    lines = [_line(folder, seen, accounts, cited, redactor) for folder in folders]
    first = datetime.min.replace(tzinfo=UTC)
    newest_first = sorted(sorted(lines, key=lambda one: one.id), key=lambda one: one.at or first, reverse=True)
    return Sessions(sessions=tuple(newest_first), withheld=len(seen.withheld_sessions))


def find_sessions(workspace: Workspace, wanted: str) -> tuple[SessionDetail, ...]:
    """The sessions whose id, or whose checkpoint's, begins with `wanted`, newest first.

    Raises ConfigurationError where there is none.
    """
    seen = Visible.of(workspace)
    listed = list_sessions(workspace, seen)
    found = [one for one in listed.sessions if one.id.lower().startswith(wanted.lower())] if wanted else []
    if not found:
        raise ConfigurationError(
            f"No session of {workspace.project.project_id} has an id that begins with {wanted[:80]!r}; nothing was "
            "changed; `reflect sessions` lists them."
        )
    with up_to_date(workspace) as index:
        asking = workspace.project.project_id
        return tuple(SessionDetail(**one.model_dump(), text=index.said_in(one.id, asking)) for one in found)


def _folders(workspace: Workspace) -> list[NewFolder]:
    git = workspace.git
    with git.objects() as reader:
        return new_folders(git, reader, read_stored(reader, git, git.refs()).folders, {})


def _citing(seen: Visible) -> Mapping[str, tuple[str, ...]]:
    """The project's own pages by the checkpoint they cite."""
    pages: dict[str, list[str]] = defaultdict(list)
    for page in seen.pages:
        for source in page.sources if page.is_own else ():
            if source.kind is SourceKind.CHECKPOINT:
                pages[source.id].append(page.path)
    return {checkpoint: tuple(sorted(paths)) for checkpoint, paths in pages.items()}


def _line(
    folder: NewFolder,
    seen: Visible,
    accounts: Mapping[str, Account],
    cited: Mapping[str, tuple[str, ...]],
    redactor: Redactor,
) -> SessionLine:
    account = accounts.get(folder.id)
    checkpoint = folder.stored.checkpoint
    return SessionLine(
        id=folder.id,
        checkpoint=checkpoint,
        at=folder.metadata.created_at,
        agent=redactor.redact(folder.metadata.agent),
        branch=redactor.redact(folder.metadata.branch),
        title=seen.sessions.get(folder.id, ""),
        outcome=account.outcome if account else None,
        reason=account.reason if account else NOT_READ,
        shown=account.mode.value if account and account.mode else "",
        tainted_by=account.tainted_by if account else "",
        pages=cited.get(checkpoint, ()),
    )
