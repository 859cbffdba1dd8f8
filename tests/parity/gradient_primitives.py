"""Record what MindSpore's gradient primitives return for the calls of tests/serial/ops/backward/cases.py; run by hand.

    MINDSPORE_VENV/bin/python tests/parity/gradient_primitives.py

writes recorded.npz beside the cases, which tests compare dist_ms with: output k of case i is "i.k".
"""

from __future__ import annotations

import importlib
import runpy
from pathlib import Path
from typing import Any

import numpy as np

FOLDER = Path(__file__).resolve().parent.parent / "serial" / "ops" / "backward"
MODULES = ("ops.operations._grad_ops", "ops.auto_generate", "ops.operations.nn_ops")


def given(value: Any, tensor: Any) -> Any:
    """An input with tensors for its arrays."""
    if isinstance(value, tuple):
        return tuple(given(v, tensor) for v in value)
    return tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


def primitive(name: str, package: str = "mindspore") -> Any:
    """A primitive of the paths above."""
    modules = (importlib.import_module(f"{package}.{path}") for path in MODULES)
    return next(getattr(module, name) for module in modules if hasattr(module, name))


def main() -> None:
    """Run the cases in MindSpore."""
    tensor = importlib.import_module("mindspore").Tensor
    found = {}
    for i, (name, options, inputs) in enumerate(runpy.run_path(str(FOLDER / "cases.py"))["CASES"]):
        outputs = primitive(name)(**options)(*given(inputs, tensor))
        for k, output in enumerate(outputs if isinstance(outputs, tuple) else (outputs,)):
            found[f"{i}.{k}"] = output.asnumpy()
    np.savez_compressed(FOLDER / "recorded.npz", **found)


if __name__ == "__main__":
    main()
