# `make demo` and `make test` need Python 3.11+ with venv, a C++20 compiler and make; the rest they fetch.
PYTHON ?= python3
CXX ?= c++
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := dev
PIN := cat
BUILD_DIR := build/{wheel_tag}
SOURCES := $(shell find core src -type f -not -name '*.pyc' -not -name '.*') CMakeLists.txt
PYTEST := MPLBACKEND=agg $(BIN)/python -m pytest -q -n auto --doctest-modules tests README.md docs --pyargs hedgerow

.PHONY: demo test test-minimums lint stub format sanitize coverage bench clean
.DEFAULT_GOAL := test

demo: $(VENV)/installed
	@$(BIN)/python examples/demo.py

test: $(VENV)/installed
	$(PYTEST) -m "not thorough"

test-all: $(VENV)/installed
	$(PYTEST)

# The oldest version of everything that pyproject.toml admits, in an environment of its own.
test-minimums:
	$(MAKE) test VENV=build/minimums BUILD_DIR=build/minimums/core EXTRAS="all test" PIN="$(PYTHON) .ci/minimums.py"

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports --no-cache
	@$(BIN)/python -m nanobind.stubgen -q -m hedgerow._core -o build/_core.pyi
	@diff -u src/hedgerow/_core.pyi build/_core.pyi \
	  || { echo "lint: src/hedgerow/_core.pyi is out of date; run 'make stub'" >&2; exit 1; }

stub: $(VENV)/installed
	$(BIN)/python -m nanobind.stubgen -q -m hedgerow._core -o src/hedgerow/_core.pyi

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The checked core goes to a folder of its own, which PYTHONPATH puts before the ordinary install. Leak checks
# are off: the interpreter keeps memory until exit.
sanitize: $(VENV)/ready
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target build/sanitize/site \
	  -C build-dir=build/sanitize/core -C cmake.define.HEDGEROW_SANITIZE=ON .
	PYTHONPATH=build/sanitize/site LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 $(PYTEST)

coverage: $(VENV)/installed
	$(PYTEST) --cov --cov-report=term --cov-report=html

bench: $(VENV)/installed
	@for script in benchmarks/bench_*.py; do echo "== $$script"; $(BIN)/python $$script || exit 1; done

clean:
	rm -rf $(VENV) build dist

# Everything that pip must fetch; made again only when the declarations change.
$(VENV)/ready: pyproject.toml
	@$(PYTHON) .ci/preflight.py "$(CXX)"
	@echo "setting up $(VENV) (once; about a minute)"
	@$(PYTHON) -m venv $(VENV)
	@$(BIN)/python .ci/requirements.py $(EXTRAS) | $(PIN) > $(VENV)/requirements.txt
	@$(BIN)/pip install -q --disable-pip-version-check -r $(VENV)/requirements.txt
	@touch $@

$(VENV)/installed: $(VENV)/ready $(SOURCES)
	@echo "building hedgerow"
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation -C build-dir='$(BUILD_DIR)' .
	@touch $@
