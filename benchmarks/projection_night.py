"""One night of `benchmarks.projection`, in a process whose memory is its own: `… projection_night ORGANISATION`."""

from __future__ import annotations

import json
import resource
import sys
from pathlib import Path

from reflect.cli.orchestrator import quiet_orchestrator
from reflect.organisation.night import NightReport


def main() -> None:
    quiet_orchestrator(announce=False)
    from flows.organisation import ingest_organisation

    state = ingest_organisation(Path(sys.argv[1]), return_state=True)
    report = state.result()
    if not isinstance(report, NightReport):
        raise RuntimeError(f"the night gave no report: {report!r}")
    done = sum(project.state.value == "done" for project in report.projects)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"done": done, "memory_mb": memory}))


if __name__ == "__main__":
    main()
