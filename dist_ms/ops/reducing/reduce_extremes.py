"""ReduceMax, Argmax, ArgMaxWithValue and their kin: the extreme of many, and where it is."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import Number, int32, int64
from dist_ms.common.error_classes import of_value, plain, raises, reads, scalars, truths
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, boolean, countable, integer, many_axes, one_axis, real, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import mul
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.kernels import axis_reduction as kernels
from dist_ms.ops.kernels import extreme_places as place_kernels
from dist_ms.ops.layout import AroundAxis, converted
from dist_ms.ops.primitive import Primitive, Undifferentiable, numpy_dtype
from dist_ms.ops.reducing.reduction import Reduction
from dist_ms.ops.shaping.reshaping import reshape

__all__ = [
    "ArgMaxWithValue",
    "ArgMinWithValue",
    "Argmax",
    "Argmin",
    "ReduceMax",
    "ReduceMin",
    "amax",
    "amin",
    "aminmax",
    "argmax",
    "argmin",
    "max",
    "min",
    "reduce_max",
    "reduce_min",
]


class _ReduceExtreme(Reduction):
    """The extreme over dimensions; equal extremes share the gradient."""

    choose: Callable[..., Any]
    extreme: Any
    keeps = (0,)
    keeps_output = True

    def forward(self, x: np.ndarray, axis: Any = ()) -> np.ndarray:
        axes = self.axes(real(x, "x", self.name), axis)
        _check_not_empty(self.name, x, axes)
        found = kernels.reduce_axes(x, axes, self.extreme, self.keep_dims)
        return np.asarray(self.choose(x, axes, keepdims=self.keep_dims)) if found is None else found

    def gradient(self, inputs: tuple, output: Tensor, dout: Tensor) -> tuple:
        x, axis = inputs
        axes = many_axes(axis, "axis", self.name, x.ndim)
        chosen = cast_array(ops.equal(x, self.kept(output, x, axis)), numpy_dtype(dout))
        count = ops.ReduceSum(keep_dims=True)(chosen, axes) if axes else chosen
        return mul(true_divide(chosen, count), self.kept(dout, x, axis)), None


@raises(**{"axis twice": RuntimeError})
class ReduceMax(_ReduceExtreme):
    """The largest element over dimensions.

    Args:
        keep_dims: keep the reduced dimensions with length 1.

    Call:
        x (Tensor): real numbers or bools.
        axis (int or tuple of ints): the dimensions, () for all.

    Raises:
        TypeError: if `axis` holds anything but ints.
        ValueError: if a dimension is out of range, comes twice, or is empty.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ReduceMax()(ms.Tensor([[1.0, 2.0], [3.0, 0.0]]), 1))
        [2. 3.]
    """

    choose, extreme = staticmethod(np.max), "max"


@raises(**{"axis twice": RuntimeError})
@plain("axis")
class ReduceMin(_ReduceExtreme):
    """`ReduceMax` for the smallest element."""

    choose, extreme = staticmethod(np.min), "min"


class ArgMaxWithValue(Primitive):
    """The place and the value of the largest element along one dimension; the first of equal ones.

    Args:
        axis: the dimension.
        keep_dims: keep the dimension with length 1.

    Call:
        input (Tensor): real numbers.

    Raises:
        TypeError: if `axis` is no int.
        ValueError: if `axis` is out of range, or the dimension is empty.

    Examples:
        >>> import dist_ms as ms
        >>> index, value = ms.ops.ArgMaxWithValue(1)(ms.Tensor([[1.0, 2.0], [3.0, 0.0]]))
        >>> print(index, value)
        [1 0] [2. 3.]
    """

    keeps = ()
    keeps_output = True
    choose = staticmethod(np.argmax)

    def __init__(self, axis: int = 0, keep_dims: bool = False) -> None:
        self.axis = integer(axis, "axis", self.name)
        self.keep_dims = boolean(keep_dims, "keep_dims", self.name)

    def forward(self, input: np.ndarray) -> tuple:
        countable(input, "input", self.name)
        if not input.ndim:
            one_axis(self.axis, "axis", self.name, 0)
            return np.zeros((), np.int64), input.copy()
        axis = one_axis(self.axis, "axis", self.name, input.ndim)
        if not input.size:
            _check_not_empty(self.name, input, range(input.ndim))
        index = _places(input, axis, self.choose, True)
        value = np.take_along_axis(input, index, axis)
        return (index, value) if self.keep_dims else (index.squeeze(axis), value.squeeze(axis))

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        x, index, dvalue = inputs[0], output[0], dout[1]
        if not x.shape:
            return dvalue
        axis = one_axis(self.axis, "axis", self.name, len(x.shape))
        if not self.keep_dims:
            kept = (*x.shape[:axis], 1, *x.shape[axis + 1 :])
            index, dvalue = reshape(index, kept), reshape(dvalue, kept)
        return ops.picking.gathering.PutAlong(axis, x.shape)(index, dvalue)


class ArgMinWithValue(ArgMaxWithValue):
    """`ArgMaxWithValue` for the smallest element."""

    choose = staticmethod(np.argmin)


@raises(**{"empty input": RuntimeError})
class Argmax(Undifferentiable):
    """`argmax` as a primitive: `Argmax(axis, output_type)(input_x)`.

    Args:
        axis: the dimension.
        output_type: int32 or int64.
    """

    choose, checked = staticmethod(np.argmax), staticmethod(real)

    def __init__(self, axis: int = -1, output_type: Number = int32) -> None:
        self.axis = integer(axis, "axis", self.name)
        if output_type not in (int32, int64):
            raise TypeError(f"For '{self.name}', 'output_type' must be int32 or int64, but got {output_type!r}.")
        self.output_type = output_type

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        x = self.checked(input_x, "input_x", self.name)
        if not x.ndim:
            one_axis(self.axis, "axis", self.name, 0)
            return np.zeros((), self.output_type.np)
        axis = one_axis(self.axis, "axis", self.name, x.ndim)
        if not x.size:
            _check_not_empty(self.name, x, range(x.ndim))
        return _places(x, axis, self.choose, False).astype(self.output_type.np, copy=False)


@raises(**{"empty input": RuntimeError})
class Argmin(Argmax):
    """`argmin` as a primitive: `Argmin(axis, output_type)(x)`.

    Args:
        output_type: int32 or int64.
    """

    takes = "x"
    choose, checked = staticmethod(np.argmin), staticmethod(countable)


_KERNEL_TYPES = (np.dtype(np.float32), np.dtype(np.float64), np.dtype(np.int32), np.dtype(np.int64))
# Numbers that NumPy has looked through before a kernel would be called.
_LEAST = 2048


def _places(x: np.ndarray, axis: int, choose: Any, keep: bool) -> np.ndarray:
    """What np.argmax or np.argmin returns, by a kernel for many numbers."""
    if x.size < _LEAST or x.shape[axis] >= 1 << 31:
        return np.asarray(choose(x, axis, keepdims=keep))
    if x.dtype.itemsize == 2 and x.dtype.kind in "fV":
        x = converted(x, _KERNEL_TYPES[0])
    if x.dtype not in _KERNEL_TYPES:
        return np.asarray(choose(x, axis, keepdims=keep))
    around = AroundAxis(x, axis)
    out = np.empty((around.lines.shape[0], around.lines.shape[2]), np.int64)
    place_kernels.extreme_places(around.lines, out, choose is np.argmin)
    places = around.shaped(out)
    return places if keep else places.squeeze(axis)


def _check_not_empty(name: str, x: np.ndarray, axes: Iterable[int]) -> None:
    """Raise ValueError, or what MindSpore raises, if there is nothing to choose from."""
    if 0 in [x.shape[a] for a in axes]:
        kind = of_value("empty input", name)
        raise kind(f"For '{name}', the dimensions to choose from must not be empty, but got the shape {x.shape}.")


_max, _min = (ReduceMax(), ReduceMax(True)), (ReduceMin(), ReduceMin(True))
reduce_max, reduce_min = _max[0], _min[0]


@plain("axis")
@reads(input="shape")
def max(
    input: Tensor, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """Find the largest element of a tensor, or along one dimension, and its place.

    Args:
        input: a Tensor of real numbers.
        axis: the dimension; None for the largest of all, whose place is given as 0.
        keepdims: keep the dimension with length 1.
        initial: a value the result does not go below; lower elements count as it. Only with `axis`.
        where: a Tensor of bools: False elements count as `initial`. Only with `axis`.

    Returns:
        (values, places as int64).

    Raises:
        TypeError: if `axis` is no int.
        ValueError: if `axis` is out of range, or there are no elements.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.max(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]), axis=1)
        >>> print(values, places)
        [5. 3.] [1 0]
    """
    return _extreme("max", input, axis, keepdims, initial, where, _max[0], ArgMaxWithValue)


@plain("axis")
@reads(input="shape")
def min(
    input: Tensor, axis: int | None = None, keepdims: bool = False, *, initial: Any = None, where: Any = None
) -> tuple[Tensor, Tensor]:
    """`max` for the smallest element; `initial` is a value the result does not go above.

    Examples:
        >>> import dist_ms as ms
        >>> values, places = ms.ops.min(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]), axis=1)
        >>> print(values, places)
        [1. 2.] [0 1]
    """
    return _extreme("min", input, axis, keepdims, initial, where, _min[0], ArgMinWithValue)


def _extreme(
    name: str, input: Tensor, axis: Any, keepdims: bool, initial: Any, where: Any, whole: Any, along: Any
) -> tuple[Tensor, Tensor]:
    """`max` or `min`, by the primitives for everything and for one dimension."""
    tensor(input, "input", name)
    if axis is None:
        return whole(input), Tensor(0)
    if isinstance(initial, Tensor):
        raise TypeError(f"For '{name}', 'initial' must be a number, but got Tensor.")
    if where is not None:
        if initial is None and isinstance(where, (bool, int, float, tuple, list, np.ndarray)):
            raise ValueError(f"For '{name}', 'initial' must be given together with 'where', but got None.")
        input = _only_where(name, input, where, initial)
    if initial is not None:
        input = (ops.maximum if name == "max" else ops.minimum)(input, ops.full_like(input, initial))
    axis = integer(axis, "axis", name)
    index, value = along(axis if input.ndim else 0, keepdims)(input)  # of a scalar, whatever the axis, as in MindSpore
    return value, index


def _only_where(name: str, input: Tensor, where: Tensor, initial: Any) -> Tensor:
    """The tensor with `initial` where `where` is False."""
    if not isinstance(where, Tensor):
        raise TypeError(f"For '{name}', 'where' must be a Tensor of bools, but got {type(where).__name__} {where!r}.")
    if initial is None:
        raise ValueError(f"For '{name}', 'initial' must be given together with 'where', but got None.")
    return ops.where(ops.broadcast_to(where, input.shape), input, ops.full_like(input, initial))


def amax(input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """Find the largest element over dimensions; equal ones share the gradient.

    Args:
        input: a Tensor of real numbers.
        axis: the dimension or dimensions, None for all.
        keepdims: keep the reduced dimensions with length 1.
        initial: a value the result does not go below.
        where: a Tensor of bools: False elements count as `initial`. Anything else counts as None, as in MindSpore.

    Returns:
        Tensor.

    Raises:
        TypeError: if `axis` holds anything but ints.
        ValueError: if a dimension is out of range, comes twice, or is empty.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.amax(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]), 0))
        [3. 5.]
    """
    return _over_axes("amax", input, axis, keepdims, initial, where, _max, ops.maximum)


def amin(input: Tensor, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Tensor:
    """`amax` for the smallest element; `initial` is a value the result does not go above.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.amin(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]), 0))
        [1. 2.]
    """
    return _over_axes("amin", input, axis, keepdims, initial, where, _min, ops.minimum)


def _over_axes(
    name: str, input: Tensor, axis: Any, keepdims: bool, initial: Any, where: Any, reduce: tuple, limit: Any
) -> Tensor:
    """`amax` or `amin`, by the primitive."""
    if initial is not None and not hasattr(input, "dtype"):  # which MindSpore then reads first
        raise AttributeError(f"For '{name}', 'input' must be a Tensor, but got {type(input).__name__}.")
    countable(tensor(input, "input", name).array(), "input", name)
    if isinstance(where, Tensor):
        input = _only_where(name, input, where, initial)
    if isinstance(axis, Tensor) and not axis.ndim:
        axis = integer(axis, "axis", name)
    out = reduce[boolean(keepdims, "keepdims", name)](input, () if axis is None else axis)
    return out if initial is None else limit(out, ops.full_like(out, initial))


@scalars("axis")
def aminmax(input: Tensor, *, axis: int | None = 0, keepdims: bool = False) -> tuple[Tensor, Tensor]:
    """Find the smallest and the largest element along one dimension, NaN left out.

    Args:
        input: a Tensor of real numbers.
        axis: the dimension, None for all.
        keepdims: keep the dimension with length 1.

    Returns:
        (smallest, largest), NaN only where there is nothing else.

    Raises:
        TypeError: if `axis` is no int, or `input` holds bools or complex numbers.
        ValueError: if `axis` is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> low, high = ms.ops.aminmax(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]))
        >>> print(low, high)
        [1. 2.] [3. 5.]
    """
    if axis is None and not hasattr(input, "shape"):  # which MindSpore reads first
        raise AttributeError(f"For 'aminmax', 'input' must be a Tensor, but got {type(input).__name__}.")
    countable(tensor(input, "input", "aminmax").array(), "input", "aminmax")
    if axis is not None:
        axis = integer(axis, "axis", "aminmax")

    kept = keepdims is True if axis is None else bool(keepdims)  # anything else is not looked at, as in MindSpore

    def extremes(low: Tensor, high: Tensor) -> tuple[Tensor, Tensor]:
        if axis is None:
            return amin(low, None, kept), amax(high, None, kept)
        return ArgMinWithValue(axis, keepdims)(low)[1], ArgMaxWithValue(axis, keepdims)(high)[1]

    if input.array().dtype.kind != "f" or not (absent := np.isnan(input.array())).any():
        return extremes(input, input)
    mask, nothing = Tensor(absent), Tensor(absent.all(axis, keepdims=kept))
    low, high = extremes(ops.masked_fill(input, mask, np.inf), ops.masked_fill(input, mask, -np.inf))
    return ops.masked_fill(low, nothing, np.nan), ops.masked_fill(high, nothing, np.nan)


@scalars("dim")
@reads("shape")
def argmax(input: Tensor, dim: int | None = None, keepdim: bool = False) -> Tensor:
    """Find the place of the largest element, the first of equal ones.

    Args:
        input: a Tensor of real numbers.
        dim: the dimension; None for the place among all elements, row by row.
        keepdim: keep the dimension with length 1. Ignored without `dim`.

    Returns:
        Tensor of int64.

    Raises:
        TypeError: if `dim` is no int, or `keepdim` no bool.
        ValueError: if `dim` is out of range, or there are no elements.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.argmax(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]), dim=1))
        [1 0]
    """
    return _place("argmax", input, dim, keepdim, Argmax, int64, "dim")


@reads("shape")
@scalars("axis")
@truths("keepdims")
def argmin(input: Tensor, axis: int | None = None, keepdims: bool = False) -> Tensor:
    """`argmax` for the smallest element, with other names of arguments and an int32 result.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.argmin(ms.Tensor([[1.0, 5.0], [3.0, 2.0]]), axis=1))
        [0 1]
    """
    return _place("argmin", input, axis, keepdims, Argmin, int32, "axis")


def _place(name: str, input: Tensor, axis: Any, keep: bool, primitive: Any, dtype: Number, argument: str) -> Tensor:
    """`argmax` or `argmin`, by the primitive."""
    array(tensor(input, "input", name).array(), "input", name)
    keep = boolean(keep, "keepdim" + "s" * (argument == "axis"), name)
    if axis is None:
        return primitive(0, dtype)(reshape(input, (-1,)))
    axis = integer(axis, argument, name)
    out = primitive(axis if input.ndim else 0, dtype)(input)
    return ops.expand_dims(out, axis) if keep and input.ndim else out
