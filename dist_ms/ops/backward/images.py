"""Gradients of resizing, sampling and cutting images as operations."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.backward.backward import REQUIRED, Backward
from dist_ms.ops.backward.pooling import lengths
from dist_ms.ops.images.resampling import Resample, cubic_at

__all__ = [
    "AffineGridGrad",
    "GridSampler2DGrad",
    "GridSampler3DGrad",
    "ROIAlignGrad",
    "ResizeBicubicGrad",
    "ResizeBilinearGrad",
    "ResizeLinear1DGrad",
    "ResizeNearestNeighborGrad",
    "ResizeNearestNeighborV2Grad",
    "ResizeV2Grad",
    "ScaleAndTranslateGrad",
    "UpsampleBicubic2DGrad",
    "UpsampleBilinear2DGrad",
    "UpsampleLinear1DGrad",
    "UpsampleNearest1DGrad",
    "UpsampleNearest2DGrad",
    "UpsampleNearest3DGrad",
    "UpsampleTrilinear3DGrad",
]

_CORNERS: dict[str, Any] = {"align_corners": False, "half_pixel_centers": False}


class ResizeBilinearGrad(Backward):
    """The gradient of ResizeBilinearV2.

    Args:
        align_corners, half_pixel_centers: as in `ResizeBilinearV2`.

    Call:
        grads (Tensor): (N, C, H, W), the gradient of the output.
        image (Tensor): the input; only its shape counts.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.backward import ResizeBilinearGrad
        >>> print(ResizeBilinearGrad()(ms.ops.ones((1, 1, 2, 2)), ms.ops.ones((1, 1, 1, 1))))
        [[[[4.]]]]
    """

    options: ClassVar[dict[str, Any]] = _CORNERS

    def compute(self, grads: Tensor, image: Tensor) -> Tensor:
        resize = ops.ResizeBilinearV2(**self.made())
        return self.through(lambda x: resize(x, grads.shape[2:]), [image], grads)[0]


class ResizeBicubicGrad(Backward):
    """The gradient of ResizeBicubic, from its input's shape."""

    options: ClassVar[dict[str, Any]] = _CORNERS

    def compute(self, grads: Tensor, image: Tensor) -> Tensor:
        resize = ops.ResizeBicubic(**self.made())
        return self.through(lambda x: resize(x, grads.shape[2:]), [image], grads)[0]


class ResizeNearestNeighborV2Grad(Backward):
    """The gradient of ResizeNearestNeighborV2, from the height and width of its input."""

    options: ClassVar[dict[str, Any]] = _CORNERS

    def compute(self, grads: Tensor, size: Any) -> Tensor:
        resize = ops.ResizeNearestNeighborV2(**self.made())
        zeros = ops.zeros((*grads.shape[:2], *lengths(size)), grads.dtype)
        return self.through(lambda x: resize(x, grads.shape[2:]), [zeros], grads)[0]


class ResizeNearestNeighborGrad(ResizeNearestNeighborV2Grad):
    """The gradient of ResizeNearestNeighbor, from the height and width of its input."""


class ResizeLinear1DGrad(Backward):
    """The gradient of ResizeLinear1D, from its input's shape."""

    options: ClassVar[dict[str, Any]] = {"coordinate_transformation_mode": "align_corners"}

    def compute(self, grads: Tensor, x: Tensor) -> Tensor:
        resize = ops.ResizeLinear1D(self.coordinate_transformation_mode)
        return self.through(lambda v: resize(v, grads.shape[2:]), [x], grads)[0]


class ResizeV2Grad(Backward):
    """The gradient of ResizeV2, from its input's shape; `roi` and `scales` are not read.

    With "nearest" and "linear" an image has the height 1.
    """

    options: ClassVar[dict[str, Any]] = {"coordinate_transformation_mode": "half_pixel", "mode": "nearest"}

    def compute(self, grads: Tensor, roi: Tensor, scales: Tensor, original_size: Any) -> Tensor:
        shape, corners = lengths(original_size), self.coordinate_transformation_mode == "align_corners"
        if self.coordinate_transformation_mode not in ("align_corners", "half_pixel"):
            wanted = "'align_corners' or 'half_pixel'"
            found = repr(self.coordinate_transformation_mode)
            raise ValueError(complaint("coordinate_transformation_mode", self.name, wanted, found))
        if self.mode != "cubic" and shape[2] != 1:
            raise ValueError(complaint("original_size", self.name, "of the height 1, with this 'mode'", shape))
        if self.mode == "cubic":
            matrices = [_cubic(n, count, corners) for n, count in zip(shape[2:], grads.shape[2:])]
            return self.through(Resample(self.name, matrices), [ops.zeros(shape, grads.dtype)], grads)[0]
        kind = UpsampleNearest1DGrad() if self.mode == "nearest" else UpsampleLinear1DGrad()
        arguments = () if self.mode == "nearest" else (corners,)
        flat = ops.reshape(grads, (*grads.shape[:2], -1))
        return ops.reshape(kind(flat, (*shape[:2], shape[3]), flat.shape[2:], None, *arguments), shape)


def _cubic(length: int, count: int, corners: bool) -> np.ndarray:
    """The matrix of ResizeV2's cubic interpolation, which repeats the edge."""
    at = np.arange(count)
    place = at * ((length - 1) / max(count - 1, 1)) if corners else (at + 0.5) * (length / count) - 0.5
    return cubic_at(length, place, -0.75, repeated=True)


class _UpsampleGrad(Backward):
    """The gradient of `interpolate` to a size, from the shape of the input."""

    mode = ""

    def _grad(self, dy: Tensor, input_size: Any, output_size: Any, scales: Any, corners: bool | None) -> Tensor:
        if (output_size is None) == (scales is None):
            found = "both" if scales is not None else "neither"
            raise ValueError(complaint("output_size", self.name, "given, or else 'scales'", found))
        zeros = ops.zeros(lengths(input_size), dy.dtype)
        return self.through(
            lambda x: ops.interpolate(x, size=dy.shape[2:], mode=self.mode, align_corners=corners), [zeros], dy
        )[0]


class _NearestGrad(_UpsampleGrad):
    mode = "nearest"

    def compute(self, dy: Tensor, input_size: Any, output_size: Any = None, scales: Any = None) -> Tensor:
        return self._grad(dy, input_size, output_size, scales, None)


class _LinearGrad(_UpsampleGrad):
    def compute(
        self,
        dy: Tensor,
        input_size: Any,
        output_size: Any = None,
        scales: Any = None,
        align_corners: bool = False,
    ) -> Tensor:
        return self._grad(dy, input_size, output_size, scales, align_corners)


class UpsampleNearest1DGrad(_NearestGrad):
    """The gradient of UpsampleNearest1D, from the shape of its input."""


class UpsampleNearest2DGrad(_NearestGrad):
    """The gradient of UpsampleNearest2D, from the shape of its input."""


class UpsampleLinear1DGrad(_LinearGrad):
    """The gradient of UpsampleLinear1D, from the shape of its input."""

    mode = "linear"


class UpsampleBilinear2DGrad(_LinearGrad):
    """The gradient of UpsampleBilinear2D, from the shape of its input."""

    mode = "bilinear"


class UpsampleBicubic2DGrad(_LinearGrad):
    """The gradient of UpsampleBicubic2D, from the shape of its input."""

    mode = "bicubic"


class UpsampleNearest3DGrad(Backward):
    """The gradient of UpsampleNearest3D, from the shape of its input."""

    def compute(self, dy: Tensor, input_size: Any, output_size: Any = None, scales: Any = None) -> Tensor:
        upsample, zeros = ops.UpsampleNearest3D(), ops.zeros(lengths(input_size), dy.dtype)
        return self.through(lambda x: upsample(x, output_size, scales), [zeros], dy)[0]


class UpsampleTrilinear3DGrad(Backward):
    """The gradient of UpsampleTrilinear3D, from the shape of its input."""

    options: ClassVar[dict[str, Any]] = {"align_corners": False}

    def compute(self, dy: Tensor, input_size: Any, output_size: Any = None, scales: Any = None) -> Tensor:
        upsample = ops.UpsampleTrilinear3D(self.align_corners)
        zeros = ops.zeros(lengths(input_size), dy.dtype)
        return self.through(lambda x: upsample(x, output_size, scales), [zeros], dy)[0]


class GridSampler2DGrad(Backward):
    """The gradients of GridSampler2D with respect to the image and the grid."""

    options: ClassVar[dict[str, Any]] = {
        "interpolation_mode": "bilinear",
        "padding_mode": "zeros",
        "align_corners": False,
        "output_mask": (1, 1),
    }

    def _sampler(self) -> Any:
        return ops.GridSampler2D(self.interpolation_mode, self.padding_mode, self.align_corners)

    def compute(self, grad: Tensor, input_x: Tensor, grid: Tensor) -> tuple[Tensor, ...]:
        return tuple(self.through(self._sampler(), [input_x, grid], grad))


class GridSampler3DGrad(GridSampler2DGrad):
    """The gradients of GridSampler3D with respect to the volume and the grid."""

    def _sampler(self) -> Any:
        return ops.GridSampler3D(self.interpolation_mode, self.padding_mode, self.align_corners)


class AffineGridGrad(Backward):
    """The gradient of AffineGrid with respect to the matrices."""

    options: ClassVar[dict[str, Any]] = {"align_corners": False}

    def compute(self, y_grad: Tensor, x_size: Any) -> Tensor:
        size, grid = lengths(x_size), ops.AffineGrid(self.align_corners)
        rank = len(size) - 2
        theta = ops.zeros((size[0], rank, rank + 1), y_grad.dtype)
        return self.through(lambda x: grid(x, size), [theta], y_grad)[0]


class ROIAlignGrad(Backward):
    """The gradient of ROIAlign with respect to the image, from its shape."""

    options: ClassVar[dict[str, Any]] = {
        "pooled_height": REQUIRED,
        "pooled_width": REQUIRED,
        "spatial_scale": REQUIRED,
        "sample_num": 2,
    }

    def compute(self, ydiff: Tensor, rois: Tensor, xdiff_shape: Any) -> Tensor:
        align, zeros = ops.ROIAlign(**self.made()), ops.zeros(lengths(xdiff_shape), ydiff.dtype)
        return self.through(lambda x: align(x, rois), [zeros], ydiff)[0]


class ScaleAndTranslateGrad(Backward):
    """The gradient of ScaleAndTranslate with respect to the image."""

    options: ClassVar[dict[str, Any]] = {"kernel_type": "lanczos3", "antialias": True}

    def compute(self, grads: Tensor, original_image: Tensor, scale: Tensor, translation: Tensor) -> Tensor:
        move, size = ops.ScaleAndTranslate(**self.made()), Tensor(list(grads.shape[1:3]), mstype.int32)
        return self.through(lambda x: move(x, size, scale, translation), [original_image], grads)[0]
