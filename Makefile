# Two commands matter: `make lab` and `make test`. `make` alone lists the others.
#
# Needs Python 3.11 or newer and a POSIX shell. Everything is installed into .venv, where a stamp
# remembers what is there; a change of pyproject.toml makes the next call install again.
#
#   PYTHON=...     the Python to use, instead of the newest that works
#   LAB_ARGS=...   further arguments for JupyterLab
#   PYTEST_ARGS=.. further arguments for pytest

VENV := .venv
BIN := $(VENV)/bin
LAB_STAMP := $(VENV)/.installed-lab
DEV_STAMP := $(VENV)/.installed-dev
# Installing copies the built front end to where JupyterLab looks for extensions.
FRONT_END := $(wildcard workbench/session/static/sources.sha256)
# Most of what is installed is never imported: what is, is compiled then.
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet install --no-compile
PYTEST := $(BIN)/python -m pytest $(PYTEST_ARGS)
# Two workers on two cores, so one thread of linear algebra each.
PARALLEL := OMP_NUM_THREADS=1 $(PYTEST) -n 2 --dist loadgroup --benchmark-disable --durations=25
# The files with tests that Hypothesis draws.
DRAWN = $(shell grep -rl --include='test_*.py' hypothesis tests)
# What is not run is not imported.
APART := $(foreach folder,browser learning benchmarks,--ignore=tests/$(folder))
RECORD := --record tests/soundness/recorded.jsonl
# As the address and not as an argument, so that the address which JupyterLab prints leads there too.
START := --LabApp.default_url=/lab/tree/notebooks/00_start.ipynb

# What a process compiles of the package is there for the next one: tests start many.
unexport PYTHONDONTWRITEBYTECODE

.NOTPARALLEL:
.DELETE_ON_ERROR:
.PHONY: help lab test lint unit property notebooks outputs browser learn bench soundness functions \
	kernels gpu gpu-packages clean dot chromium compiler zig

help:
	@echo 'make lab         set everything up and open JupyterLab on notebooks/00_start.ipynb'
	@echo 'make test        set everything up and run lint, unit, property, notebooks, browser'
	@echo 'make lint        ruff and mypy'
	@echo 'make unit        unit tests'
	@echo 'make property    property-based tests'
	@echo 'make notebooks   every notebook, top to bottom, shows what is stored of it'
	@echo 'make outputs     run every notebook and store what it shows, for readers on a code host'
	@echo 'make browser     JupyterLab in headless Chromium'
	@echo 'make learn       training runs that must reach a return (minutes)'
	@echo 'make bench       benchmarks'
	@echo 'make soundness   steps and gradients at random, by the ten thousand (two hours)'
	@echo 'make functions   every float32 through the functions of compiled programs (half an hour)'
	@echo 'make kernels     compiled C by every compiler for every processor (an hour)'
	@echo 'make gpu         what only an NVIDIA GPU can tell, by the python3 that has CuPy (half an hour)'
	@echo 'make clean       remove .venv and all caches'

lab: $(LAB_STAMP) dot
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) $(START) $(LAB_ARGS)

# With what each took at the end.
test:
	@begun=$$(date +%s); $(MAKE) --no-print-directory $(DEV_STAMP) && \
	exec $(BIN)/python -m tests.taken $$begun '$(MAKE)' lint unit property notebooks browser

lint: $(DEV_STAMP)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

unit: $(DEV_STAMP) dot compiler
	$(PARALLEL) $(APART) -m "not hypothesis and not soundness and not notebooks and not kernels"

property: $(DEV_STAMP)
	$(PARALLEL) $(APART) -m "hypothesis and not soundness" $(DRAWN)

notebooks: $(DEV_STAMP) dot
	$(PARALLEL) -m notebooks tests/notebooks

# What they show then is stored with them. One of them: NOTEBOOKS=notebooks/02_ppo.ipynb
outputs: $(DEV_STAMP) dot compiler
	$(BIN)/python -m tests.notebooks $(NOTEBOOKS)

browser: $(DEV_STAMP) dot chromium
	OMP_NUM_THREADS=1 $(PYTEST) -n 2 --dist loadfile --durations=25 -m 'browser and not soundness' tests/browser

learn: $(DEV_STAMP)
	$(PYTEST) -m learn tests/learning

bench: $(DEV_STAMP)
	$(PYTEST) -m benchmark tests/benchmarks

soundness: $(DEV_STAMP) dot chromium
	$(PARALLEL) $(APART) -m soundness
	OMP_NUM_THREADS=1 $(PYTEST) -m soundness tests/browser
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness --steps 100000 --seconds 7200 $(RECORD)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness --programs algorithms --steps 2000 --seconds 7200 $(RECORD)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness --programs algorithms --having Persist --steps 2000 --seconds 7200 $(RECORD)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness.refusals --count 1000
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness.refusals --count 100 --of Persist $(RECORD)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness.gradients --count 20000 $(RECORD)
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.soundness.random_programs $(RECORD)

functions: $(DEV_STAMP) compiler
	$(BIN)/python -m tests.codegen.c --record tests/codegen/c/recorded.jsonl

# What is done is kept: interrupted, it goes on from there at the same commit. One kind of its tasks,
# with a line of its own: PART=gpu
kernels: $(DEV_STAMP) dot compiler zig
	OMP_NUM_THREADS=1 $(BIN)/python -m tests.kernels --kept .kernels.jsonl \
		--record tests/kernels/recorded.jsonl $(addprefix --part ,$(PART))

# On a machine with a GPU: its own Python with CuPy, and JAX if it is to be measured beside. What
# that Python lacks is looked for in .gpu, which `make gpu-packages` fills where there is a network:
# all but CUDA's libraries, among them NVRTC, which CuPy needs too.
gpu:
	PYTHONPATH=.:.gpu $(or $(PYTHON),python3) -m tests.gpu --record notebooks/recorded_on_gpus.jsonl

GPU_PYTHON = 3.12
GPU_PACKAGES = islpy threadpoolctl gymnasium cloudpickle farama-notifications typing-extensions \
	pytest iniconfig packaging pluggy pygments
GPU_PLATFORMS = manylinux_2_28_x86_64 manylinux2014_x86_64
gpu-packages: $(DEV_STAMP)
	$(BIN)/python -m pip install -q --upgrade --target .gpu --python-version $(GPU_PYTHON) \
		$(foreach platform,$(GPU_PLATFORMS),--platform $(platform)) --only-binary=:all: --no-deps \
		$(GPU_PACKAGES)

clean:
	rm -rf $(VENV) build dist .benchmarks .hypothesis .mypy_cache .pytest_cache .ruff_cache .kernels.jsonl
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# --- Python ---------------------------------------------------------------------------------------

$(LAB_STAMP): pyproject.toml $(FRONT_END) | $(BIN)/python
	@echo 'Installing the workbench and JupyterLab into $(VENV) (about a minute the first time)'
	@$(PIP) --editable .
	@touch $@

$(DEV_STAMP): pyproject.toml $(FRONT_END) | $(BIN)/python
	@echo 'Installing the workbench and its tests into $(VENV) (about a minute the first time)'
	@$(PIP) --editable '.[dev]'
	@touch $(LAB_STAMP) $@

# A name that exists may still fail when called (the shims of version managers), so each is tried.
# Debian keeps `venv` in a package of its own.
$(BIN)/python:
	@python=; for name in $(or $(PYTHON),python3.14 python3.13 python3.12 python3.11 python3 python); do \
		if "$$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null; then \
			python=$$name; break; fi; done; \
	if [ -z "$$python" ]; then \
		echo 'No Python 3.11 or newer works here: install one, or name it: make PYTHON=/path/to/python3' >&2; \
		exit 1; fi; \
	if ! "$$python" -c 'import ensurepip, venv' 2>/dev/null; then \
		package=$$("$$python" -c 'import sys; print("python%d.%d-venv" % sys.version_info[:2])'); \
		$(call apt,$$package) || { \
		echo "$$python has no venv module: install it (on Debian and Ubuntu the package $$package)" >&2; \
		exit 1; }; fi; \
	echo "Making $(VENV) with $$("$$python" --version)"; \
	rm -rf $(VENV) && "$$python" -m venv $(VENV)

# --- Programs of the system -----------------------------------------------------------------------

# $(call apt,packages): installs as root on Debian; fails elsewhere, so that the caller can say so.
apt = { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null && \
	echo "Installing $(1) through apt-get" && apt-get update -qq && \
	DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends $(1) >/dev/null; }

dot:
	@command -v dot >/dev/null || $(call apt,graphviz) || \
		echo 'There is no `dot`, so no picture in saved notebooks: install Graphviz (package graphviz).'

compiler:
	@command -v cc >/dev/null || command -v gcc >/dev/null || command -v clang >/dev/null || \
		$(call apt,gcc libc6-dev) || \
		echo 'There is no C compiler, so the tests of compiled code fail: install one (package gcc).'

# A compiler of 90 MB, for `make kernels` alone.
zig: $(DEV_STAMP)
	@$(BIN)/python -c 'import ziglang' 2>/dev/null || $(PIP) --editable '.[dev,zig]'

chromium:
	@[ -n "$$CHROMIUM" ] || command -v chromium >/dev/null || command -v chromium-browser >/dev/null || \
		command -v google-chrome >/dev/null || $(call apt,chromium fonts-dejavu-core) || \
		echo 'There is no Chromium, so no browser tests: install it (package chromium) or set CHROMIUM.'
