"""The flat memory that gradients are written to, and how they are."""

from __future__ import annotations

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.parallel.plan import Bucket
from dist_ms.parallel.reduction.row_gradients import add_at


def wire_type(bucket: Bucket) -> np.dtype:
    """Return the type in which a bucket's gradients are added.

    Args:
        bucket: one of the plan's.
    """
    narrow = bucket.dtype.name in ("float16", "bfloat16")
    return np.dtype(np.float32) if narrow else bucket.dtype


def is_at(place: np.ndarray | None, grad: Tensor | RowTensor | None) -> bool:
    """Return whether a gradient has been written to its place.

    Args:
        place: where it may be; None: nowhere.
        grad: the gradient.
    """
    if place is None or grad is None or isinstance(grad, RowTensor):
        return False
    array = grad.array()
    return array is place or (
        array.ctypes.data == place.ctypes.data
        and array.dtype == place.dtype
        and array.shape == place.shape
        and array.flags.c_contiguous
    )


def write(view: np.ndarray, grad: Tensor | RowTensor, factor: float, add: bool, name: str) -> np.dtype:
    """Write a gradient times a factor to its place, or add it to what is there.

    Args:
        view: the place, in the weight's shape.
        grad: the gradient, dense or by rows.
        factor: what it is multiplied with.
        add: add instead of overwriting.
        name: the weight's name, for errors.

    Returns:
        The type of the gradient.

    Raises:
        ValueError: if the shape is not the weight's.
        TypeError: if the type cannot be added in the bucket's.
    """
    source = grad.values.array() if isinstance(grad, RowTensor) else grad.array()
    shape = tuple(grad.dense_shape) if isinstance(grad, RowTensor) else source.shape
    if shape != view.shape:
        raise ValueError(f"For 'Reducer', the gradient of '{name}' must have shape {view.shape}, but got {shape}.")
    if source.dtype.kind == "c" and view.dtype.kind != "c":
        raise TypeError(
            f"For 'Reducer', the gradient of '{name}' must be of type {view.dtype}, but got {source.dtype}."
        )
    if isinstance(grad, RowTensor):
        if not add:
            view[...] = 0
        add_at(view, grad.indices.array(), _times(source, factor, view.dtype))
    elif add:
        view += _times(source, factor, view.dtype)
    elif factor == 1:
        np.copyto(view, source, casting="unsafe")
    else:
        kind = view.dtype if view.dtype.kind in "fc" else None
        np.multiply(source, factor, out=view, dtype=kind, casting="unsafe")
    return source.dtype


def _times(source: np.ndarray, factor: float, dtype: np.dtype) -> np.ndarray:
    """Return the array times a factor in another type."""
    wide = source.astype(dtype, copy=False)
    return wide if factor == 1 else (wide * factor).astype(dtype, copy=False)
