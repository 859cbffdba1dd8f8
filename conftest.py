"""What doctests of the packages need; those in tests/ have a conftest.py of their own."""

import tempfile

import pytest


@pytest.fixture(scope="session")
def examples_folder(tmp_path_factory):
    """A folder for all that examples write."""
    return tmp_path_factory.mktemp("examples")


@pytest.fixture(autouse=True)
def _files_of_examples(request, monkeypatch):
    """Have examples write where pytest cleans up: readers of an example need not see how it is done."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.setattr(tempfile, "tempdir", str(request.getfixturevalue("examples_folder")))
