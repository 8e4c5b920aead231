"""What a check has to say about one page."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from reflect.model import Value


class Severity(StrEnum):
    """How bad it is: an error misleads readers, a warning will, a hint is worth a look."""

    ERROR = "error"
    WARNING = "warning"
    HINT = "hint"


SEVEREST_FIRST = tuple(Severity)


class LintFinding(Value):
    """One fault.

    `path` is relative to the wiki, empty for the wiki as a whole; `line` counts from 1, 0 where none is meant.
    `fixable` says that `--fix` would mend it.
    """

    code: str
    severity: Severity
    path: str
    line: int = 0
    detail: str
    fixable: bool = False

    @property
    def order(self) -> tuple[int, str, int, str, str]:
        return SEVEREST_FIRST.index(self.severity), self.path, self.line, self.code, self.detail

    def as_json(self) -> dict[str, Any]:
        return self.model_dump(mode="json")
