"""The shapes of a convolution, and where its windows lie."""

from __future__ import annotations

import math
from typing import NamedTuple

from dist_ms.ops.convolutions.windows import Pairs, output_sizes


class Geometry(NamedTuple):
    """The shapes of a convolution, and where its windows lie.

    Attributes:
        x: (N, C, *spatial), of the input.
        w: (O, C / group, *kernel), of the weight.
        stride, dilation: an int per spatial dimension.
        padding: (before, after) per spatial dimension.
        group: into how many the channels fall.
    """

    x: tuple
    w: tuple
    stride: tuple
    padding: Pairs
    dilation: tuple
    group: int = 1

    @property
    def y(self) -> tuple:
        """(N, O, *output), of the result."""
        return self.x[0], self.w[0], *output_sizes(self.x[2:], self.w[2:], self.stride, self.padding, self.dilation)

    @property
    def is_plain(self) -> bool:
        """Whether the images' memory, channels-last, is that of the windows: they are a pixel each or a whole image."""
        kernel = self.w[2:]
        pixelwise = math.prod(kernel) == 1 == math.prod(self.stride)
        return (pixelwise or kernel == self.x[2:]) and not any(map(any, self.padding))

    @property
    def has_long_rows(self) -> bool:
        """Whether a single channel has more windows in a row than a window has pixels, side by side."""
        return self.x[1] == 1 == self.stride[-1] and self.y[-1] > self.w[-1]

    def is_depthwise(self, rank: int) -> bool:
        """Whether each channel, over so many spatial dimensions, has a kernel of its own."""
        return len(self.w) == 2 + rank and 1 < self.group == self.w[0] and self.w[1] == 1

    @property
    def outputs_of_channel(self) -> int:
        """How many kernels each channel has of its own; 0 if it shares any."""
        return self.w[0] // self.group if self.w[1] == 1 < self.group == self.x[1] else 0

    @property
    def has_narrow_borders(self) -> bool:
        """Whether every window meets the image itself."""
        return all(max(pair) <= (k - 1) * d for pair, k, d in zip(self.padding, self.w[2:], self.dilation))

    def of_repeated_channels(self) -> Geometry:
        """Each channel once for each of its outputs."""
        return self._replace(x=(self.x[0], self.w[0], *self.x[2:]), group=self.w[0])

    def turned_around(self) -> Geometry:
        """The convolution without strides of y's shape that gives x's: its windows of dy meet the pixels of x."""
        padding = tuple(
            [
                ((k - 1) * d - before, (k - 1) * d - behind)
                for (before, behind), k, d in zip(self.padding, self.w[2:], self.dilation)
            ]
        )
        w = (self.w[1] * self.group, self.w[0] // self.group, *self.w[2:])
        return Geometry(self.y, w, self.stride, padding, self.dilation, self.group)

    def of_images(self) -> Geometry:
        """Signals as images of one row."""
        x, w = ((*shape[:2], 1, shape[2]) for shape in (self.x, self.w))
        return Geometry(x, w, (1, *self.stride), ((0, 0), *self.padding), (1, *self.dilation), self.group)
