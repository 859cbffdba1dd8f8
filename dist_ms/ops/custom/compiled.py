"""C functions in shared libraries, called as MindSpore calls ahead-of-time compiled operations.

    int f(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes, void *stream, void *extra)

`params` are the inputs' arrays, then the outputs'; `stream` and `extra` are null. A result other than 0 is an error.
"""

from __future__ import annotations

import ctypes
import functools
import os
import subprocess
import tempfile
from collections.abc import Callable

import numpy as np

from dist_ms.common.settings.environment import value_of


@functools.cache
def _library(path: str) -> ctypes.CDLL:
    """A shared library, compiled first if the file is C++ source."""
    if not os.path.isfile(path):
        raise RuntimeError(f"For 'Custom', the file of 'func' was not found: {path}.")
    if not path.endswith((".cc", ".cpp", ".cxx", ".c")):
        return ctypes.CDLL(os.path.abspath(path))
    with tempfile.TemporaryDirectory(prefix="dist_ms_custom") as folder:  # what is loaded needs its file no more
        binary = os.path.join(folder, os.path.basename(path) + ".so")
        command = [value_of("CXX"), "-O2", "-shared", "-fPIC", "-o", binary, path]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"For 'Custom', {' '.join(command)} failed:\n{done.stderr}")
        return ctypes.CDLL(binary)


def load(name: str) -> Callable[[list[np.ndarray], list[np.ndarray]], None]:
    """Return a function (inputs, outputs) -> None that calls `<file>:<function>`.

    Raises:
        RuntimeError: if the file or the function is not there.
        ValueError: if the name has another form.
    """
    path, colon, function = name.rpartition(":")
    if not colon or not path or not function:
        raise ValueError(f"For 'Custom', 'func' must be '<file>:<function>' with func_type='aot', but got {name!r}.")
    try:
        called = getattr(_library(path), function)
    except AttributeError:
        raise RuntimeError(f"For 'Custom', {path} has no function {function}: declare it extern \"C\".") from None

    def run(inputs: list[np.ndarray], outputs: list[np.ndarray]) -> None:
        arrays = [*map(np.ascontiguousarray, inputs), *outputs]
        n = len(arrays)
        shapes = [(ctypes.c_int64 * max(a.ndim, 1))(*a.shape) for a in arrays]
        status = called(
            ctypes.c_int(n),
            (ctypes.c_void_p * n)(*[a.ctypes.data for a in arrays]),
            (ctypes.c_int * n)(*[a.ndim for a in arrays]),
            (ctypes.POINTER(ctypes.c_int64) * n)(*[ctypes.cast(s, ctypes.POINTER(ctypes.c_int64)) for s in shapes]),
            (ctypes.c_char_p * n)(*[a.dtype.name.encode() for a in arrays]),
            None,
            None,
        )
        if status:
            raise RuntimeError(f"For 'Custom', the function {name} returned {status}, and not 0 for success.")

    return run
