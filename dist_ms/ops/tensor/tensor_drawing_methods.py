"""Tensor.cauchy, fill_diagonal and their kin: new tensors in the shape of one."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_float, complaint
from dist_ms.common.dtype import Number
from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, integers, not_of, number
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.drawing_numbers.drawing import source_for
from dist_ms.ops.picking.selection import where
from dist_ms.ops.shaping.expanding import expand_as as expanded
from dist_ms.ops.shaping.joining import concat
from dist_ms.ops.shaping.reshaping import reshape
from dist_ms.ops.tensor.tensor_inplace_methods import become


def cauchy(self: Tensor, median: float = 0.0, sigma: float = 1.0) -> Tensor:
    """Draw numbers of the Cauchy distribution in the shape and dtype of the tensor; see `ops.Cauchy`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((1, 2)).cauchy().shape
        (1, 2)
    """
    from dist_ms.ops.drawing_numbers.candidate_samplers import Cauchy

    check_float(median, "median", "Cauchy"), check_float(sigma, "sigma", "Cauchy")
    if not self.size or not self.ndim:
        raise ValueError(complaint("self", "Tensor.cauchy", "of 1 dimension or more, with elements", self.shape))
    return cast_array(Cauchy(list(self.shape), median, sigma)(), self.dtype.np)


def log_normal(self: Tensor, mean: float = 1.0, std: float = 2.0) -> Tensor:
    """Draw numbers whose logs are normal in the shape of the tensor; see `ops.LogNormalReverse`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((1, 2)).log_normal().shape
        (1, 2)
    """
    from dist_ms.ops.drawing_numbers.candidate_samplers import LogNormalReverse

    check_float(mean, "mean", "LogNormalReverse"), check_float(std, "std", "LogNormalReverse")
    return LogNormalReverse(mean, std)(self)


def fill_diagonal(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Return the tensor with its main diagonal replaced by a number.

    Args:
        fill_value: the number.
        wrap: for a matrix with more rows than columns: whether the diagonal starts again below itself.

    Returns:
        Tensor of the same shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there are fewer than 2 dimensions, or more of different lengths.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.zeros((2, 2)).fill_diagonal(5.0))
        [[5. 0.]
         [0. 5.]]
    """
    not_of(self, "?FD", "self", "fill_diagonal")
    check_float(fill_value, "fill_value", "fill_diagonal")
    value, wraps = number(fill_value, "fill_value", "fill_diagonal"), boolean(wrap, "wrap", "fill_diagonal")
    if self.ndim < 2 or (self.ndim > 2 and len(set(self.shape)) > 1):
        raise ValueError(
            f"For 'fill_diagonal', the tensor must have 2 dimensions, or more of one length, but got {self.shape}."
        )
    mask = np.zeros(self.shape, bool)
    np.fill_diagonal(mask, True, wrap=wraps)
    return where(Tensor(mask), Tensor(np.asarray(value, self.dtype.np)), self)


def random_(input: Tensor, from_: int = 0, to: int | None = None, *, generator: Any = None) -> Tensor:
    """Fill the tensor with equally likely integers from [from_, to), and return it.

    Args:
        from_: the smallest.
        to: the limit above; None for the largest number the dtype holds exactly.
        generator: a Generator whose seed decides, or None.

    Raises:
        ValueError: if `from_` is not below `to`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.zeros(2).random_(3, 4))
        [3. 3.]
    """
    d = input.array().dtype
    if to is None:
        to = 2 ** (np.finfo(d).nmant + 1) + 1 if d.kind == "f" else 2 if d.kind == "b" else int(np.iinfo(d).max)
    if not from_ < to:
        raise ValueError(f"For 'random_', 'from_' must be below 'to', but got {from_} and {to}.")
    source = source_for("random_", generator.seed() if generator is not None else None)
    return become(input, wrap(source.integers(int(from_), int(to), input.shape).astype(d, copy=False)), "random_")


@scalars("new_shape")
def resize(self: Tensor, *new_shape: Any) -> Tensor:
    """Return a tensor of another shape with the elements in order, cut off or followed by zeros.

    Args:
        new_shape: ints, or one tuple of them. With one -1 the product is negative and counts the elements that are
            left out at the end, as in MindSpore.

    Raises:
        ValueError: if a length is below -1, or two are -1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1, 2, 3]).resize(2, 2))
        [[1 2]
         [3 0]]
    """
    shape = integers(new_shape[0] if len(new_shape) == 1 else new_shape, "new_shape", "resize")
    count, flat = int(np.prod(shape, dtype=np.int64)), reshape(self, (-1,))
    if count > flat.size:
        flat = concat((flat, wrap(np.zeros(count - flat.size, self.dtype.np))))
    return reshape(flat[:count], shape)


def expand_as(self: Tensor, other: Tensor | None = None, *, x: Tensor | None = None) -> Tensor:
    """Repeat the tensor to the shape of another, which may also be given as `x`; see `ops.expand_as`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1, 2]).expand_as(x=ms.ops.zeros((3, 2))).shape
        (3, 2)
    """
    if (other is None) == (x is None):
        raise TypeError("For 'expand_as', one of 'other' and 'x' must be given, but got both or neither.")
    return expanded(self, other if x is None else x)


def is_shared(self: Tensor) -> bool:
    """Tell whether other processes can write to the tensor's memory: never.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor(1).is_shared()
        False
    """
    return False


def is_pinned(self: Tensor) -> bool:
    """Tell whether the memory is locked for a device: never, as there is none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor(1).is_pinned()
        False
    """
    return False


def convert_bytes_to_tensor(bytes_data: bytes, shape: Any, dtype: Number) -> Tensor:
    """Make a tensor of the bytes `get_bytes` gave.

    Raises:
        ValueError: if there are more or fewer bytes than the shape needs.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1, 2], ms.int16)
        >>> print(ms.Tensor.convert_bytes_to_tensor(x.get_bytes(), x.shape, x.dtype))
        [1 2]
    """
    count = int(np.prod(shape, dtype=np.int64))
    if len(bytes_data) != count * dtype.np.itemsize:
        raise ValueError(
            f"For 'convert_bytes_to_tensor', 'bytes_data' must have {count * dtype.np.itemsize} bytes, but got "
            f"{len(bytes_data)}."
        )
    return wrap(np.frombuffer(bytes_data, dtype.np).reshape(tuple(shape)).copy())


for _method in (cauchy, expand_as, fill_diagonal, is_pinned, is_shared, log_normal, random_, resize):
    setattr(Tensor, _method.__name__, _method)
Tensor.convert_bytes_to_tensor = staticmethod(convert_bytes_to_tensor)
