.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --quiet --disable-pip-version-check
SOURCES := messagebody tests benchmarks conftest.py docs/tooling docs/examples
GROUPS := test integrations borders libraries sdks oracle cloud lint bench peers docs setup
# Not deepagents: it needs an older google-genai than the formats, so its pins are a file of their own.
EXTRAS := $(filter-out deepagents,$(shell sed -n '/optional-dependencies/,/^$$/s/^\([a-z-]*\) = .*/\1/p' pyproject.toml))
AZURITE := $(VENV)/azurite/node_modules/.bin/azurite-blob
NPM := $(VENV)/npm/node_modules/ai
CONFORMANCE := $(VENV)/mcp-conformance/node_modules/@modelcontextprotocol/conformance
# One worker for each core; conftest.py says how they share the tests.
PYTEST := $(BIN)/python -m pytest -n auto -q

.PHONY: help demo test coverage test-core test-deepagents run-deepagents test-view test-solver test-storage test-slow faults fuzz campaign suite test-newest test-cloud test-mcp run-mcp test-borders borders run-borders test-sdks run-sdks test-npm test-libraries libraries run-libraries lint format bench bench-peers run-bench-peers run-bench-agents docs constraints pictures format-tables figures mutants clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-12s %s\n", $$1, $$2}'

# Every version that pip installs, build tools included, is pinned; `make constraints` renews them.
CONSTRAINTS := constraints.txt
export PIP_CONSTRAINT := $(CONSTRAINTS)
export PIP_BUILD_CONSTRAINT := $(CONSTRAINTS)
# Tests start many processes, each of which would compile the package and the tests anew.
unexport PYTHONDONTWRITEBYTECODE

$(VENV)/.core: pyproject.toml $(CONSTRAINTS)
	$(PYTHON) -m venv $(VENV)
	$(PIP) install --editable .
	@touch $@

# One stamp a dependency group, so that `make test` never waits for what only `make docs` needs.
# Pip learned about groups in 25.1; an older one is replaced first.
$(VENV)/.%: $(VENV)/.core
	$(PIP) install "pip>=25.3"
	$(PIP) install --group $*
	@touch $@

demo: $(VENV)/.core ## Build, query, validate, check and offload a real message
	@$(BIN)/messagebody demo

# With COVERAGE=1 it runs the dear ones, too, and fails if too few branches are covered.
test: $(VENV)/.test $(VENV)/.integrations ## Run the tests
	$(PYTEST) $(if $(COVERAGE),-m "not slow" --cov --cov-report=term:skip-covered --cov-fail-under=95,-m "not slow and not dear")

faults: $(VENV)/.test ## Spoil requests to servers, kill writers, fill disks, swap links; print the counts
	MESSAGEBODY_FAULTS=3000 $(BIN)/python -m pytest -q -n 0 tests/faults

FUZZ_SECONDS ?= 3600
fuzz: $(VENV)/.test $(VENV)/.integrations ## Damage inputs of every reader for FUZZ_SECONDS (an hour), and print the counts
	$(BIN)/python -m tests.fuzz.campaign --seconds $(FUZZ_SECONDS)

PAIRS ?= 1000000
CERTIFICATES ?= 100000
campaign: $(VENV)/.test ## Compare PAIRS verdicts (a million) with brute force, verify CERTIFICATES
	$(BIN)/python -m tests.compatibility.campaign --processes $$(nproc) --pairs $(PAIRS) --always $(CERTIFICATES)

suite: $(VENV)/.test ## Write the containment suite that others can run
	$(BIN)/python -m tests.compatibility.suite

test-view: $(VENV)/.test $(VENV)/.integrations ## Open pages about hostile bodies in Chromium, with the policy and without
	$(BIN)/python -m pytest -q -n 0 -rs tests/viewer

coverage: ## Run the tests and the dear ones, and fail if too few branches are covered
	$(MAKE) test COVERAGE=1

# Not the examples in docstrings: some of them show leaves.
test-core: $(VENV)/.test $(VENV)/.integrations ## Run the tests of the core in a tree without leaves
	rm -rf $(VENV)/tree
	$(BIN)/python -m tests.core $(VENV)/tree
	cd $(VENV)/tree && PYTHONPATH=$$PWD $(abspath $(BIN))/python -m pytest -n auto -q -m "not slow and not leaf" tests

test-solver: $(VENV)/.test $(VENV)/.integrations $(VENV)/.oracle ## Compare verdicts at length with brute force and z3; break the solver
	$(PYTEST) -m slow tests/globs tests/compatibility tests/agents

test-storage: $(VENV)/.test $(VENV)/.integrations ## Model storage for 10,000 steps, delete among foreign files, watch look-ups
	$(PYTEST) -m slow tests/filesystem/test_storage_model.py tests/deletions tests/lookups

test-slow: $(VENV)/.test $(VENV)/.integrations $(VENV)/.oracle ## Run all tests at length
	HYPOTHESIS_PROFILE=thorough $(PYTEST)

# An environment made anew each time, with the newest version of everything.
test-newest: ## Run the tests with the newest libraries instead of the pinned ones
	rm -rf .venv-newest
	$(MAKE) test VENV=.venv-newest CONSTRAINTS=

test-cloud: $(VENV)/.test $(VENV)/.cloud $(AZURITE) ## Run the tests of Azure and Google stores (needs node)
	$(BIN)/python -m pytest -q -n 0 -rs tests/storage/test_cloud_stores.py

# Large frameworks that nothing else needs, in an environment of their own.
test-borders: ## Run the tests of frameworks that bodies pass through, and their page
	$(MAKE) run-borders VENV=.venv-borders BORDERS=check

test-deepagents: ## Run the tests of the deepagents backend, in an environment of its own
	$(MAKE) run-deepagents VENV=.venv-deepagents CONSTRAINTS=constraints-deepagents.txt

# Nothing here is a coroutine of pytest-asyncio, which wants a setting in any case.
# LangChain's tests mark coroutines for the plugin of anyio, which no other test needs.
run-deepagents: $(VENV)/.test $(VENV)/.deepagents
	$(PIP) install --editable .[deepagents]
	$(BIN)/python -m pytest -q -n 0 -p no:asyncio -p anyio tests/frameworks/test_deepagents.py \
		tests/frameworks/test_deepagents_contract.py docs/how-to/deepagents.md

borders: ## Write the table of frameworks into the documentation
	$(MAKE) run-borders VENV=.venv-borders BORDERS=write

# The plugin that LangGraph's own tests need would look for coroutines among ours, too.
run-borders: $(VENV)/.test $(VENV)/.borders $(VENV)/.upstream
	$(BIN)/python -m pytest -q -n 0 -p no:asyncio --borders=$(BORDERS) tests/borders tests/test_examples.py \
		docs/how-to/borders.md docs/how-to/checkpoints.md docs/how-to/mcp.md

# LangGraph's own tests, which pass with our serializer in the place of its own.
$(VENV)/.upstream: $(VENV)/.borders
	mkdir -p $(VENV)/upstream
	$(PIP) download --no-deps --no-binary :all: --dest $(VENV)/upstream langgraph-checkpoint
	tar -xzf $(VENV)/upstream/langgraph_checkpoint-*.tar.gz -C $(VENV)/upstream
	@touch $@

test-libraries: ## Run the tests of libraries that read and write parts, and their page
	$(MAKE) run-libraries VENV=.venv-libraries LIBRARIES=check

libraries: ## Write the table of libraries into the documentation
	$(MAKE) run-libraries VENV=.venv-libraries LIBRARIES=write

run-libraries: $(VENV)/.test $(VENV)/.integrations $(VENV)/.libraries
	$(BIN)/python -m pytest -q -n 0 -p no:asyncio --libraries=$(LIBRARIES) tests/libraries docs/how-to/libraries.md

# The SDKs of models, protocols and frameworks; nothing of the package imports them.
test-sdks: ## Run the tests of message formats against the SDKs' own types
	$(MAKE) run-sdks VENV=.venv-sdks

run-sdks: $(VENV)/.test $(VENV)/.sdks
	$(BIN)/python -m pytest -q -n 0 tests/sdks

# What only npm has, in the versions that the formats were checked against.
test-npm: $(VENV)/.test $(NPM) ## Run the tests of message formats against npm's packages (needs npm)
	$(BIN)/python -m pytest -q -n 0 -rs tests/npm

$(NPM):
	mkdir -p $(VENV)/npm
	echo '{"private": true}' > $(VENV)/npm/package.json
	npm install --silent --no-fund --no-audit --prefix $(VENV)/npm \
		node@22.23.3 ai@7.0.173 @ag-ui/client@1.0.0

test-mcp: ## Run the conformance scenarios of MCP against `messagebody mcp` (needs npm)
	$(MAKE) run-mcp VENV=.venv-borders

run-mcp: $(VENV)/.test $(VENV)/.borders $(CONFORMANCE)
	$(BIN)/python -m pytest -q -n 0 -rs -p no:asyncio tests/borders/test_mcp_conformance.py

# The scenarios need a newer Node than Debian has, which npm has too.
$(CONFORMANCE):
	mkdir -p $(VENV)/mcp-conformance
	echo '{"private": true}' > $(VENV)/mcp-conformance/package.json
	npm install --silent --no-fund --no-audit --prefix $(VENV)/mcp-conformance \
		node@22.23.3 @modelcontextprotocol/conformance@0.1.16

# Azure's emulator comes from npm's registry, too; no other target needs node.
$(AZURITE):
	mkdir -p $(VENV)/azurite
	echo '{"private": true}' > $(VENV)/azurite/package.json
	npm install --silent --no-fund --no-audit --prefix $(VENV)/azurite azurite@3.37.0

lint: $(VENV)/.test $(VENV)/.integrations $(VENV)/.lint $(VENV)/.bench ## Check style and types
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

format: $(VENV)/.lint ## Format the code
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

bench: $(VENV)/.test $(VENV)/.bench ## Measure against the peers and print the tables
	$(BIN)/python -m benchmarks

# Each where its libraries are installed.
bench-peers: ## Measure against other frameworks and print the tables
	$(MAKE) run-bench-peers VENV=.venv-borders
	$(MAKE) run-bench-agents VENV=.venv-deepagents CONSTRAINTS=constraints-deepagents.txt

run-bench-peers: $(VENV)/.test $(VENV)/.borders $(VENV)/.peers
	$(BIN)/python -m benchmarks checkpoints telemetry pages prompts

run-bench-agents: $(VENV)/.test $(VENV)/.deepagents
	$(PIP) install --editable .[deepagents]
	$(BIN)/python -m benchmarks agent_files

docs: $(VENV)/.docs ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

constraints: $(VENV)/.setup ## Pin the newest versions of all libraries in constraints.txt
	$(BIN)/uv pip compile --quiet --upgrade --universal --fork-strategy fewest --no-annotate \
		--custom-compile-command "make constraints" $(EXTRAS:%=--extra %) $(GROUPS:%=--group %) \
		--output-file $(CONSTRAINTS) pyproject.toml
	$(BIN)/uv pip compile --quiet --upgrade --universal --no-annotate \
		--custom-compile-command "make constraints" \
		--extra deepagents --group deepagents --group test --group setup \
		--output-file constraints-deepagents.txt pyproject.toml

pictures: $(VENV)/.test ## Draw the pictures of the documentation anew
	$(BIN)/python docs/tooling/make_pictures.py
	$(BIN)/python docs/tooling/make_page_pictures.py

# Which tests run a line; `make mutants` goes on from the log until both are removed.
$(VENV)/tests-of-lines: $(VENV)/.test $(VENV)/.integrations
	COVERAGE_FILE=$@ $(PYTEST) -m "not slow" --cov=messagebody --cov-config=/dev/null --cov-context=test --cov-report=

# MODULES="messagebody/names.py messagebody/_wire" chooses some of them.
MODULES ?= messagebody
MUTANTS ?= 4
mutants: $(VENV)/tests-of-lines ## Break modules on purpose, and list what no test notices
	$(BIN)/python tests/mutation.py $(MODULES) --mutants $(MUTANTS) --coverage $< --log $(VENV)/mutants.log

format-tables: $(VENV)/.test ## Write the tables of message formats into the documentation
	$(BIN)/python docs/tooling/format_tables.py

figures: $(VENV)/.test ## Print figures of the code and of what calls run through
	$(BIN)/python docs/tooling/figures.py messagebody journeys

clean: ## Remove the environment and everything generated
	rm -rf $(VENV) .venv-newest .venv-borders .venv-libraries .venv-sdks site .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
