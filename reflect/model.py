"""Ids and values that several rooms speak of.

Values made by the thousand while reading (turns, sessions, commits) are frozen dataclasses; values that are stored,
cached or printed (findings, plans, reports) are frozen pydantic models, so that each has one written form.
"""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass, field
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Any, NewType

from pydantic import BaseModel, ConfigDict, Field, StringConstraints

CheckpointId = NewType("CheckpointId", str)
CommitSha = NewType("CommitSha", str)
EvidenceId = NewType("EvidenceId", str)
"""`<checkpoint>/<session folder>` for a checkpoint session, the 40 hex digits for a commit."""

ProjectId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]

_CHECKPOINT = re.compile(r"[0-9a-f]{12}|[0-7][0-9A-HJKMNP-TV-Z]{25}")
_COMMIT = re.compile(r"[0-9a-f]{40}")

SHORT = 12
"""Digits of a commit id on a page: as wide as a hex checkpoint id, unique in any repository seen so far."""


def is_checkpoint_id(text: str) -> bool:
    """Whether `text` is 12 lower-case hex digits or a 26-character ULID."""
    return _CHECKPOINT.fullmatch(text) is not None


def session_evidence(checkpoint: CheckpointId, folder: int) -> EvidenceId:
    return EvidenceId(f"{checkpoint}/{folder}")


def commit_evidence(sha: CommitSha) -> EvidenceId:
    return EvidenceId(sha)


def evidence_kind(evidence: str) -> EvidenceKind:
    return EvidenceKind.COMMIT if _COMMIT.fullmatch(evidence) else EvidenceKind.SESSION


class EvidenceKind(StrEnum):
    SESSION = "session"
    COMMIT = "commit"


class Speaker(StrEnum):
    """Who wrote a text. Decided by its place and shape in the transcript, never by what it says."""

    PERSON = "person"
    ASSISTANT = "assistant"
    TOOL = "tool"
    HARNESS = "harness"


class Channel(StrEnum):
    """The way a text came in; together with the speaker it says what the text can be evidence of."""

    PROMPT = "prompt"
    COMMAND = "command"  # arguments of a slash command
    SHELL = "shell"  # a command the person ran from the prompt
    QUEUED = "queued"  # typed while the agent worked
    STEER = "steer"  # beside a tool result
    DENIAL = "denial"  # a refused tool call; the text is the reason, maybe empty
    INTERRUPTION = "interruption"  # the person pressed stop; no text
    ANSWER = "answer"  # to a question the agent asked; `about` is the question
    PLAN_APPROVED = "plan_approved"  # `about` is the plan
    PLAN_REJECTED = "plan_rejected"  # the text is the reason, `about` the plan
    REPLY = "reply"  # assistant prose
    TOOL_USE = "tool_use"  # `tool` is the name, the text is empty
    TOOL_RESULT = "tool_result"  # the text is kept for errors alone, bounded
    INJECTED = "injected"  # anything the harness put there


class Taint(StrEnum):
    """What third-party content had entered a conversation up to a turn."""

    CLEAN = "clean"
    UNTRUSTED = "untrusted"
    UNKNOWN = "unknown"  # the beginning is missing: never clean


class Origin(StrEnum):
    """Whose words a lesson goes back to (seed: Reflexion). Missing loads as untrusted."""

    CLEAN = "clean"
    UNTRUSTED = "untrusted"
    DERIVED = "derived"


class EvidenceMode(StrEnum):
    """What the engine was shown (seed: Reflexion). Missing loads as full."""

    FULL = "full"
    USER_TURNS = "user_turns"


class ReflectionKind(StrEnum):
    """The shape of a lesson. Says nothing about who may see it."""

    PROCEDURAL = "procedural"
    CORRECTIVE = "corrective"
    EPISODE_LESSON = "episode_lesson"


class Outcome(StrEnum):
    """The one state in which each piece of evidence ends."""

    COMPILED = "compiled"
    SKIPPED = "skipped"
    QUARANTINED = "quarantined"
    PENDING = "pending"


class Status(StrEnum):
    """A page's place in its life. The reference tool's `open` and `abandoned` are read and kept."""

    ACTIVE = "active"
    OPEN = "open"
    SUPERSEDED = "superseded"
    RESOLVED = "resolved"
    ABANDONED = "abandoned"


class Value(BaseModel):
    """A frozen value that is stored or printed."""

    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class Turn:
    """One thing said or done in a session.

    `position` is the zero-based line (JSONL) or message index in the stored transcript. `taint` covers everything
    up to the end of the turn. `key` is an 8-byte digest of (`type`, `uuid`), or of the content where there is no
    uuid: the same turn repeated by a later checkpoint has the same key. `offered` marks an answer in the words of a
    choice that the agent offered: the person's decision, not the person's words.
    """

    speaker: Speaker
    channel: Channel
    text: str
    position: int
    at: datetime | None = None
    taint: Taint = Taint.UNKNOWN
    tool: str | None = None
    about: str = ""
    is_error: bool = False
    cwd: str | None = None
    key: bytes = b""
    offered: bool = False


@dataclass(frozen=True, slots=True)
class Summary:
    """The summary Entire stored with a session. Written by a model: a claim, never a fact."""

    intent: str = ""
    outcome: str = ""
    learnings: tuple[str, ...] = ()
    friction: tuple[str, ...] = ()
    open_items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Session:
    """One session folder of one checkpoint, redacted, without the turns an earlier checkpoint already gave.

    `content` is the git tree id of the checkpoint's folder. `workspace` is the directory the session was started
    in, `workspaces` every directory its turns ran in, both as recorded on the machine it ran on. `taint` is the
    worst over the whole transcript and `tainted_by` says what brought it, in words. `automated` marks sessions
    without a person (tasks, reviews, imports, sub-agents).
    """

    checkpoint: CheckpointId
    folder: int
    content: str
    session_id: str
    agent: str
    created_at: datetime | None
    branch: str
    files: tuple[str, ...]
    turns: tuple[Turn, ...]
    taint: Taint
    tainted_by: str = ""
    workspace: str | None = None
    workspaces: tuple[str, ...] = ()
    automated: bool = False
    summary: Summary | None = None
    notes: tuple[str, ...] = ()

    @property
    def id(self) -> EvidenceId:
        return session_evidence(self.checkpoint, self.folder)


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of the default branch's history, redacted.

    `body` is the message below the subject with hard-wrapped paragraphs joined (paragraphs and list items keep a
    line each) and without trailers. `reverts` names the commits it says it reverts. `trusted` says whether its
    words count as the organisation's own.
    """

    sha: CommitSha
    parents: tuple[CommitSha, ...]
    author: str
    email: str
    at: datetime
    subject: str
    body: str
    checkpoints: tuple[CheckpointId, ...] = ()
    reverts: tuple[CommitSha, ...] = ()
    files: tuple[str, ...] = ()
    trusted: bool = True

    @property
    def id(self) -> EvidenceId:
        return commit_evidence(self.sha)


class Accounted(Value):
    """How one piece of evidence ended, and why."""

    id: str
    kind: EvidenceKind
    outcome: Outcome
    reason: str = ""


@dataclass(frozen=True, slots=True)
class EvidenceBatch:
    """What one run collected.

    `sessions` and `commits` go on to triage; `settled` are those that ended while being read. Every id of the three
    has its content hash in `contents`. `notes` say what could not be read or was left out, in sentences. `known` are
    the ids of all checkpoints and commits that exist, whether this run read them or not.
    """

    sessions: tuple[Session, ...] = ()
    commits: tuple[Commit, ...] = ()
    settled: tuple[Accounted, ...] = ()
    contents: dict[EvidenceId, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    left_out_commits: int = 0
    redactions: int = 0
    head: CommitSha | None = None
    default_branch: str | None = None
    floor: tuple[CommitSha, ...] = ()
    known: frozenset[str] = frozenset()

    @property
    def is_empty(self) -> bool:
        return not (self.sessions or self.commits or self.settled)


class SourceKind(StrEnum):
    CHECKPOINT = "checkpoint"
    COMMIT = "commit"


class Source(Value):
    """What a page's frontmatter lists: a checkpoint, or a commit by its first digits."""

    kind: SourceKind
    id: str

    @classmethod
    def of(cls, evidence: str) -> Source:
        if evidence_kind(evidence) is EvidenceKind.COMMIT:
            return cls(kind=SourceKind.COMMIT, id=evidence[:SHORT])
        return cls(kind=SourceKind.CHECKPOINT, id=evidence.split("/")[0])

    def __str__(self) -> str:
        return f"{self.kind} {self.id}"


class Finding(Value):
    """One claim worth remembering, with the words that carry it.

    `quote` stands verbatim in the evidence `evidence_id` at `position` (white space folded). `headline` is a short
    form of it for titles. `score` orders findings; nothing else may be read into it. `origin` and `evidence` are
    decided by code from who spoke and what had entered the session. `around` holds sentences beside the quote, verbatim
    and by the same author, that help to understand it. `workspace` is the directory the words were said in;
    `started_in` and `ran_in` are its session's `workspace` and `workspaces`, kept for a finding that waits. `context`
    is what the agent was doing, or the bare subject of the quote's commit. `sentence` counts the sentences before the
    quote at the same position. `checkpoints` are those that the quote's commit names: what was said there and what was
    committed belong together. `corroborated_by` is evidence that says the same words.
    """

    quote: str
    headline: str
    category: str
    kind: ReflectionKind
    evidence_id: str
    position: int
    sentence: int = 0
    speaker: Speaker
    said_at: datetime
    score: float
    signals: tuple[str, ...]
    origin: Origin
    evidence: EvidenceMode
    session_tainted: bool = False
    always_on: bool = False
    trigger: str = ""
    context: str = ""
    around: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    workspace: str | None = None
    started_in: str | None = None
    ran_in: tuple[str, ...] = ()
    corroborated_by: tuple[str, ...] = ()
    checkpoints: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        return digest(self.evidence_id, self.position, self.quote)

    @property
    def evidence_ids(self) -> tuple[str, ...]:
        return (self.evidence_id, *self.corroborated_by)

    @property
    def source(self) -> Source:
        return Source.of(self.evidence_id)


class Operation(StrEnum):
    CREATE = "create"
    UPDATE = "update"
    RESOLVE = "resolve"


class Action(Value):
    """What to do with one page, and why. `path` is `<category>/<slug>.md` below the wiki."""

    operation: Operation
    category: str
    slug: str
    title: str
    reason: str
    findings: tuple[Finding, ...]
    digest: bool = False
    tags: tuple[str, ...] = ()

    @property
    def path(self) -> str:
        return f"{self.category}/{self.slug}.md"

    @property
    def id(self) -> str:
        return digest(self.operation, self.path, *sorted(f.id for f in self.findings))

    @property
    def evidence_ids(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(e for f in self.findings for e in f.evidence_ids))


class Fate(Value):
    """Where a finding went when it did not go into an action."""

    finding: Finding
    outcome: Outcome
    reason: str


class Plan(Value):
    """What a run means to do. Every finding is in exactly one action or has a fate."""

    actions: tuple[Action, ...] = ()
    fates: tuple[Fate, ...] = ()


class Passage(Value):
    """One statement on a page with what it rests on. `quoted` says that the text is verbatim in that evidence."""

    text: str
    evidence_ids: tuple[str, ...]
    said_at: datetime
    quoted: bool = True


class Section(Value):
    """Passages below one heading. One that comes `first` stands before everything the page said until now."""

    heading: str
    passages: tuple[Passage, ...]
    first: bool = False


class PageContent(Value):
    """What an engine has to say on one page. Layout, frontmatter, links and citations are code's, not the engine's."""

    title: str
    sections: tuple[Section, ...]
    tags: tuple[str, ...] = ()


class PageSummary(Value):
    """A page as triage sees it."""

    path: str
    category: str
    slug: str
    title: str
    lead: str
    body: str
    status: str
    updated: date | None = None
    sources: tuple[Source, ...] = ()
    tags: tuple[str, ...] = ()
    project_id: str | None = None
    digest: bool = False
    scope_keys: dict[str, Any] = Field(default_factory=dict)
    """The frontmatter's flat scope and provenance keys exactly as they stand there; empty on other tools' pages."""


def digest(*parts: object) -> str:
    """Twelve hex digits that stand for `parts`: the same on every machine and in every run."""
    raw = "\x1f".join(str(part) for part in parts)
    return hashlib.sha256(raw.encode("utf-8", "surrogatepass")).hexdigest()[:12]
