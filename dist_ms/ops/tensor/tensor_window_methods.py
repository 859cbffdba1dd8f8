"""Tensor methods of windows, of order and of places counted over the whole tensor, some of which change the tensor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.tensor.tensor_inplace_methods import become


def unfold(self: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The windows of images as columns; see `dist_ms.ops.unfold`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ones((1, 2, 4, 4)).unfold(2).shape
        (1, 8, 9)
    """
    return ops.unfold(self, kernel_size, dilation, padding, stride)


def fold(
    self: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns added up to images; see `dist_ms.ops.fold`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ones((1, 8, 9)).fold(ms.Tensor([4, 4], ms.int32), 2).shape
        (1, 2, 4, 4)
    """
    return ops.fold(self, output_size, kernel_size, dilation, padding, stride)


def col2im(
    self: Tensor, output_size: Tensor, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any
) -> Tensor:
    """Columns added up to images; see `dist_ms.ops.col2im`.

    Examples:
        >>> import dist_ms as ms
        >>> size = ms.Tensor([2, 2], ms.int32)
        >>> ms.ops.ones((1, 1, 4, 1)).col2im(size, [2, 2], [1, 1], [0, 0], [1, 1]).shape
        (1, 1, 2, 2)
    """
    return ops.col2im(self, output_size, kernel_size, dilation, padding_value, stride)


def kthvalue(self: Tensor, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Tensor, Tensor]:
    """The k-th least element along a dimension (k counts from 1), and its place; see `dist_ms.mint.kthvalue`.

    Examples:
        >>> import dist_ms as ms
        >>> print(*ms.Tensor([2.0, 1.0, 3.0]).kthvalue(2))
        2.0 0
    """
    from dist_ms.ops.extended.indexing import kthvalue as extended

    return extended(self, k, dim, keepdim)


def index(self: Tensor, indices: Sequence[Tensor]) -> Tensor:
    """The elements at integer or bool tensors, one for each of the first dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[1, 2], [3, 4]]).index([ms.Tensor([0, 1]), ms.Tensor([1, 0])]))
        [2 3]
    """
    if not isinstance(indices, (tuple, list)):
        raise TypeError(f"For 'index', 'indices' must be a tuple or list of Tensors, but got {type(indices).__name__}.")
    return self[tuple(tensor(i, "indices", "index") for i in indices)]


def fill_diagonal_(self: Tensor, fill_value: float, wrap: bool = False) -> Tensor:
    """Put a number on the main diagonal of the tensor itself, and return it; see `fill_diagonal`.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.zeros((2, 2))
        >>> x.fill_diagonal_(5.0) is x, float(x.sum())
        (True, 10.0)
    """
    return become(self, self.fill_diagonal(fill_value, wrap), "fill_diagonal_")


def put_(input: Tensor, index: Tensor, source: Tensor, accumulate: bool = False) -> Tensor:
    """Put elements at places counted over the whole tensor, and return the tensor.

    Args:
        index: int32 or int64 places, negative from the end.
        source: as many elements, of the tensor's dtype.
        accumulate: add them to what is there.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `index` and `source` have different numbers of elements, or a place is outside.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.zeros((2, 2)).put_(ms.Tensor([0, 3]), ms.Tensor([1.0, 2.0])))
        [[1. 0.]
         [0. 2.]]
    """
    places = tensor(index, "index", "put_").array()
    if places.dtype not in (np.int32, np.int64):
        raise TypeError(f"For 'put_', 'index' must be int32 or int64, but got {index.dtype}.")
    if tensor(source, "source", "put_").dtype != input.dtype:
        raise TypeError(f"For 'put_', 'source' must have the dtype {input.dtype}, but got {source.dtype}.")
    if not isinstance(accumulate, bool):
        raise TypeError(f"For 'put_', 'accumulate' must be bool, but got {type(accumulate).__name__}.")
    size = input.size
    if places.size != source.size:
        raise ValueError(f"For 'put_', 'source' must have {places.size} elements, but got {source.size}.")
    if places.size and not -size <= places.min() <= places.max() < size:
        raise ValueError(f"For 'put_', 'index' must be in [-{size}, {size}), but got {places}.")
    flat = ops.reshape(input, (size,))
    at = (Tensor(places.ravel() % max(size, 1)),)
    changed = flat.index_put(at, ops.reshape(source, (source.size,)), accumulate)
    return become(input, ops.reshape(changed, input.shape), "put_")


def requires_grad_(self: Tensor, requires_grad: bool = True) -> None:
    """Say whether a Parameter is trained; other tensors take part in gradients where they are asked for.

    Raises:
        TypeError: if `requires_grad` is no bool.

    Examples:
        >>> import dist_ms as ms
        >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
        >>> p.requires_grad_(False)
        >>> p.requires_grad
        False
    """
    if not isinstance(requires_grad, bool):
        raise TypeError(f"For 'requires_grad_', 'requires_grad' must be bool, but got {type(requires_grad).__name__}.")
    if isinstance(self, Parameter):
        self.requires_grad = requires_grad


def _done(self: Tensor) -> None:
    """Wait until the values are there: they are at the latest when they are read."""
    self.array()


for _function in (unfold, fold, col2im, kthvalue, index, fill_diagonal_, put_, requires_grad_):
    setattr(Tensor, _function.__name__, _function)
Tensor.wait_pipeline = _done
