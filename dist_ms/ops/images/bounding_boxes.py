"""Bounding boxes as differences from anchors, and back; boxes that overlap left out."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_elements, check_float
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import integers, one_dtype, tensor
from dist_ms.ops.primitive import Primitive

__all__ = [
    "BoundingBoxDecode",
    "BoundingBoxEncode",
    "NonMaxSuppressionWithOverlaps",
    "bounding_box_decode",
    "bounding_box_encode",
]

_ZEROS, _ONES = (0.0, 0.0, 0.0, 0.0), (1.0, 1.0, 1.0, 1.0)


def _boxes(value: Any, name: str, owner: str) -> Tensor:
    """Boxes (N, 4)."""
    if tensor(value, name, owner).ndim != 2 or value.shape[1] != 4:
        raise ValueError(f"For '{owner}', '{name}' must be (N, 4), but got shape {value.shape}.")
    return value


def _four(value: Any, name: str, owner: str) -> tuple[float, ...]:
    """A float for each coordinate; a single one counts for all."""
    value = (float(value),) * 4 if isinstance(value, (int, float)) and not isinstance(value, bool) else value
    if len(check_elements(value, name, owner, float)) != 4:
        raise ValueError(f"For '{owner}', '{name}' must be 4 floats, but got {value!r}.")
    return tuple([float(v) for v in value])


def _middle(boxes: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Centers, widths and heights of boxes whose corners are pixels, both inside."""
    x1, y1, x2, y2 = (boxes[:, i] for i in range(4))
    return (x1 + x2) * 0.5, (y1 + y2) * 0.5, x2 - x1 + 1, y2 - y1 + 1


def bounding_box_encode(anchor_box: Tensor, groundtruth_box: Tensor, means: Any = _ZEROS, stds: Any = _ONES) -> Tensor:
    """Return how boxes differ from anchors: shifts in parts of the anchor's size, and logarithms of the sizes' ratios.

    Args:
        anchor_box: corners (N, 4) as (x1, y1, x2, y2).
        groundtruth_box: corners (N, 4).
        means: what is subtracted from the four differences.
        stds: what they are divided by then.

    Returns:
        Tensor (N, 4).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> box = ms.Tensor([[0.0, 0.0, 3.0, 3.0]])
        >>> print(ms.ops.bounding_box_encode(box, box + 2))
        [[0.5 0.5 0.  0. ]]
    """
    one_dtype("bounding_box_encode", "fV", anchor_box=anchor_box, groundtruth_box=groundtruth_box)
    owner = "bounding_box_encode"
    px, py, pw, ph = _middle(_boxes(anchor_box, "anchor_box", owner))
    gx, gy, gw, gh = _middle(_boxes(groundtruth_box, "groundtruth_box", owner))
    if anchor_box.shape != groundtruth_box.shape:
        raise ValueError(
            f"For '{owner}', 'groundtruth_box' must have shape {anchor_box.shape}, but got {groundtruth_box.shape}."
        )
    parts = ((gx - px) / pw, (gy - py) / ph, ops.log(gw / pw), ops.log(gh / ph))
    four = zip(parts, _four(means, "means", owner), _four(stds, "stds", owner))
    return ops.stack([(p - m) / s for p, m, s in four], axis=1)


@raises(max_shape=(RuntimeError, ValueError))
def bounding_box_decode(
    anchor_box: Tensor,
    deltas: Tensor,
    max_shape: Any,
    means: Any = _ZEROS,
    stds: Any = _ONES,
    wh_ratio_clip: float = 0.016,
) -> Tensor:
    """Return the boxes that differ from anchors as `bounding_box_encode` tells, cut to the image.

    Args:
        anchor_box: corners (N, 4) as (x1, y1, x2, y2).
        deltas: differences (N, 4).
        max_shape: height and width of the image.
        means: what is added to the four differences.
        stds: what they are multiplied by first.
        wh_ratio_clip: the smallest ratio of sizes, its inverse the largest.

    Returns:
        Tensor (N, 4).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> box = ms.Tensor([[0.0, 0.0, 3.0, 3.0]])
        >>> print(ms.ops.bounding_box_decode(box, ms.Tensor([[0.5, 0.5, 0.0, 0.0]]), (10, 5)))
        [[2. 2. 5. 5.]]
    """
    one_dtype("bounding_box_decode", "fV", anchor_box=anchor_box, deltas=deltas)
    owner = "bounding_box_decode"
    px, py, pw, ph = _middle(_boxes(anchor_box, "anchor_box", owner))
    if _boxes(deltas, "deltas", owner).shape != anchor_box.shape:
        raise ValueError(f"For '{owner}', 'deltas' must have shape {anchor_box.shape}, but got {deltas.shape}.")
    if max_shape is not None and not isinstance(max_shape, tuple):
        raise TypeError(f"For '{owner}', 'max_shape' must be a tuple, but got {type(max_shape).__name__}.")
    sizes = integers(max_shape, "max_shape", owner)
    if len(sizes) != 2:
        raise ValueError(f"For '{owner}', 'max_shape' must be a height and a width, but got {max_shape!r}.")
    if check_float(wh_ratio_clip, "wh_ratio_clip", owner) <= 0:
        raise ValueError(f"For '{owner}', 'wh_ratio_clip' must be a positive float, but got {wh_ratio_clip!r}.")
    four = enumerate(zip(_four(means, "means", owner), _four(stds, "stds", owner)))
    dx, dy, dw, dh = (deltas[:, i] * s + m for i, (m, s) in four)
    limit = abs(math.log(wh_ratio_clip))
    gw, gh = (size * ops.exp(ops.clamp(d, -limit, limit)) for size, d in ((pw, dw), (ph, dh)))
    gx, gy = px + pw * dx, py + ph * dy
    corners = (gx - gw * 0.5 + 0.5, gy - gh * 0.5 + 0.5, gx + gw * 0.5 - 0.5, gy + gh * 0.5 - 0.5)
    return ops.stack([ops.clamp(c, 0.0, float(sizes[1 - i % 2])) for i, c in enumerate(corners)], axis=1)


class BoundingBoxEncode(Primitive):
    """`bounding_box_encode` as a primitive: `BoundingBoxEncode(means, stds)(anchor_box, groundtruth_box)`."""

    def __init__(self, means: Any = _ZEROS, stds: Any = _ONES) -> None:
        self.means, self.stds = _four(means, "means", self.name), _four(stds, "stds", self.name)

    def __call__(self, anchor_box: Tensor, groundtruth_box: Tensor) -> Tensor:
        return bounding_box_encode(anchor_box, groundtruth_box, self.means, self.stds)


class BoundingBoxDecode(Primitive):
    """`bounding_box_decode` as a primitive.

    `BoundingBoxDecode(max_shape, means, stds, wh_ratio_clip)(anchor_box, deltas)`.
    """

    def __init__(self, max_shape: Any, means: Any = _ZEROS, stds: Any = _ONES, wh_ratio_clip: float = 0.016) -> None:
        self.max_shape, self.wh_ratio_clip = max_shape, wh_ratio_clip
        self.means, self.stds = _four(means, "means", self.name), _four(stds, "stds", self.name)

    def __call__(self, anchor_box: Tensor, deltas: Tensor) -> Tensor:
        return bounding_box_decode(anchor_box, deltas, self.max_shape, self.means, self.stds, self.wh_ratio_clip)


class NonMaxSuppressionWithOverlaps(Primitive):
    """The best boxes, each only if it does not overlap a better one too much.

    Call:
        overlaps (Tensor): floats (N, N), how much box i overlaps box j.
        scores (Tensor): floats (N,).
        max_output_size (Tensor): an integer, how many at most.
        overlap_threshold (Tensor): a float; more overlap than this is too much.
        score_threshold (Tensor): a float; only better scores count.

    Returns:
        Tensor of Int32 (M,), the boxes from the best.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> t = ms.Tensor
        >>> overlaps = t([[1.0, 0.9, 0.0], [0.9, 1.0, 0.0], [0.0, 0.0, 1.0]])
        >>> print(ms.ops.NonMaxSuppressionWithOverlaps()(overlaps, t([0.8, 0.9, 0.5]), t(3), t(0.5), t(0.0)))
        [1 2]
    """

    differentiable = False

    def __call__(
        self, overlaps: Tensor, scores: Tensor, max_output_size: Any, overlap_threshold: Any, score_threshold: Any
    ) -> Tensor:
        shares = tensor(overlaps, "overlaps", self.name).asnumpy()
        values = tensor(scores, "scores", self.name).asnumpy()
        if values.ndim != 1 or shares.shape != (len(values), len(values)):
            raise ValueError(
                f"For '{self.name}', 'overlaps' must be (N, N) with 'scores' (N,), but got shapes {shares.shape} and "
                f"{values.shape}."
            )
        most, share, least = (
            v.asnumpy().item() if isinstance(v, Tensor) else v
            for v in (max_output_size, overlap_threshold, score_threshold)
        )
        chosen: list[int] = []
        for box in np.argsort(-values, kind="stable").tolist():
            if len(chosen) >= most or values[box] <= least:
                break
            if all(shares[box, other] <= share for other in chosen):
                chosen.append(box)
        return wrap(np.array(chosen, np.int32))
