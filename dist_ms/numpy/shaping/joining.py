"""Tensors put together, and taken apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.numpy.arguments import alike, axis_of, strict, strict_all
from dist_ms.numpy.shaping.shapes import atleast_1d, atleast_2d, atleast_3d

__all__ = [
    *("append", "array_split", "column_stack", "concatenate", "dsplit", "dstack", "hsplit", "hstack", "split"),
    *("stack", "vsplit", "vstack"),
]


def concatenate(arrays: Any, axis: int | None = 0) -> Tensor:
    """Join tensors along an axis they have; with None, all their elements in one dimension.

    Args:
        arrays: Tensors of one shape but for that axis; their types are promoted.
        axis: the axis.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.concatenate((mnp.ones(2), mnp.zeros(1))))
        [1. 1. 0.]
    """
    tensors = strict_all(arrays, "arrays", "concatenate")
    if axis is None:
        tensors, axis = [ops.reshape(t, (-1,)) for t in tensors], 0
    axis = axis_of("concatenate", axis, tensors[0].ndim)
    return ops.concat(alike(tensors), axis)


def append(arr: Tensor, values: Tensor, axis: int | None = None) -> Tensor:
    """Put one tensor after another along an axis; with None, all elements in one dimension."""
    return concatenate((strict(arr, "arr", "append"), strict(values, "values", "append")), axis)


def stack(arrays: Any, axis: int = 0) -> Tensor:
    """Join tensors of one shape along a new axis.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.stack((mnp.ones(2), mnp.zeros(2)), axis=1))
        [[1. 0.]
         [1. 0.]]
    """
    return ops.stack(alike(strict_all(arrays, "arrays", "stack")), axis)


def hstack(tup: Any) -> Tensor:
    """Join tensors side by side: along the second axis, rows along the first."""
    tensors = [atleast_1d(t) for t in strict_all(tup, "tup", "hstack")]
    return concatenate(tensors, 0 if tensors[0].ndim == 1 else 1)


def vstack(tup: Any) -> Tensor:
    """Join tensors one above the other, rows as matrices of one row."""
    return concatenate([atleast_2d(t) for t in strict_all(tup, "tup", "vstack")], 0)


def dstack(tup: Any) -> Tensor:
    """Join tensors one behind the other, along the third axis."""
    return concatenate([atleast_3d(t) for t in strict_all(tup, "tup", "dstack")], 2)


def column_stack(tup: Any) -> Tensor:
    """Join rows as columns, and matrices, side by side."""
    tensors = strict_all(tup, "tup", "column_stack")
    return concatenate([ops.reshape(t, (-1, 1)) if t.ndim < 2 else t for t in tensors], 1)


def _cut(name: str, x: Tensor, sections: Any, axis: int, uneven: bool) -> Any:
    """Equal parts in a tuple, or the parts between given places in a list."""
    axis = axis_of(name, axis, strict(x, "x", name).ndim)
    n = x.shape[axis]
    if isinstance(sections, (int, np.integer)) and not isinstance(sections, bool):
        if sections < 1 or (n % sections and not uneven):
            raise ValueError(
                f"For '{name}', 'indices_or_sections' must be a positive divisor of {n}, the length of axis {axis}, "
                f"but got {sections}."
            )
        short, longer = np.divmod(n, sections)
        ends, kind = np.cumsum([short + 1] * longer + [short] * (sections - longer)).tolist(), tuple
    elif isinstance(sections, (tuple, list)):
        ends, kind = [*[min(max(i + n if i < 0 else i, 0), n) for i in sections], n], list
    else:
        raise TypeError(
            f"For '{name}', 'indices_or_sections' must be an int or a tuple or list of ints, but got {sections}."
        )
    starts = [0, *ends[:-1]]
    before = (slice(None),) * axis
    return kind([x[(*before, slice(a, max(a, b)))] for a, b in zip(starts, ends, strict=True)])


def split(x: Tensor, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut a tensor along an axis into equal parts (a tuple) or before given places (a list).

    Raises:
        ValueError: if the axis cannot be cut into that many equal parts.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> [part.asnumpy().tolist() for part in mnp.split(mnp.arange(4), [1, 3])]
        [[0], [1, 2], [3]]
    """
    return _cut("split", x, indices_or_sections, axis, False)


def array_split(x: Tensor, indices_or_sections: Any, axis: int = 0) -> Any:
    """Cut a tensor like `split`; the first parts are longer by one if equal ones are not possible."""
    return _cut("array_split", x, indices_or_sections, axis, True)


def hsplit(x: Tensor, indices_or_sections: Any) -> Any:
    """Cut a tensor along the second axis."""
    return _cut("hsplit", x, indices_or_sections, 1, False)


def vsplit(x: Tensor, indices_or_sections: Any) -> Any:
    """Cut a tensor along the first axis."""
    return _cut("vsplit", x, indices_or_sections, 0, False)


def dsplit(x: Tensor, indices_or_sections: Any) -> Any:
    """Cut a tensor along the third axis."""
    return _cut("dsplit", x, indices_or_sections, 2, False)
