"""zeros, ones, full, arange, linspace, eye: tensors made of numbers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_float
from dist_ms.common.dtype import Number, float32, from_numpy, int64
from dist_ms.common.error_classes import plain, reads, scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import floating, integer, integers, scalar, tensor
from dist_ms.ops.kernels import filling
from dist_ms.ops.primitive import numpy_dtype, quiet

__all__ = [
    "arange",
    "eps",
    "eye",
    "fill",
    "fills",
    "full",
    "full_like",
    "linspace",
    "logspace",
    "ones",
    "ones_like",
    "range",
    "tensor_range",
    "zeros",
    "zeros_like",
]


_F32, _F64, _I64 = np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int64)
# Bytes of zeros, and numbers at equal distances, from which on the kernel writes them sooner than NumPy.
_LEAST_SHARED, _LEAST_COUNTED = 131072, 4096


def shape_of(size: Any, name: str, owner: str) -> tuple:
    """A shape: an int, or a tuple, list or Tensor of them, none negative."""
    shape = integers(size, name, owner)
    if any(n < 0 for n in shape):
        raise ValueError(f"For '{owner}', '{name}' must hold no negative length, but got {shape}.")
    return shape


def _dtype(name: str, dtype: Any, default: Number) -> np.dtype:
    """The NumPy dtype to create."""
    if dtype is None:
        return default.np
    if not isinstance(dtype, Number):
        raise TypeError(f"For '{name}', 'dtype' must be a dist_ms dtype, but got {dtype!r}.")
    return dtype.np


def zeros(size: Any, dtype: Number | None = None) -> Tensor:
    """Make a tensor of zeros.

    Args:
        size: the shape, an int or ints.
        dtype: element type, float32 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if `size` holds anything but ints, or `dtype` is no dtype.
        ValueError: if a length is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.zeros((2, 2)))
        [[0. 0.]
         [0. 0.]]
    """
    return wrap(_zeros(shape_of(size, "size", "zeros"), _dtype("zeros", dtype, float32)))


def ones(shape: Any, dtype: Number | None = None) -> Tensor:
    """Make a tensor of ones.

    Args:
        shape: the shape, an int or ints.
        dtype: element type, float32 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if `shape` holds anything but ints, or `dtype` is no dtype.
        ValueError: if a length is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ones((2, 2), ms.int32))
        [[1 1]
         [1 1]]
    """
    return wrap(filled(shape_of(shape, "shape", "ones"), 1, _dtype("ones", dtype, float32)))


@plain("size")
def full(size: Any, fill_value: Any, *, dtype: Number | None = None) -> Tensor:
    """Make a tensor of one number.

    Args:
        size: the shape, an int or ints.
        fill_value: a number or bool, or a Tensor of one.
        dtype: element type; int64 by default, whatever the number is.

    Returns:
        Tensor.

    Raises:
        TypeError: if `size` holds anything but ints, or `fill_value` is no number.
        ValueError: if a length is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.full((2,), 0.5, dtype=ms.float32))
        [0.5 0.5]
    """
    fill_value = scalar(fill_value)
    if isinstance(fill_value, Tensor):
        raise ValueError(f"For 'full', 'fill_value' must be one number, but got a Tensor of shape {fill_value.shape}.")
    if not isinstance(fill_value, (bool, int, float, complex, np.generic)):
        raise TypeError(f"For 'full', 'fill_value' must be a number, but got {type(fill_value).__name__}.")
    return wrap(filled(shape_of(size, "size", "full"), fill_value, _dtype("full", dtype, int64)))


@quiet
def filled(shape: tuple, value: Any, d: np.dtype) -> np.ndarray:
    """An array of one number, cast like MindSpore does: floats are cut, integers wrap around."""
    out = np.empty(shape, d)
    filling.fill(out, np.asarray(value).astype(d))
    return out


def _zeros(shape: tuple, d: np.dtype) -> np.ndarray:
    """An array of zeros."""
    out = np.empty(shape, d)
    if out.nbytes < _LEAST_SHARED:
        return np.zeros(shape, d)
    filling.fill(out, np.zeros((), d))
    return out


def fill(type: Number, shape: Any, value: Any) -> Tensor:
    """Make a tensor of one number, dtype first.

    Args:
        type: element type.
        shape: the shape, an int or ints.
        value: a number, or a Tensor of one element.

    Returns:
        Tensor.

    Raises:
        TypeError: if `type` is no dtype, or `shape` holds anything but ints.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fill(ms.float32, (2,), 3))
        [3. 3.]
    """
    if isinstance(shape, list):
        raise TypeError("For 'fill', 'shape' must be an int or a tuple of ints, but got list.")
    number = _number(value, "value", "fill")
    return wrap(filled(shape_of(shape, "shape", "fill"), number, _dtype("fill", type, float32)))


def _number(value: Any, name: str, owner: str) -> Any:
    """What a tensor is to be filled with.

    Raises:
        TypeError: if it is neither a number nor a Tensor.
    """
    if value is None or isinstance(value, (str, tuple, list, dict, np.ndarray)):
        raise TypeError(f"For '{owner}', '{name}' must be a number or a Tensor, but got {type(value).__name__}.")
    return scalar(value)


def fills(x: Tensor, value: Any) -> Tensor:
    """Make a tensor of one number with the shape and dtype of another tensor.

    Args:
        x: a Tensor.
        value: a number, or a Tensor of one element.

    Returns:
        Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fills(ms.Tensor([1.0, 2.0]), 3))
        [3. 3.]
    """
    return full_like(tensor(x, "x", "fills"), scalar(value))


@reads(input="dtype")
def zeros_like(input: Tensor, *, dtype: Number | None = None) -> Tensor:
    """Make a tensor of zeros with the shape of another tensor.

    Args:
        input: a Tensor.
        dtype: element type, that of `input` by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.zeros_like(ms.Tensor([1.0, 2.0])))
        [0. 0.]
    """
    if dtype is not None and not isinstance(input, Tensor):
        raise TypeError(f"For 'zeros_like', 'input' must be a Tensor, but got {type(input).__name__}.")
    return wrap(_like("zeros_like", input, 0, dtype))


def ones_like(input: Tensor, *, dtype: Number | None = None) -> Tensor:
    """Make a tensor of ones with the shape of another tensor.

    Args:
        input: a Tensor.
        dtype: element type, that of `input` by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ones_like(ms.Tensor([1, 2])))
        [1 1]
    """
    return wrap(_like("ones_like", input, 1, dtype))


def full_like(input: Tensor, fill_value: Any, *, dtype: Number | None = None) -> Tensor:
    """Make a tensor of one number with the shape of another tensor.

    Args:
        input: a Tensor.
        fill_value: a number.
        dtype: element type, that of `input` by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.full_like(ms.Tensor([1.0, 2.0]), 7))
        [7. 7.]
    """
    return wrap(_like("full_like", input, _number(fill_value, "fill_value", "full_like"), dtype))


@quiet
def _like(name: str, input: Tensor, value: Any, dtype: Any) -> np.ndarray:
    """A constant array with a tensor's shape and memory order."""
    tensor(input, "input", name)
    d = numpy_dtype(input) if dtype is None else _dtype(name, dtype, float32)
    out = np.empty(input.shape, d) if input._data is None else np.empty_like(input._data, d)
    filling.fill(out, np.asarray(scalar(value)).astype(d))
    return out


def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Number | None = None) -> Tensor:
    """Make the numbers from `start` to `end`, `step` apart, without `end`.

    Args:
        start: the first number; the end if it is given alone.
        end: where to stop.
        step: the distance, not 0.
        dtype: element type; int64 by default if all three are ints, else float32.

    Returns:
        Tensor with one dimension.

    Raises:
        TypeError: if an argument is no number.
        ValueError: if `step` is 0 or points away from `end`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.arange(5), ms.ops.arange(0.0, 1.0, 0.25))
        [0 1 2 3 4] [0.   0.25 0.5  0.75]
    """
    if end is None:
        start, end = 0, start
    numbers = [scalar(v) for v in (start, end, step)]
    for argument, value in zip(("start", "end", "step"), numbers):
        if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
            kind = ValueError if isinstance(value, Tensor) else TypeError
            raise kind(f"For 'arange', '{argument}' must be a number, but got {type(value).__name__}.")
    start, end, step = numbers
    if step == 0 or (end - start) * step < 0:
        raise ValueError(f"For 'arange', 'step' must lead from 'start' to 'end', but got {start}, {end} and {step}.")
    whole = all(isinstance(v, (int, np.integer)) for v in numbers)
    count = math.ceil((end - start) / step)
    d = _dtype("arange", dtype, int64 if whole else float32)
    if count >= _LEAST_COUNTED and d in ((_I64,) if whole else (_F32, _F64)):
        out = np.empty(count, d)
        filling.progression(out, start, step)
        return wrap(out)
    values = np.arange(start, end, step, np.int64) if whole else start + step * np.arange(count)
    return wrap(values.astype(d, copy=False))


@scalars("maxlen")
def range(start: Any, end: Any, step: Any, maxlen: int = 1000000) -> Tensor:
    """Make the numbers from `start` to `end`, `step` apart, without `end`.

    Args:
        start: the first number, or a Tensor of one element.
        end: where to stop, likewise.
        step: the distance, likewise, not 0.
        maxlen: the largest length allowed.

    Returns:
        Tensor with one dimension, int64 if all three are ints, else float32.

    Raises:
        ValueError: if `step` is 0 or points away from `end`, or there are more than `maxlen` numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.range(0, 6, 2))
        [0 2 4]
    """
    if isinstance(maxlen, bool):
        raise TypeError("For 'range', 'maxlen' must be an int, but got bool.")
    maxlen = integer(maxlen, "maxlen", "range")
    if end is None:
        raise TypeError("For 'range', 'end' must be a number or a Tensor of one element, but got None.")
    if len({isinstance(scalar(v), (float, np.floating)) for v in (start, end, step)}) > 1:
        raise TypeError(f"For 'range', the numbers must be all ints or all floats, but got {start}, {end} and {step}.")
    out = arange(start, end, step)
    if out.size > maxlen:
        raise ValueError(
            f"For 'range', 'maxlen' must be at least the number of elements, {out.size}, but got {maxlen}."
        )
    return out


tensor_range = range


def _end_type(value: Any, name: str, owner: str) -> np.dtype:
    """The dtype of one end of a range; a number is of Float32.

    Raises:
        ValueError: if it is more than a number.
    """
    if isinstance(value, (tuple, list)) or (isinstance(value, Tensor) and value.ndim):
        raise ValueError(f"For '{owner}', '{name}' must be a number or a Tensor without dimensions, but got {value}.")
    return numpy_dtype(value) if isinstance(value, Tensor) else _F32


def linspace(start: Any, end: Any, steps: int) -> Tensor:
    """Make `steps` numbers at equal distances from `start` to `end`, both included.

    Args:
        start: the first number, or a Tensor of one element.
        end: the last number, likewise.
        steps: how many, at least 1.

    Returns:
        Tensor of float32 (float64 if a float64 Tensor is given) with one dimension.

    Raises:
        TypeError: if `steps` is no int.
        ValueError: if `steps` is below 1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.linspace(0, 1, 5))
        [0.   0.25 0.5  0.75 1.  ]
    """
    steps = integer(steps, "steps", "linspace")
    if steps < 1:
        raise ValueError(f"For 'linspace', 'steps' must be at least 1, but got {steps}.")
    types = {_end_type(start, "start", "linspace"), _end_type(end, "end", "linspace")}
    if len(types) > 1 or not types <= {_F32, _F64}:
        found = " and ".join(str(from_numpy(d)) for d in types)
        raise TypeError(
            f"For 'linspace', 'start' and 'end' must be numbers, Float32 Tensors or both Float64, but got {found}."
        )
    start, end, d = scalar(start), scalar(end), types.pop()
    step = (end - start) / (steps - 1) if steps >= _LEAST_COUNTED and not isinstance(end - start, complex) else 0
    if step == 0:
        return wrap(np.linspace(start, end, steps, dtype=d))
    out = np.empty(steps, d)
    filling.progression(out, start, step)
    out[-1] = end
    return wrap(out)


@plain("steps", "base")
def logspace(start: Any, end: Any, steps: int, base: int = 10, *, dtype: Number = float32) -> Tensor:
    """Make `steps` powers of `base` whose exponents go from `start` to `end` at equal distances.

    Args:
        start: the first exponent, or a Tensor of one element.
        end: the last exponent, likewise.
        steps: how many, at least 1.
        base: the base.
        dtype: element type.

    Returns:
        Tensor with one dimension.

    Raises:
        TypeError: if `dtype` is no float type.
        ValueError: if `steps` or `base` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logspace(ms.Tensor(0.0), ms.Tensor(2.0), 3))
        [  1.  10. 100.]
    """
    for argument, value in (("start", start), ("end", end)):
        if isinstance(value, Tensor):
            floating(value.array(), argument, "logspace", complex_too=False)
            _end_type(value, argument, "logspace")
        else:
            check_float(value, argument, "logspace")
    steps, base = integer(steps, "steps", "logspace"), integer(base, "base", "logspace")
    if steps < 0:
        raise ValueError(f"For 'logspace', 'steps' must be at least 0, but got {steps}.")
    if base < 0:
        raise ValueError(f"For 'logspace', 'base' must not be negative, but got {base}.")
    if not isinstance(dtype, Number) or dtype.np.kind not in "fV":
        raise TypeError(f"For 'logspace', 'dtype' must be a float type, but got {dtype}.")
    return wrap(np.logspace(scalar(start), scalar(end), steps, base=base).astype(_dtype("logspace", dtype, float32)))


def eye(n: int, m: int | None = None, dtype: Number | None = None) -> Tensor:
    """Make a matrix with ones on the diagonal and zeros elsewhere.

    Args:
        n: number of rows.
        m: number of columns, `n` by default.
        dtype: element type, float32 by default.

    Returns:
        Tensor (n, m).

    Raises:
        TypeError: if `n` or `m` is no int.
        ValueError: if one is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.eye(2, 3))
        [[1. 0. 0.]
         [0. 1. 0.]]
    """
    rows, columns = shape_of((n, n if m is None else m), "n, m", "eye")
    out = _zeros((rows, columns), _dtype("eye", dtype, float32))
    out.reshape(-1)[: min(rows, columns) * columns : columns + 1] = 1
    return wrap(out)


def eps(x: Tensor) -> Tensor:
    """Make a tensor of the smallest number that changes 1 when added, in the dtype of `x`.

    Args:
        x: a Tensor of floats.

    Returns:
        Tensor of the shape and dtype of `x`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.eps(ms.Tensor([1.0, 2.0])))
        [1.1920929e-07 1.1920929e-07]
    """
    floating(tensor(x, "x", "eps").array(), "x", "eps", False)
    d = numpy_dtype(tensor(x, "x", "eps"))
    return wrap(np.full(x.shape, 2.0**-7 if d.kind == "V" else np.finfo(d).eps, d))
