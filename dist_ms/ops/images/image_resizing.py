"""ResizeBilinearV2 and its kin: images at another size, as primitives."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_dimensions, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integers, number, one_of, real, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.images.resampling import Resample, cubic_at, linear_at, nearest, overlaps
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.transposing import transpose

__all__ = [
    "ResizeArea",
    "ResizeBicubic",
    "ResizeBilinearV2",
    "ResizeLinear1D",
    "ResizeNearestNeighbor",
    "ResizeNearestNeighborV2",
    "UpsampleNearest3D",
    "UpsampleTrilinear3D",
]


def positions(length: int, count: int, align_corners: bool, half_pixel_centers: bool) -> np.ndarray:
    """Where each of `count` new elements lies among `length` old ones."""
    if align_corners and count > 1:
        return np.arange(count) * ((length - 1) / (count - 1))
    step = length / count
    return (np.arange(count) + 0.5) * step - 0.5 if half_pixel_centers else np.arange(count) * step


class _Resize(Primitive):
    """What the resizing primitives share.

    Args:
        align_corners: whether the corner elements coincide.
        half_pixel_centers: whether elements are squares whose outer edges coincide.
    """

    rank = 2

    def __init__(self, align_corners: bool = False, half_pixel_centers: bool = False) -> None:
        self.align_corners = check_bool(align_corners, "align_corners", self.name)
        self.half_pixel_centers = check_bool(half_pixel_centers, "half_pixel_centers", self.name)
        if align_corners and half_pixel_centers:
            raise ValueError(
                f"For '{self.name}', 'align_corners' and 'half_pixel_centers' must not both be True, but got both."
            )

    def _resized(self, x: Any, size: Any, matrix: Callable, argument: str = "x") -> Tensor:
        """x (N, C, *spatial) at a size, with `matrix(old length, new length)` along each dimension."""
        shape = real(tensor(x, argument, self.name).array(), argument, self.name).shape
        size = integers(size, "size", self.name)
        if len(shape) != self.rank + 2 or len(size) != self.rank or min(size) < 1 or min(shape) < 1:
            raise ValueError(
                f"For '{self.name}', '{argument}' must have {self.rank + 2} dimensions that are not empty and 'size' "
                f"{self.rank} positive numbers, but got shape {shape} and {size}."
            )
        return Resample(self.name, [matrix(n, m) for n, m in zip(shape[2:], size)])(x)

    def _places(self, length: int, count: int) -> np.ndarray:
        return positions(length, count, self.align_corners, self.half_pixel_centers)


class ResizeBilinearV2(_Resize):
    """Images at another size by linear interpolation.

    Args:
        align_corners: whether the corner elements coincide.
        half_pixel_centers: whether elements are squares whose outer edges coincide.

    Call:
        image (Tensor): (N, C, H, W).
        size (tuple): the new height and width.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if both attributes are True, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ResizeBilinearV2()(ms.Tensor([[[[1.0, 3.0]]]]), (1, 4)))
        [[[[1. 2. 3. 3.]]]]
    """

    def __call__(self, image: Tensor, size: Any) -> Tensor:
        return self._resized(image, size, lambda n, m: linear_at(n, self._places(n, m)))


class ResizeBicubic(_Resize):
    """Images at another size by cubic interpolation, as MindSpore has it.

    Keys, "Cubic Convolution Interpolation for Digital Image Processing", 1981. With
    `half_pixel_centers` a is -0.5 and what lies outside is left out, else a is -0.75 and the edge repeated.

    Args:
        align_corners, half_pixel_centers: as in `ResizeBilinearV2`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ResizeBicubic()(ms.Tensor([[[[1.0, 2.0]]]]), (1, 4)))
        [[[[1.      1.5     2.      2.09375]]]]
    """

    def __call__(self, image: Tensor, size: Any) -> Tensor:
        half = self.half_pixel_centers
        return self._resized(
            image,
            size,
            lambda n, m: cubic_at(n, self._places(n, m), -0.5 if half else -0.75, not half, 1024),
            "image",
        )


class ResizeNearestNeighborV2(_Resize):
    """Images at another size by taking the nearest elements.

    Args:
        align_corners, half_pixel_centers: as in `ResizeBilinearV2`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ResizeNearestNeighborV2()(ms.Tensor([[[[1.0, 3.0]]]]), (1, 4)))
        [[[[1. 1. 3. 3.]]]]
    """

    def __call__(self, image: Tensor, size: Any) -> Tensor:
        def matrix(length: int, count: int) -> np.ndarray:
            place = self._places(length, count)
            if self.align_corners:
                place = np.floor(place + 0.5)
            elif self.half_pixel_centers:
                place = place + 0.5
            return np.eye(length)[np.clip(np.floor(place), 0, length - 1).astype(np.int64)]

        return self._resized(image, size, matrix)


class ResizeNearestNeighbor(ResizeNearestNeighborV2):
    """Images at one size by taking the nearest elements.

    Args:
        size: the new height and width.
        align_corners: whether the corner elements coincide.
        half_pixel_centers: whether elements are squares, whose centers are compared.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ResizeNearestNeighbor((1, 2))(ms.Tensor([[[[1.0, 2.0, 3.0]]]])))
        [[[[1. 2.]]]]
    """

    def __init__(self, size: Any, align_corners: bool = False, half_pixel_centers: bool = False) -> None:
        super().__init__(align_corners, half_pixel_centers)
        check_type(size, "size", self.name, (tuple, list))
        self.size = integers(size, "size", self.name)

    def __call__(self, input_x: Tensor) -> Tensor:
        return super().__call__(input_x, self.size)


class ResizeLinear1D(_Resize):
    """Rows at another length by linear interpolation.

    Args:
        coordinate_transformation_mode: "align_corners" or "half_pixel".

    Call:
        x (Tensor): (N, C, L).
        size (tuple): the new length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ResizeLinear1D()(ms.Tensor([[[1.0, 3.0]]]), (3,)))
        [[[1. 2. 3.]]]
    """

    rank = 1

    def __init__(self, coordinate_transformation_mode: str = "align_corners") -> None:
        mode = one_of(
            coordinate_transformation_mode,
            "coordinate_transformation_mode",
            self.name,
            ("align_corners", "half_pixel"),
        )
        super().__init__(mode == "align_corners", mode == "half_pixel")
        self.coordinate_transformation_mode = mode

    def __call__(self, x: Tensor, size: Any) -> Tensor:
        return self._resized(x, size, lambda n, m: linear_at(n, self._places(n, m)))


class ResizeArea(_Resize):
    """Images (N, H, W, C) at another size by means over areas, float32.

    Args:
        align_corners: whether the corner elements coincide.

    Call:
        images (Tensor): (N, H, W, C) numbers.
        size (Tensor): the new height and width.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ResizeArea()(ms.Tensor([[[[1.0], [3.0]]]]), ms.Tensor([1, 1])))
        [[[[2.]]]]
    """

    def __init__(self, align_corners: bool = False) -> None:
        super().__init__(align_corners)

    def __call__(self, images: Tensor, size: Any) -> Tensor:
        x = cast_array(tensor(images, "images", self.name), np.dtype(np.float32))
        check_dimensions(x, "images", self.name, 4)

        def matrix(length: int, count: int) -> np.ndarray:
            aligned = self.align_corners and count > 1
            return overlaps(length, count, (length - 1) / (count - 1) if aligned else length / count)

        return transpose(self._resized(transpose(x, (0, 3, 1, 2)), size, matrix, "images"), (0, 2, 3, 1))


class UpsampleNearest3D(_Resize):
    """Volumes at another size by taking the nearest elements.

    Call:
        x (Tensor): (N, C, D, H, W).
        output_size (tuple): the new depth, height and width; or None.
        scales (tuple): new size over old; or None. One of the two is given.

    Raises:
        ValueError: if both or neither of the two are given, or they do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UpsampleNearest3D()(ms.Tensor([[[[[1.0, 2.0]]]]]), (1, 1, 4), None))
        [[[[[1. 1. 2. 2.]]]]]
    """

    rank = 3

    def __init__(self) -> None:
        super().__init__()

    def __call__(self, x: Tensor, output_size: Any = None, scales: Any = None) -> Tensor:
        return self._resized(x, self._size(x, output_size, scales), lambda n, m: nearest(n, m, n / m, False))

    def _size(self, x: Tensor, output_size: Any, scales: Any) -> tuple:
        """The new size."""
        shape = tensor(x, "x", self.name).shape
        if (output_size is None) == (scales is None) or len(shape) != 5:
            raise ValueError(
                f"For '{self.name}', 'x' must have 5 dimensions and one of 'output_size' and 'scales' must be given, "
                f"but got shape {shape}, {output_size} and {scales}."
            )
        if scales is None:
            return integers(output_size, "output_size", self.name)
        factors = [number(s, "scales", self.name) for s in scales]
        if len(factors) != 3 or min(factors) <= 0:
            raise ValueError(f"For '{self.name}', 'scales' must be three positive numbers, but got {scales}.")
        return tuple([int(n * f) for n, f in zip(shape[2:], factors)])


class UpsampleTrilinear3D(UpsampleNearest3D):
    """Volumes at another size by linear interpolation; called as `UpsampleNearest3D`.

    Args:
        align_corners: whether the corner elements coincide.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.UpsampleTrilinear3D()(ms.Tensor([[[[[1.0, 2.0]]]]]), (1, 1, 4), None))
        [[[[[1.   1.25 1.75 2.  ]]]]]
    """

    def __init__(self, align_corners: bool = False) -> None:
        _Resize.__init__(self, align_corners, not align_corners)

    def __call__(self, x: Tensor, output_size: Any = None, scales: Any = None) -> Tensor:
        size = self._size(x, output_size, scales)
        return self._resized(x, size, lambda n, m: linear_at(n, self._places(n, m)))
