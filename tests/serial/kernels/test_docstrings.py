"""The examples in the docstrings of `dist_ms._ext`, which pytest's own search does not enter."""

import doctest
import importlib
from pathlib import Path

import numpy as np
import pytest

from dist_ms import _ext

FOLDER = Path(_ext.__file__).parent
MODULES = sorted(path.stem for path in [*FOLDER.rglob("*.pyx"), *FOLDER.glob("onednn*.py")])


@pytest.mark.parametrize("name", MODULES)
def test_examples(name):
    module = importlib.import_module(f"dist_ms._ext.{name}")
    result = doctest.testmod(module, extraglobs={"np": np})
    assert result.attempted > 0
    assert result.failed == 0


def test_examples_of_the_package():
    result = doctest.testmod(_ext)
    assert result.attempted > 0
    assert result.failed == 0
