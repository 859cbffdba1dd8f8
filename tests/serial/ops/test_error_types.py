"""Wrong types, dtypes, shapes and axes raise the type of error MindSpore 2.10 raises.

error_types.txt holds a call a line, after the error MindSpore's CPU raised for it. To check a new line there, or all:

    MINDSPORE_VENV/bin/python tests/serial/ops/test_error_types.py
"""

import sys
from importlib import import_module
from pathlib import Path

import numpy as np

LINES = (Path(__file__).parent / "error_types.txt").read_text().splitlines()


def materialise(result):
    """Wait for a result: MindSpore raises some errors only when the values are asked for."""
    if hasattr(result, "asnumpy"):
        result.asnumpy()
    elif isinstance(result, (tuple, list)):
        for one in result:
            materialise(one)


def differences(package):
    """The lines whose call raises something else in a package, with what it raises."""
    ms = import_module(package)

    def t(dtype, *shape):
        return ms.Tensor(np.arange(int(np.prod(shape))).reshape(shape).astype(dtype))

    names = {"ms": ms, "np": np, "ops": import_module(f"{package}.ops"), "t": t}
    found = []
    for line in LINES:
        wanted, _, call = line.partition(": ")
        try:
            materialise(eval(call, names))
            raised = "nothing"
        except Exception as error:  # its type is what is looked at
            raised = type(error).__name__
        if raised != wanted:
            found.append(f"{line} raised {raised}")
    return found


def test_the_types_of_errors():
    assert len(LINES) > 1000
    assert not differences("dist_ms")


if __name__ == "__main__":
    import_module("mindspore").runtime.launch_blocking()  # else an error is raised by a later call
    print("\n".join(differences("mindspore")))
    sys.exit(0)
