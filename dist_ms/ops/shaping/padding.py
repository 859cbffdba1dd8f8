"""pad, Pad, MirrorPad: tensors with a border."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_type, complaint
from dist_ms.common.error_classes import plain, raises
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import boolean, integer, integers, integral, not_of, one_of, scalar, tensor
from dist_ms.ops.kernels import borders
from dist_ms.ops.layout import contiguous, is_dense
from dist_ms.ops.primitive import Primitive

__all__ = ["MirrorPad", "Pad", "PadV3", "Padding", "mirror_pad", "pad", "padding"]


class Border(Primitive):
    """A tensor with a border of one value; negative widths cut off instead.

    Args:
        widths: (before, after) for each dimension.
        value: the border's value.
    """

    keeps = ()

    def __init__(self, widths: tuple, value: Any = 0) -> None:
        self.widths, self.value = widths, value

    def forward(self, x: np.ndarray) -> np.ndarray:
        return bordered(x, self.widths, "constant", np.array(self.value).astype(x.dtype))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return Border(tuple([(-a, -b) for a, b in self.widths]))(dout)


class Mirrored(Primitive):
    """A tensor with a border made of its own elements.

    Args:
        widths: (before, after) for each dimension.
        mode: "reflect", "symmetric", "replicate" or "circular".
    """

    keeps = ()

    def __init__(self, widths: tuple, mode: str) -> None:
        self.widths, self.mode = widths, mode

    def forward(self, x: np.ndarray) -> np.ndarray:
        return bordered(x, self.widths, self.mode)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return MirroredSum(self.widths, self.mode)(dout)


class MirroredSum(Primitive):
    """The sum over the copies that `Mirrored` made of each element: its gradient.

    Args:
        widths, mode: as in `Mirrored`.
    """

    keeps = ()

    def __init__(self, widths: tuple, mode: str) -> None:
        self.widths, self.mode = widths, mode

    def forward(self, dout: np.ndarray) -> np.ndarray:
        dout, widths, order = _memory_order(dout, self.widths)
        dx = np.empty([n - a - b for n, (a, b) in zip(dout.shape, widths)], dout.dtype)
        if dout.dtype.kind == "c":  # a pair of numbers is a dimension of its own
            part, widths = np.empty(0, dout.dtype).real.dtype, (*widths, (0, 0))
            borders.sum_copies(_pairs(dout, part), _pairs(dx, part), widths, self.mode)
        else:
            borders.sum_copies(dout, dx, widths, self.mode)
        return dx if order is None else dx.transpose(np.argsort(order))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return Mirrored(self.widths, self.mode)(dout)


def _pairs(x: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Complex numbers as their real and imaginary parts along one more dimension."""
    return x.view(dtype).reshape(*x.shape, 2)


def _memory_order(x: np.ndarray, widths: tuple) -> tuple[np.ndarray, tuple, list | None]:
    """The elements as a C-contiguous array, the widths of its dimensions, and its order of axes if another one."""
    if x.flags.c_contiguous or not is_dense(x):
        return contiguous(x), widths, None
    order = sorted(range(x.ndim), key=lambda axis: -x.strides[axis])
    return x.transpose(order), tuple([widths[axis] for axis in order]), order


def bordered(x: np.ndarray, widths: tuple, rule: str, value: np.ndarray | None = None) -> np.ndarray:
    """An array with a border, its axes in the order that they have in memory where the array is dense."""
    order = None
    if not x.ndim or x.strides[-1] != x.itemsize or not x.flags.aligned:
        x, widths, order = _memory_order(x, widths)
    out = np.empty([n + a + b for n, (a, b) in zip(x.shape, widths)], x.dtype)
    borders.surround(x, out, widths, rule, value)
    return out if order is None else out.transpose(np.argsort(order))


class Pad(Primitive):
    """A tensor with a border of zeros.

    Args:
        paddings: (before, after) for each dimension; negative widths cut off instead.

    Call:
        input_x (Tensor): the elements.

    Raises:
        TypeError: if `paddings` is no tuple of pairs of ints.
        ValueError: if it has not one pair per dimension.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Pad(((1, 0), (0, 1)))(ms.Tensor([[1, 2]])))
        [[0 0 0]
         [1 2 0]]
    """

    def __init__(self, paddings: tuple) -> None:
        check_type(paddings, "paddings", self.name, tuple)
        self.paddings = tuple([integers(p, "paddings", self.name) for p in paddings])
        if any(len(p) != 2 for p in self.paddings):
            raise ValueError(f"For '{self.name}', 'paddings' must hold pairs, but got {paddings}.")

    def __call__(self, input_x: Tensor) -> Tensor:
        if len(self.paddings) != tensor(input_x, "input_x", self.name).ndim:
            raise ValueError(
                f"For '{self.name}', 'paddings' must have one pair per dimension of 'input_x', "
                f"but got {len(self.paddings)} for the shape {input_x.shape}."
            )
        return Border(self.paddings)(input_x)


@raises(mode=ValueError)
class MirrorPad(Primitive):
    """`mirror_pad` as a primitive: `MirrorPad(mode)(input_x, paddings)`."""

    def __init__(self, mode: str = "REFLECT") -> None:
        self.mode = one_of(mode, "mode", self.name, ("REFLECT", "SYMMETRIC"))

    def __call__(self, input_x: Tensor, paddings: Tensor) -> Tensor:
        widths = paddings.array() if isinstance(paddings, Tensor) else np.array(paddings)
        shape = tensor(input_x, "input_x", self.name).shape
        if widths.shape != (len(shape), 2) or (widths < 0).any():
            raise ValueError(
                f"For '{self.name}', 'paddings' must have the shape ({len(shape)}, 2) and no negative "
                f"width, "
                f"but got {widths.tolist()}."
            )
        pairs = tuple([(int(a), int(b)) for a, b in widths])
        _check_mirror(self.name, pairs, shape, self.mode.lower())
        return Mirrored(pairs, self.mode.lower())(input_x)


def _check_mirror(name: str, widths: tuple, shape: tuple, mode: str) -> None:
    """Raise ValueError if a border is too wide for its mode."""
    spare = 1 if mode == "reflect" else 0
    for (a, b), n in zip(widths, shape):
        if n == 0 and (a or b):
            raise ValueError(
                f"For '{name}', the '{mode}' padding {(a, b)} needs elements, but a dimension has length 0."
            )
        if mode != "replicate" and max(a, b) > n - spare:
            raise ValueError(
                f"For '{name}', a width of the '{mode}' padding must not exceed {n - spare} for a "
                f"dimension "
                f"of length {n}, but got {(a, b)}."
            )


@raises(mode=ValueError)
def pad(input_x: Tensor, padding: Any, mode: str = "constant", value: Any = None) -> Tensor:
    """Put a border around a tensor.

    Args:
        input_x: a Tensor.
        padding: widths (before, after) for the last dimension, then for the one before it, and
            so on, in one tuple, list or Tensor; negative widths cut off instead.
        mode: "constant" for one value, "reflect" for mirrored elements without the outermost,
            "replicate" for the outermost element, "circular" for elements from the other side.
            All but "constant" want the last one, two or three dimensions padded.
        value: the border's value in constant mode, 0 by default.

    Returns:
        Tensor.

    Raises:
        TypeError: if `padding` holds anything but ints.
        ValueError: if `mode` is unknown, or the widths do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.pad(ms.Tensor([[1, 2, 3]]), (1, 2), mode="reflect"))
        [[2 1 2 3 2 1]]
    """
    if not isinstance(padding, (tuple, list, Tensor, np.ndarray)):
        raise TypeError(complaint("padding", "pad", "a tuple, list or Tensor of ints", padding))
    flat = integers(padding, "padding", "pad")
    ndim = tensor(input_x, "input_x", "pad").ndim
    if len(flat) % 2 or len(flat) > 2 * ndim:
        raise ValueError(
            f"For 'pad', 'padding' must hold pairs of widths for at most {ndim} dimensions, but got {padding}."
        )
    widths = ((0, 0),) * (ndim - len(flat) // 2) + tuple([flat[i : i + 2] for i in range(len(flat) - 2, -1, -2)])
    one_of(mode, "mode", "pad", ("constant", "reflect", "replicate", "circular"))
    if mode == "constant":
        value = 0 if value is None else scalar(value)
        if isinstance(value, str):
            raise TypeError(f"For 'pad', 'value' must be a number or None, but got {value!r}.")
        return Border(widths, value)(input_x)
    if value is not None:
        raise ValueError(f"For 'pad', 'value' must be None in mode '{mode}', but got {value}.")
    return _repeating(input_x, flat, widths, mode) if flat else Mirrored(widths, mode)(input_x)


def _repeating(x: Tensor, flat: tuple, widths: tuple, mode: str) -> Tensor:
    """A border of a tensor's own elements; negative widths cut off before the border is made."""
    if mode != "reflect":
        not_of(x, "?", "input_x", "pad")
    padded = len(flat) // 2
    if padded > 3:
        raise ValueError(f"For 'pad', 'padding' must be of at most 3 dimensions in mode '{mode}', but got {flat}.")
    if not 1 <= x.ndim - padded <= 2:
        raise ValueError(
            f"For 'pad', the input must have one or two dimensions before those padded in mode '{mode}', but got "
            f"{flat} for the shape {x.shape}."
        )
    if any(n + a + b <= 0 for n, (a, b) in zip(x.shape, widths)):
        raise ValueError(f"For 'pad', the result must have elements in mode '{mode}', but got {flat} for {x.shape}.")
    if any(n < 0 for n in flat):
        x = Border(tuple([(min(a, 0), min(b, 0)) for a, b in widths]))(x)
        widths = tuple([(max(a, 0), max(b, 0)) for a, b in widths])
    _check_mirror("pad", widths, x.shape, mode)
    return Mirrored(widths, mode)(x)


def mirror_pad(input_x: Tensor, paddings: Tensor, mode: str) -> Tensor:
    """Put a border around a tensor, made of its own elements in mirror order.

    Args:
        input_x: a Tensor.
        paddings: a Tensor of int64 (ndim, 2): widths before and after, for each dimension.
        mode: "REFLECT" leaves out the outermost elements, "SYMMETRIC" repeats them.

    Returns:
        Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mirror_pad(ms.Tensor([1, 2, 3]), ms.Tensor([[1, 1]]), "SYMMETRIC"))
        [1 1 2 3 3]
    """
    not_of(paddings, "BHIL", "paddings", "mirror_pad")
    integral(tensor(paddings, "paddings", "mirror_pad").array(), "paddings", "mirror_pad")
    return MirrorPad(mode)(input_x, paddings)


class PadV3(Primitive):
    """A tensor with a border: `pad` as a primitive.

    Args:
        mode: "constant", "reflect", "edge" or "circular".
        paddings_contiguous: whether widths come as (before, after, before, after ...) or first
            all before, then all after.

    Call:
        input_x (Tensor): the elements.
        padding (Tensor): the widths, last dimension first.
        value (Tensor or number): the border's value in constant mode.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.PadV3()(ms.Tensor([1, 2]), ms.Tensor([1, 0]), 9))
        [9 1 2]
    """

    def __init__(self, mode: str = "constant", paddings_contiguous: bool = True) -> None:
        self.mode = one_of(mode, "mode", self.name, ("constant", "reflect", "edge", "circular"))
        self.paddings_contiguous = boolean(paddings_contiguous, "paddings_contiguous", self.name)

    def __call__(self, input_x: Tensor, padding: Any, value: Any = None) -> Tensor:
        widths = integers(padding, "padding", self.name)
        if not self.paddings_contiguous:
            half = len(widths) // 2
            widths = tuple([n for pair in zip(widths[:half], widths[half:]) for n in pair])
        mode = "replicate" if self.mode == "edge" else self.mode
        return pad(input_x, widths, mode, value if mode == "constant" else None)


@raises(x=ValueError)
@plain("pad_dim_size")
class Padding(Primitive):
    """`padding` as a primitive: `Padding(pad_dim_size)(x)`."""

    def __init__(self, pad_dim_size: int = 8) -> None:
        self.pad_dim_size = integer(pad_dim_size, "pad_dim_size", self.name)
        if self.pad_dim_size < 1:
            raise ValueError(f"For '{self.name}', 'pad_dim_size' must be positive, but got {pad_dim_size}.")

    def __call__(self, x: Tensor) -> Tensor:
        shape = tensor(x, "x", self.name).shape
        if len(shape) < 2 or shape[-1] != 1:
            raise ValueError(
                f"For '{self.name}', 'x' must have at least 2 dimensions, the last of length 1, "
                f"but got the shape {shape}."
            )
        return Border(((0, 0),) * (len(shape) - 1) + ((0, self.pad_dim_size - 1),))(x)


def padding(x: Tensor, pad_dim_size: int = 8) -> Tensor:
    """Fill up the last dimension, of length 1, with zeros.

    Args:
        x: a Tensor with at least two dimensions.
        pad_dim_size: the length wanted.

    Returns:
        Tensor.

    Raises:
        ValueError: if the last dimension is not 1, or `pad_dim_size` not positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.padding(ms.Tensor([[1.0], [2.0]]), 2))
        [[1. 0.]
         [2. 0.]]
    """
    return Padding(pad_dim_size)(x)
