# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
PIP    := $(BIN)/python -m pip --disable-pip-version-check --quiet
PEERS  := opendp smartnoise pipelinedp tumult
export PIP_CONSTRAINT := $(CURDIR)/constraints.txt
# Tests start hundreds of Pythons, which would each compile podium again where an environment forbids keeping that.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo test outside lint bench reproduce docs screens fuzz mutants types audit dist clean system

help:  ## list the commands
	@grep -hE '^[a-z]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z]+):[^#]*## */\1|/' | awk -F'|' '{printf "  make %-8s %s\n", $$1, $$2}'

demo: $(VENV)/.runtime  ## set up, then answer a private top-10 on embedded DuckDB
	@$(BIN)/podium demo

test: lint system  ## set up, then run linters, type checks, import contracts and all tests
	@$(BIN)/python -m pytest $(or $(PYTEST_ARGS),-n 2)

outside: $(VENV)/.test system  ## run our files with dbt, Airflow and an emulator of Snowflake, each in an environment of its own
	@tools/environments $(PYTHON) build/environments
	@PODIUM_ENVIRONMENTS=build/environments $(BIN)/python -m pytest -n 0 tests/integration/schedulers
	@build/environments/snowflake/bin/python -m pytest -n 2 -o filterwarnings=default tests/contract/sources/test_snowflake.py

lint: $(VENV)/.test  ## ruff, mypy --strict and the import contracts
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

system:
	@tools/system-packages

bench: $(VENV)/.test system  ## measure podium against its peers, as ratios in one run (BENCH_ARGS=--quick: minutes)
	@tools/environments $(PYTHON) build/environments $(PEERS) || echo "not all peers install here: the rest is measured"
	@$(BIN)/python -m bench $(BENCH_ARGS)

reproduce: $(VENV)/.test  ## compute the papers' results again: claimed, measured, verdict (REPRODUCE_ARGS=--quick: minutes)
	@$(BIN)/python -m reproduce $(REPRODUCE_ARGS)

docs: $(VENV)/.docs  ## draw the pictures and build the documentation site into site/
	@$(BIN)/python -m tools.pictures docs/pictures
	@$(BIN)/python tools/pages.py docs/tutorial.md --pictures docs/pictures
	@$(BIN)/python -m tools.formulas docs/assets/mathjax
	@$(BIN)/zensical build --clean --strict

screens: $(VENV)/.test system  ## take the pictures of pages and of a terminal that README and docs show
	@$(BIN)/python -m tools.screens docs/screens --docs
	@$(BIN)/python -m tools.terminal docs/screens/terminal.svg

fuzz: $(VENV)/.test  ## fuzz every target of tools/fuzz.py for FUZZ_SECONDS (60) each, with atheris where it installs
	@$(PIP) install --group fuzz || echo "atheris does not install here: drawing at random"
	@for target in $$($(BIN)/python -m tools.fuzz); do \
		echo "== $$target"; $(BIN)/python -m tools.fuzz $$target --seconds $(or $(FUZZ_SECONDS),60) || exit 1; done

mutants: $(VENV)/.test  ## break privacy-critical lines one at a time, and see that the tests notice (MUTANTS=ledger/: some)
	@$(BIN)/python -m tools.mutants $(MUTANTS)

types: $(VENV)/.test  ## pyright: the type of every public name is written down
	@$(PIP) install --group types
	@tools/verify-types $(VENV)

audit: $(VENV)/.runtime  ## known vulnerabilities of what is installed (asks an advisory service on the network)
	@$(PIP) install --group audit
	@$(BIN)/pip-audit --skip-editable

dist: $(VENV)/.test  ## build wheel and sdist into dist/, the same bytes twice, and try the wheel in an empty environment
	@tools/distribution $(PYTHON)

clean:  ## remove everything that the other commands made
	rm -rf $(VENV) build dist site docs/assets/mathjax docs/pictures .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

$(VENV)/bin/python:
	@tools/make-venv $(PYTHON) $(VENV)
	@$(PIP) install pip

$(VENV)/.runtime: $(VENV)/bin/python pyproject.toml constraints.txt
	@echo "installing podium (once) ..."
	@$(PIP) install --editable '.[plot,service]'
	@touch $@

$(VENV)/.test: $(VENV)/.runtime
	@echo "installing what the tests need (once) ..."
	@$(PIP) install --group test
	@touch $@

$(VENV)/.docs: $(VENV)/.runtime
	@echo "installing the documentation generator (once) ..."
	@$(PIP) install --group docs
	@touch $@
