"""Marks for pytest-mpi: tests under mpi/ run under mpirun, all others without it. Examples leave no files behind."""

import tempfile
from functools import partial
from pathlib import Path
from unittest import mock

import pytest

MPI_TESTS = Path(__file__).parent / "mpi"
collect_ignore = ["wild/losses.py", "wild/on_cpu.py"]  # programs that need MindSpore, or what stands for it


def in_a_folder_that_goes(run):
    """Run an example; what it puts into the temporary folder goes with it."""
    with tempfile.TemporaryDirectory() as folder, mock.patch.object(tempfile, "tempdir", folder):
        run()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        under_mpi = MPI_TESTS in item.path.parents
        item.add_marker(pytest.mark.mpi if under_mpi else pytest.mark.mpi_skip)
        if isinstance(item, pytest.DoctestItem):
            item.runtest = partial(in_a_folder_that_goes, item.runtest)
