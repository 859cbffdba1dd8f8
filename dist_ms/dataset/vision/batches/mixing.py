"""Images of a batch mixed with each other, and their labels in the same proportion."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_int_range, check_positive_number, check_type, complaint
from dist_ms.dataset.draws import generator
from dist_ms.dataset.vision.arguments import LARGEST, probability
from dist_ms.dataset.vision.enums import ImageBatchFormat


def _images_and_labels(inputs: tuple, owner: str) -> tuple[np.ndarray, np.ndarray]:
    """A batch of images, and their labels with a number for every class."""
    for value in inputs:
        if not isinstance(value, np.ndarray):
            raise TypeError(complaint("image", owner, "a NumPy array", type(value).__name__))
    if len(inputs) != 2:
        raise RuntimeError(f"For '{owner}', the inputs must be images and labels, but got {len(inputs)} of them.")
    images, labels = inputs
    if images.ndim != 4:
        wanted = "a batch (N, H, W, C) or (N, C, H, W)"
        raise RuntimeError(complaint("image", owner, wanted, f"of shape {images.shape}", "Call 'batch' before."))
    if labels.ndim not in (2, 3) or len(labels) != len(images) or labels.dtype.kind not in "biuf":
        wanted = f"numbers of shape ({len(images)}, classes) or ({len(images)}, rows, classes)"
        found = f"{labels.dtype} of shape {labels.shape}"
        raise RuntimeError(complaint("label", owner, wanted, found, "Call OneHot and 'batch' before."))
    return images, labels


def _mixed(first: np.ndarray, second: np.ndarray, share: Any) -> np.ndarray:
    """first * share + second * (1 - share), in float32."""
    return np.float32(share) * first.astype(np.float32) + (1 - np.float32(share)) * second.astype(np.float32)


class MixUpBatch:
    """Each image of a batch mixed with another of the batch, by one drawn share, and the labels alike.

    Args:
        alpha: of the Beta(alpha, alpha) distribution that the share is drawn from; above 0.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> images, labels = vision.MixUpBatch()(np.ones((2, 4, 4, 3), np.uint8), np.eye(2, dtype=np.float32))
        >>> images.shape, labels.sum(axis=1).tolist()
        ((2, 4, 4, 3), [1.0, 1.0])
    """

    random = True

    def __init__(self, alpha: float = 1.0) -> None:
        self.alpha = check_positive_number(alpha, "alpha", "MixUpBatch")

    def parameters(self, count: int) -> tuple[float, np.ndarray]:
        """Draw the share, and which image each of `count` is mixed with."""
        draw = generator()
        return float(draw.beta(self.alpha, self.alpha)), draw.permutation(count)

    def __call__(self, *inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mix one batch of images and labels."""
        images, labels = _images_and_labels(inputs, "MixUpBatch")
        if not {images.shape[1], images.shape[3]} & {1, 3}:
            raise RuntimeError(complaint("image", "MixUpBatch", "of 1 or 3 channels", f"of shape {images.shape}"))
        share, others = self.parameters(len(images))
        mixed = _mixed(images, images[others], share)
        if images.dtype.kind in "iu":
            mixed = np.rint(mixed)
        return mixed.astype(images.dtype), _mixed(labels, labels[others], share)


class CutMixBatch:
    """A drawn part of each image of a batch replaced by that part of another, and the labels in proportion.

    Args:
        image_batch_format: ImageBatchFormat.NHWC or NCHW.
        alpha: of the Beta(alpha, alpha) distribution that the share of the area that stays is drawn from; above 0.
        prob: the probability of each image to be changed.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> cut = vision.CutMixBatch(vision.ImageBatchFormat.NHWC)
        >>> images, labels = cut(np.ones((2, 4, 4, 3), np.uint8), np.eye(2, dtype=np.float32))
        >>> images.shape, labels.sum(axis=1).tolist()
        ((2, 4, 4, 3), [1.0, 1.0])
    """

    random = True

    def __init__(self, image_batch_format: ImageBatchFormat, alpha: float = 1.0, prob: float = 1.0) -> None:
        self.format = check_type(image_batch_format, "image_batch_format", "CutMixBatch", ImageBatchFormat)
        self.alpha = check_positive_number(alpha, "alpha", "CutMixBatch")
        self.prob = probability(prob, "prob", "CutMixBatch")

    def parameters(self, count: int, height: int, width: int) -> list[tuple[int, tuple[int, int, int, int]] | None]:
        """Draw for each of `count` images the other one, and the part: top, left, height, width; or None."""
        draw, found = generator(), []
        for other in draw.permutation(count):
            cut = np.sqrt(1 - draw.beta(self.alpha, self.alpha))
            if draw.random() >= self.prob:
                found.append(None)
                continue
            x, y = int(draw.integers(width + 1)), int(draw.integers(height + 1))
            (left, right), (top, bottom) = (
                (min(max(at - half, 0), size - 1), min(max(at + half, 0), size - 1))
                for at, half, size in ((x, int(width * cut) // 2, width), (y, int(height * cut) // 2, height))
            )
            found.append((int(other), (top, left, max(bottom - top, 1), max(right - left, 1))))
        return found

    def __call__(self, *inputs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mix one batch of images and labels."""
        images, labels = _images_and_labels(inputs, "CutMixBatch")
        nhwc = self.format == ImageBatchFormat.NHWC
        if images.shape[3 if nhwc else 1] not in (1, 3):
            raise RuntimeError(complaint("image", "CutMixBatch", "of 1 or 3 channels", f"of shape {images.shape}"))
        height, width = images.shape[1:3] if nhwc else images.shape[2:]
        result, mixed = images.copy(), labels.astype(np.float32)
        for i, change in enumerate(self.parameters(len(images), height, width)):
            if change is None:
                continue
            other, (top, left, h, w) = change
            part = (slice(top, top + h), slice(left, left + w))
            part = part if nhwc else (slice(None), *part)
            result[i][part] = images[other][part]
            mixed[i] = _mixed(labels[i], labels[other], 1 - np.float32(h * w) / np.float32(height * width))
        return result, mixed


class MixUp:
    """Each image of a batch mixed with the next one, or with the batch before, by drawn shares; labels alike.

    Args:
        batch_size: how many images a batch has.
        alpha: of the Beta(alpha, alpha) distribution that each image's share is drawn from; above 0.
        is_single: whether to mix within the batch. Else it is mixed with the last result, so that batches must come
            in order; the first one stays as it is.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> images, labels = vision.MixUp(2, 1.0)(np.ones((2, 3, 4, 4)), np.eye(2))
        >>> images.shape, labels.sum(axis=1).tolist()
        ((2, 3, 4, 4), [1.0, 1.0])
    """

    random = True
    python_only = True

    def __init__(self, batch_size: int, alpha: float, is_single: bool = True) -> None:
        self.batch_size = check_int_range(batch_size, "batch_size", "MixUp", 1, LARGEST)
        self.alpha = check_positive_number(alpha, "alpha", "MixUp")
        self.is_single = check_bool(is_single, "is_single", "MixUp")
        self.last: tuple[np.ndarray, np.ndarray] | None = None

    def __call__(self, image: np.ndarray, label: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Mix one batch of images and labels."""
        draw = generator()
        shares = np.array([draw.beta(self.alpha, self.alpha) for _ in range(self.batch_size)])
        if self.is_single:
            order = [*range(1, self.batch_size), 0]
            others = image[order], label[order]
        elif self.last is None:
            others, shares = (image, label), np.ones(self.batch_size)
        else:
            others = self.last
        of_images, of_labels = shares.reshape(-1, 1, 1, 1), shares.reshape(-1, 1)
        mixed = (
            of_images * image + (1 - of_images) * others[0],
            of_labels * label + (1 - of_labels) * others[1],
        )
        if not self.is_single:
            self.last = mixed
        return mixed
