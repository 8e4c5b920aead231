"""Clears the runs that a crash left unfinished, before a worker starts: no run of ours can be alive then.

Run it with PREFECT_API_URL set, on a machine whose worker is stopped. With several machines, leave it to the night.
"""

from __future__ import annotations

import sys
from datetime import timedelta

from tasks.sweep import sweep_runs

MINUTES = 10.0


def main(arguments: list[str]) -> int:
    """`python -m deployments.sweep [MINUTES]`: only runs unfinished for longer than that."""
    minutes = float(arguments[0]) if arguments else MINUTES
    for cleared in sweep_runs((), timedelta(minutes=minutes)):
        print(cleared, file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
