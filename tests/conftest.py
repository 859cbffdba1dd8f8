"""Marks for pytest-mpi: tests under mpi/ run under mpirun, all others without it."""

from pathlib import Path

import pytest

MPI_TESTS = Path(__file__).parent / "mpi"
collect_ignore = ["wild/losses.py", "wild/on_cpu.py"]  # programs that need MindSpore, or what stands for it


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        under_mpi = MPI_TESTS in item.path.parents
        item.add_marker(pytest.mark.mpi if under_mpi else pytest.mark.mpi_skip)
