"""Run recorded calls one by one and write what each did; in MindSpore's interpreter or in ours.

    PYTHON tests/parity/wrong_calls/running.py CALLS.jsonl OUT.jsonl START

Where MindSpore is not installed `import mindspore` finds dist_ms. The parent (`__main__.py`) starts it anew behind a
call that ends the process or hangs.
"""

from __future__ import annotations

import builtins
import importlib
import importlib.util
import json
import os
import sys
import tempfile
import traceback
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np


def loaded() -> Any:
    """MindSpore, or dist_ms in its place."""
    if importlib.util.find_spec("mindspore") is None:
        importlib.import_module("dist_ms.compat").install()
    return importlib.import_module("mindspore")


def elements(dtype: str, shape: list[int], told: Any) -> np.ndarray:
    """The array that a recorded type, shape and elements (or limits, or None) stand for."""
    wide = "float32" if dtype == "bfloat16" else dtype
    if isinstance(told, list):
        return np.array(told).astype(wide).reshape(shape)
    random = np.random.RandomState(0)
    if isinstance(told, tuple):
        return random.randint(told[0], told[1] + 1, shape).astype(wide)
    return (random.rand(*shape) < 0.5) if wide == "bool" else np.asarray(random.rand(*shape)).astype(wide)


class Namespace(dict):
    """The names of the expressions."""

    def __init__(self, ms: Any) -> None:
        super().__init__(ms=ms, np=np, nn=ms.nn, ops=ms.ops, mint=importlib.import_module("mindspore.mint"))
        self.update(t=self.tensor, p=self.parameter, a=elements)

    def tensor(self, dtype: str, shape: list[int], told: Any) -> Any:
        """A tensor."""
        ms = self["ms"]
        return ms.Tensor(elements(dtype, shape, told), getattr(ms, dtype.replace("bool", "bool_")))

    def parameter(self, dtype: str, shape: list[int], told: Any) -> Any:
        """A parameter."""
        return self["ms"].Parameter(self.tensor(dtype, shape, told), name="p")

    def arguments(self, call: dict[str, Any]) -> tuple[list, dict]:
        """A call's arguments."""
        args = [eval(text, self) for text in call["args"]]
        return args, {k: eval(text, self) for k, text in call["kwargs"].items()}

    def named(self, path: str) -> Any:
        """The object of a path such as "mint.nn.functional.relu"."""
        value = self["ms"]
        for part in path.split("."):
            value = getattr(value, part)
        return value


def told(value: Any) -> str:
    """A result in short; all tensors in it are computed."""
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(map(told, value))})"
    if hasattr(value, "asnumpy"):
        array = value.asnumpy()
        head = ", ".join(map(str, array.ravel()[:4].tolist()))
        return f"{value.dtype}{list(array.shape)} {head}"
    return repr(value)[:60]


def prepared(row: dict[str, Any], names: Namespace) -> Callable[[], Any]:
    """What is to be run of a call: the arguments exist already."""
    path, made = row["path"], row["make"] and names.arguments(row["make"])
    args, kwargs = names.arguments(row["call"]) if row["call"] else ([], {})
    if path.startswith("Tensor."):
        return lambda: getattr(args[0], path[7:])(*args[1:], **kwargs)
    function = names.named(path)
    if made is None:
        return lambda: function(*args, **kwargs)
    if row["call"] is None:
        return lambda: function(*made[0], **made[1])
    return lambda: function(*made[0], **made[1])(*args, **kwargs)


def outcome(row: dict[str, Any], names: Namespace) -> dict[str, Any]:
    """What a call does: its result in short, or the exception's built-in class and text."""
    try:
        run = prepared(row, names)
    except Exception as error:
        return {"unmade": f"{type(error).__name__}: {error}"[:200]}
    try:
        return {"error": None, "text": told(run())[:200]}
    except Exception as error:
        found = next(k for k in type(error).__mro__ if getattr(builtins, k.__name__, None) is k)
        at = traceback.extract_tb(error.__traceback__)[-1]
        where = f"{at.filename.rpartition('site-packages')[2]}:{at.lineno}"
        return {"error": found.__name__, "text": " ".join(str(error).split())[:300], "at": where}


def main() -> None:
    """Run the calls from one on."""
    calls, out, start = sys.argv[1:4]
    warnings.simplefilter("ignore")
    ms = loaded()
    ms.set_seed(0)
    names = Namespace(ms)
    if hasattr(ms, "runtime") and hasattr(ms.runtime, "launch_blocking"):
        ms.runtime.launch_blocking()
    with open(calls) as file:
        rows = [json.loads(line) for line in file]
    with open(out, "a", buffering=1) as file:
        os.chdir(tempfile.mkdtemp())
        for i in range(int(start), len(rows)):
            file.write(json.dumps({"i": i, **outcome(rows[i], names)}) + "\n")


if __name__ == "__main__":
    main()
