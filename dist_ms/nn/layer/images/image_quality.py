"""PSNR, SSIM and MSSSIM: how alike two batches of images are."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import (
    check_float,
    check_positive_float,
    check_positive_int,
    check_positive_number,
    check_type,
)
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.activation import ReLU
from dist_ms.nn.layer.container import CellList
from dist_ms.nn.layer.conv import Conv2d
from dist_ms.nn.layer.pooling import AvgPool2d

__all__ = ["MSSSIM", "PSNR", "SSIM"]


def _window(size: int, sigma: float) -> Tensor:
    """Gaussian weights (1, 1, size, size) that sum to 1; an even size has one more after the centre."""
    steps = np.arange(-size // 2 + 1, size // 2 + 1, dtype=np.float32)
    weights = np.exp(-(steps[:, None] ** 2 + steps**2) / (2 * sigma**2))
    return Tensor((weights / weights.sum())[None, None].astype(np.float32))


class _Comparison(Cell):
    """What the layers share: checks of two batches of images, and their scale."""

    def __init__(self, max_val: float) -> None:
        super().__init__()
        self.max_val = check_positive_number(max_val, "max_val", self.cls_name)

    def _scaled(self, img1: Tensor, img2: Tensor, dtypes: tuple = ()) -> tuple[Tensor, Tensor, float]:
        """Both images as float32, and the largest value; integers are divided by their type's largest."""
        owner = self.cls_name
        for image, name in ((img1, "img1"), (img2, "img2")):
            if check_type(image, name, owner, Tensor).ndim != 4:
                raise ValueError(
                    f"For '{owner}', '{name}' must have 4 dimensions (N, C, H, W), but got shape {image.shape}."
                )
        if dtypes and img1.dtype not in dtypes:
            raise TypeError(
                f"For '{owner}', the dtype of 'img1' must be one of {[str(d) for d in dtypes]}, but got {img1.dtype}."
            )
        if img1.dtype != img2.dtype:
            raise TypeError(
                f"For '{owner}', 'img1' and 'img2' must have one dtype, but got {img1.dtype} and {img2.dtype}."
            )
        if img1.shape != img2.shape:
            raise ValueError(
                f"For '{owner}', 'img1' and 'img2' must have one shape, but got {img1.shape} and {img2.shape}."
            )
        d = img1.array().dtype
        scale = 1.0 / np.iinfo(d).max if d.kind in "iu" else 1.0
        images = [
            ops.cast(image, mstype.float32) * scale if scale != 1 else ops.cast(image, mstype.float32)
            for image in (img1, img2)
        ]
        return *images, self.max_val * scale


class PSNR(_Comparison):
    """The peak signal-to-noise ratio of two batches of images, in decibels.

    10 log10(max_val^2 / mean((img1 - img2)^2)), the mean over each image.

    Args:
        max_val: the largest value a pixel can have, above 0.

    Inputs:
        img1, img2 (Tensor): (N, C, H, W) of one dtype.

    Outputs:
        Tensor float32 (N,).

    Raises:
        TypeError: if `max_val` is no number, or the dtypes differ.
        ValueError: if `max_val` is not above 0, or the shapes differ or have no 4 dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((1, 1, 2, 2))
        >>> print(ms.nn.PSNR()(x, x - 0.1).asnumpy().round(4))
        [20.]
    """

    def __init__(self, max_val: float = 1.0) -> None:
        super().__init__(max_val)

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        img1, img2, largest = self._scaled(img1, img2)
        error = ops.ReduceMean()(ops.square(img1 - img2), (-3, -2, -1))
        return ops.log(largest**2 / error) * (10 / math.log(10))


class _Structural(_Comparison):
    """What SSIM and MSSSIM share: the Gaussian window and the two terms."""

    def __init__(self, max_val: float, filter_size: int, filter_sigma: float, k1: float, k2: float) -> None:
        super().__init__(max_val)
        self.filter_size = check_positive_int(filter_size, "filter_size", self.cls_name)
        self.filter_sigma = check_positive_float(filter_sigma, "filter_sigma", self.cls_name)
        self.k1, self.k2 = check_float(k1, "k1", self.cls_name), check_float(k2, "k2", self.cls_name)

    def _filter(self) -> Conv2d:
        """A convolution with the window, which is not trained."""
        conv = Conv2d(
            1, 1, self.filter_size, pad_mode="valid", weight_init=_window(self.filter_size, self.filter_sigma)
        )
        conv.weight.requires_grad = False
        return conv

    def _terms(self, img1: Tensor, img2: Tensor, largest: float, smooth: Cell) -> tuple[Tensor, Tensor]:
        """The similarity, and its part without luminance, averaged over each channel: (N, C) both.

        With local means m, variances v and covariance w: (2 m1 m2 + c1) / (m1^2 + m2^2 + c1), times
        (2 w + c2) / (v1 + v2 + c2). Wang et al., "Image Quality Assessment: From Error Visibility to
        Structural Similarity", 2004.
        """
        size, (channels, height, width) = self.filter_size, img1.shape[1:]
        if height < size or width < size:
            raise ValueError(
                f"For '{self.cls_name}', the images must be at least 'filter_size' {size} high and wide, "
                f"but got shape {img1.shape}."
            )
        x, y = (ops.reshape(image, (-1, 1, height, width)) for image in (img1, img2))
        c1, c2 = (self.k1 * largest) ** 2, (self.k2 * largest) ** 2
        mean_x, mean_y = smooth(x), smooth(y)
        squares, product = mean_x * mean_x + mean_y * mean_y, mean_x * mean_y
        structure = (2 * (smooth(x * y) - product) + c2) / (smooth(x * x) + smooth(y * y) - squares + c2)
        similarity = (2 * product + c1) / (squares + c1) * structure
        mean = ops.ReduceMean()
        return tuple([ops.reshape(mean(t, (1, 2, 3)), (-1, channels)) for t in (similarity, structure)])


class SSIM(_Structural):
    """The structural similarity of two batches of images: 1 for equal ones.

    Wang et al., "Image Quality Assessment: From Error Visibility to Structural Similarity", 2004,
    with a Gaussian window, averaged over positions and channels.

    Args:
        max_val: the largest value a pixel can have, above 0.
        filter_size: height and width of the window.
        filter_sigma: standard deviation of the window.
        k1, k2: small numbers that keep the fractions finite.

    Inputs:
        img1, img2 (Tensor): (N, C, H, W) float32 or float16.

    Outputs:
        Tensor float32 (N,).

    Raises:
        TypeError: if an argument has the wrong type, or the dtypes differ.
        ValueError: if a number is out of range, the shapes differ, or the images are smaller than the
            window.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((1, 3, 16, 16))
        >>> print(ms.nn.SSIM()(x, x))
        [1.]
    """

    def __init__(
        self, max_val: float = 1.0, filter_size: int = 11, filter_sigma: float = 1.5, k1: float = 0.01, k2: float = 0.03
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        self.conv = self._filter()

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        img1, img2, largest = self._scaled(img1, img2, (mstype.float32, mstype.float16))
        return ops.ReduceMean()(self._terms(img1, img2, largest, self.conv)[0], -1)


class MSSSIM(_Structural):
    """The structural similarity of two batches of images over several sizes.

    The product over sizes, each half of the one before, of relu(structure)^power, with the whole
    similarity at the smallest. Wang, Simoncelli and Bovik, "Multi-scale Structural Similarity for
    Image Quality Assessment", 2003.

    Args:
        max_val, filter_size, filter_sigma, k1, k2: as in `SSIM`.
        power_factors: a tuple or list with an exponent for each size.

    Inputs:
        img1, img2 (Tensor): (N, C, H, W) float64, float32, float16 or uint8.

    Outputs:
        Tensor float32 (N,).

    Raises:
        TypeError: if an argument has the wrong type, or the dtypes differ.
        ValueError: if a number is out of range, the shapes differ, or the images are smaller than the
            window at some size.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((1, 3, 32, 32))
        >>> print(ms.nn.MSSSIM(power_factors=(0.5, 0.5))(x, x))
        [1.]
    """

    def __init__(
        self,
        max_val: float = 1.0,
        power_factors: Any = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333),
        filter_size: int = 11,
        filter_sigma: float = 1.5,
        k1: float = 0.01,
        k2: float = 0.03,
    ) -> None:
        super().__init__(max_val, filter_size, filter_sigma, k1, k2)
        check_type(power_factors, "power_factors", self.cls_name, (tuple, list))
        self.level = len(power_factors)
        self.multi_convs_list = CellList([self._filter() for _ in range(self.level)])
        self.weight_tensor = Tensor(power_factors, mstype.float32)
        self.avg_pool = AvgPool2d(kernel_size=2, stride=2, pad_mode="valid")
        self.relu = ReLU()

    def construct(self, img1: Tensor, img2: Tensor) -> Tensor:
        known = (mstype.float64, mstype.float32, mstype.float16, mstype.uint8)
        img1, img2, largest = self._scaled(img1, img2, known)
        factors = []
        for i, smooth in enumerate(self.multi_convs_list):
            if i:
                img1, img2 = self.avg_pool(img1), self.avg_pool(img2)
            similarity, structure = self._terms(img1, img2, largest, smooth)
            factors.append(self.relu(structure if i < self.level - 1 else similarity))
        powers = ops.pow(ops.stack(factors, -1), self.weight_tensor)
        return ops.ReduceMean()(ops.ReduceProd()(powers, -1), -1)
