"""`make bench`: every figure of the README, each against something real in the same run."""

from __future__ import annotations

from benchmarks import collect, ledger, orchestration

for benchmark in (orchestration, collect, ledger):
    benchmark.main([])
