"""How Prefect behaves when a person runs it from the command line: quiet, private, and without a heartbeat thread.

Only defaults are set: whatever the environment already says stands.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from reflect.errors import OrchestratorError

_DEFAULTS = {
    "DO_NOT_TRACK": "1",
    "PREFECT_SERVER_ANALYTICS_ENABLED": "false",
    "PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS": "120",
    # A heartbeat costs every flow run up to a second at its end, and nobody watches a run in the foreground for one.
    "PREFECT_FLOWS": '{"heartbeat_frequency": null}',
    # The recorder's default of one event per transaction keeps a server busy for half a minute per thousand tasks.
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_BATCH_SIZE": "100",
    "PREFECT_SERVER_SERVICES_TASK_RUN_RECORDER_READ_BATCH_SIZE": "100",
    # Failures are told in one sentence by the command; the run's own log, in the UI, keeps the whole of it.
    "PREFECT_LOGGING_HANDLERS_CONSOLE_LEVEL": "CRITICAL",
    "PREFECT_LOGGING_EXTRA_LOGGERS": "reflect",
    "PREFECT_INTERNAL_LOGGING_LEVEL": "CRITICAL",
}


def quiet_orchestrator(*, announce: bool) -> None:
    """Set the defaults; must run before Prefect is imported for the first time."""
    for name, value in _DEFAULTS.items():
        os.environ.setdefault(name, value)
    if announce and not os.environ.get("PREFECT_API_URL"):
        print("Starting Prefect (without a server of your own this takes 10 to 20 seconds) …", file=sys.stderr)


@contextmanager
def server_explained() -> Iterator[None]:
    """Say in one sentence that the Prefect server cannot be reached; Prefect raises a bare RuntimeError for it."""
    try:
        yield
    except RuntimeError as error:
        if not str(error).startswith("Failed to reach API"):
            raise
        raise OrchestratorError(
            f"The Prefect server at PREFECT_API_URL={os.environ.get('PREFECT_API_URL', '')!r} does not answer; nothing "
            "was changed; start it, or unset PREFECT_API_URL to run with a temporary one."
        ) from error
