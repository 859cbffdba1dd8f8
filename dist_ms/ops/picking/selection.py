"""Select, MaskedFill, MaskedSelect, NonZero: elements chosen by bools."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import array, boolean, is_float, tensor
from dist_ms.ops.broadcasting import number_array, promote, reduce_to
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.kernels import masked as kernels
from dist_ms.ops.picking.indexing import GetItem, SetItem
from dist_ms.ops.pointwise import select as select_array
from dist_ms.ops.primitive import Primitive, Undifferentiable, as_tensor, numpy_dtype

__all__ = [
    "MaskedFill",
    "MaskedScatter",
    "MaskedSelect",
    "NonZero",
    "Select",
    "argwhere",
    "is_nonzero",
    "masked_fill",
    "masked_scatter",
    "masked_select",
    "nonzero",
    "select",
    "where",
]


class Select(Primitive):
    """`select` as a primitive: `Select()(condition, input, other)`."""

    keeps = (0,)

    def __call__(self, condition: Tensor, input: Any, other: Any) -> Tensor:
        for argument, value in (("input", input), ("other", other)):
            if not isinstance(value, (Tensor, bool, int, float, complex, np.generic)):
                raise TypeError(
                    f"For '{self.name}', '{argument}' must be a Tensor or a number, but got {type(value).__name__}."
                )
        return super().__call__(condition, input, other)

    def forward(self, condition: np.ndarray, input: Any, other: Any) -> np.ndarray:
        if array(condition, "condition", self.name).dtype.kind != "b":
            raise TypeError(
                f"For '{self.name}', the dtype of 'condition' must be Bool, "
                f"but got {from_numpy(condition.dtype)}; compare it, or cast it first."
            )
        if isinstance(input, np.ndarray) or isinstance(other, np.ndarray):
            input, other = promote(*[v.item() if isinstance(v, np.generic) else v for v in (input, other)])
        else:
            input, other = promote(as_tensor(input).array(), as_tensor(other).array())
        try:
            return select_array(condition, input, other)
        except ValueError:
            raise ValueError(
                f"For '{self.name}', the shapes of 'condition', 'input' and 'other' must broadcast, "
                f"but got {condition.shape}, {input.shape} and {other.shape}."
            ) from None

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        condition, x, y = inputs
        zero = wrap(np.zeros((), numpy_dtype(dout)))
        return (
            None,
            reduce_to(self(condition, dout, zero), x) if wanted(x) else None,
            reduce_to(self(condition, zero, dout), y) if wanted(y) else None,
        )


_select = Select()


def select(condition: Tensor, input: Any, other: Any) -> Tensor:
    """Take `input` where the condition is true, `other` elsewhere, with broadcasting.

    Args:
        condition: a Tensor of bools.
        input: a Tensor or a number.
        other: a Tensor or a number.

    Returns:
        Tensor of the broadcast shape and the common type.

    Raises:
        TypeError: if `condition` holds no bools, or a choice is neither a Tensor nor a number.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, -2.0])
        >>> print(ms.ops.select(x > 0, x, 0.0))
        [1. 0.]
    """
    return _select(condition, input, other)


def where(condition: Tensor, input: Any, other: Any) -> Tensor:
    """`select`, by NumPy's name."""
    return _select(condition, input, other)


class MaskedFill(Primitive):
    """`masked_fill` as a primitive: `MaskedFill()(input_x, mask, value)`.

    Call:
        value (Tensor without dimensions, or number): it must not need a wider type than `input_x` has.
    """

    keeps = (1,)

    def forward(self, input_x: np.ndarray, mask: np.ndarray, value: Any) -> np.ndarray:
        x = array(input_x, "input_x", self.name)
        if array(mask, "mask", self.name).dtype.kind != "b":
            raise TypeError(f"For '{self.name}', the dtype of 'mask' must be Bool, but got {from_numpy(mask.dtype)}.")
        if isinstance(value, np.ndarray):
            if value.ndim:
                raise ValueError(f"For '{self.name}', 'value' must have no dimension, but got the shape {value.shape}.")
            if value.dtype.kind != x.dtype.kind and "V" not in (value.dtype.kind, x.dtype.kind):
                raise TypeError(
                    f"For '{self.name}', 'value' must be of the kind {from_numpy(x.dtype)} of 'input_x', "
                    f"but got {from_numpy(value.dtype)}; cast it first."
                )
            value = value.astype(x.dtype)
        else:
            if not isinstance(value, (bool, int, float, complex, np.number, np.bool_)):
                raise TypeError(
                    f"For '{self.name}', 'value' must be a number or Tensor, but got {type(value).__name__}."
                )
            if isinstance(value, float) and x.dtype.kind in "biu":
                raise TypeError(
                    f"For '{self.name}', 'value' must fit the dtype {from_numpy(x.dtype)} of 'input_x', "
                    f"but got {value}."
                )
            value = number_array(value, x.dtype)
        try:
            return select_array(mask, value, x)
        except ValueError:
            raise ValueError(
                f"For '{self.name}', the shapes of 'input_x' and 'mask' must broadcast, "
                f"but got {x.shape} and {mask.shape}."
            ) from None

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, mask, value = inputs
        zero = wrap(np.zeros((), numpy_dtype(dout)))
        return (
            reduce_to(_select(mask, zero, dout), x),
            None,
            reduce_to(_select(mask, dout, zero), value) if wanted(value) else None,
        )


_masked_fill = MaskedFill()


def masked_fill(input_x: Tensor, mask: Tensor, value: Any) -> Tensor:
    """Put one value where the mask is true, with broadcasting.

    Args:
        input_x: a Tensor.
        mask: a Tensor of bools.
        value: a number, or a Tensor without dimensions; floats do not fit integers.

    Returns:
        Tensor of the broadcast shape and the dtype of `input_x`.

    Raises:
        TypeError: if `mask` holds no bools, or `value` does not fit the dtype.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, -2.0])
        >>> print(ms.ops.masked_fill(x, x < 0, 0.0))
        [1. 0.]
    """
    return _masked_fill(input_x, tensor(mask, "mask", "masked_fill"), value)


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """Take the elements where the mask is true, in one dimension.

    Args:
        input: a Tensor.
        mask: a Tensor of bools that broadcasts with it.

    Returns:
        Tensor with one dimension.

    Raises:
        TypeError: if `mask` holds no bools.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, -2.0, 3.0])
        >>> print(ms.ops.masked_select(x, x > 0))
        [1. 3.]
    """
    chosen = _mask("masked_select", mask)
    shape = _common_shape("masked_select", tensor(input, "input", "masked_select").shape, chosen.shape)
    return GetItem(np.broadcast_to(chosen, shape))(input if input.shape == shape else ops.broadcast_to(input, shape))


class MaskedSelect(Primitive):
    """`masked_select` as a primitive: `MaskedSelect()(input, mask)`."""

    def __call__(self, input: Tensor, mask: Tensor) -> Tensor:
        return masked_select(input, mask)


def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """Copy a tensor, with the elements where the mask is true replaced by `source`'s, one after the other.

    Args:
        input: a Tensor.
        mask: a Tensor of bools that broadcasts with it.
        source: a Tensor of the same dtype, or floats to go among floats, with as many elements as the mask has True,
            or more.

    Returns:
        Tensor of the broadcast shape.

    Raises:
        TypeError: if `mask` holds no bools, or the dtypes do not fit.
        ValueError: if the shapes do not broadcast, or `source` is too short.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, -2.0, -3.0])
        >>> print(ms.ops.masked_scatter(x, x < 0, ms.Tensor([8.0, 9.0])))
        [1. 8. 9.]
    """
    chosen = _mask("masked_scatter", mask)
    kinds = [numpy_dtype(tensor(v, n, "masked_scatter")) for n, v in (("input", input), ("source", source))]
    if all(map(is_float, kinds)):
        source = cast_array(source, kinds[0])
    elif kinds[0] != kinds[1]:
        raise TypeError(
            f"For 'masked_scatter', 'source' must have the dtype of 'input', {input.dtype}, but got {source.dtype}."
        )
    shape = _common_shape("masked_scatter", input.shape, chosen.shape)
    chosen = np.broadcast_to(chosen, shape)
    count = int(chosen.sum())
    if source.size < count:
        raise ValueError(f"For 'masked_scatter', 'source' must have at least {count} elements, but got {source.size}.")
    if input.shape != shape:
        input = ops.broadcast_to(input, shape)
    return SetItem(chosen)(input, GetItem(slice(count))(ops.reshape(source, (-1,))))


class MaskedScatter(Primitive):
    """`masked_scatter` as a primitive: `MaskedScatter()(input, mask, source)`."""

    def __call__(self, input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
        return masked_scatter(input, mask, source)


def _mask(name: str, mask: Tensor) -> np.ndarray:
    """The array of a mask, checked."""
    bools = tensor(mask, "mask", name).array()
    if bools.dtype.kind != "b":
        wrong = RuntimeError if name == "masked_select" else TypeError
        raise wrong(f"For '{name}', the dtype of 'mask' must be Bool, but got {mask.dtype}.")
    return bools


def _common_shape(name: str, a: tuple, b: tuple) -> tuple:
    """The broadcast shape of a tensor and its mask."""
    try:
        return np.broadcast_shapes(a, b)
    except ValueError:
        raise ValueError(
            f"For '{name}', the shapes of 'input' and 'mask' must broadcast, but got {a} and {b}."
        ) from None


# Elements that NumPy has looked through before a kernel would be called.
_LEAST = 2048


class NonZero(Undifferentiable):
    """`nonzero` as a primitive: `NonZero()(input)`."""

    def forward(self, input: np.ndarray) -> np.ndarray:
        x = array(input, "input", self.name)
        if x.size < _LEAST or not x.ndim:
            return np.argwhere(x).astype(np.int64, copy=False)
        return kernels.true_places(np.ascontiguousarray(x if x.dtype.kind == "b" else np.not_equal(x, 0)))


_nonzero = NonZero()


def nonzero(input: Tensor, *, as_tuple: bool = False) -> Any:
    """Find the places of the elements that are not 0.

    Args:
        input: a Tensor.
        as_tuple: return one Tensor per dimension instead of one with a row per place.

    Returns:
        Tensor of int64 (number of places, ndim), or tuple of ndim Tensors.

    Raises:
        TypeError: if `input` is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nonzero(ms.Tensor([0, 3, 4])))
        [[1]
         [2]]
    """
    boolean(as_tuple, "as_tuple", "nonzero")
    places = _nonzero(input)
    return ops.unstack(places, 1) if as_tuple else places


def argwhere(input: Tensor) -> Tensor:
    """Find the places of the elements that are not 0, one row each.

    Args:
        input: a Tensor.

    Returns:
        Tensor of int64 (number of places, ndim).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.argwhere(ms.Tensor([0, 3])))
        [[1]]
    """
    return _nonzero(input)


def is_nonzero(input: Tensor) -> bool:
    """Tell whether the only element of a tensor is not 0.

    Args:
        input: a Tensor with one element.

    Returns:
        bool.

    Raises:
        TypeError: if `input` is no Tensor.
        ValueError: if it has more elements, or none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.is_nonzero(ms.Tensor([2.0]))
        True
    """
    if tensor(input, "input", "is_nonzero").size != 1:
        raise ValueError(f"For 'is_nonzero', 'input' must have one element, but got the shape {input.shape}.")
    return bool(input.array().reshape(()))
