"""Bind: who may see a lesson, and whether a learning pass may consume it. Computed from the evidence, never chosen by
a model; what cannot be decided goes to the operator's review queue. `docs/memory-model.md` says it in words."""
