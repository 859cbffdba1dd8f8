"""SampleDistortedBoundingBoxV2: a random part of an image that covers enough of one of its objects."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from dist_ms.common.checks import check_bool, check_elements, check_positive_int, complaint
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.drawing_numbers.drawing import generator_of
from dist_ms.ops.drawing_numbers.random_engines import PhiloxSequence
from dist_ms.ops.primitive import Undifferentiable

__all__ = ["SampleDistortedBoundingBoxV2"]

_WORDS = 2**32


class Box(NamedTuple):
    """A part of an image, in pixels; bottom and right are the first ones outside."""

    top: int
    left: int
    bottom: int
    right: int

    @property
    def area(self) -> int:
        """How many pixels it has."""
        return max(self.bottom - self.top, 0) * max(self.right - self.left, 0)

    def common(self, other: Box) -> Box:
        """The part of both."""
        tops, ends = map(max, self[:2], other[:2]), map(min, self[2:], other[2:])
        return Box(*tops, *ends)


def below(words: Iterator[int], count: int) -> int:
    """An equally likely number from [0, count)."""
    if count & (count - 1) == 0:
        return next(words) & (count - 1)
    # What is left over when all words are dealt into `count` equal parts is drawn again.
    left_over = (_WORDS - 1) % count + 1
    return next(word for word in words if word >= left_over) % count


def rounded(x: Any) -> int:
    """The nearest whole number of a float32, halves to even."""
    return int(np.rint(np.float32(x)))


def part(words: Iterator[int], height: int, width: int, aspect: np.float32, areas: tuple) -> Box | None:
    """A part of an image with width / height = aspect and an area in a range, or None where rounding leaves none."""
    low, high = (np.float32(a) * np.float32(width) * np.float32(height) for a in areas)
    tallest = rounded(math.sqrt(high / aspect))
    if rounded(tallest * aspect) > width:
        tallest = int((width + 0.5 - 1e-7) / aspect)
        tallest -= rounded(tallest * aspect) > width
    tallest = min(tallest, height)
    tall = min(rounded(math.sqrt(low / aspect)), tallest)
    if tall < tallest:
        tall += below(words, tallest - tall + 1)
    wide = rounded(tall * aspect)
    for step in (1, -1):
        if (wide * tall < low) if step == 1 else (wide * tall > high):
            tall += step
            wide = rounded(tall * aspect)
    if not (low <= wide * tall <= high and 0 < wide <= width and 0 < tall <= height):
        return None
    left = below(words, width - wide) if wide < width else 0
    top = below(words, height - tall) if tall < height else 0
    return Box(top, left, top + tall, left + wide)


class SampleDistortedBoundingBoxV2(Undifferentiable):
    """Draws a part of an image that covers enough of one of its bounding boxes.

    Args:
        seed, seed2: start of the random numbers, the same in every call; both 0 to draw anew.
        aspect_ratio_range: (lowest, highest) width over height of the part, positive.
        area_range: (lowest, highest) share of the image's area, positive.
        max_attempts: how often to try; then the part is the whole image.
        use_image_if_no_bounding_boxes: whether the image is the box where there is none.

    Call:
        image_size (Tensor): (height, width, channels), integers.
        bounding_boxes (Tensor): (batch, boxes, 4) float32 in [0, 1]: top, left, bottom, right.
        min_object_covered (Tensor): one float32 in [0, 1], the share of a box that the part must cover.

    Returns:
        A tuple (begin, size, box): (top, left, 0) and (height, width, -1), of the type of `image_size`, as `ops.slice`
        takes them; and the part as (1, 1, 4) float32.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, a shape does not fit, or there is no box.

    Examples:
        >>> import dist_ms as ms
        >>> sample = ms.ops.SampleDistortedBoundingBoxV2(seed=1, area_range=(0.25, 1.0))
        >>> size, boxes = ms.Tensor([64, 48, 3], ms.int32), ms.Tensor([[[0.2, 0.2, 0.8, 0.8]]])
        >>> begin, size, box = sample(size, boxes, ms.Tensor([0.5]))
        >>> print(begin, size)
        [31  2  0] [31 38 -1]
    """

    def __init__(
        self,
        seed: int = 0,
        seed2: int = 0,
        aspect_ratio_range: tuple = (0.75, 1.33),
        area_range: tuple = (0.05, 1.0),
        max_attempts: int = 100,
        use_image_if_no_bounding_boxes: bool = False,
    ) -> None:
        self.seed, self.seed2 = (
            arguments.integer(seed, "seed", self.name),
            arguments.integer(seed2, "seed2", self.name),
        )
        self.aspect_ratio_range = self._range(aspect_ratio_range, "aspect_ratio_range", math.inf)
        self.area_range = self._range(area_range, "area_range", 1.0)
        self.max_attempts = check_positive_int(max_attempts, "max_attempts", self.name)
        self.use_image_if_no_bounding_boxes = check_bool(
            use_image_if_no_bounding_boxes, "use_image_if_no_bounding_boxes", self.name
        )

    def _range(self, value: Any, name: str, top: float) -> tuple[float, float]:
        if len(check_elements(value, name, self.name, float)) != 2 or not 0 < value[0] <= value[1] <= top:
            wanted = "(lowest, highest), positive" + (f" and at most {top}" if top < math.inf else "")
            raise ValueError(complaint(name, self.name, wanted, value))
        return tuple(value)

    def _words(self) -> Iterator[int]:
        if self.seed or self.seed2:
            return PhiloxSequence(self.seed, self.seed2).words()
        rng = generator_of(self.name, None)
        return PhiloxSequence(*rng.integers(2**63, size=2).tolist()).words()

    def __call__(self, image_size: Tensor, bounding_boxes: Tensor, min_object_covered: Tensor) -> tuple:
        size = arguments.integral(
            arguments.tensor(image_size, "image_size", self.name).array(), "image_size", self.name
        )
        if size.shape != (3,) or min(size[:2]) <= 0:
            raise ValueError(complaint("image_size", self.name, "(height, width, channels), positive", image_size))
        height, width = int(size[0]), int(size[1])
        boxes = self._boxes(bounding_boxes, height, width)
        share = arguments.tensor(min_object_covered, "min_object_covered", self.name).array()
        if share.dtype != np.float32:
            raise TypeError(complaint("min_object_covered", self.name, "of float32", share.dtype))
        if share.size != 1 or not 0 <= share.item() <= 1:
            raise ValueError(complaint("min_object_covered", self.name, "one number in [0, 1]", share.tolist()))
        found = self._draw(height, width, boxes, share.item())
        begin, extent = (found.top, found.left, 0), (found.bottom - found.top, found.right - found.left, -1)
        relative = np.array(found, np.float32) / np.array([height, width] * 2, np.float32)
        return (
            wrap(np.array(begin).astype(size.dtype)),
            wrap(np.array(extent).astype(size.dtype)),
            wrap(relative.reshape(1, 1, 4)),
        )

    def _boxes(self, bounding_boxes: Tensor, height: int, width: int) -> list[Box]:
        """The bounding boxes in pixels."""
        data = arguments.tensor(bounding_boxes, "bounding_boxes", self.name).array()
        if data.dtype != np.float32:
            raise TypeError(complaint("bounding_boxes", self.name, "of float32", bounding_boxes.dtype))
        if data.ndim != 3 or data.shape[2] != 4:
            raise ValueError(complaint("bounding_boxes", self.name, "of shape (batch, boxes, 4)", data.shape))
        if data.size == 0:
            if not self.use_image_if_no_bounding_boxes:
                raise ValueError(
                    f"For '{self.name}', 'bounding_boxes' must have a box, but got shape {data.shape}: "
                    "use_image_if_no_bounding_boxes=True takes the image instead."
                )
            return [Box(0, 0, height, width)]
        boxes = data.reshape(-1, 4)
        if not ((boxes >= 0) & (boxes <= 1)).all() or not (boxes[:, :2] < boxes[:, 2:]).all():
            wanted = "(top, left, bottom, right) in [0, 1], top < bottom and left < right"
            raise ValueError(complaint("bounding_boxes", self.name, wanted, data.tolist()))
        lengths = np.array([height, width] * 2, np.float32)
        return [Box(*row) for row in (boxes * lengths).astype(np.int64).tolist()]

    def _draw(self, height: int, width: int, boxes: list[Box], share: float) -> Box:
        words = self._words()
        low, high = map(np.float32, self.aspect_ratio_range)
        for _ in range(self.max_attempts):
            aspect = np.float32((next(words) & 0x7FFFFF) / 2**23) * (high - low) + low
            found = part(words, height, width, aspect, self.area_range)
            if found is None:
                continue
            for box in boxes:
                if box.area and found.common(box).area / box.area >= share:
                    return found
        return Box(0, 0, height, width)
