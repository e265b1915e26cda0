# Everything runs in .venv, which `make` builds once and again when pyproject.toml changes.
# Another Python: `make test PYTHON=python3.12`. Another fixture: `make demo DEMO=fixtures/cpu_stack`.

SHELL := /bin/bash
.DEFAULT_GOAL := help

VENV := .venv
BIN := $(VENV)/bin
DEMO := fixtures/gpu_empty_events
JOBS := 2
TYPED = $(wildcard aoti_logs tests docs/generate.py benchmarks fixtures/record)
# for example: make bench BENCH='--only trace --mb 500'
BENCH :=
# Environment, kept apart: the demo needs no test tools.
STAMP := $(VENV)/.stamp
DEV_STAMP := $(VENV)/.stamp-dev

# The newest Python >= 3.11 that can make a virtual environment. It is tried, not just looked up: distributions ship
# python3 without venv, and version managers leave commands behind that run nothing. 3.15+ stands last, because the
# wheels of our dependencies arrive later than Python does.
CANDIDATES := python3.14 python3.13 python3.12 python3.11 python3 python
define FIND_PYTHON
for p in $(or $(PYTHON),$(CANDIDATES)); do \
  if "$$p" -c 'import sys, venv, ensurepip; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1; then \
    python="$$p"; break; \
  fi; \
done; \
if [ -z "$${python:-}" ]; then \
  echo "aoti-logs needs Python 3.11 or newer with the venv module, and found none (tried: $(or $(PYTHON),$(CANDIDATES)))." >&2; \
  echo "Install one (Debian and Ubuntu: apt install python3 python3-venv), or name one: make $(or $(MAKECMDGOALS),demo) PYTHON=/path/to/python3" >&2; \
  exit 1; \
fi
endef

.PHONY: help demo test lint format types docs bench wheel-check clean

help:  ## Show this list
	@grep -E '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## /\1\t/' | expand -t 14

$(STAMP): pyproject.toml
	@$(FIND_PYTHON); \
	echo "making $(VENV) with $$("$$python" --version)"; \
	"$$python" -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

$(DEV_STAMP): $(STAMP)
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch $@

demo: $(STAMP)  ## Explain a recorded failure of a real GPU run
	@$(BIN)/aoti-logs explain $(DEMO)/run.log --context $(DEMO)

test: $(DEV_STAMP) lint types  ## Lint, types, and all tests
	$(BIN)/python -m pytest -n $(JOBS)

lint: $(DEV_STAMP)  ## ruff: rules and format
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

format: $(DEV_STAMP)  ## Let ruff fix and format what it can
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

types: $(DEV_STAMP)  ## mypy --strict
	$(BIN)/mypy $(TYPED)

docs: $(DEV_STAMP)  ## Write the generated pages: tables, rules, JSON Schema
	$(BIN)/python docs/generate.py

bench: $(DEV_STAMP)  ## Measure, side by side with tlparse and bare readers
	$(BIN)/python -m benchmarks.run $(BENCH)

wheel-check: $(DEV_STAMP)  ## Build the wheel and use it in an empty environment outside of this folder
	$(BIN)/python tests/wheel_check.py

clean:  ## Remove the environment, caches and builds
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis benchmarks/.inputs
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
