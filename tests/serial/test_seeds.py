"""Every sample of the documents the project was asked from runs and prints what they show, or says why not.

The samples stand in tests/serial/seeds/*.md, formatted anew, and cut where a part of what one prints is random: a
chapter is one session, a `text` block what the python block before it prints. `text random` compares the text with
numbers left out, `abridged` the beginning and the end of an array of which the document leaves out the middle.
"""

import contextlib
import io
import re
import sys
import types
from pathlib import Path

import numpy as np
import pytest

import dist_ms.compat

FOLDER = Path(__file__).parent / "seeds"
CHAPTER = re.compile(r"^## (.+)$", re.M)
BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)
NUMBER = re.compile(r"(?<![\w.#])[-+]?\d+\.?\d*(?:e[-+]?\d+)?(?![\w])")


def chapters():
    for path in sorted(FOLDER.glob("*.md")):
        parts = CHAPTER.split(path.read_text())
        for title, body in zip(parts[1::2], parts[2::2]):
            yield pytest.param(BLOCK.findall(body), id=f"{path.stem}: {title}")


@pytest.fixture(autouse=True)
def as_mindspore(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    dist_ms.compat.install()
    yield
    dist_ms.compat.uninstall()


def words(text):
    return " ".join(text.split())


def shown(text):
    """Text and numbers apart, white space folded; a number keeps its place in the text."""
    return re.sub(r" ?([\[\](),]) ?", r"\1", words(NUMBER.sub("<n>", text)))


def compare(printed, expected, kind):
    printed = printed.replace("'dist_ms.", "'mindspore.")
    if kind == "generated name":
        printed = re.sub(r"Parameter#\d+", "Parameter", printed)
    if "abridged" in kind:
        first, last = expected.split("\n\n  ...\n\n")
        assert shown(printed).startswith(shown(first)) and shown(printed).endswith(shown(last))
    else:
        assert shown(printed) == shown(expected)
    if "random" not in kind:
        got, want = ([float(n) for n in NUMBER.findall(t)] for t in (printed, expected))
        np.testing.assert_allclose(got, want, rtol=5e-7 if kind == "backward hook" else 1e-7)


@pytest.mark.parametrize("blocks", list(chapters()))
def test_samples(blocks):
    module = types.ModuleType("__main__")
    before = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        assert blocks and blocks[-1][0] == "text"
        printed = ""
        for language, kind, body in blocks:
            if language == "text":
                compare(printed, body, kind.strip())
                continue
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(body, "sample.py", "exec"), module.__dict__)
            printed = out.getvalue()
    finally:
        sys.modules["__main__"] = before


def test_float_status_operators_refuse_as_documented():
    import mindspore
    from mindspore import Tensor, ops

    for name in ("NPUAllocFloatStatus", "NPUGetFloatStatus", "NPUClearFloatStatus"):
        with pytest.raises((RuntimeError, TypeError, ValueError), match=name):
            operator = getattr(ops, name)()
            operator() if "Alloc" in name else operator(Tensor(np.zeros(8, np.float32)))
    with pytest.raises((RuntimeError, ValueError), match="device_target|Ascend"):
        mindspore.set_context(device_target="Ascend")
