"""Eight ways in which a memory goes wrong, ten cases each, for both engines.

`python -m benchmarks.integrity [--record]`
The extractive engine ingests what was said and must show it as it was said, the newest in front. The Claude engine is
served a page that gets it wrong, by a local server that speaks its API, and must turn it away for that very reason.
"""

from __future__ import annotations

import sys
from collections import Counter

from benchmarks.evidence import Floor, Proof
from benchmarks.integrity.extractive import cases, failures
from benchmarks.integrity.served import uncaught


def main() -> int:
    every = cases()
    wrong, missed = failures(every), uncaught(every)
    families = Counter(case.family for case in every)
    floors = [
        Floor.all("cases that the extractive engine shows as they were said", len(every) - len(wrong), len(every)),
        Floor.all(
            "wrong pages that the Claude engine turns away for what is wrong", len(every) - len(missed), len(every)
        ),
    ]
    rows = ["| family | cases | extractive | Claude's checks |", "|---|---:|---:|---:|"]
    for family, number in families.items():
        failed, slipped = (sum(key[0] == family for key in some) for some in (wrong, missed))
        rows.append(f"| {family} | {number} | {number - failed} | {number - slipped} |")
    told = [f"- {family} {number}, extractive: {what}" for (family, number), what in wrong.items()]
    told += [f"- {family} {number}, Claude: {what}" for (family, number), what in missed.items()]
    return Proof(
        "integrity", "Integrity", "python -m benchmarks.integrity", floors, "\n".join([*rows, "", *told])
    ).show()


if __name__ == "__main__":
    sys.exit(main())
