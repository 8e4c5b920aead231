"""Stop asking a provider that fails again and again."""

from __future__ import annotations

import threading

from reflect.triage.claude.faults import ProviderFault, Stopped

FAILURES = 3


class Breaker:
    """Open after FAILURES questions in a row without an answer, or one that no other could fare better than."""

    def __init__(self, failures: int = FAILURES) -> None:
        self._most = failures
        self._row = 0
        self._why: str | None = None
        self._lock = threading.Lock()

    def check(self) -> None:
        """Raise Stopped where nothing more is asked in this run."""
        with self._lock:
            if self._why is not None:
                raise Stopped(f"Nothing more is asked in this run: {self._why}", hopeless=True)

    def answered(self) -> None:
        with self._lock:
            self._row = 0

    def failed(self, fault: ProviderFault) -> None:
        with self._lock:
            self._row += 1
            if self._why is None and (fault.hopeless or self._row >= self._most):
                self._why = str(fault)
