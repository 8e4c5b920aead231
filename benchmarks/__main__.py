"""`make bench`: every figure of the README, each against something real in the same run."""

from __future__ import annotations

from benchmarks import collect, freshness, ledger, lint, orchestration, organisation, search, tokens

for benchmark in (orchestration, organisation, freshness, collect, ledger, lint, search, tokens):
    benchmark.main([])
