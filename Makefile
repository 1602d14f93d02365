# `make demo` and `make test` need Python 3.11+ with venv, a C++20 compiler and make; the rest they fetch.
PYTHON ?= python3
CXX ?= c++
VENV := .venv
BIN := $(VENV)/bin
EXTRAS := dev
PIN := cat
CUDA := cuda13
BUILD_DIR := build/{wheel_tag}
CORE := $(shell find core -name '*.cpp' -o -name '*.hpp')
SOURCES := $(shell find core src -type f -not -name '*.pyc' -not -name '.*') CMakeLists.txt
PYTEST := MPLBACKEND=agg $(BIN)/python -m pytest -q -n auto --doctest-modules tests README.md docs --pyargs hedgerow

.PHONY: demo test test-minimums test-all lint docs docs-check stub format odr sanitize slow spark-test nvrtc-test gpu-test coverage bench clean
.DEFAULT_GOAL := test

demo: $(VENV)/installed
	@$(BIN)/python examples/demo.py

test: $(VENV)/installed
	$(PYTEST) -m "not thorough"

# The oldest version of everything that pyproject.toml admits, in an environment of its own.
test-minimums:
	$(MAKE) test VENV=build/minimums BUILD_DIR=build/minimums/core EXTRAS="all test" PIN="$(PYTHON) .ci/minimums.py"

lint: $(VENV)/installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	PYTHONPATH=src $(BIN)/lint-imports --no-cache
	$(BIN)/python .ci/check_includes.py
	$(BIN)/python .ci/check_docstrings.py
	$(BIN)/clang-format --dry-run --Werror $(CORE)
	@$(BIN)/python -m nanobind.stubgen -q -m hedgerow._core -o build/_core.pyi
	@diff -u src/hedgerow/_core.pyi build/_core.pyi \
	  || { echo "lint: src/hedgerow/_core.pyi is out of date; run 'make stub'" >&2; exit 1; }

# The site, in build/site. Every warning is an error. The gallery runs only the examples that changed.
docs: $(VENV)/installed
	$(BIN)/python -m sphinx -q -W --keep-going -j 2 -b html -d build/doctrees docs build/site
	@echo "open build/site/index.html"

# Links within the site that lead nowhere, public names without a page, and ten pages in a browser, where there is one.
docs-check: docs
	$(BIN)/python .ci/check_docs.py build/site
	$(BIN)/python .ci/check_site.py build/site

stub: $(VENV)/installed
	$(BIN)/python -m nanobind.stubgen -q -m hedgerow._core -o src/hedgerow/_core.pyi

format: $(VENV)/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .
	$(BIN)/clang-format -i $(CORE)

# Everything that can be run without a person; about half an hour on two cores.
test-all: odr sanitize slow nvrtc-test
	HEDGEROW_THOROUGH=1 $(PYTEST)

# The engines with Spark, classic and Connect, each in a process of its own, as one can't hold both sessions: needs
# Java 17, and pip fetches 400 MB.
spark-test: $(VENV)/installed
	$(BIN)/pip install -q --disable-pip-version-check $$($(BIN)/python .ci/requirements.py spark | grep pyspark) 'pyspark[connect]'
	HEDGEROW_SPARK=1 $(BIN)/python -m pytest -q tests/distributed/engines -k "spark and not connect"
	HEDGEROW_SPARK=1 $(BIN)/python -m pytest -q tests/distributed/engines -k connect

# The kernels for GPUs, compiled by NVRTC for every architecture; needs no GPU. pip fetches 60 MB.
nvrtc-test: $(VENV)/installed
	$(BIN)/pip install -q --disable-pip-version-check nvidia-cuda-nvrtc cuda-pathfinder
	$(BIN)/python -m pytest -q tests/gpu/test_nvrtc.py

# The walk on a GPU, for machines that have one; the second run, where there is compute-sanitizer, checks memory accesses.
gpu-test: $(VENV)/installed
	$(BIN)/pip install -q --disable-pip-version-check $$($(BIN)/python .ci/requirements.py $(CUDA) | grep cupy)
	$(BIN)/python -m pytest -q tests/gpu
	if command -v compute-sanitizer >/dev/null; then \
	  compute-sanitizer --tool memcheck --error-exitcode 1 $(BIN)/python -m pytest -q tests/gpu/test_on_gpu.py -k every_kind; fi

# A type must be defined alike in all files of the core: only the link step sees all of them.
odr: $(VENV)/ready
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target build/odr/site \
	  -C build-dir=build/odr/core -C cmake.define.CMAKE_CXX_FLAGS="-flto -Wodr -Werror=odr" .

# The scripts in tests/slow that end by themselves.
slow: $(VENV)/installed
	$(BIN)/python tests/slow/boundary_example.py
	$(BIN)/python tests/slow/check_coverage.py
	$(BIN)/python tests/slow/check_measured_bar.py
	$(BIN)/python tests/slow/check_uncertainty.py
	$(BIN)/python tests/slow/fuzz_model_files.py 20000

# The checked core goes to a folder of its own, which PYTHONPATH puts before the ordinary install. Leak checks are off:
# the interpreter keeps memory until exit. These are the tests of the rooms that call the core.
SANITIZED := boundary contributions counterfactual data forest growth inspection measured naive_bayes pruning walk
sanitize: $(VENV)/ready
	@$(BIN)/pip install -q --disable-pip-version-check --no-deps --no-build-isolation --upgrade --target build/sanitize/site \
	  -C build-dir=build/sanitize/core -C cmake.define.HEDGEROW_SANITIZE=ON .
	PYTHONPATH=build/sanitize/site LD_PRELOAD="$$($(CXX) -print-file-name=libasan.so) $$($(CXX) -print-file-name=libstdc++.so)" \
	  ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS=print_stacktrace=1 MPLBACKEND=agg $(BIN)/python -m pytest -q -n auto \
	  -m "not thorough" $(SANITIZED:%=tests/%) tests/distributed/test_bins.py tests/storage

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
