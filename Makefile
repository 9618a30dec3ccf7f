# `make run` sets up and judges the reference engine, `make test` sets up and tests: both from a fresh clone.
# Without a GPU, PyTorch's smaller CPU build: make run TORCH="--index-url URL", see the README.

PYTHON ?= python3
TORCH ?=
PYTEST ?=
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check --constraint constraints.txt

.PHONY: run smoke test lint clean

run: .venv/run.stamp
	$(BIN)/draftgate run

smoke: .venv/run.stamp
	$(BIN)/draftgate run smoke

test: .venv/test.stamp
	$(BIN)/python -m pytest $(PYTEST)

lint: .venv/test.stamp
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

clean:
	rm -rf .venv

.venv/run.stamp: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(INSTALL) $(TORCH) torch
	$(INSTALL) --editable .
	touch $@

.venv/test.stamp: .venv/run.stamp
	$(INSTALL) --editable ".[test]"
	touch $@
