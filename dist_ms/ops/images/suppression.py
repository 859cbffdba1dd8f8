"""NMSWithMask and CombinedNonMaxSuppression: boxes that overlap better ones left out."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_float_range
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import floating, integer, number, scalar, tensor
from dist_ms.ops.primitive import Undifferentiable

__all__ = ["CombinedNonMaxSuppression", "NMSWithMask", "NonMaxSuppressionV3"]


def overlap(box: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Intersection over union of a box (x1, y1, x2, y2) and others (n, 4)."""
    low, high = np.maximum(box[:2], others[:, :2]), np.minimum(box[2:], others[:, 2:])
    shared = np.clip(high - low, 0, None).prod(-1)
    areas = (others[:, 2:] - others[:, :2]).prod(-1)
    union = (box[2:] - box[:2]).prod() + areas - shared
    return np.where(union > 0, shared / np.where(union > 0, union, 1), 0)


class NMSWithMask(Undifferentiable):
    """Boxes from the best score on, and which of them overlap no better one that is kept.

    Args:
        iou_threshold: the overlap (intersection over union) from which a box is left out.

    Call:
        bboxes (Tensor): float16 or float32 (N, 5): x1, y1, x2, y2, score.

    Returns:
        tuple: the boxes by falling score (N, 5), int32 numbers of them (N,), and bools (N,): kept.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `bboxes` is not (N, 5), or the threshold not in [0, 1].

    Examples:
        >>> import dist_ms as ms
        >>> boxes = ms.Tensor([[0.0, 0.0, 2.0, 2.0, 0.5], [0.0, 0.0, 2.0, 2.0, 0.9], [5.0, 5.0, 6.0, 6.0, 0.1]])
        >>> print(ms.ops.NMSWithMask()(boxes)[2])
        [ True False  True]
    """

    def __init__(self, iou_threshold: float = 0.5) -> None:
        self.iou_threshold = check_float_range(
            float(number(iou_threshold, "iou_threshold", self.name)), "iou_threshold", self.name, 0, 1, "[]"
        )

    def forward(self, bboxes: np.ndarray) -> tuple:
        boxes = floating(bboxes, "bboxes", self.name, complex_too=False)
        if boxes.ndim != 2 or boxes.shape[1] != 5:
            raise ValueError(f"For '{self.name}', 'bboxes' must be (N, 5), but got shape {boxes.shape}.")
        order = np.argsort(-boxes[:, 4], kind="stable")
        ordered = boxes[order]
        kept = np.ones(len(boxes), bool)
        for i in range(len(boxes)):
            if kept[i]:
                kept[i + 1 :] &= overlap(ordered[i, :4], ordered[i + 1 :, :4]) <= self.iou_threshold
        return ordered, np.arange(len(boxes), dtype=np.int32), kept


class CombinedNonMaxSuppression(Undifferentiable):
    """The best boxes of each image over all classes, those that overlap better ones of their class left out.

    Args:
        pad_per_class: whether results are padded to the number per class times the classes, if that is less.
        clip_boxes: whether coordinates are clipped to [0, 1].

    Call:
        boxes (Tensor): float32 (N, boxes, q, 4): y1, x1, y2, x2; q is 1 or the number of classes.
        scores (Tensor): float32 (N, boxes, classes).
        max_output_size_per_class, max_total_size (Tensor): int32, how many boxes are kept.
        iou_threshold, score_threshold (Tensor): float32; what overlaps more or scores no more is left out.

    Returns:
        tuple: boxes (N, n, 4), scores (N, n) and classes (N, n) as float32, zeros at the end, and how many count (N,).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> boxes, scores = ms.Tensor([[[[0.0, 0.0, 1.0, 1.0]], [[0.0, 0.0, 1.0, 0.9]]]]), ms.Tensor([[[0.9], [0.8]]])
        >>> two, half = ms.Tensor(2, ms.int32), ms.Tensor(0.5)
        >>> print(ms.ops.CombinedNonMaxSuppression()(boxes, scores, two, two, half, half)[1])
        [[0.9 0. ]]
    """

    def __init__(self, pad_per_class: bool = False, clip_boxes: bool = True) -> None:
        self.pad_per_class = check_bool(pad_per_class, "pad_per_class", self.name)
        self.clip_boxes = check_bool(clip_boxes, "clip_boxes", self.name)

    def forward(
        self,
        boxes: np.ndarray,
        scores: np.ndarray,
        max_output_size_per_class: Any,
        max_total_size: Any,
        iou_threshold: Any,
        score_threshold: Any,
    ) -> tuple:
        floating(boxes, "boxes", self.name, complex_too=False)
        floating(scores, "scores", self.name, complex_too=False)
        each = integer(max_output_size_per_class, "max_output_size_per_class", self.name)
        total = integer(max_total_size, "max_total_size", self.name)
        close = number(scalar(iou_threshold), "iou_threshold", self.name)
        least = number(scalar(score_threshold), "score_threshold", self.name)
        good = boxes.ndim == 4 and scores.ndim == 3 and boxes.shape[:2] == scores.shape[:2] and boxes.shape[3] == 4
        if not good or boxes.shape[2] not in (1, scores.shape[2]):
            raise ValueError(
                f"For '{self.name}', 'boxes' must be (N, boxes, 1 or classes, 4) and 'scores' (N, boxes, classes), "
                f"but got shapes {boxes.shape} and {scores.shape}."
            )
        if each < 1 or total < 1 or not 0 <= close <= 1:
            raise ValueError(
                f"For '{self.name}', the sizes must be positive and 'iou_threshold' in [0, 1], but got {each}, {total} "
                f"and {close}."
            )
        count = min(total, each * scores.shape[2]) if self.pad_per_class else total
        found = np.zeros((len(boxes), count, 6), np.float32)
        valid = np.zeros(len(boxes), np.int32)
        for image, (part, marks) in enumerate(zip(boxes, scores)):
            kept = []
            for label in range(marks.shape[1]):
                own = part[:, label if part.shape[1] > 1 else 0]
                kept += [(marks[i, label], label, own[i]) for i in _kept(own, marks[:, label], each, close, least)]
            kept.sort(key=lambda entry: -entry[0])
            valid[image] = min(len(kept), count)
            for place, (mark, label, box) in enumerate(kept[:count]):
                found[image, place] = *(np.clip(box, 0, 1) if self.clip_boxes else box), mark, label
        return found[..., :4].copy(), found[..., 4].copy(), found[..., 5].copy(), valid


def _kept(boxes: np.ndarray, scores: np.ndarray, most: int, close: float, least: float) -> list:
    """The places of the best boxes of which none overlaps a better one more than `close`."""
    low, high = np.minimum(boxes[:, :2], boxes[:, 2:]), np.maximum(boxes[:, :2], boxes[:, 2:])
    corners = np.concatenate([low, high], 1)
    kept: list[int] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if len(kept) == most or not scores[i] > least:
            break
        if not kept or (overlap(corners[i], corners[kept]) <= close).all():
            kept.append(i)
    return kept


class NonMaxSuppressionV3(Undifferentiable):
    """The best boxes that overlap none of the better ones by too much.

    Call:
        boxes (Tensor): (N, 4), two opposite corners of each, floats.
        scores (Tensor): (N,).
        max_output_size (Tensor or int): how many boxes at most.
        iou_threshold (Tensor or float): the largest intersection over union that stays, in [0, 1].
        score_threshold (Tensor or float): boxes of at most this score are left out.

    Returns:
        Tensor int32, the numbers of the boxes, best first.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if shapes do not fit, or a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> boxes = ms.Tensor([[0.0, 0.0, 2.0, 2.0], [0.0, 0.0, 2.0, 1.9], [5.0, 5.0, 6.0, 6.0]])
        >>> print(ms.ops.NonMaxSuppressionV3()(boxes, ms.Tensor([0.5, 0.9, 0.7]), 3, 0.5, 0.0))
        [1 2]
    """

    def __call__(
        self, boxes: Tensor, scores: Tensor, max_output_size: Any, iou_threshold: Any, score_threshold: Any
    ) -> Tensor:
        corners, marks = (
            tensor(x, name, self.name).array().astype(np.float32) for x, name in ((boxes, "boxes"), (scores, "scores"))
        )
        if corners.ndim != 2 or corners.shape[1] != 4 or marks.shape != corners.shape[:1]:
            raise ValueError(
                f"For '{self.name}', 'boxes' must be (N, 4) and 'scores' (N,), but got {corners.shape} and "
                f"{marks.shape}."
            )
        most, limit, least = (
            float(x.array().reshape(())) if isinstance(x, Tensor) else float(x)
            for x in (max_output_size, iou_threshold, score_threshold)
        )
        if most < 0 or not 0 <= limit <= 1:
            raise ValueError(
                f"For '{self.name}', 'max_output_size' must be 0 or more and 'iou_threshold' in [0, 1], but got "
                f"{most:g} and {limit:g}."
            )
        sides = corners.reshape(-1, 2, 2)
        corners = np.concatenate([sides.min(1), sides.max(1)], 1)
        waiting = np.argsort(-marks, kind="stable")
        waiting, chosen = waiting[marks[waiting] > least], []
        while len(waiting) and len(chosen) < most:
            chosen.append(waiting[0])
            waiting = waiting[1:][overlap(corners[waiting[0]], corners[waiting[1:]]) <= limit]
        return wrap(np.array(chosen, np.int32))
