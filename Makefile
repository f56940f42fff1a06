# Everything that can be done with this project. `make` alone prints this list.

PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Material announces its successor at every build; CONTRIBUTING.md says what we think of it.
export NO_MKDOCS_2_WARNING := 1

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup bench-setup docs serve test lint format figures evidence bench check clean

help: ## print this list
	@echo "Usage: make TARGET"
	@echo
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: .venv/all ## install everything, for work on the project

bench-setup: .venv/all .venv/bench ## install the peers of the benchmarks as well

docs: .venv/docs ## build the site into site/
	@# An earlier site stays as it is until a new one is complete.
	@rm -rf build/site
	@# With --quiet, --strict would count no warnings.
	$(BIN)/mkdocs build --strict --site-dir build/site
	@rm -rf site && mv build/site site
	@echo "The site is built: open site/index.html"

serve: .venv/docs ## show the site while you edit it
	$(BIN)/mkdocs serve --livereload

test: .venv/all ## run the tests
	$(BIN)/pytest --numprocesses auto --dist worksteal

lint: .venv/all ## check style and types
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/sidebyside check labml_rl sidebyside

format: .venv/all ## put the code into the project's style
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

figures: .venv/all ## make the figures again, from the emulator, the code and the records
	$(BIN)/python -m figures.game
	$(BIN)/python -m figures.networks
	$(BIN)/python -m figures.batches
	$(BIN)/python -m figures.tricks
	$(BIN)/python -m figures.curves
	$(BIN)/python -m figures.lag
	$(BIN)/python -m figures.many
	$(BIN)/python -m figures.sketches
	$(BIN)/python -m figures.mistakes
	$(BIN)/python -m figures.policies
	$(BIN)/python -m figures.values

evidence: .venv/all ## run the tests of book and press, long ones too, and record what each runs; half an hour
	@# Programs that a test starts are recorded as well: a line in the environment sees to
	@# it, which does nothing unless it is asked to.
	cp tests/recording/recording.pth \
	  $$($(BIN)/python -c "import sysconfig; print(sysconfig.get_path('purelib'))")
	COVERAGE_PROCESS_START='$(CURDIR)/tests/recording/coverage.ini' \
	  COVERAGE_FILE='$(CURDIR)/.coverage' $(BIN)/pytest --numprocesses auto --dist worksteal \
	  --cov --cov-config=tests/recording/coverage.ini --cov-context=test --cov-report= \
	  -m '' tests/press tests/book
	$(BIN)/sidebyside tests labml_rl sidebyside -o results/tests.json

bench: .venv/bench ## measure what is in results/benchmarks/, but for other machines; takes some hours
	$(BIN)/python -m benchmarks.press
	$(BIN)/python -m benchmarks.games
	$(BIN)/python -m benchmarks.policies
	$(BIN)/python -m benchmarks.crowd
	$(BIN)/python -m benchmarks.values
	$(BIN)/python -m benchmarks.tricks
	$(BIN)/python -m benchmarks.tricks --overlap
	$(BIN)/python -m benchmarks.lag
	$(BIN)/python -m benchmarks.mistakes
	$(BIN)/python -m benchmarks.mistakes dqn
	$(BIN)/python -m benchmarks.peer_curves a2c-spaceinvaders
	$(BIN)/python -m benchmarks.peer_curves a2c-breakout
	$(BIN)/python -m benchmarks.peer_curves ppo-mspacman

check: lint test docs ## all that CI runs

clean: ## remove what was built, and .venv
	rm -rf .venv build site .coverage .coverage.* .hypothesis .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "$(PYTHON) is missing, or older than Python 3.11. Name another: make PYTHON=python3.12 …" >&2; \
	  exit 1; }
	$(PYTHON) -m venv .venv

# An environment that uv has made has none.
.venv/bin/pip: | .venv/bin/python
	@test -e $@ || $(BIN)/python -m ensurepip --default-pip

# What the site needs: no emulator, no torch.
.venv/docs: .venv/bin/python pyproject.toml constraints.txt | .venv/bin/pip
	$(INSTALL) --editable '.[docs]'
	@touch $@

.venv/bench: .venv/bin/python pyproject.toml constraints.txt | .venv/bin/pip
	$(INSTALL) --editable '.[bench]'
	$(INSTALL) --no-deps labml-nn
	@touch $@

.venv/all: .venv/bin/python pyproject.toml constraints.txt | .venv/bin/pip
	$(INSTALL) --editable '.[train,docs,test,lint]'
	@# Tests compare with its pages on PPO and DQN. What the rest of it wants, they can do without.
	$(INSTALL) --no-deps labml-nn
	@touch $@ .venv/docs
