"""SoftmaxCrossEntropyWithLogits and its sparse twin, as MindSpore defines them and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import Kept
from dist_ms.common.checks import check_bool
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.activations.softmax import softmax
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import cross_entropy as kernels
from dist_ms.ops.layout import contiguous, working_type
from dist_ms.ops.losses.cross_entropy import LABEL_TYPES, LabelCrossEntropy, LabelCrossEntropyGrad
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping import reshaping

__all__ = ["SoftmaxCrossEntropyWithLogits", "SparseSoftmaxCrossEntropyWithLogits"]


class SoftmaxCrossEntropyWithLogits(Primitive):
    """-sum over c of labels[i, c] log softmax(logits_i)[c], for each row i.

    The gradient of the logits is softmax(logits) - labels, right for labels that sum to 1; the
    labels get none.

    Call:
        logits (Tensor): (N, C) floats.
        labels (Tensor): (N, C), in the dtype of `logits`.

    Returns:
        A tuple (loss (N,), softmax(logits) - labels).

    Raises:
        TypeError: if the dtypes are no floats or differ.
        ValueError: if the shapes differ, or are not of 2 dimensions.

    Examples:
        >>> import dist_ms as ms
        >>> x, labels = ms.Tensor([[0.0, 0.0]]), ms.Tensor([[1.0, 0.0]])
        >>> loss, gradient = ms.ops.SoftmaxCrossEntropyWithLogits()(x, labels)
        >>> print(loss, gradient)
        [0.6931472] [[-0.5  0.5]]
    """

    keeps = (0, 1)
    keeps_output = True

    def forward(self, logits: Any, labels: Any) -> tuple:
        arguments.floating(logits, "logits", self.name, complex_too=False)
        arguments.array(labels, "labels", self.name)
        if labels.dtype != logits.dtype:
            raise TypeError(
                f"For '{self.name}', 'labels' must have the dtype {from_numpy(logits.dtype)} of 'logits', "
                f"but got {from_numpy(labels.dtype)}; cast them, or use the sparse form for integers."
            )
        if logits.ndim != 2 or labels.shape != logits.shape:
            raise ValueError(
                f"For '{self.name}', 'logits' and 'labels' must have one shape (N, C), but got "
                f"{logits.shape} and {labels.shape}."
            )
        rows = contiguous(logits)
        loss, gradient = np.empty(rows.shape[0], working_type(rows.dtype)), np.empty_like(rows)
        kernels.dense_cross_entropy(rows, contiguous(labels), loss, gradient)
        return loss.astype(logits.dtype, copy=False), gradient

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> tuple:
        column = reshaping.reshape(dout[0], (-1, 1))
        return column * _Difference()(*inputs, output[1].array()), None


class _Difference(Primitive):
    """softmax(logits) - labels, which the forward has computed already."""

    keeps = (0, 1)

    def forward(self, logits: np.ndarray, labels: np.ndarray, known: np.ndarray) -> np.ndarray:
        return known

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return (*formula_gradient(lambda logits, labels: softmax(logits, -1) - labels, inputs[:2], dout), None)


class SparseSoftmaxCrossEntropyWithLogits(Primitive):
    """The mean over rows of -log softmax(logits_i)[labels_i].

    Args:
        is_grad: return the gradient of the logits instead.

    Call:
        logits (Tensor): (N, C) floats.
        labels (Tensor): int32 or int64 (N,).

    Raises:
        TypeError: if `logits` holds no floats, or `labels` neither int32 nor int64.
        ValueError: if the shapes do not agree.
        RuntimeError: if a label is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> loss = ms.ops.SparseSoftmaxCrossEntropyWithLogits()
        >>> print(loss(ms.Tensor([[0.0, 0.0]]), ms.Tensor([1])))
        0.6931472
    """

    def __init__(self, is_grad: bool = False) -> None:
        self.is_grad = check_bool(is_grad, "is_grad", "SparseSoftmaxCrossEntropyWithLogits")

    def __call__(self, logits: Tensor, labels: Tensor) -> Tensor:
        loss, kept = label_losses(self.name, logits, labels, mean=True)
        if not self.is_grad:
            return loss
        totals, share = kept.value
        one = wrap(np.ones((), logits.array().dtype))
        return LabelCrossEntropyGrad(_NONE_IGNORED)(one, logits, labels.array(), share, totals)


# No label may be ignored here, so one no table can have stands for it.
_NONE_IGNORED = -(2**62)


def label_losses(owner: str, logits: Tensor, labels: Tensor, mean: bool) -> tuple[Tensor, Kept]:
    """-log softmax of each row at its label, one per row or their mean, and the log softmax."""
    data = arguments.floating(arguments.tensor(logits, "logits", owner).array(), "logits", owner, complex_too=False)
    ids = arguments.tensor(labels, "labels", owner).array()
    if ids.dtype not in LABEL_TYPES:
        raise TypeError(
            f"For '{owner}', 'labels' must be Int32 or Int64, but got {from_numpy(ids.dtype)}; cast them first."
        )
    if data.ndim != 2 or ids.shape != data.shape[:1]:
        raise ValueError(
            f"For '{owner}', 'logits' must be (N, C) and 'labels' (N,), but got shapes {data.shape} and {ids.shape}."
        )
    kept = Kept()
    reduction = "none" if not mean else "mean" if data.shape[0] else "sum"  # the mean of no rows is 0 here
    return LabelCrossEntropy(owner, _NONE_IGNORED, reduction)(logits, labels, None, kept), kept
