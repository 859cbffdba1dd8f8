"""What writers of all formats ask of a step's inputs and settings."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying, Wire
from dist_ms.exporting.graph import Unsupported

__all__ = ["axes_of", "check_scores", "common_type", "fixed", "index_parts", "lengths_of", "weights_of_sizes"]


def fixed(value: Any, name: str) -> Any:
    """A setting that has to be the same whatever the lengths of the inputs.

    Raises:
        Unsupported: if it, or a part of it, is not.
    """
    if isinstance(value, Varying) or (isinstance(value, (tuple, list)) and any(isinstance(v, Varying) for v in value)):
        raise Unsupported(f"has a '{name}' that depends on the inputs, {value!r}, and the file takes a fixed one")
    return value


def axes_of(axis: Any, ndim: int) -> list[int]:
    """Dimensions as non-negative ints; none given means all."""
    axis = fixed(axis, "axis")
    if axis is None or axis == ():
        return list(range(ndim))
    axes = [axis] if isinstance(axis, int) or not hasattr(axis, "__iter__") else list(axis)
    return [int(a) % max(ndim, 1) for a in axes]


def weights_of_sizes(matrices: Any) -> list[np.ndarray]:
    """The matrices that resample an image.

    Raises:
        Unsupported: if they follow from a size that is open.
    """
    found = [m["matrix"] for m in matrices]
    if any(isinstance(m, Varying) for m in found):
        raise Unsupported("resizes images whose size is open, by weights that depend on it: fix their size")
    return found


def index_parts(index: Any, ndim: int) -> list:
    """An index as a list with one part for each dimension, and None for new ones."""
    parts = list(index) if isinstance(index, tuple) else [index]
    if any(isinstance(p, Varying) for p in parts if not isinstance(p, (slice, np.ndarray))) and any(
        isinstance(p, Varying) and not isinstance(p.values[0], (int, np.integer)) for p in parts
    ):
        raise Unsupported(
            "has an index that was computed from the inputs, which a file cannot hold: use `ops.gather`, "
            "`ops.gather_nd` or `ops.where`"
        )
    taken = sum(p is not None and p is not ... for p in parts)
    if any(isinstance(p, np.ndarray) and p.dtype == bool for p in parts):
        raise Unsupported("is indexed by a mask: use `ops.where` or `ops.masked_fill`")
    if ... in [p if p is ... else 0 for p in parts]:
        at = next(i for i, p in enumerate(parts) if p is ...)
        parts[at : at + 1] = [slice(None)] * (ndim - taken)
    else:
        parts += [slice(None)] * (ndim - taken)
    return parts


def lengths_of(g: Any, live: Varying) -> Wire:
    """The tensor that says in all runs which steps of the sequences count.

    Raises:
        Unsupported: if there is none.
    """
    for wire in g.wires:
        if (
            wire.ndim == 1
            and wire.dtype.kind in "iu"
            and all(
                len(a) == now.shape[1] and np.array_equal(np.arange(len(now))[:, None] < a, now)
                for a, now in zip(wire.arrays, live.values)
            )
        ):
            return wire
    raise Unsupported("has sequences whose lengths ('seq_length') are no tensor of the network: give them as an input")


def common_type(*values: Any) -> np.dtype:
    """The type in which tensors and plain numbers meet."""
    dtypes = [v.dtype for v in values if isinstance(v, Wire)]
    dtype = max(dtypes, key=_breadth)
    if len({d.kind for d in dtypes}) > 1 or any(d.itemsize > dtype.itemsize for d in dtypes):
        try:
            dtype = np.result_type(*dtypes)
        except TypeError:
            pass
        # An int64 and a float32 make a float32, as in MindSpore.
        floats = [d for d in dtypes if d.kind in "fV"]
        if floats:
            dtype = max(floats, key=lambda d: d.itemsize)
    for v in values:
        number = v.values[0] if isinstance(v, Varying) else v
        if isinstance(number, float) and dtype.kind in "biu":
            dtype = np.dtype(np.float32)
        elif isinstance(number, int) and not isinstance(number, bool) and dtype.kind == "b":
            dtype = np.dtype(np.int64)
    return dtype


def _breadth(dtype: np.dtype) -> tuple:
    return "biufV".find(dtype.kind) if dtype.kind != "V" else 3, dtype.itemsize


def check_scores(scores: dict) -> None:
    """Refuse an attention that no file holds.

    Raises:
        Unsupported: if weights are dropped, or there is a prefix of keys.
    """
    if scores["keep_prob"] != 1.0 and (scores["seed"] is not None or scores["kept"] is not None):
        raise Unsupported("drops weights: export the network with `set_train(False)`")
    if scores["prefix"] is not None:
        raise Unsupported("has a prefix of keys, which is not mapped")
    if isinstance(scores["hidden"], Varying):
        raise Unsupported("has a mask that was made outside of operations and depends on the inputs")
