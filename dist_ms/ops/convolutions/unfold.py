"""unfold and fold: the windows of an image as columns, and columns added up to an image."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from dist_ms.common.checks import check_positive_int
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.arguments import not_of
from dist_ms.ops.convolutions.geometry import padding_pairs, per_dimension
from dist_ms.ops.convolutions.windows import add_windows, output_sizes, windows
from dist_ms.ops.kernels import columns as kernels
from dist_ms.ops.layout import contiguous, converted
from dist_ms.ops.primitive import Primitive

__all__ = ["fold", "unfold"]

_F32 = np.dtype(np.float32)
_NARROW = (_F32, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))


@raises(ksizes=TypeError, strides=TypeError)
class Unfold(Primitive):
    """(N, C, H, W) as columns (N, C * kernel, windows)."""

    keeps = ()

    def __init__(self, geometry: tuple) -> None:
        self._geometry = geometry

    def forward(self, x: np.ndarray) -> np.ndarray:
        view = np.moveaxis(windows(x, *self._geometry), (4, 5), (2, 3))
        return view.reshape(x.shape[0], math.prod(view.shape[1:4]), math.prod(view.shape[4:]))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return Fold(self._geometry)(dout, inputs[0].shape)


class Fold(Primitive):
    """The transpose of `Unfold`: the columns added up where their windows lie."""

    keeps = ()

    def __init__(self, geometry: tuple) -> None:
        self._geometry = geometry

    def forward(self, columns: np.ndarray, shape: tuple) -> np.ndarray:
        kernel, stride, padding, dilation = self._geometry
        counts = output_sizes(shape[2:], *self._geometry)
        if columns.dtype not in _NARROW:
            parts = columns.reshape(*shape[:2], *kernel, *counts)
            return add_windows(np.moveaxis(parts, (2, 3), (4, 5)), shape, *self._geometry)
        wide, planes = contiguous(columns, _F32), np.empty(shape, _F32)
        before = tuple([pair[0] for pair in padding])
        kernels.fold_planes(wide.reshape(*shape[:2], *kernel, *counts), planes, stride, before, dilation)
        return converted(planes, columns.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return Unfold(self._geometry)(dout), None


def _geometry(owner: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> tuple:
    """Kernel, stride, padding and dilation as windows take them."""
    numbers = [
        per_dimension(v, 2, name, owner, ValueError)
        for v, name in ((kernel_size, "kernel_size"), (stride, "stride"), (dilation, "dilation"))
    ]
    return numbers[0], numbers[1], padding_pairs(padding, 2, "padding", owner, symmetric=True), numbers[2]


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """Return the sliding windows of an image as columns.

    Args:
        input: (N, C, H, W) numbers.
        kernel_size: an int or a tuple (height, width).
        dilation: step between the elements of a window.
        padding: an int or a tuple of zeros on both sides.
        stride: step of the window.

    Returns:
        Tensor (N, C * height * width, number of windows).

    Raises:
        TypeError: if a number is no int.
        ValueError: if a number is out of range, or `input` has not 4 dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.unfold(ms.Tensor([[[[1.0, 2.0, 3.0]]]]), (1, 2)))
        [[[1. 2.]
          [2. 3.]]]
    """
    not_of(input, "?", "input", "unfold")
    geometry = _geometry("unfold", kernel_size, dilation, padding, stride)
    shape = arguments.tensor(input, "input", "unfold").shape
    if len(shape) != 4:
        raise ValueError(f"For 'unfold', 'input' must have 4 dimensions, but got shape {shape}.")
    if min(output_sizes(shape[2:], *geometry)) <= 0:
        raise ValueError(
            f"For 'unfold', the padded 'input' must be at least as large as 'kernel_size' "
            f"{geometry[0]}, but got shape {shape}."
        )
    return Unfold(geometry)(input)


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Return the image whose windows' elements are the sums of columns: the transpose of `unfold`.

    Args:
        input: (N, C * height * width, number of windows) numbers.
        output_size: (H, W), a Tensor, a tuple or an int.
        kernel_size, dilation, padding, stride: as in `unfold`.

    Returns:
        Tensor (N, C, H, W).

    Raises:
        TypeError: if a number is no int.
        ValueError: if a number is out of range, or the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fold(ms.Tensor([[[1.0, 2.0], [2.0, 3.0]]]), (1, 3), (1, 2)))
        [[[[1. 4. 3.]]]]
    """
    geometry = _geometry("fold", kernel_size, dilation, padding, stride)
    sizes = arguments.integers(output_size, "output_size", "fold")
    sizes = sizes * 2 if len(sizes) == 1 else sizes
    for n in sizes:
        check_positive_int(n, "output_size", "fold")
    shape, area = arguments.tensor(input, "input", "fold").shape, math.prod(geometry[0])
    counts = output_sizes(sizes, *geometry) if len(sizes) == 2 else (0,)
    if len(shape) != 3 or min(counts) <= 0 or shape[1] % area or shape[2] != math.prod(counts):
        raise ValueError(
            f"For 'fold', 'input' must be (N, C * {area}, {math.prod(counts)}) for 'output_size' {sizes}, "
            f"but got shape {shape}."
        )
    return Fold(geometry)(input, (shape[0], shape[1] // area, *sizes))
