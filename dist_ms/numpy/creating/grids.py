"""Evenly spaced numbers, and grids of coordinates."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_string
from dist_ms.common.dtype import Number, int32
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.numpy.arguments import FLOAT32, INT32, axis_of, floats, integer_of, strict, tensor_of, type_of, typed

__all__ = ["arange", "geomspace", "indices", "linspace", "logspace", "meshgrid", "mgrid", "ogrid"]


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Tensor:
    """Return the numbers from `start` up to, without, `stop`; with one argument, from 0.

    Args:
        start: a number.
        stop: a number.
        step: the distance, 1 by default.
        dtype: the data type; int32, or float32 if one of the numbers is a float.

    Raises:
        ValueError: if there is no such number.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.arange(3), mnp.arange(1, 2, 0.5))
        [0 1 2] [1.  1.5]
    """
    start, stop, step = [v.asnumpy().item() if isinstance(v, Tensor) else v for v in (start, stop, step)]
    for value in (start, stop, step):
        if value is not None and not isinstance(value, (int, float, np.number)):
            raise TypeError(f"For 'arange', 'start', 'stop' and 'step' must be numbers, but got {value!r}.")
    step = 1 if step is None else step
    if step == 0:
        raise ValueError("For 'arange', 'step' must not be 0, but got 0.")
    values = np.arange(start, step=step) if stop is None else np.arange(start, stop, step)
    if values.size == 0:
        raise ValueError(f"For 'arange', there must be a number in the range, but got {start}, {stop}, {step}.")
    d = (FLOAT32 if values.dtype.kind == "f" else INT32) if dtype is None else type_of(dtype)
    return wrap(values.astype(d))


def _spaced(name: str, start: Any, stop: Any, num: int, endpoint: bool, axis: int) -> tuple[Tensor, Tensor]:
    """Numbers at equal distances along a new axis, and the distance."""
    if integer_of(num, "num", name) < 1:
        raise ValueError(f"For '{name}', 'num' must be positive, but got {num}.")
    first, last = floats(tensor_of(start, "start", name)), floats(tensor_of(stop, "stop", name))
    parts = num - 1 if endpoint else num
    shape = np.broadcast_shapes(first.shape, last.shape)
    width = ops.sub(last, first)
    share = np.arange(num) / (parts or 1)
    if endpoint and num > 1:
        share[-1] = 1.0
    axis = axis_of(name, axis, len(shape) + 1)
    weight = wrap(share.astype(first.dtype.np).reshape((num,) + (1,) * (len(shape) - axis)))
    first, last = [ops.broadcast_to(t, shape) for t in (first, last)]
    one_more = (*shape[:axis], 1, *shape[axis:])
    first, last = ops.reshape(first, one_more), ops.reshape(last, one_more)
    values = ops.add(ops.mul(first, ops.sub(1, weight)), ops.mul(last, weight))
    return values, ops.div(width, parts) if parts else ops.mul(width, float("nan"))


def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False,
             dtype: Any = None, axis: int = 0) -> Any:  # fmt: skip
    """Return `num` numbers at equal distances between two.

    Args:
        start: the first, a number or Tensor.
        stop: the last, a number or Tensor.
        num: how many.
        endpoint: whether `stop` is one of them.
        retstep: return the distance too.
        dtype: the data type, float32 by default.
        axis: where the new axis comes if the ends are Tensors.

    Returns:
        Tensor, or (Tensor, Tensor of the distance).

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.linspace(0, 1, 3))
        [0.  0.5 1. ]
    """
    values, step = _spaced("linspace", start, stop, num, endpoint, axis)
    values = typed(values, dtype)
    return (values, step) if retstep else values


def logspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, base: Any = 10.0, dtype: Any = None,
             axis: int = 0) -> Tensor:  # fmt: skip
    """Return powers of `base` whose exponents are at equal distances.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.logspace(0, 3, 4, base=2.0))
        [1. 2. 4. 8.]
    """
    exponents, _ = _spaced("logspace", start, stop, num, endpoint, axis)
    return typed(ops.pow(tensor_of(base, "base", "logspace"), exponents), dtype)


def geomspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Tensor:
    """Return numbers between two, each a constant multiple of the one before.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.geomspace(1, 8, 4))
        [1. 2. 4. 8.]
    """
    first, last = floats(tensor_of(start, "start", "geomspace")), floats(tensor_of(stop, "stop", "geomspace"))
    share, _ = _spaced("geomspace", 0.0, 1.0, num, endpoint, 0)
    ndim = len(np.broadcast_shapes(first.shape, last.shape))
    axis = axis_of("geomspace", axis, ndim + 1)
    ratio = ops.expand_dims(ops.broadcast_to(ops.div(last, first), np.broadcast_shapes(first.shape, last.shape)), axis)
    share = ops.reshape(share, (num,) + (1,) * (ndim - axis))
    begin = ops.expand_dims(ops.broadcast_to(first, np.broadcast_shapes(first.shape, last.shape)), axis)
    return typed(ops.mul(begin, ops.pow(ratio, share)), dtype)


def meshgrid(*xi: Tensor, sparse: bool = False, indexing: str = "xy") -> list[Tensor]:
    """Return the coordinates of the points of a grid, one tensor for each axis.

    Args:
        xi: the coordinates along each axis, Tensors of one dimension.
        sparse: leave each tensor with one axis longer than 1.
        indexing: "xy": the second axis comes first; "ij": in order.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> xv, yv = mnp.meshgrid(mnp.arange(2), mnp.arange(3), sparse=True)
        >>> print(xv.shape, yv.shape)
        (1, 2) (3, 1)
    """
    check_string(indexing, "indexing", "meshgrid", ("xy", "ij"))
    axes = list(range(len(xi)))
    if indexing == "xy" and len(xi) > 1:
        axes[:2] = [1, 0]
    rows = [ops.reshape(strict(x, "xi", "meshgrid"), (-1,)) for x in xi]
    open_grid = [
        ops.reshape(x, tuple(-1 if i == a else 1 for i in range(len(xi)))) for x, a in zip(rows, axes, strict=True)
    ]
    if sparse:
        return open_grid
    shape = np.broadcast_shapes(*[g.shape for g in open_grid])
    return [ops.broadcast_to(g, shape) for g in open_grid]


def indices(dimensions: Any, dtype: Number = int32, sparse: bool = False) -> list[Tensor]:
    """Return the indices of all elements of a shape, one tensor for each axis.

    Examples:
        >>> import dist_ms.numpy as mnp
        >>> print(mnp.indices((2, 2))[1])
        [[0 1]
         [0 1]]
    """
    if not isinstance(dimensions, (tuple, list)):
        raise TypeError(f"For 'indices', 'dimensions' must be a tuple or list of ints, but got {dimensions}.")
    return meshgrid(*[wrap(np.arange(n).astype(type_of(dtype))) for n in dimensions], sparse=sparse, indexing="ij")


class _Grid:
    """Indexed with slices, it makes a grid; a step like 5j says how many points, with the end."""

    def __init__(self, sparse: bool) -> None:
        self.sparse = sparse

    def __getitem__(self, keys: Any) -> Any:
        if isinstance(keys, slice):
            return wrap(self._typed(self._points(keys), [keys]))
        rows = [wrap(self._typed(self._points(k), keys if not self.sparse else [k])) for k in keys]
        grid = meshgrid(*rows, sparse=self.sparse, indexing="ij")
        return grid if self.sparse else ops.stack(grid)

    @staticmethod
    def _points(key: slice) -> np.ndarray:
        start, step = key.start or 0, 1 if key.step is None else key.step
        if isinstance(step, complex):
            return np.linspace(start, key.stop, int(abs(step)))
        return start + step * np.arange(max(0, math.ceil((key.stop - start) / step)))

    @staticmethod
    def _typed(points: np.ndarray, keys: Any) -> np.ndarray:
        exact = all(isinstance(v, (int, type(None))) for k in keys for v in (k.start, k.stop, k.step))
        return points.astype(INT32 if exact else FLOAT32)


mgrid = _Grid(False)
ogrid = _Grid(True)
