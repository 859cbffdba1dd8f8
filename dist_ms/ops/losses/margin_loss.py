"""Losses with a margin: ranking, hinge, cosine, triplet, soft margin and multi-class ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_choice, check_float, check_number, check_number_range, check_string, complaint
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import bools, plain, reads, reads_of_none
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.activations.smooth_activation import Softplus
from dist_ms.ops.arguments import integer, not_of, one_dtype
from dist_ms.ops.losses.cross_entropy import PickLabel
from dist_ms.ops.losses.loss import check_pair, check_same_shape, reduced
from dist_ms.ops.shaping import reshaping

__all__ = [
    "cosine_embedding_loss",
    "hinge_embedding_loss",
    "margin_ranking_loss",
    "multi_margin_loss",
    "multilabel_margin_loss",
    "multilabel_soft_margin_loss",
    "soft_margin_loss",
    "triplet_margin_loss",
]

_softplus = Softplus()


@reads_of_none("input1", "input2")
@bools("margin")
def cosine_embedding_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return 1 - cos(x1, x2) where target is 1, max(0, cos(x1, x2) - margin) where it is -1.

    Args:
        input1, input2: (N, D, ...) or (D,) floats; the angle is along the second dimension.
        target: 1 and -1, of the shape of the inputs without that dimension.
        margin: in [-1, 1].
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the shape of `target`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> x, y = ms.Tensor([[1.0, 0.0]]), ms.Tensor([[0.0, 1.0]])
        >>> print(ms.ops.cosine_embedding_loss(x, y, ms.Tensor([1])))
        1.0
    """
    one_dtype("cosine_embedding_loss", input1=input1, input2=input2)
    owner = "cosine_embedding_loss"
    check_pair(owner, input1, input2, reduction, "input1", "input2")
    check_same_shape(owner, input1, input2, "input1", "input2")
    arguments.tensor(target, "target", owner)
    if not -1 <= check_number(margin, "margin", owner) <= 1:
        raise ValueError(complaint("margin", owner, "a number in [-1, 1]", margin))
    axis = 1 if input1.ndim > 1 else 0
    wanted = input1.shape[:axis] + input1.shape[axis + 1 :]
    if target.shape != wanted:
        raise ValueError(
            f"For '{owner}', 'target' must have shape {wanted}, that of 'input1' without the dimension of "
            f"the vectors, but got {target.shape}."
        )
    total = ops.ReduceSum()
    square1, square2 = total(input1 * input1, axis) + 1e-8, total(input2 * input2, axis) + 1e-8
    cosine = total(input1 * input2, axis) * ops.rsqrt(square1 * square2)
    zeros = ops.zeros_like(cosine)
    alike = ops.select(target == 1, 1 - cosine, zeros)
    apart = ops.select(target == -1, ops.maximum(cosine - margin, 0.0), zeros)
    return reduced(alike + apart, reduction)


@reads_of_none()
def margin_ranking_loss(
    input1: Tensor, input2: Tensor, target: Tensor, margin: float = 0.0, reduction: str = "mean"
) -> Tensor:
    """Return max(0, -target (input1 - input2) + margin).

    Args:
        input1, input2: floats.
        target: 1 where `input1` should be larger, -1 where `input2` should.
        margin: a float.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the broadcast shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not agree, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.margin_ranking_loss(ms.Tensor([1.0]), ms.Tensor([3.0]), ms.Tensor([1.0])))
        2.0
    """
    check_float(margin, "margin", "margin_ranking_loss")
    one_dtype("margin_ranking_loss", input1=input1, input2=input2, target=target)
    check_pair("margin_ranking_loss", input1, input2, reduction, "input1", "input2")
    arguments.tensor(target, "target", "margin_ranking_loss")
    margin = check_number(margin, "margin", "margin_ranking_loss")
    return reduced(ops.maximum(margin - target * (input1 - input2), 0.0), reduction)


@bools("margin")
@reads("shape")
def hinge_embedding_loss(inputs: Tensor, targets: Tensor, margin: float = 1.0, reduction: str = "mean") -> Tensor:
    """Return x where the target is 1 (or anything but -1), max(0, margin - x) where it is -1.

    Args:
        inputs: distances x, floats.
        targets: 1 and -1, of a shape that broadcasts with `inputs`.
        margin: an int or float.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the broadcast shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not broadcast, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.hinge_embedding_loss(ms.Tensor([0.25, 0.25]), ms.Tensor([1.0, -1.0]), reduction="none"))
        [0.25 0.75]
    """
    one_dtype("hinge_embedding_loss", "fV", inputs=inputs)
    one_dtype("hinge_embedding_loss", "fV", targets=targets)
    owner = "hinge_embedding_loss"
    check_pair(owner, inputs, targets, reduction, "inputs", "targets")
    margin = check_number(margin, "margin", owner)
    d = inputs.dtype
    near = inputs * ops.cast(targets > 0, d)
    return reduced(near + ops.maximum(margin - inputs, 0.0) * ops.cast(targets < 0, d), reduction)


def _class_labels(owner: str, input: Any, target: Any) -> np.ndarray:
    """Require logits (N, C) and labels (N,) in range."""
    arguments.floating(arguments.tensor(input, "input", owner).array(), "input", owner, complex_too=False)
    labels = arguments.tensor(target, "target", owner).array()
    if labels.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"For '{owner}', 'target' must be Int32 or Int64, but got {from_numpy(labels.dtype)}; cast it first."
        )
    if input.ndim != 2 or labels.shape != input.shape[:1]:
        raise ValueError(
            f"For '{owner}', 'input' must be (N, C) and 'target' (N,), but got shapes {input.shape} and {labels.shape}."
        )
    return labels


@bools("margin")
@plain("p")
def multi_margin_loss(
    input: Tensor, target: Tensor, p: int = 1, margin: float = 1, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return the multi-class hinge loss: sum over i != y of max(0, margin - x[y] + x[i])^p / C.

    Args:
        input: (N, C) floats.
        target: int32 or int64 labels y (N,).
        p: 1 or 2.
        margin: an int or float.
        weight: (C,), multiplies each row by the weight of its label; None for ones.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" one loss per row.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `p` is not 1 or 2, or the shapes do not agree.
        RuntimeError: if a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.multi_margin_loss(ms.Tensor([[0.5, 0.0]]), ms.Tensor([0])))
        0.25
    """
    integer(p, "p", "multi_margin_loss")
    not_of(target, "ibh", "target", "multi_margin_loss")
    not_of(weight, "?ibhlBHILFD", "weight", "multi_margin_loss")
    owner = "multi_margin_loss"
    check_string(reduction, "reduction", owner, ["none", "mean", "sum"])
    labels = _class_labels(owner, input, target)
    check_choice(p, "p", owner, (1, 2))
    columns, d = input.shape[1], input.array().dtype
    if weight is not None:
        one_dtype(owner, input=input, weight=arguments.not_array(weight, "weight", owner))
        if weight.shape != (columns,):
            raise ValueError(
                f"For '{owner}', 'weight' must have an element for each of the {columns} classes, but got the shape "
                f"{weight.shape}."
            )
    own = reshaping.reshape(PickLabel(owner, -(2**62))(input, labels), (-1, 1))
    gap = ops.maximum(check_number(margin, "margin", owner) - own + input, 0.0)
    others = wrap((labels[:, None] != np.arange(columns)).astype(d))
    loss = ops.ReduceSum()((gap if p == 1 else gap * gap) * others, 1) / columns
    if weight is not None:
        loss = loss * wrap(weight.array()[labels])
    return reduced(loss, reduction)


def multilabel_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return the multi-label hinge loss: sum over labels j and others i of max(0, 1 - (x[j] - x[i])) / C.

    Args:
        input: (N, C) or (C,) floats.
        target: int32 or int64 of the shape of `input`: in each row the labels up to the first -1.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" one loss per row.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ, or `reduction` is another string.
        RuntimeError: if a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> x, y = ms.Tensor([[0.5, 0.0]]), ms.Tensor([[0, -1]])
        >>> print(ms.ops.multilabel_margin_loss(x, y))
        0.25
    """
    owner = "multilabel_margin_loss"
    check_pair(owner, input, target, reduction)
    check_same_shape(owner, input, target)
    is_target = labels_as_mask(owner, target.array().reshape(-1, max(input.shape[-1] if input.ndim else 1, 1)))
    columns, d = is_target.shape[1], input.array().dtype
    x = reshaping.reshape(input, is_target.shape)
    pairs = wrap((is_target[:, :, None] & ~is_target[:, None, :]).astype(d))
    gap = ops.maximum(1 - (reshaping.expand_dims(x, 2) - reshaping.expand_dims(x, 1)), 0.0)
    loss = ops.ReduceSum()(gap * pairs, (1, 2)) / columns
    if reduction == "none" and input.ndim == 1:
        loss = reshaping.reshape(loss, ())
    return reduced(loss, reduction)


def labels_as_mask(owner: str, labels: np.ndarray) -> np.ndarray:
    """Which classes are labels: in each row those listed before the first -1."""
    if labels.dtype not in (np.int32, np.int64):
        raise TypeError(
            f"For '{owner}', 'target' must be Int32 or Int64, but got {from_numpy(labels.dtype)}; cast it first."
        )
    if labels.size and not (labels.min() >= -1 and labels.max() < labels.shape[1]):
        raise RuntimeError(
            f"For '{owner}', 'target' must be in [-1, {labels.shape[1]}), but got values from "
            f"{labels.min()} to {labels.max()}."
        )
    listed = np.cumprod(labels >= 0, axis=1).astype(bool)
    mask = np.zeros(labels.shape, bool)
    rows = np.broadcast_to(np.arange(labels.shape[0])[:, None], labels.shape)
    mask[rows[listed], labels[listed]] = True
    return mask


@reads_of_none("input")
def multilabel_soft_margin_loss(
    input: Tensor, target: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return the mean over classes of the binary cross entropy of sigmoid(input) and target.

    Args:
        input: (N, C) floats.
        target: floats of the shape of `input`.
        weight: (C,) or a number, or None for ones.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" one loss per row.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.multilabel_soft_margin_loss(ms.Tensor([[0.0]]), ms.Tensor([[1.0]])))
        0.6931472
    """
    owner = "multilabel_soft_margin_loss"
    check_pair(owner, input, target, reduction)
    if not input.ndim:
        raise IndexError(f"For '{owner}', 'input' must have at least 1 dimension, but got a scalar.")
    loss = (1 - target) * input + _softplus(-input)
    if weight is not None:
        loss = loss * (weight if type(weight) in (int, float, bool) else arguments.tensor(weight, "weight", owner))
    return reduced(ops.ReduceMean()(loss, input.ndim - 1), reduction)


def soft_margin_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return log(1 + exp(-target input)).

    Args:
        input: floats.
        target: 1 and -1, of the shape of `input`.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the shape of `input`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.soft_margin_loss(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """
    check_pair("soft_margin_loss", input, target, reduction)
    check_same_shape("soft_margin_loss", input, target)
    return reduced(_softplus(-(target * input)), reduction)


def triplet_margin_loss(
    anchor: Tensor,
    positive: Tensor,
    negative: Tensor,
    margin: float = 1.0,
    p: int = 2,
    eps: float = 1e-6,
    swap: bool = False,
    reduction: str = "mean",
) -> Tensor:
    """Return max(0, d(anchor, positive) - d(anchor, negative) + margin), d(a, b) = ||a - b + eps||_p.

    Args:
        anchor, positive, negative: (..., D) floats.
        margin: an int or float.
        p: order of the norm, a positive number.
        eps: added to each difference.
        swap: use the smaller of d(anchor, negative) and d(positive, negative); Balntas et al.,
            "Learning local feature descriptors with triplets and shallow convolutional neural
            networks", 2016.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the broadcast shape without the last dimension.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, or the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> a, b, c = ms.Tensor([[0.0]]), ms.Tensor([[1.0]]), ms.Tensor([[5.0]])
        >>> print(ms.ops.triplet_margin_loss(a, b, c))
        0.0
    """
    owner = "triplet_margin_loss"
    check_pair(owner, anchor, positive, reduction, "anchor", "positive")
    arguments.tensor(negative, "negative", owner)
    arguments.boolean(swap, "swap", owner)
    check_number_range(p, "p", owner, 0, float("inf"), "()")

    def distance(a: Tensor, b: Tensor) -> Tensor:
        difference = ops.abs(a - b + eps)
        if p == 1:
            return ops.ReduceSum()(difference, -1)
        return ops.pow(ops.ReduceSum()(ops.pow(difference, p), -1), 1.0 / p)

    far = distance(anchor, negative)
    if swap:
        far = ops.minimum(far, distance(positive, negative))
    gap = distance(anchor, positive) - far + check_number(margin, "margin", owner)
    return reduced(ops.maximum(gap, 0.0), reduction)
