# Everything runs in the environment that kadath.sh makes.
PY := .venv/bin/python
BIN := .venv/bin

.PHONY: check test test-unit test-fault test-mutants coverage bench bench-demo catalogue escapes format locks

check:
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy
	$(PY) -m schemas.generate --check

format:
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test:
	./kadath.sh test

test-unit:
	$(PY) -m pytest tests/unit tests/property tests/architecture

test-fault:
	$(PY) -m pytest tests/fault --fault-kills 20

bench:
	$(PY) -m bench

bench-demo:
	$(PY) -m bench.demo

coverage:
	$(PY) -m tests.coverage

test-mutants:
	$(PY) -m tests.mutants

escapes:
	$(PY) -m tests.support.escapes

catalogue:
	$(PY) -m schemas.generate

locks:
	uv pip compile pyproject.toml --generate-hashes --python-version 3.11 --no-strip-extras --no-header --no-annotate -o deploy/locks/runtime.txt
	uv pip compile pyproject.toml --group dev --constraint deploy/locks/runtime.txt --generate-hashes --python-version 3.11 --no-strip-extras --no-header --no-annotate -o deploy/locks/dev.txt
	uv pip compile deploy/locks/searxng.in --generate-hashes --python-version 3.11 --no-header --no-annotate -o deploy/locks/searxng.txt
