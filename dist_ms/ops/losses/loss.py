"""Losses of pairs of values: squared, absolute, Huber, binary cross entropy, divergence."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_string, complaint
from dist_ms.common.error_classes import bools, raises, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments, pointwise
from dist_ms.ops.activations.smooth_activation import Softplus
from dist_ms.ops.arguments import not_of, one_dtype
from dist_ms.ops.broadcasting import promote_types
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.layout import converted, working_type
from dist_ms.ops.losses.differences import absolute_difference, smooth_l1
from dist_ms.ops.primitive import Primitive, numpy_dtype, quiet

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "huber_loss",
    "kl_div",
    "l1_loss",
    "mse_loss",
    "smooth_l1_loss",
]

_softplus = Softplus()


def reduced(loss: Tensor, reduction: str) -> Tensor:
    """The mean or the sum of a loss, or the loss itself for "none"."""
    if reduction == "none":
        return loss
    return ops.ReduceMean()(loss) if reduction == "mean" else ops.ReduceSum()(loss)


def check_pair(
    owner: str, input: Any, target: Any, reduction: Any, first: str = "input", second: str = "target"
) -> None:
    """Check two tensors and a reduction."""
    arguments.tensor(input, first, owner)
    arguments.tensor(target, second, owner)
    check_string(reduction, "reduction", owner, ["none", "mean", "sum"])


def check_same_shape(owner: str, input: Tensor, target: Tensor, first: str = "input", second: str = "target") -> None:
    """Require equal shapes."""
    if input.shape != target.shape:
        raise ValueError(
            f"For '{owner}', '{second}' must have the shape {input.shape} of '{first}', but got {target.shape}."
        )


def check_weight(owner: str, input: Tensor, weight: Any) -> Tensor:
    """Return a weight if it is a Tensor that broadcasts to the input's shape.

    Raises:
        TypeError: if it is none.
        ValueError: if it has other lengths, or more dimensions.
    """
    shape = arguments.tensor(weight, "weight", owner).shape
    if len(shape) > input.ndim or any(a not in (1, b) for a, b in zip(shape[::-1], input.shape[::-1])):
        raise ValueError(
            f"For '{owner}', 'weight' must have a shape that broadcasts to {input.shape} of 'input', but got {shape}."
        )
    return weight


def mse_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return (input - target)^2, or its mean or sum.

    Args:
        input: numbers.
        target: numbers of a shape that broadcasts with `input`.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the broadcast shape; float32 for integers.

    Raises:
        TypeError: if an argument is no Tensor.
        ValueError: if the shapes do not broadcast, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mse_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        2.0
    """
    check_pair("mse_loss", input, target, reduction)
    if arguments.is_float(input._element) and arguments.is_float(target._element):
        return reduced(ops.squared_difference(input, target), reduction)
    difference = input - target
    if difference.array().dtype.kind in "iu":
        difference = ops.cast(difference, mstype.float32)
    return reduced(difference * difference, reduction)


def l1_loss(input: Tensor, target: Tensor, reduction: str = "mean") -> Tensor:
    """Return |input - target|, or its mean or sum.

    Args:
        input: numbers.
        target: numbers of a shape that broadcasts with `input`.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the broadcast shape.

    Raises:
        TypeError: if an argument is no Tensor.
        ValueError: if the shapes do not broadcast, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.l1_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 4.0])))
        1.0
    """
    check_pair("l1_loss", input, target, reduction)
    if arguments.is_float(input._element) and arguments.is_float(target._element):
        return reduced(absolute_difference(input, target), reduction)
    return reduced(ops.abs(input - target), reduction)


@raises(reduction=(TypeError, ValueError))
@scalars("beta")
@bools("beta")
def smooth_l1_loss(input: Tensor, target: Tensor, beta: float = 1.0, reduction: str = "none") -> Tensor:
    """Return 0.5 d^2 / beta where d = |input - target| is below beta, else d - 0.5 beta.

    Girshick, "Fast R-CNN", 2015.

    Args:
        input: floats.
        target: floats of the shape of `input`.
        beta: where the parabola ends, 0 or more; 0 gives the L1 loss.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the shape of `input`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ, or `reduction` is another string.
        RuntimeError: if `beta` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.smooth_l1_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([1.5, 4.0])))
        [0.125 1.5  ]
    """
    one_dtype("smooth_l1_loss", "fV", input=input)
    one_dtype("smooth_l1_loss", "fV", target=target)
    owner = "smooth_l1_loss"
    check_pair(owner, input, target, reduction)
    check_same_shape(owner, input, target)
    if arguments.number(beta, "beta", owner) < 0:
        raise RuntimeError(complaint("beta", owner, "0 or more", beta))
    if beta == 0:
        return reduced(absolute_difference(input, target), reduction)
    d = promote_types(numpy_dtype(input), numpy_dtype(target))
    return reduced(smooth_l1(cast_array(input, d), cast_array(target, d), beta), reduction)


def huber_loss(input: Tensor, target: Tensor, reduction: str = "mean", delta: float = 1.0) -> Tensor:
    """Return 0.5 d^2 where d = |input - target| is at most delta, else delta (d - 0.5 delta).

    Huber, "Robust Estimation of a Location Parameter", 1964.

    Args:
        input: floats.
        target: floats of a shape that broadcasts with `input`.
        reduction: "mean", "sum" or "none".
        delta: where the parabola ends, above 0.

    Returns:
        Tensor: a scalar, or with "none" of the broadcast shape.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `delta` is not above 0, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.huber_loss(ms.Tensor([1.0, 2.0]), ms.Tensor([1.5, 4.0]), "none"))
        [0.125 1.5  ]
    """
    check_pair("huber_loss", input, target, reduction)
    if arguments.number(delta, "delta", "huber_loss") <= 0:
        raise ValueError(complaint("delta", "huber_loss", "a number above 0", delta))
    if input.shape == target.shape:
        d = promote_types(numpy_dtype(input), numpy_dtype(target))
        loss = smooth_l1(cast_array(input, d), cast_array(target, d), delta)
        return reduced(loss if delta == 1 else loss * delta, reduction)
    difference = ops.abs(input - target)
    outer = delta * (difference - 0.5 * delta)
    return reduced(ops.select(difference <= delta, 0.5 * difference * difference, outer), reduction)


class LogLoss(Primitive):
    """-(y log x + (1 - y) log(1 - x)), element by element; logarithms of at least 1e-12."""

    keeps = (0, 1)

    @quiet
    def forward(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        wide = working_type(x.dtype)
        x, y, kind = converted(x, wide), converted(y, wide), x.dtype
        least = np.asarray(1e-12, wide)
        log = pointwise.log(pointwise.apply(np.maximum, x, least))
        other = pointwise.of_numpy(np.log1p, pointwise.apply(np.negative, x))  # 1 - x would lose a small x
        other = pointwise.apply(np.maximum, other, np.asarray(np.log(least)))
        loss = pointwise.apply(np.multiply, y, log)
        rest = pointwise.apply(np.multiply, pointwise.apply(np.subtract, y, np.ones((), wide)), other)
        return converted(pointwise.apply(np.subtract, rest, loss), kind)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        dx = dout * (x - y) / ops.maximum(x * (1 - x), 1e-12)
        dy = None
        if wanted(y):
            dy = dout * (ops.log(ops.maximum(1 - x, 1e-12)) - ops.log(ops.maximum(x, 1e-12)))
        return dx, dy


@raises(reduction=(TypeError, ValueError))
def binary_cross_entropy(
    logits: Tensor, labels: Tensor, weight: Tensor | None = None, reduction: str = "mean"
) -> Tensor:
    """Return -weight (labels log x + (1 - labels) log(1 - x)) for probabilities x.

    Args:
        logits: probabilities, floats in [0, 1].
        labels: floats of the shape of `logits`.
        weight: of a shape that broadcasts with `logits`, or None for ones.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the shape of `logits`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ, or `reduction` is another string.
        RuntimeError: if `logits` leaves [0, 1].

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.binary_cross_entropy(ms.Tensor([0.5]), ms.Tensor([1.0])))
        0.6931472
    """
    one_dtype("binary_cross_entropy", "fV", logits=logits, labels=labels)
    if weight is not None:
        one_dtype("binary_cross_entropy", logits=logits, weight=check_weight("binary_cross_entropy", logits, weight))
    owner = "binary_cross_entropy"
    check_pair(owner, logits, labels, reduction, "logits", "labels")
    check_same_shape(owner, logits, labels, "logits", "labels")
    x = arguments.floating(logits.array(), "logits", owner, complex_too=False)
    found = converted(x, working_type(x.dtype))
    if x.size and not (found.min() >= 0 and found.max() <= 1):
        raise RuntimeError(
            f"For '{owner}', 'logits' must be in [0, 1], but got values from {x.min()} to {x.max()}; "
            "apply a sigmoid, or use binary_cross_entropy_with_logits."
        )
    loss = LogLoss()(logits, labels)
    return reduced(loss if weight is None else loss * weight, reduction)


@raises(reduction=(TypeError, ValueError))
def binary_cross_entropy_with_logits(
    input: Tensor,
    target: Tensor,
    weight: Tensor | None = None,
    pos_weight: Tensor | None = None,
    reduction: str = "mean",
) -> Tensor:
    """Return the binary cross entropy between sigmoid(input) and a target.

    weight ((1 - y) x + (1 + (pos_weight - 1) y) log(1 + exp(-x))), without overflow.

    Args:
        input: logits x, floats.
        target: y, floats of the shape of `input`.
        weight: of a shape that broadcasts with `input`, or None for ones.
        pos_weight: weight of positive examples, of such a shape, or None for ones.
        reduction: "mean", "sum" or "none".

    Returns:
        Tensor: a scalar, or with "none" of the shape of `input`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.binary_cross_entropy_with_logits(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.6931472
    """
    not_of(pos_weight, "?ibhlBHILFD", "pos_weight", "binary_cross_entropy_with_logits")
    not_of(weight, "?ibhlBHILFD", "weight", "binary_cross_entropy_with_logits")
    one_dtype("binary_cross_entropy_with_logits", "fV", input=input, target=target)
    owner = "binary_cross_entropy_with_logits"
    check_pair(owner, input, target, reduction)
    check_same_shape(owner, input, target)
    falling = _softplus(-input)
    if pos_weight is not None:
        falling = (1 + (arguments.tensor(pos_weight, "pos_weight", owner) - 1) * target) * falling
    loss = (1 - target) * input + falling
    return reduced(loss if weight is None else loss * check_weight(owner, input, weight), reduction)


def kl_div(logits: Tensor, labels: Tensor, reduction: str = "mean") -> Tensor:
    """Return the Kullback-Leibler divergence labels (log labels - logits), 0 where labels is 0.

    Args:
        logits: log probabilities, floats.
        labels: probabilities, floats of the shape of `logits`.
        reduction: "mean" over all elements, "batchmean" (the sum over the first length), "sum" or
            "none".

    Returns:
        Tensor: a scalar, or with "none" of the shape of `logits`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes differ, or `reduction` is another string.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.kl_div(ms.Tensor([0.0]), ms.Tensor([1.0])))
        0.0
    """
    one_dtype("kl_div", "fV", logits=logits, labels=labels)
    check_string(reduction, "reduction", "kl_div", ["none", "mean", "batchmean", "sum"])
    check_pair("kl_div", logits, labels, "none", "logits", "labels")
    check_same_shape("kl_div", logits, labels, "logits", "labels")
    arguments.floating(logits.array(), "logits", "kl_div", complex_too=False)
    positive = labels > 0
    safe = ops.select(positive, labels, ops.ones_like(labels))
    loss = ops.select(positive, labels * (ops.log(safe) - logits), ops.zeros_like(logits))
    if reduction == "batchmean":
        return reduced(loss, "sum") / max(logits.shape[0] if logits.ndim else 1, 1)
    return reduced(loss, reduction)
