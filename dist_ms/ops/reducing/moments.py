"""Variance, standard deviation, median, quantiles and sums that skip NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import plain, reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import (
    boolean,
    data_type,
    floating,
    integer,
    integers,
    is_float,
    many_axes,
    not_of,
    one_axis,
    real,
    tensor,
)
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import mul, square, sub
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.elementwise.powers import sqrt
from dist_ms.ops.kernels import axis_reduction as kernels
from dist_ms.ops.kernels import selection
from dist_ms.ops.primitive import Primitive, numpy_dtype, quiet
from dist_ms.ops.reducing.reduction import ReduceMean, ReduceSum, Reduction, wide_sum
from dist_ms.ops.reducing.sorting import selected
from dist_ms.ops.shaping.reshaping import expand_dims, reshape

__all__ = [
    "Median",
    "ReduceStd",
    "cov",
    "median",
    "nanmean",
    "nanmedian",
    "nanquantile",
    "nansum",
    "quantile",
    "std",
    "std_mean",
    "var",
    "var_mean",
]


def _spread(name: str, input: Tensor, axis: Any, ddof: Any, keepdims: bool) -> tuple[Tensor, Tensor]:
    """(variance, mean) over dimensions, of floats."""
    floating(tensor(input, "input", name).array(), "input", name, complex_too=False)
    ddof = ddof if isinstance(ddof, bool) else integer(ddof, "ddof", name)
    boolean(keepdims, "keepdims", name)
    if isinstance(axis, list):
        axis = tuple(axis)
    axes = many_axes(() if axis is None else axis, "axis", name, input.ndim)
    if not input.ndim and axis not in (None, ()):
        raise ValueError(f"For '{name}', 'axis' must be None for a scalar, but got {axis}.")
    count = math.prod([input.shape[a] for a in axes])
    mean = ReduceMean(True)(input, axes) if axes else input
    gap = sub(input, mean)
    total = ReduceSum(keepdims)(square(gap), axes) if axes else square(gap)
    variance = true_divide(total, count - int(ddof))
    return variance, mean if keepdims or not axes else reshape(mean, variance.shape)


@plain("axis", "ddof")
def var(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the variance over dimensions: the mean of the squared distances from the mean.

    Args:
        input: a Tensor of floats.
        axis: the dimension or dimensions, None for all.
        ddof: subtracted from the number of elements to divide by; 1 for a sample's variance.
        keepdims: keep the reduced dimensions with length 1.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` holds no floats, or another argument has the wrong type.
        ValueError: if a dimension is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.var(ms.Tensor([1.0, 2.0, 3.0]), ddof=1))
        1.0
    """
    return _spread("var", input, axis, ddof, keepdims)[0]


@plain("ddof")
@plain("axis")
def std(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> Tensor:
    """Return the standard deviation over dimensions: the square root of the variance.

    Args:
        input: a Tensor of floats.
        axis: the dimension or dimensions, None for all.
        ddof: subtracted from the number of elements to divide by; 1 for a sample's deviation.
        keepdims: keep the reduced dimensions with length 1.

    Returns:
        Tensor.

    Raises:
        TypeError: if `input` holds no floats, or another argument has the wrong type.
        ValueError: if a dimension is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.std(ms.Tensor([1.0, 2.0, 3.0]), ddof=1))
        1.0
    """
    return sqrt(_spread("std", input, axis, ddof, keepdims)[0])


@plain("ddof")
@plain("axis")
def var_mean(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return variance and mean over dimensions.

    Args:
        input: a Tensor of floats.
        axis: the dimension or dimensions, None for all.
        ddof: subtracted from the number of elements to divide by.
        keepdims: keep the reduced dimensions with length 1.

    Returns:
        (variance, mean).

    Examples:
        >>> import dist_ms as ms
        >>> variance, mean = ms.ops.var_mean(ms.Tensor([1.0, 3.0]))
        >>> print(variance, mean)
        1.0 2.0
    """
    return _spread("var_mean", input, axis, ddof, keepdims)


@plain("ddof")
@plain("axis")
def std_mean(input: Tensor, axis: Any = None, ddof: int = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Return standard deviation and mean over dimensions.

    Args:
        input: a Tensor of floats.
        axis: the dimension or dimensions, None for all.
        ddof: subtracted from the number of elements to divide by.
        keepdims: keep the reduced dimensions with length 1.

    Returns:
        (standard deviation, mean).

    Examples:
        >>> import dist_ms as ms
        >>> deviation, mean = ms.ops.std_mean(ms.Tensor([1.0, 3.0]))
        >>> print(deviation, mean)
        1.0 2.0
    """
    variance, mean = _spread("std_mean", input, axis, ddof, keepdims)
    return sqrt(variance), mean


class ReduceStd(Primitive):
    """Standard deviation and mean over dimensions.

    Args:
        axis: the dimension or dimensions, [] for all.
        unbiased: divide by the number of elements less 1.
        keep_dims: keep the reduced dimensions with length 1.

    Call:
        x (Tensor): floats.

    Examples:
        >>> import dist_ms as ms
        >>> deviation, mean = ms.ops.ReduceStd(unbiased=False)(ms.Tensor([1.0, 3.0]))
        >>> print(deviation, mean)
        1.0 2.0
    """

    def __init__(self, axis: Any = (), unbiased: bool = True, keep_dims: bool = False) -> None:
        self.axis, self.unbiased, self.keep_dims = integers(axis, "axis", self.name), unbiased, keep_dims

    def __call__(self, x: Tensor) -> tuple:
        return std_mean(x, self.axis, int(self.unbiased), self.keep_dims)


@plain("axis")
class Median(Primitive):
    """`median` as a primitive: `Median(global_median, axis, keep_dims, ignore_nan)(x)`.

    Args:
        global_median: of all elements instead; the place is then 0.
        keep_dims: keep the dimension with length 1.
        ignore_nan: leave NaNs out; otherwise one makes the result NaN.
    """

    keeps = ()
    keeps_output = True

    def __init__(
        self, global_median: bool = False, axis: int = 0, keep_dims: bool = False, ignore_nan: bool = False
    ) -> None:
        self.global_median, self.axis, self.keep_dims, self.ignore_nan = global_median, axis, keep_dims, ignore_nan

    def __call__(self, x: Tensor) -> tuple:
        if not self.global_median:
            return super().__call__(x)
        value = Median(False, 0, False, self.ignore_nan)(reshape(tensor(x, "x", self.name), (-1,)))[0]
        return value, Tensor(0)

    def forward(self, x: np.ndarray) -> tuple:
        axis = one_axis(self.axis, "axis", self.name, not_of(real(x, "x", self.name), "?ebBHILE", "x", self.name).ndim)
        if not x.ndim:
            return x.copy(), np.zeros((), np.int64)
        length = x.shape[axis]
        if not length:
            raise ValueError(f"For '{self.name}', the dimension must not be empty, but got the shape {x.shape}.")
        value, place = selected(x, axis, selection.MEDIAN_OF_NUMBERS if self.ignore_nan else selection.MEDIAN)
        return (value, place) if self.keep_dims else (value.squeeze(axis), place.squeeze(axis))

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        x, dvalue, place = inputs[0], dout[0], output[1]
        if not x.shape:
            return dvalue
        axis = one_axis(self.axis, "axis", self.name, len(x.shape))
        if not self.keep_dims:
            dvalue, place = expand_dims(dvalue, axis), expand_dims(place, axis)
        return ops.picking.gathering.PutAlong(axis, x.shape)(place, dvalue)


@plain("axis")
def median(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Find the middle element along one dimension, the lower of two, and where it is.

    Args:
        input: a Tensor of real numbers; a NaN makes its result NaN.
        axis: the dimension.
        keepdims: keep the dimension with length 1.

    Returns:
        (values, places as int64).

    Raises:
        TypeError: if `axis` is no int, or `keepdims` no bool.
        ValueError: if `axis` is out of range, or the dimension empty.

    Examples:
        >>> import dist_ms as ms
        >>> value, place = ms.ops.median(ms.Tensor([3.0, 1.0, 2.0]))
        >>> print(value, place)
        2.0 2
    """
    return Median(False, integer(axis, "axis", "median"), boolean(keepdims, "keepdims", "median"))(input)


def nanmedian(input: Tensor, axis: int = -1, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Find the middle element along one dimension, leaving NaNs out, and where it is.

    Args:
        input: a Tensor of real numbers.
        axis: the dimension.
        keepdims: keep the dimension with length 1.

    Returns:
        (values, places as int64).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nanmedian(ms.Tensor([3.0, float("nan"), 2.0]))[0])
        2.0
    """
    return Median(False, axis, boolean(keepdims, "keepdims", "nanmedian"), True)(input)


class _NumberSum(Reduction):
    """The sum over dimensions, a NaN counting as 0."""

    keeps = (0,)

    @quiet
    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes = self.axes(x, axis)
        total = kernels.reduce_axes(x, axes, "number_sum", self.keep_dims)
        if total is None:
            total = wide_sum(np.where(np.isnan(x), x.dtype.type(0), x), axes, self.keep_dims)
        return np.asarray(total)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, axis = inputs
        return ops.where(ops.isnan(x), wrap(np.zeros((), numpy_dtype(x))), self.spread(dout, x, axis)), None


_number_sum = _NumberSum(), _NumberSum(True)


def nansum(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """Add up a tensor over dimensions, counting NaN as 0.

    Args:
        input: a Tensor.
        axis: the dimension or dimensions, None for all.
        keepdims: keep the reduced dimensions with length 1.
        dtype: cast to this type before adding.

    Returns:
        Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nansum(ms.Tensor([1.0, float("nan"), 2.0])))
        3.0
    """
    kind = tensor(input, "input", "nansum").array().dtype.kind
    if kind in "fV" and (dtype is None or dtype == input.dtype):
        return _number_sum[boolean(keepdims, "keepdims", "nansum")](input, () if axis is None else axis)
    if kind in "fV":
        input = ops.where(ops.isnan(input), wrap(np.zeros((), numpy_dtype(input))), input)
    return ops.sum(input, axis, keepdims, dtype=input.dtype if dtype is None and kind in "iu" else dtype)


@plain("axis")
def nanmean(input: Tensor, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Tensor:
    """Average a tensor over dimensions, leaving NaNs out.

    Args:
        input: a Tensor of floats.
        axis: the dimension or dimensions, None for all.
        keepdims: keep the reduced dimensions with length 1.
        dtype: that of the result; floats are averaged in it.

    Returns:
        Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nanmean(ms.Tensor([1.0, float("nan"), 2.0])))
        1.5
    """
    floating(tensor(input, "input", "nanmean").array(), "input", "nanmean")
    if dtype is not None and not is_float(data_type(dtype, "dtype", "nanmean").np):
        return ops.cast(nanmean(input, axis, keepdims), dtype)
    input = input if dtype is None else ops.cast(input, dtype)
    count = ops.sum(cast_array(ops.logical_not(ops.isnan(input)), numpy_dtype(input)), axis, keepdims)
    return true_divide(nansum(input, axis, keepdims), count)


def quantile(input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """Find the values below which given parts of the elements lie, interpolating linearly.

    Args:
        input: a Tensor of floats.
        q: the part, from 0 to 1, or a one-dimensional Tensor of parts.
        axis: the dimension, None for all elements.
        keepdims: keep the dimension with length 1.

    Returns:
        Tensor; several parts come in a new first dimension.

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if a part is outside [0, 1], or `axis` out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.quantile(ms.Tensor([1.0, 2.0, 3.0]), 0.25))
        1.5
    """
    return _quantile("quantile", input, q, axis, keepdims)


def _quantile(name: str, input: Tensor, q: Any, axis: int | None, keepdims: bool) -> Tensor:
    floating(tensor(input, "input", name).array(), "input", name, complex_too=False)
    parts = q.array().astype(np.float64) if isinstance(q, Tensor) else np.asarray(q, np.float64)
    if parts.ndim > 1 or (parts < 0).any() or (parts > 1).any():
        raise ValueError(f"For '{name}', 'q' must be a number or a vector of numbers in [0, 1], but got {q}.")
    whole = axis is None
    rows = reshape(input, (-1,)) if whole else ops.movedim(input, one_axis(axis, "axis", name, input.ndim), -1)
    n = rows.shape[-1]
    data = rows.array()
    skip = name == "nanquantile"
    count = n - (np.isnan(data).sum(-1) if skip else 0)
    position = parts[(...,) + (None,) * (rows.ndim - 1)] * np.maximum(count - 1, 0)
    if not skip:  # a NaN anywhere makes the result NaN: it is last in order
        position = np.where(np.isnan(data).any(-1), n - 1, position)
    position = np.broadcast_to(position, parts.shape + rows.shape[:-1])
    ordered = ops.sort(rows)[0]
    low = np.asarray(np.floor(position), np.int64)
    weight = wrap(np.asarray(position - low, numpy_dtype(input)))
    outs = []
    for i in np.ndindex(*parts.shape):
        a, b = (
            ops.squeeze(ops.gather_d(ordered, rows.ndim - 1, wrap(p[i][..., None])), -1)
            for p in (low, np.minimum(low + 1, n - 1))
        )
        w = weight[i] if i else weight
        out = ops.where(ops.equal(w, 0), a, ops.add(a, mul(w, sub(b, a))))
        if keepdims:
            out = (
                reshape(out, (1,) * input.ndim) if whole else expand_dims(out, one_axis(axis, "axis", name, input.ndim))
            )
        outs.append(out)
    return ops.stack(outs) if parts.ndim else outs[0]


def nanquantile(input: Tensor, q: Any, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """`quantile`, leaving NaNs out.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nanquantile(ms.Tensor([1.0, float("nan"), 3.0]), 0.5))
        2.0
    """
    return _quantile("nanquantile", input, q, axis, keepdims)


@reads("shape")
@reads(input="unsqueeze")
def cov(
    input: Tensor, *, correction: int = 1, fweights: Tensor | None = None, aweights: Tensor | None = None
) -> Tensor:
    """Return the covariances of variables, the rows of a matrix, over observations, its columns.

    Args:
        input: a Tensor with at most two dimensions.
        correction: subtracted from the number of observations to divide by.
        fweights: how often each observation counts, a Tensor of ints.
        aweights: how much each observation weighs, a Tensor of floats.

    Returns:
        Tensor (variables, variables), a scalar for one variable.

    Raises:
        ValueError: if `input` has more than two dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.cov(ms.Tensor([[0.0, 2.0], [2.0, 0.0]])))
        [[ 2. -2.]
         [-2.  2.]]
    """
    not_of(fweights, "BHIL", "fweights", "cov")
    not_of(input, "?FD", "input", "cov")
    if tensor(input, "input", "cov").ndim > 2:
        raise ValueError(f"For 'cov', 'input' must have at most 2 dimensions, but got {input.ndim}.")
    x = mul(reshape(input, (1, input.size)) if input.ndim < 2 else input, 1.0)
    d = from_numpy(numpy_dtype(x))
    weight = ops.ones((x.shape[1],), d)
    for name, extra, kinds in (("fweights", fweights, "iu"), ("aweights", aweights, "fV")):
        if extra is not None:
            if numpy_dtype(tensor(extra, name, "cov")).kind not in kinds:
                wanted = "an integer" if name == "fweights" else "a float"
                raise TypeError(f"For 'cov', the dtype of '{name}' must be {wanted} type, but got {extra.dtype}.")
            if extra.ndim > 1 or extra.size != x.shape[1]:
                raise ValueError(
                    f"For 'cov', '{name}' must have an element for each of {x.shape[1]} columns, but got {extra.shape}."
                )
            weight = mul(weight, ops.cast(extra, d))
    total = ops.sum(weight)
    mean = true_divide(ops.sum(mul(x, weight), 1, True), total)
    gap = sub(x, mean)
    if aweights is None:
        norm = sub(total, correction)
    else:
        share = ops.sum(mul(weight, ops.cast(aweights, d)))
        norm = sub(total, true_divide(mul(share, correction), total))
    product = true_divide(ops.matmul(mul(gap, weight), ops.transpose(gap, (1, 0))), norm)
    return reshape(product, ()) if product.size == 1 else product
