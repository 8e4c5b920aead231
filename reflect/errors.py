"""What can go wrong, as a tree.

ReflectError
├── ConfigurationError      a file or setting the user wrote cannot be used        (exit 2)
├── RepositoryError         git cannot give what was asked                         (exit 4)
├── EvidenceError           one checkpoint, session or commit cannot be read       (its outcome)
├── PlanError               a plan breaks its contract                             (exit 4)
├── ScopeError              a scope or provenance rule was broken by a caller      (exit 4)
├── WikiError               the wiki could not be read or landed                   (exit 4)
│   └── PageError           one page does not parse                                (its outcome)
├── PublishError            a wiki that has landed could not be written back       (its outcome, exit 3)
├── SearchError             the index cannot be made, or qmd was required and is not there (exit 4)
├── LedgerError             the ledger cannot be opened, migrated or written       (exit 4)
├── EngineError             an engine gave no usable answer                        (its outcome)
├── OrchestratorError       the Prefect server cannot be reached                   (exit 4)
├── TimeLimitReached        the work took longer than it may                       (exit 4)
└── RepositoryBusy          another run holds the repository                       (exit 5)

Every message is one sentence that says what failed, on what, the value, what was left untouched, and what to
run next where there is something to run.
"""

from __future__ import annotations

from typing import ClassVar


class ReflectError(Exception):
    """Any failure this product foresees."""

    exit_code: ClassVar[int] = 4


class ConfigurationError(ReflectError):
    """A file or setting the user wrote cannot be used."""

    exit_code = 2


class RepositoryError(ReflectError):
    """Git cannot give what was asked of a repository."""


class EvidenceError(ReflectError):
    """One checkpoint, session or commit cannot be read."""


class PlanError(ReflectError):
    """A plan breaks its contract."""


class ScopeError(ReflectError):
    """A caller broke a rule of scope or provenance."""


class WikiError(ReflectError):
    """The wiki could not be read or landed."""


class PageError(WikiError):
    """One page does not parse; its bytes stay as they are."""


class PublishError(ReflectError):
    """A wiki that has landed could not be written back; its pages stand in the work tree."""

    exit_code = 3


class SearchError(ReflectError):
    """The index cannot be made, or qmd was required and cannot answer."""


class LedgerError(ReflectError):
    """The ledger cannot be opened, migrated or written."""


class EngineError(ReflectError):
    """An engine gave no usable answer."""


class ReportError(ReflectError):
    """A report could not be written where it was to go."""


class OrchestratorError(ReflectError):
    """The Prefect server cannot be reached."""


class TimeLimitReached(ReflectError):
    """The work took longer than it may."""


class RepositoryBusy(ReflectError):
    """Another run holds the repository."""

    exit_code = 5
