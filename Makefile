# The front door. `make` alone prints the targets. See docs/ARCHITECTURE.md for what lies behind it.

.DEFAULT_GOAL := help
SHELL := /bin/sh

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
# Wheels only: no target of this file needs a compiler.
INSTALL := $(PIP) install --only-binary=:all:
# Every target below works on two cores; more workers than cores only make timing tests lie.
WORKERS ?= 2
ARGS ?=
SEED ?= 1

.PHONY: help run test check format bench crash sim lock clean

help: ## print this list
	@awk -F':.*## ' '/^[a-z][a-z-]*:.*## / { printf "  make %-8s %s\n", $$1, $$2 }' $(firstword $(MAKEFILE_LIST))

# --- what the other targets need --------------------------------------------------------------------

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "egm needs Python 3.11 or newer, which '$(PYTHON)' is not; name one with 'make PYTHON=python3.13 ...'." >&2; exit 1; }
	@$(PYTHON) -c 'import venv, ensurepip' 2>/dev/null || { \
	  echo "Python's venv module is missing; install it with 'apt install python3-venv'." >&2; exit 1; }
	@echo "making $(VENV)" >&2
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }

# The stamps are the proof that an installation finished; a newer lock file makes them stale.
$(VENV)/run.stamp: requirements/run.lock pyproject.toml | $(BIN)/python
	@echo "installing what the machine needs" >&2
	@$(INSTALL) -r requirements/run.lock
	@$(PIP) install --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/dev.stamp: requirements/dev.lock $(VENV)/run.stamp
	@echo "installing what the tests and checks need" >&2
	@$(INSTALL) -r requirements/dev.lock
	@touch $@

# --- targets ----------------------------------------------------------------------------------------

run: $(VENV)/run.stamp ## start one machine with a simulated cabinet, a panel and a SAS line (ARGS="--denomination 25")
	@exec $(BIN)/egm run $(ARGS)

test: $(VENV)/dev.stamp ## run every test (ARGS="tests/firmware -k note")
	@$(BIN)/python -m pytest -n $(WORKERS) --dist worksteal $(ARGS)

check: $(VENV)/dev.stamp ## format, lint, types, import contracts, tidy tests
	$(BIN)/ruff format --check
	$(BIN)/ruff check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache
	$(BIN)/python -m pytest -q tests/tidy

format: $(VENV)/dev.stamp ## put the code into the house format
	$(BIN)/ruff format
	$(BIN)/ruff check --fix

bench: $(VENV)/dev.stamp ## benchmarks beside their floors, measured in the same run (ARGS="line games")
	@$(BIN)/python -m tests.bench $(ARGS)

crash: $(VENV)/dev.stamp ## the whole power-cut sweep: every write and byte, eight seeds; a table (ARGS="--path session --every 5")
	@$(BIN)/python -m tests.crash $(ARGS)

sim: $(VENV)/dev.stamp ## one simulated session by seed (SEED=n)
	@$(BIN)/python -m simulator.sim_session $(SEED) $(ARGS)

lock: ## choose the newest dependencies anew and write requirements/*.lock (with the oldest Python we support)
	@PYTHON="$(PYTHON)" sh requirements/lock.sh

clean: ## remove what make made (never a machine's data)
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
