"""Docstrings that name another: the other exists and has an example, and a test runs what points to it."""

import importlib
import inspect
import re
from pathlib import Path

import pytest

import dist_ms as ms

TESTS = Path(__file__).parents[1]
PACKAGES = (
    "dist_ms.nn dist_ms.nn.learning_rate_schedule dist_ms.ops dist_ms.mint dist_ms.mint.nn dist_ms.mint.nn.functional "
    "dist_ms.mint.linalg dist_ms.mint.optim dist_ms.mint.distributed dist_ms.numpy dist_ms.numpy.fft "
    "dist_ms.experimental.optim dist_ms.experimental.optim.lr_scheduler dist_ms.communication.comm_func "
    "dist_ms.scipy.fft dist_ms.train dist_ms.train.metrics dist_ms.dataset dist_ms.dataset.audio dist_ms.dataset.vision"
).split()


def public(package):
    """The functions and classes of a package that dist_ms defines."""
    module = importlib.import_module(package)
    names = getattr(module, "__all__", None) or [name for name in dir(module) if not name.startswith("_")]
    for name in names:
        value = getattr(module, name)
        if (inspect.isclass(value) or inspect.isroutine(value)) and value.__module__.startswith("dist_ms"):
            yield name, value


def followed(path, package):
    """What a name in a docstring stands for: in the package, in one above it, or in dist_ms."""
    while package:
        value = importlib.import_module(package)
        for part in path.removeprefix("dist_ms.").split("."):
            value = getattr(value, part, None)
        if value is not None:
            return value
        package = package.rpartition(".")[0]
    return None


def pointed(text):
    """The name a docstring points to, or None: what it begins with."""
    found = re.match(r"`([A-Za-z_][\w.]*)`", text)
    return None if found is None else found[1]


def complaint(name, value, package, steps=4):
    text = inspect.getdoc(value) or ""
    other = pointed(text)
    if other is None:
        return None if ">>>" in text else f"{package}.{name} points to nothing that has an example"
    target = followed(other, value.__module__) or followed(other, package)
    if target is None or target is value or not steps:
        return f"{package}.{name} names {other}, which is not there"
    return None if ">>>" in text else complaint(other.rpartition(".")[2], target, target.__module__, steps - 1)


@pytest.mark.parametrize("package", PACKAGES)
def test_what_a_docstring_begins_with_is_there_and_has_an_example(package):
    pointers = [(name, value) for name, value in public(package) if pointed(value.__doc__ or "")]
    assert [found for name, value in pointers if (found := complaint(name, value, package))] == []


def test_what_points_to_another_runs_in_a_test():
    written = "\n".join(path.read_text() for path in TESTS.rglob("*.py"))
    words = set(re.findall(r"\w+", written))
    for package in PACKAGES:
        texts = [(name, value, value.__doc__ or "") for name, value in public(package)]
        pointers = [(name, value) for name, value, text in texts if pointed(text) and ">>>" not in text]
        silent = [name for name, value in pointers if not words & {name, getattr(value, "__name__", name)}]
        assert silent == [], package


def test_pointers_are_told_from_texts():
    assert pointed(ms.nn.ReLU.__doc__) == "ops.relu"
    assert pointed(ms.ops.relu.__doc__) is None
    assert pointed("`nothing.here` as a layer.") == "nothing.here"
    assert "not there" in complaint("x", made("`nothing.here` as a layer."), "dist_ms.nn")
    assert "nothing that has an example" in complaint("x", made("A text."), "dist_ms.nn")


def made(text):
    return type("x", (), {"__doc__": text, "__module__": "dist_ms.nn"})


def test_what_the_site_shows_has_a_text_of_its_own():
    shown = [
        line.removeprefix("::: ").strip()
        for page in (TESTS.parent / "docs" / "api").glob("*.md")
        for line in page.read_text().splitlines()
        if line.startswith("::: ")
    ]
    assert len(shown) > 40
    for path in shown:
        module, _, name = path.rpartition(".")
        text = getattr(importlib.import_module(module), name).__doc__
        assert pointed(text) is None, path
        assert "\n" in text, path
