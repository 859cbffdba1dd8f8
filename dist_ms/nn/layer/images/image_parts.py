"""CentralCrop, ImageGradients and Unfold: parts of images and differences in them."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common.checks import check_dimensions, check_float_range, check_string, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import tensor

__all__ = ["CentralCrop", "ImageGradients", "Unfold"]


class CentralCrop(Cell):
    """The middle of images: the same number of rows and columns cut off at each side.

    Args:
        central_fraction: share of the height and width that stays, a float in (0, 1].

    Inputs:
        image (Tensor): (C, H, W) or (N, C, H, W).

    Outputs:
        Tensor with the dimensions of `image`.

    Raises:
        TypeError: if `central_fraction` is no float.
        ValueError: if it is out of range, or `image` has other dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.CentralCrop(0.5)(ms.ops.ones((3, 4, 6))).shape
        (3, 2, 4)
    """

    def __init__(self, central_fraction: float) -> None:
        super().__init__()
        check_type(central_fraction, "central_fraction", "CentralCrop", float)
        self.central_fraction = check_float_range(central_fraction, "central_fraction", "CentralCrop", 0, 1, "(]")

    def construct(self, image: Tensor) -> Tensor:
        check_dimensions(tensor(image, "image", "CentralCrop"), "image", "CentralCrop", 3, 4)
        height, width = image.shape[-2:]
        top, left = (int((float(n) - float(n * self.central_fraction)) / 2) for n in (height, width))
        return image[..., top : height - top, left : width - left]


class ImageGradients(Cell):
    """The differences between neighbouring pixels, 0 in the last row and column.

    Inputs:
        images (Tensor): (N, C, H, W).

    Outputs:
        tuple (dy, dx): images[h + 1] - images[h] and images[w + 1] - images[w], both of the shape of
        `images`.

    Raises:
        ValueError: if `images` has no 4 dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> dy, dx = ms.nn.ImageGradients()(ms.Tensor([[[[1, 2], [4, 8]]]]))
        >>> print(dy[0, 0], dx[0, 0])
        [[3 6]
         [0 0]] [[1 0]
         [4 0]]
    """

    def __init__(self) -> None:
        super().__init__()

    def construct(self, images: Tensor) -> tuple:
        check_dimensions(tensor(images, "images", "ImageGradients"), "images", "ImageGradients", 4)
        dy = ops.concat((images[:, :, 1:] - images[:, :, :-1], ops.zeros_like(images[:, :, :1])), 2)
        dx = ops.concat((images[..., 1:] - images[..., :-1], ops.zeros_like(images[..., :1])), 3)
        return dy, dx


class Unfold(Cell):
    """The patches of images, one after the other in the channels.

    Args:
        ksizes: [1, height, width, 1] of a patch.
        strides: [1, rows, columns, 1] between patches.
        rates: [1, rows, columns, 1] between the pixels of a patch.
        padding: "valid" for patches inside the image, "same" for one at each step of `strides`, with
            zeros around.

    Inputs:
        input_x (Tensor): (N, C, H, W).

    Outputs:
        Tensor (N, height width C, H', W'); pixel (i, j) of channel c is at (i width + j) C + c.

    Raises:
        TypeError: if `ksizes` is no tuple or list.
        ValueError: if one of them has another form, or `padding` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.Unfold([1, 2, 2, 1], [1, 2, 2, 1], [1, 1, 1, 1])
        >>> layer(ms.ops.ones((1, 3, 4, 4))).shape
        (1, 12, 2, 2)
    """

    def __init__(self, ksizes: Any, strides: Any, rates: Any, padding: str = "valid") -> None:
        super().__init__()
        pairs = (self._pair(v, n) for v, n in ((ksizes, "ksizes"), (strides, "strides"), (rates, "rates")))
        self._size, self._stride, self._rate = pairs
        check_type(padding, "padding", "Unfold", str)
        self._padding = check_string(padding.lower(), "padding", "Unfold", ["valid", "same"])

    @staticmethod
    def _pair(value: Any, name: str) -> tuple[int, int]:
        if name == "ksizes" or not hasattr(value, "__len__"):  # of the others MindSpore asks for the length alone
            check_type(value, name, "Unfold", (tuple, list))
        if (
            not isinstance(value, (tuple, list))
            or len(value) != 4
            or value[0] != 1
            or value[3] != 1
            or not all(isinstance(n, int) and n > 0 for n in value)
        ):
            raise ValueError(complaint(name, "Unfold", "[1, rows, columns, 1] of positive ints", value))
        return value[1], value[2]

    def construct(self, input_x: Tensor) -> Tensor:
        check_dimensions(input_x, "input_x", "Unfold", 4)
        rows, channels = input_x.shape[:2]
        spans = [(k - 1) * r + 1 for k, r in zip(self._size, self._rate)]
        if self._padding == "same":
            sides = []
            for n, span, stride in zip(input_x.shape[2:], spans, self._stride):
                missing = max((-(-n // stride) - 1) * stride + span - n, 0)
                sides = [missing // 2, missing - missing // 2, *sides]
            input_x = ops.pad(input_x, sides)
        sizes = [(n - span) // s + 1 for n, span, s in zip(input_x.shape[2:], spans, self._stride)]
        if min(sizes) < 1:
            raise ValueError(
                f"For 'Unfold', 'input_x' must be at least as large as a patch of {spans} pixels, but got "
                f"shape {input_x.shape}."
            )
        patches = ops.unfold(input_x, self._size, self._rate, 0, self._stride)
        patches = ops.reshape(patches, (rows, channels, self._size[0] * self._size[1], -1))
        return ops.reshape(ops.swapaxes(patches, 1, 2), (rows, -1, *sizes))
