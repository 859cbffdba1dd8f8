"""How NumPy arrays become what MPI moves and reduces."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

TAG_UB = 32767  # the largest message tag that every MPI must take


# Open MPI 5 adds 8- and 16-bit numbers with saturation where the CPU has AVX.
_WIDER: dict[str, type[np.generic]] = dict.fromkeys(("int8", "int16", "uint8", "uint16"), np.int32)
_WIDER |= dict.fromkeys(("float16", "bfloat16"), np.float32)


def mpi_types(mpi: Any) -> dict[np.dtype, Any]:
    """Return MPI's type for each NumPy type that is reduced as it is."""
    names = {
        np.bool_: mpi.UINT8_T,
        np.int32: mpi.INT32_T,
        np.int64: mpi.INT64_T,
        np.uint32: mpi.UINT32_T,
        np.uint64: mpi.UINT64_T,
        np.float32: mpi.FLOAT,
        np.float64: mpi.DOUBLE,
        np.complex64: mpi.C_FLOAT_COMPLEX,
        np.complex128: mpi.C_DOUBLE_COMPLEX,
    }
    return {np.dtype(kind): mpi_type for kind, mpi_type in names.items()}


def mpi_ops(mpi: Any) -> dict[bool, dict[str, Any]]:
    """Return MPI's reductions, for numbers (False) and for booleans held as bytes (True)."""
    numbers = {"sum": mpi.SUM, "max": mpi.MAX, "min": mpi.MIN, "prod": mpi.PROD}
    return {False: numbers, True: {"sum": mpi.MAX, "max": mpi.MAX, "min": mpi.MIN, "prod": mpi.MIN}}


def as_bytes(array: np.ndarray) -> np.ndarray:
    """Return a C-contiguous array's memory as a flat array of bytes."""
    return array.reshape(-1).view(np.uint8)


def pieces(flat: np.ndarray, length: int) -> Iterator[np.ndarray]:
    """Cut a flat array."""
    for start in range(0, len(flat), length):
        yield flat[start : start + length]


def wide(array: np.ndarray) -> np.ndarray:
    """Return the array in a type that MPI reduces: float32 for the 16-bit floats, int32 for small ints."""
    wider = _WIDER.get(array.dtype.name)
    return array if wider is None else array.astype(wider)


def wire_form(array: np.ndarray, scale: float = 1.0) -> tuple[np.ndarray, Callable[[], None]]:
    """Return the flat array to reduce, and what to call when it holds the result."""
    flat = array.reshape(-1)
    wire = wide(flat)

    def store() -> None:
        if scale != 1:
            np.multiply(wire, wire.dtype.type(scale), out=wire)
        if wire is not flat:
            flat[:] = wire.astype(flat.dtype)

    return wire, store


def check_tag(tag: int, verb: str) -> None:
    """Raise unless every MPI library can carry the tag."""
    if isinstance(tag, bool) or not isinstance(tag, int):
        raise TypeError(f"For '{verb}', 'tag' must be an int, but got {tag!r}.")
    if not 0 <= tag <= TAG_UB:
        raise ValueError(f"For '{verb}', 'tag' must be in [0, {TAG_UB}], but got {tag}.")
