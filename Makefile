# The commands a person needs. `make` alone lists them.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: help setup demo serve test check format bench fuzz evidence clean

help: ## list the commands
	@grep -hE '^[a-z]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

setup: $(READY) ## make the virtual environment

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt hatchling editables
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt \
		--no-build-isolation --editable '.[dev]'
	@touch $(READY)

demo: $(READY) ## build a sample organisation, ingest it and say where to look
	$(BIN)/python -m examples.demo

serve: $(READY) ## server, deployments and worker on this machine, until Ctrl-C; says where the UI is
	$(BIN)/python -m deployments.serve

test: $(READY) ## everything that can fail, on real parts
	$(BIN)/python -m pytest

check: $(READY) ## formatting, linting, types and import walls
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY) ## format and mend what can be mended
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## the figures of the README
	$(BIN)/python -m benchmarks

fuzz: $(READY) ## damage the inputs of every reader for ten minutes (MINUTES=10 SEED=1)
	$(BIN)/python -m benchmarks.fuzz --minutes $(or $(MINUTES),10) --seed $(or $(SEED),1)

evidence: $(READY) ## prove it again, and write docs/evidence.md; as root, takes two hours
	$(BIN)/python -m benchmarks.knowledge --record
	$(BIN)/python -m benchmarks.integrity --record
	$(BIN)/python -m benchmarks.planted_secrets --record
	$(BIN)/python -m benchmarks.faults.kill --record
	$(BIN)/python -m benchmarks.faults.outages --record
	$(BIN)/python -m benchmarks.projection --record

clean: ## remove what the other commands made
	rm -rf $(VENV) demo .mypy_cache .ruff_cache .pytest_cache .import_linter_cache
