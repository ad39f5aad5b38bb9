.DEFAULT_GOAL := help
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
SOURCES := messagebody tests benchmarks conftest.py docs/tooling
AZURITE := $(VENV)/azurite/node_modules/.bin/azurite-blob
# One worker a core, whatever the machine has; the examples of a page share one.
PYTEST := $(BIN)/python -m pytest -n auto --dist loadfile -q

.PHONY: help demo test test-slow test-cloud lint format bench docs pictures clean

help: ## Show the targets
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  make %-10s %s\n", $$1, $$2}'

$(VENV)/.core: pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --upgrade "pip>=25.1"
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

# One stamp a dependency group, so that `make test` never waits for what only `make docs` needs.
$(VENV)/.%: $(VENV)/.core pyproject.toml
	$(BIN)/python -m pip install --quiet --group $*
	@touch $@

demo: $(VENV)/.core ## Build, query, validate, check and offload a real message
	@$(BIN)/messagebody demo

test: $(VENV)/.test $(VENV)/.integrations ## Run the tests, with coverage and its gate
	$(PYTEST) -m "not slow" --cov --cov-report=term:skip-covered --cov-fail-under=95

test-slow: $(VENV)/.test $(VENV)/.integrations ## Run everything, the long fuzz and fault runs included
	$(PYTEST)

test-cloud: $(VENV)/.test $(VENV)/.cloud $(AZURITE) ## Run the tests of Azure and Google stores (needs node)
	$(BIN)/python -m pytest -q -n 0 -rs tests/stores/test_cloud_stores.py

# Azure's emulator comes from npm's registry; no other target needs node.
$(AZURITE):
	mkdir -p $(VENV)/azurite
	echo '{"private": true}' > $(VENV)/azurite/package.json
	npm install --silent --no-fund --no-audit --prefix $(VENV)/azurite azurite@3

lint: $(VENV)/.test $(VENV)/.integrations $(VENV)/.lint $(VENV)/.bench ## Check style and types
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy

format: $(VENV)/.lint ## Format the code
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

bench: $(VENV)/.test $(VENV)/.bench ## Measure against the peers and print the tables
	$(BIN)/python -m benchmarks

docs: $(VENV)/.docs ## Build the documentation into site/
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

pictures: $(VENV)/.test ## Draw the pictures of the documentation anew
	$(BIN)/python docs/tooling/make_pictures.py

clean: ## Remove the environment and everything generated
	rm -rf $(VENV) site .coverage* .pytest_cache .mypy_cache .ruff_cache .hypothesis dist
