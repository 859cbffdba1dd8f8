"""CumSum, CumProd, Cummax and their kin: running totals along one dimension."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import bool_
from dist_ms.common.error_classes import plain, raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, boolean, countable, floating, integer, one_axis, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import mul
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.elementwise.exponentials import exp
from dist_ms.ops.kernels import running_extremes
from dist_ms.ops.kernels import scan as kernels
from dist_ms.ops.layout import AroundAxis, converted
from dist_ms.ops.primitive import Primitive, numpy_dtype, quiet

__all__ = [
    "CumProd",
    "CumSum",
    "CumulativeLogsumexp",
    "Cummax",
    "Cummin",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "logcumsumexp",
]

_F32 = np.dtype(np.float32)
# Numbers that NumPy has run along before a kernel would be called.
_LEAST = 2048
_KERNEL_TYPES = (_F32, np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.int64))


def _with_axes(x: np.ndarray, name: str, owner: str) -> np.ndarray:
    """The array, if it has a dimension to run along.

    Raises:
        ValueError: if it is a scalar.
    """
    if not x.ndim:
        raise ValueError(f"For '{owner}', '{name}' must have at least 1 dimension, but got a scalar.")
    return x


class _Scan(Primitive):
    """A running total.

    Args:
        exclusive: element i is the total of those before i.
        reverse: run from the end.
    """

    ufunc: np.ufunc
    kernel = ""

    def __init__(self, exclusive: bool = False, reverse: bool = False) -> None:
        self.exclusive = boolean(exclusive, "exclusive", self.name)
        self.reverse = boolean(reverse, "reverse", self.name)

    def scan(self, x: np.ndarray, axis: int) -> np.ndarray:
        """The running total of an array."""
        wide = converted(x, _F32) if x.dtype.itemsize == 2 and x.dtype.kind in "fV" else x
        if self.kernel and x.size >= _LEAST and wide.dtype in _KERNEL_TYPES:
            around = AroundAxis(wide, axis)
            out = np.empty_like(around.lines)
            kernels.scan(around.lines, out, self.kernel, self.reverse, self.exclusive)
            return converted(around.shaped(out), x.dtype)
        if self.reverse:
            wide = np.flip(wide, axis)
        out = self.ufunc.accumulate(wide, axis, dtype=wide.dtype)
        if self.exclusive:
            out = np.roll(out, 1, axis)
            out[(slice(None),) * axis + (slice(0, 1),)] = self.start(wide.dtype)
        return (np.flip(out, axis) if self.reverse else out).astype(x.dtype, copy=False)

    def start(self, d: np.dtype) -> Any:
        """The total of nothing."""
        return self.ufunc.identity


class CumSum(_Scan):
    """`cumsum` as a primitive that keeps the dtype: `CumSum(exclusive, reverse)(input, axis)`.

    Args:
        exclusive: element i is the sum of those before i.
        reverse: run from the end.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0, 3.0])
        >>> print(ms.ops.CumSum()(x, 0), ms.ops.CumSum(exclusive=True)(x, 0))
        [1. 3. 6.] [0. 1. 3.]
    """

    keeps = ()
    ufunc, kernel = np.add, "sum"

    @quiet
    def forward(self, input: np.ndarray, axis: Any) -> np.ndarray:
        if array(input, "input", self.name).dtype.kind == "b":
            raise TypeError(
                f"For '{self.name}', the dtype of 'input' must be a number type, but got Bool; cast it first."
            )
        return self.scan(input, one_axis(axis, "axis", self.name, _with_axes(input, "input", self.name).ndim))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return CumSum(self.exclusive, not self.reverse)(dout, inputs[1]), None


@scalars("axis")
class CumProd(_Scan):
    """`cumprod` as a primitive that keeps the dtype: `CumProd(exclusive, reverse)(x, axis)`.

    Args:
        exclusive: element i is the product of those before i.
        reverse: run from the end.
    """

    ufunc, kernel = np.multiply, "prod"

    @quiet
    def forward(self, x: np.ndarray, axis: Any) -> np.ndarray:
        _with_axes(array(x, "x", self.name), "x", self.name)
        return self.scan(x, one_axis(axis, "axis", self.name, x.ndim))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, axis = inputs
        if not x.shape:
            return dout, None
        axis = one_axis(axis, "axis", self.name, x.ndim)
        if not (x.array() == 0).any():
            total = CumSum(self.exclusive, not self.reverse)(mul(dout, self(x, axis)), axis)
            return true_divide(total, x), None
        # With a zero in the way: every product again, without the one factor.
        n = x.shape[axis]
        rows = ops.swapaxes(x, axis, -1)
        wide = ops.broadcast_to(ops.expand_dims(rows, -2), (*rows.shape, n))
        without = ops.where(ops.eye(n, n, bool_), ops.ones_like(wide), wide)
        products = CumProd(self.exclusive, self.reverse)(without, wide.ndim - 1)
        reached = np.tri(n, n, -1 if self.exclusive else 0, dtype=bool)
        reached = Tensor(reached if self.reverse else reached.T)
        weighted = mul(
            mul(products, cast_array(reached, numpy_dtype(dout))), ops.expand_dims(ops.swapaxes(dout, axis, -1), -2)
        )
        return ops.swapaxes(ops.ReduceSum()(weighted, -1), axis, -1), None


def product_of_others(x: Tensor) -> Tensor:
    """For each element the product of all others along the last dimension (right with zeros too)."""
    last = x.ndim - 1
    return mul(CumProd(True, False)(x, last), CumProd(True, True)(x, last))


class Cummax(Primitive):
    """`cummax` as a primitive: `Cummax(axis)(input)`."""

    keeps = ()
    keeps_output = True
    index_type = np.int64
    smallest = False

    def __init__(self, axis: int) -> None:
        self.axis = axis

    def forward(self, input: np.ndarray) -> tuple:
        _with_axes(countable(input, "input", self.name), "input", self.name)
        axis = one_axis(self.axis, "axis", self.name, input.ndim)
        around = AroundAxis(input, axis)
        values, places = np.empty_like(around.lines), np.empty(around.lines.shape, self.index_type)
        running_extremes.running_extremes(around.lines, values, places, self.smallest)
        return around.shaped(values), around.shaped(places)

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        x = inputs[0]
        return ops.picking.gathering.PutAlong(one_axis(self.axis, "axis", self.name, len(x.shape)), x.shape)(
            output[1], dout[0]
        )


@plain("axis")
@scalars("axis")
class Cummin(Cummax):
    """`cummin` as a primitive: `Cummin(axis)(input)`."""

    index_type = np.int32
    smallest = True


@plain("axis")
@raises(axis=(TypeError, RuntimeError))
@plain("axis")
class CumulativeLogsumexp(_Scan):
    """The running log of the sum of exponentials along one dimension.

    Args:
        exclusive: element i stands for those before i.
        reverse: run from the end.

    Call:
        x (Tensor): floats.
        axis (int, or a Tensor of one): the dimension.

    Raises:
        TypeError: if `x` holds no floats, or `axis` is no int.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.CumulativeLogsumexp()(ms.Tensor([0.0, 0.0]), 0).asnumpy().round(4))
        [0.     0.6931]
    """

    ufunc = np.logaddexp
    keeps_output = True

    def start(self, d: np.dtype) -> Any:
        return np.finfo(d).min  # as in MindSpore: finite

    def __call__(self, x: Tensor, axis: int | Tensor) -> Tensor:
        if isinstance(axis, Tensor) and axis.size == 1 and axis._element.kind in "iu":
            axis = int(axis.asnumpy().item())
        return super().__call__(x, axis)

    @quiet
    def forward(self, x: np.ndarray, axis: Any) -> np.ndarray:
        _with_axes(floating(x, "x", self.name, complex_too=False), "x", self.name)
        return self.scan(x, one_axis(axis, "axis", self.name, x.ndim))

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        x, axis = inputs
        # d out_i / d x_j = exp(x_j - out_i) for each i that j is part of, over all pairs: nothing overflows.
        axis = one_axis(axis, "axis", self.name, x.ndim)
        n = x.shape[axis]
        reached = np.tri(n, n, -1 if self.exclusive else 0, dtype=bool)
        reached = Tensor(reached.T if self.reverse else reached)
        rows, outs, douts = (ops.swapaxes(t, axis, -1) for t in (x, output, dout))
        pairs = ops.sub(ops.expand_dims(rows, -2), ops.expand_dims(outs, -1))
        pairs = exp(ops.where(reached, pairs, -np.inf))
        return ops.swapaxes(ops.ReduceSum()(mul(pairs, ops.expand_dims(douts, -1)), -2), axis, -1), None


_cumsum, _cumprod, _logcumsumexp = CumSum(), CumProd(), CumulativeLogsumexp()


def cumsum(x: Tensor, axis: int, dtype: Any = None) -> Tensor:
    """Sum up along one dimension, keeping every intermediate result.

    Args:
        x: a Tensor of numbers.
        axis: the dimension.
        dtype: cast to this type before, that of `x` by default.

    Returns:
        Tensor of the shape of `x`.

    Raises:
        TypeError: if `axis` is no int, or `x` holds bools.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cumsum(ms.Tensor([1.0, 2.0, 3.0]), 0))
        [1. 3. 6.]
    """
    return _cumsum(x if dtype is None else ops.cast(x, dtype), axis)


def cumprod(input: Tensor, dim: int, dtype: Any = None) -> Tensor:
    """Multiply along one dimension, keeping every intermediate result; integers give int64.

    Args:
        input: a Tensor of numbers.
        dim: the dimension.
        dtype: cast to this type before.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if `dim` is no int.
        ValueError: if `dim` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cumprod(ms.Tensor([1.0, 2.0, 3.0]), 0))
        [1. 2. 6.]
    """
    if not tensor(input, "input", "cumprod").ndim:
        raise ValueError("For 'cumprod', 'input' must have at least 1 dimension, but got a scalar.")
    if dtype is not None:
        input = ops.cast(input, dtype)
    elif tensor(input, "input", "cumprod").array().dtype.kind in "biu":
        input = cast_array(input, np.dtype(np.int64))
    return _cumprod(input, dim)


def cummax(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Find the largest element so far along one dimension, and where it is.

    Args:
        input: a Tensor of real numbers.
        axis: the dimension.

    Returns:
        (values, places as int64).

    Raises:
        TypeError: if `axis` is no int.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cummax(ms.Tensor([1.0, 3.0, 2.0]), 0)[0])
        [1. 3. 3.]
    """
    if not tensor(input, "input", "cummax").ndim:
        raise ValueError("For 'cummax', 'input' must have at least 1 dimension, but got a scalar.")
    return Cummax(axis)(input)


def cummin(input: Tensor, axis: int) -> tuple[Tensor, Tensor]:
    """Find the smallest element so far along one dimension, and where it is.

    Args:
        input: a Tensor of real numbers.
        axis: the dimension.

    Returns:
        (values, places as int32).

    Raises:
        TypeError: if `axis` is no int.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cummin(ms.Tensor([2.0, 1.0, 3.0]), 0)[0])
        [2. 1. 1.]
    """
    return Cummin(axis)(input)


@plain("axis")
def logcumsumexp(input: Tensor, axis: int) -> Tensor:
    """Return the running log of the sum of exponentials along one dimension.

    Args:
        input: a Tensor of floats.
        axis: the dimension.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` holds no floats, or `axis` is no int.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.logcumsumexp(ms.Tensor([0.0, 0.0]), 0).asnumpy().round(4))
        [0.     0.6931]
    """
    return _logcumsumexp(input, integer(axis, "axis", "logcumsumexp"))
