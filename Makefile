# One list of commands for people and for CI. `make app` serves the dashboard, `make test` runs the tests.
PYTHON ?= python3
PORT ?= 8501
VENV := .venv
RUN := OPENBLAS_NUM_THREADS=1 OMP_NUM_THREADS=1 PYTHONPATH=. $(VENV)/bin
PIP_INSTALL := $(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r

# Python keeps what it compiled: every process here runs the same modules.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: app test test-all test-full test-machines check bench screenshots lock clean

app: $(VENV)/.app
	@$(RUN)/streamlit run app.py --server.port $(PORT)

# What decides whether the code is right, in about five minutes: the core, every page, one pass in a browser.
test: $(VENV)/.dev
	@sh tests/e2e/chromium.sh
	$(RUN)/python -m pytest --numprocesses auto --dist loadfile --no-loadscope-reorder

# All of it, in one to two hours.
test-all: test test-full test-machines

# Real servers and databases, faults, load, long statistics: everything that `make test` leaves out.
test-full: $(VENV)/.dev
	@sh tests/e2e/chromium.sh
	@sh tests/deploy/nginx.sh
	@sh tests/deploy/postgres.sh
	$(RUN)/python -m pytest --numprocesses auto --dist loadfile -m full

# The core as other processors round it, and with two BLAS threads, in another order.
test-machines: $(VENV)/.dev
	$(RUN)/python tests/machines.py --numprocesses auto --dist loadfile --shuffle 1 tests/core

check: $(VENV)/.dev
	$(RUN)/ruff check .
	$(RUN)/ruff format --check .
	$(RUN)/mypy

bench: $(VENV)/.dev
	$(RUN)/python -m benchmarks all

screenshots: $(VENV)/.dev
	@sh tests/e2e/chromium.sh
	$(RUN)/python tests/e2e/screenshots.py docs/screenshots

# Needs uv; the lock files pin every dependency with hashes, for all platforms and Python >= 3.11.
lock:
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--extra app --extra postgres pyproject.toml -o requirements.lock
	uv pip compile --universal --python-version 3.11 --generate-hashes --no-header --no-annotate \
		--extra app --extra cluster --extra postgres --extra test --extra check pyproject.toml -o requirements-dev.lock

clean:
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "Python 3.11 or newer is needed")'
	@$(PYTHON) -m venv $(VENV)

$(VENV)/.app: requirements.lock | $(VENV)/bin/python
	@echo "Installing the dashboard into $(VENV): half a minute to two, and only this once ..."
	@$(PIP_INSTALL) requirements.lock
	@touch $@

$(VENV)/.dev: requirements-dev.lock | $(VENV)/bin/python
	@echo "Installing the dashboard and what tests need into $(VENV): one to three minutes, and only this once ..."
	@$(PIP_INSTALL) requirements-dev.lock
	@touch $@
