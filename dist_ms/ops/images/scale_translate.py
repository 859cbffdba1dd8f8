"""ScaleAndTranslate: images enlarged and moved, each output pixel a weighted sum around where it came from."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.creating.casting import cast
from dist_ms.ops.images.resampling import Resample
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.transposing import transpose

__all__ = ["ScaleAndTranslate"]


def _lanczos(radius: int) -> Callable:
    return lambda x: np.sinc(x) * np.sinc(x / radius) * (x <= radius)


def _cubic(x: np.ndarray, near: tuple, far: tuple) -> np.ndarray:
    """Polynomials of |x| in [0, 1) and in [1, 2), highest power first."""
    return np.where(x < 1, np.polyval(near, x), np.where(x < 2, np.polyval(far, x), 0))


# Name -> how far the kernel reaches, and its weights at distances >= 0.
_KERNELS: dict[str, tuple[float, Callable]] = {
    "lanczos1": (1.0, _lanczos(1)),
    "lanczos3": (3.0, _lanczos(3)),
    "lanczos5": (5.0, _lanczos(5)),
    "gaussian": (1.5, lambda x: np.exp(-2 * x**2) * (x < 1.5)),
    "box": (1.0, lambda x: np.where(x < 0.5, 1.0, np.where(x == 0.5, 0.5, 0.0))),
    "triangle": (1.0, lambda x: np.maximum(1 - x, 0)),
    "keyscubic": (2.0, lambda x: _cubic(x, (1.5, -2.5, 0, 1), (-0.5, 2.5, -4, 2))),
    "mitchellcubic": (2.0, lambda x: _cubic(x, (7 / 6, -2, 0, 8 / 9), (-7 / 18, 2, -10 / 3, 16 / 9))),
}


def weights(kernel: str, antialias: bool, length: int, count: int, scale: float, translation: float) -> np.ndarray:
    """The matrix (count, length) of one dimension."""
    radius, form = _KERNELS[kernel]
    # In float32, as MindSpore: a pixel may lie right on a kernel's edge.
    one, half = np.float32(1), np.float32(0.5)
    inverse = one / np.float32(scale)
    wide = max(inverse, one) if antialias else one
    matrix = np.zeros((count, length), np.float32)
    for row, at in zip(
        matrix, (np.arange(count, dtype=np.float32) + half) * inverse - inverse * np.float32(translation)
    ):
        if not 0 <= at <= length:
            continue
        start = min(max(math.ceil(at - wide * np.float32(radius) - half), 0), length - 1)
        end = min(max(math.floor(at + wide * np.float32(radius) - half), 0), length - 1)
        places = np.arange(start, end + 1, dtype=np.float32) + half - at
        found = form(np.abs(places * (one / wide)))
        total = found.sum()
        row[start : end + 1] = found / total if abs(total) >= 1e-30 else found
    return matrix


class ScaleAndTranslate(Primitive):
    """Scales images and moves them.

    Output pixel i lies at (i + 0.5 - translation) / scale of the input; pixels from outside the input are 0.

    Args:
        kernel_type: the weights of the pixels around: "lanczos1", "lanczos3", "lanczos5", "gaussian", "box",
            "triangle", "keyscubic" or "mitchellcubic".
        antialias: whether the kernel widens when images shrink.

    Call:
        images (Tensor): (N, H, W, C), real numbers.
        size (Tensor): int32 (2,), height and width of the output, positive.
        scale (Tensor): float32 (2,), positive.
        translation (Tensor): float32 (2,).

    Returns:
        Tensor (N, *size, C) of float32.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a shape does not fit, a size or scale is not positive, or the kernel is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> image = ms.Tensor([[[[4.0], [2.0]], [[3.0], [1.0]]]])
        >>> two, zero = ms.Tensor([2, 2], ms.int32), ms.Tensor([0.0, 1.0])
        >>> out = ms.ops.ScaleAndTranslate("triangle")(image, two, ms.Tensor([1.0, 1.0]), zero)
        >>> print(out.reshape(2, 2))
        [[0. 4.]
         [0. 3.]]
    """

    def __init__(self, kernel_type: str = "lanczos3", antialias: bool = True) -> None:
        if kernel_type not in _KERNELS:
            raise ValueError(complaint("kernel_type", self.name, f"one of {', '.join(_KERNELS)}", repr(kernel_type)))
        self.kernel_type, self.antialias = kernel_type, check_bool(antialias, "antialias", self.name)

    def __call__(self, images: Tensor, size: Tensor, scale: Tensor, translation: Tensor) -> Tensor:
        data = arguments.real(arguments.tensor(images, "images", self.name).array(), "images", self.name)
        if data.ndim != 4:
            raise ValueError(complaint("images", self.name, "of 4 dimensions, NHWC", f"shape {data.shape}"))
        counts = self._pair(size, "size", np.int32)
        scales = self._pair(scale, "scale", np.float32)
        moves = self._pair(translation, "translation", np.float32)
        for name, values in (("size", counts), ("scale", scales)):
            if min(values) <= 0:
                raise ValueError(complaint(name, self.name, "positive", values))
        matrices = [
            weights(self.kernel_type, self.antialias, length, count, factor, move)
            for length, count, factor, move in zip(data.shape[1:3], counts, scales, moves)
        ]
        moved = Resample(self.name, matrices)(transpose(cast(images, float32), (0, 3, 1, 2)))
        return transpose(moved, (0, 2, 3, 1))

    def _pair(self, value: Any, name: str, dtype: Any) -> list:
        data = arguments.tensor(value, name, self.name).array()
        if data.dtype != dtype:
            raise TypeError(complaint(name, self.name, f"of {np.dtype(dtype)}", data.dtype))
        if data.shape != (2,):
            raise ValueError(complaint(name, self.name, "of shape (2,)", data.shape))
        return data.tolist()
