.DEFAULT_GOAL := help
PYTHON ?= python3
SOURCES := messagebody tests benchmarks conftest.py docs/tooling docs/examples
GROUPS := test integrations borders libraries sdks conformance oracle cloud lint bench peers docs dist setup
EXTRAS := $(shell sed -n '/optional-dependencies/,/^$$/s/^\([a-z-]*\) = .*/\1/p' pyproject.toml)

# Which tests or benchmarks: `make test ENV=solver`. The rows are below. Those whose libraries are
# many have an environment of their own, so that nothing else waits for them.
ENV = quick
APART := borders libraries sdks newest a2a
VENV ?= .venv$(addprefix -,$(filter $(APART),$(ENV:mcp=borders)))
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
# What is imported is compiled then, and most is never imported: installing takes half the time.
INSTALL := $(PIP) install --no-compile
PYTEST := $(BIN)/python -m pytest -q

# Every version that pip installs, build tools included, is pinned; `make constraints` renews them.
CONSTRAINTS := $(if $(filter newest,$(ENV)),,constraints.txt)
export PIP_CONSTRAINT := $(CONSTRAINTS)
export PIP_BUILD_CONSTRAINT := $(CONSTRAINTS)
# Tests start many processes, each of which would compile the package and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test lint format docs dist bench constraints tables figures mutants clean

help: ## Show the targets
	@sed -nE 's/^([a-z]+):.*## /\1|/p' Makefile | awk -F '|' '{printf "  make %-12s %s\n", $$1, $$2}'
	@echo; sed -nE 's/^## ([a-z]+) +/\1|/p' Makefile | awk -F '|' '{printf "  make test ENV=%-11s %s\n", $$1, $$2}'

demo: $(VENV)/.core ## Build, query, validate, check and offload a real message
	@$(BIN)/messagebody demo

# Environments

$(VENV)/.core: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(INSTALL) --editable .
	@touch $@

# One stamp a dependency group, so that `make test` never waits for what only `make docs` needs.
# Pip learned about groups in 25.1; an older one is replaced first.
$(VENV)/.%: $(VENV)/.core
	$(INSTALL) "pip>=25.3"
	$(INSTALL) --group $*
	@touch $@

# LangGraph's own tests, which pass with our serializer in the place of its own.
$(VENV)/.upstream: $(VENV)/.borders
	mkdir -p $(VENV)/upstream
	$(PIP) download --no-deps --no-binary :all: --dest $(VENV)/upstream langgraph-checkpoint
	tar -xzf $(VENV)/upstream/langgraph_checkpoint-*.tar.gz -C $(VENV)/upstream
	@touch $@

# What only npm has, in the versions that the tests were written for. Some of it needs a newer Node
# than Debian has, which npm has too.
NPM.npm := node@22.23.3 ai@7.0.173 @ag-ui/client@1.0.0
NPM.azurite := azurite@3.37.0
NPM.mcp-conformance := node@22.23.3 @modelcontextprotocol/conformance@0.1.16

$(VENV)/%/package-lock.json: $(VENV)/.core
	mkdir -p $(@D)
	echo '{"private": true}' > $(@D)/package.json
	npm install --silent --no-fund --no-audit --prefix $(@D) $(NPM.$*)

# Tests: a row is what they need, and how they run. `-n 0` stands where a plugin, a server or a
# counter is in the way of several processes.

## quick        three cases of each test, others at each commit; `make test` alone
NEEDS.quick := .test .integrations
RUN.quick := HYPOTHESIS_PROFILE=quick $(PYTEST) -n auto --dist loadfile -m "not slow and not dear" --sample 3

## coverage     the dear ones too; fails if too few branches are covered
NEEDS.coverage := .test .integrations
RUN.coverage := $(PYTEST) -n auto -m "not slow" --cov --cov-report=term:skip-covered --cov-fail-under=95

## newest       with the newest libraries instead of the pinned ones
NEEDS.newest := .test .integrations
RUN.newest := HYPOTHESIS_PROFILE=quick $(PYTEST) -n auto -m "not slow and not dear"

## core         the core in a tree without leaves
# Not the examples in docstrings: some of them show leaves.
NEEDS.core := .test .integrations
RUN.core = rm -rf $(VENV)/tree && $(BIN)/python -m tests.core $(VENV)/tree && cd $(VENV)/tree && \
	PYTHONPATH=$$PWD $(abspath $(BIN))/python -m pytest -q -n auto -m "not slow and not leaf" tests

## solver       verdicts, links and schemas at length beside brute force, z3 and markdown-it
NEEDS.solver := .test .integrations .oracle
RUN.solver := $(PYTEST) -n auto -m slow tests/globs tests/compatibility tests/agents tests/links tests/schema

## storage      models of storage for 10,000 steps, deletions among foreign files, look-ups
NEEDS.storage := .test .integrations
RUN.storage := $(PYTEST) -n auto -m slow tests/filesystem/test_storage_model.py tests/deletions tests/lookups

## slow         everything at length
NEEDS.slow := .test .integrations .oracle
RUN.slow := HYPOTHESIS_PROFILE=thorough $(PYTEST) -n auto

## borders      bodies in other frameworks, and the page about them
# Nothing here is a coroutine of pytest-asyncio, which LangGraph's own tests need.
TABLES ?= check
NEEDS.borders := .test .borders .upstream
RUN.borders := $(PYTEST) -n 0 -p no:asyncio --borders=$(TABLES) tests/borders tests/test_examples.py \
	docs/how-to/borders.md docs/how-to/checkpoints.md docs/how-to/mcp.md

## libraries    libraries that read and write parts, and the page about them
NEEDS.libraries := .test .integrations .libraries
RUN.libraries := $(PYTEST) -n 0 -p no:asyncio --libraries=$(TABLES) tests/libraries docs/how-to/libraries.md

## sdks         message formats against the types of their SDKs
NEEDS.sdks := .test .sdks
RUN.sdks := $(PYTEST) -n 0 tests/sdks

## recordings   reads recorded messages of services in the folder RECORDINGS, and sends them on
NEEDS.recordings := .test .integrations
RUN.recordings = $(BIN)/python -m tests.adapters.recordings \
	$(or $(RECORDINGS),$(error RECORDINGS is a folder with recorded messages))

## view         pages about hostile bodies in Chromium; needs Debian's chromium
NEEDS.view := .test .integrations
RUN.view := $(PYTEST) -n 0 -rs tests/viewer

## npm          messages against packages of Vercel and AG-UI; the standard in TypeScript; needs npm
NEEDS.npm := .test npm/package-lock.json
RUN.npm := $(PYTEST) -n 0 -rs tests/npm

## mcp          MCP's conformance scenarios against `messagebody mcp`; needs npm
NEEDS.mcp := .test .borders mcp-conformance/package-lock.json
RUN.mcp := $(PYTEST) -n 0 -rs -p no:asyncio tests/borders/test_mcp_conformance.py

## a2a          A2A's conformance kit, whose checkout is A2A_KIT, without and behind the gates
export A2A_KIT
NEEDS.a2a := .test .conformance
RUN.a2a := $(PYTEST) -n 0 -rs -p no:asyncio tests/conformance

## dist         installs the wheel of `make dist`, also with each extra alone, and runs README from there
NEEDS.dist := .test .dist
RUN.dist = $(MAKE) dist && $(PYTEST) -n 0 -rs tests/dist

## cloud        Azure and Google stores against emulators; needs npm
NEEDS.cloud := .test .cloud azurite/package-lock.json
RUN.cloud := $(PYTEST) -n 0 -rs tests/storage/test_cloud_stores.py

## faults       spoils requests, kills writers, fills disks and swaps links; prints the counts
NEEDS.faults := .test
RUN.faults := MESSAGEBODY_FAULTS=3000 $(PYTEST) -n 0 tests/faults

## fuzz         damages the input of every reader for FUZZ_SECONDS (an hour); prints the counts
FUZZ_SECONDS ?= 3600
NEEDS.fuzz := .test .integrations
RUN.fuzz = $(BIN)/python -m tests.fuzz.campaign --seconds $(FUZZ_SECONDS)

## http         hostile requests, slow readers and crowds at a server of messages, the dear ones too
NEEDS.http := .test .integrations
RUN.http := HYPOTHESIS_PROFILE=thorough $(PYTEST) -n auto tests/serving

## schemas      hostile schemas and contents, workflows of strangers too, within their bounds of work
NEEDS.schemas := .test .integrations
RUN.schemas := HYPOTHESIS_PROFILE=thorough $(PYTEST) -n auto tests/schema tests/workflows/test_hostile.py \
	tests/compatibility/test_budget.py tests/compatibility/test_hostile_schemas.py

## campaign     compares PAIRS verdicts (a million) with brute force, CONTENTS and AGREEMENTS too
PAIRS ?= 1000000
CONTENTS ?= 1000000
AGREEMENTS ?= 50000
NEEDS.campaign := .test
RUN.campaign = $(BIN)/python -m tests.compatibility.campaign --processes $$(nproc) --pairs $(PAIRS) --contents $(CONTENTS) && \
	$(BIN)/python -m tests.agents.brute_force --processes $$(nproc) --negotiations $(AGREEMENTS) --exchanges $(AGREEMENTS)

## workflows    compares WORKFLOWS random ones (10,000) with brute force, message by message
WORKFLOWS ?= 10000
NEEDS.workflows := .test
RUN.workflows = $(BIN)/python -m tests.workflows.brute_force --processes $$(nproc) --workflows $(WORKFLOWS)

test: $(NEEDS.$(ENV):%=$(VENV)/%) ## Run the tests
	$(or $(RUN.$(ENV)),$(error ENV=$(ENV) is none of those that make help shows))

lint: $(VENV)/.test $(VENV)/.integrations $(VENV)/.lint $(VENV)/.bench ## Check style and types
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

format: $(VENV)/.lint ## Format the code
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

docs: $(VENV)/.docs ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# The dates in the archives are the commit's, so that everybody builds the same bytes.
dist: $(VENV)/.dist ## Build the wheel and the source package, twice, compare the bytes, check what they state
	rm -rf dist
	for time in first again; do \
		SOURCE_DATE_EPOCH=$$(git log -1 --format=%ct) $(BIN)/hatchling build -d dist/$$time || exit 1; done
	diff -r dist/first dist/again
	mv dist/first/* dist
	rm -r dist/first dist/again
	$(BIN)/twine check --strict dist/*

# Each where its libraries are installed: `make bench`, `make bench ENV=borders`.
BENCH.quick := .test .bench
BENCH.borders := .test .borders .peers
MEASURE.borders := checkpoints serializers telemetry pages prompts
bench: $(BENCH.$(ENV):%=$(VENV)/%) ## Measure against the peers and print the tables (ENV=borders)
	$(BIN)/python -m benchmarks $(MEASURE.$(ENV))

constraints: $(VENV)/.setup ## Pin the newest versions of all libraries in constraints.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --fork-strategy fewest --no-annotate \
		--custom-compile-command "make constraints" $(EXTRAS:%=--extra %) $(GROUPS:%=--group %) \
		--output-file constraints.txt pyproject.toml

# The tables of two pages are written by their tests: `make test ENV=borders TABLES=write`.
tables: $(VENV)/.test ## Write the pictures and tables of the documentation, and the containment suite, again
	$(BIN)/python docs/tooling/format_tables.py
	$(BIN)/python docs/tooling/make_pictures.py
	$(BIN)/python docs/tooling/make_page_pictures.py
	$(BIN)/python -m tests.compatibility.suite

figures: $(VENV)/.test ## Print figures of the code and of what calls run through
	$(BIN)/python docs/tooling/figures.py messagebody journeys

# Which tests run a line, and which cases of each: those of the quick set are enough to find them.
$(VENV)/tests-of-lines: $(VENV)/.test $(VENV)/.integrations
	COVERAGE_FILE=$@ $(RUN.quick) --cov=messagebody --cov-config=/dev/null --cov-context=test --cov-report=

# MODULES="messagebody/names.py messagebody/_wire" chooses some of them; SEED=1 draws the same again.
MODULES ?= messagebody
MUTANTS ?= 20
mutants: $(VENV)/tests-of-lines ## Break each room on purpose, and list what no test notices
	HYPOTHESIS_PROFILE=quick $(BIN)/python tests/mutation.py $(MODULES) --mutants $(MUTANTS) \
		$(SEED:%=--seed %) --coverage $< --log $(VENV)/mutants.log

clean: ## Remove the environments and everything generated
	rm -rf $(VENV) $(APART:%=.venv-%) site .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
