"""The negative log likelihood of labels as one operation, without class weights."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext.tape import Kept
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.kernels import label_likelihood as kernels
from dist_ms.ops.layout import contiguous, converted, kernel_type, working_type
from dist_ms.ops.primitive import Primitive

__all__: list[str] = []


class LabelLikelihood(Primitive):
    """-x[i, labels[i]] of each row, 0 in the rows ignored, reduced.

    Args:
        owner: the name used in errors.
        ignore_index: the label whose rows do not count.
        reduction: "mean" divides the sum by the number of rows that count, NaN if none does.

    Call:
        x: (rows, columns), floats; those of 16 bits are added in float32.
        labels: int32 or int64 (rows,).
        kept: gets the number that all losses are multiplied by.
    """

    keeps = (1,)

    def __init__(self, owner: str, ignore_index: int, reduction: str) -> None:
        self.name, self._ignore, self._reduction = owner, ignore_index, reduction

    def forward(self, x: np.ndarray, labels: np.ndarray, kept: Kept) -> np.ndarray:
        loss = np.empty(x.shape[0], x.dtype)
        try:
            counted = kernels.forward(contiguous(x), contiguous(labels), self._ignore, loss)
        except ValueError as error:
            raise RuntimeError(str(error).replace("label_likelihood.forward", self.name)) from None
        kept.value = 1.0
        if self._reduction == "mean":
            kept.value = 1.0 / counted if counted else float("nan")
        if self._reduction == "none":
            return loss
        return np.asarray(np.add.reduce(converted(loss, working_type(x.dtype))) * kept.value, x.dtype)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, labels, kept = inputs
        return LabelLikelihoodGrad(self, kept.value, x.shape)(dout, labels), None, None


class LabelLikelihoodGrad(Primitive):
    """The transpose of `LabelLikelihood`, which is linear.

    Args:
        likelihood: the operation.
        factor: what it multiplied the losses by.
        shape: (rows, columns).
    """

    keeps = (1,)

    def __init__(self, likelihood: LabelLikelihood, factor: float, shape: tuple) -> None:
        self._likelihood, self._factor, self._shape = likelihood, factor, shape

    def forward(self, dy: np.ndarray, labels: np.ndarray) -> np.ndarray:
        factors, dx = np.empty(self._shape[0], dy.dtype), np.empty(self._shape, dy.dtype)
        wide = working_type(dy.dtype)
        factors[...] = np.asarray(converted(dy, wide) * wide.type(self._factor)).astype(dy.dtype)
        kernels.backward(factors, contiguous(labels), self._likelihood._ignore, dx)
        return dx

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return self._likelihood(dout, inputs[1], Kept()), None


def is_plain(x: Tensor, weight: Any, smoothing: float) -> bool:
    """Whether `LabelLikelihood` can compute the loss of rows."""
    return weight is None and not smoothing and kernel_type(x._element) is x._element and x.shape[0] > 0


def likelihood(owner: str, x: Tensor, labels: np.ndarray, ignore_index: int, reduction: str) -> Tensor:
    """The loss of rows of log probabilities."""
    return LabelLikelihood(owner, ignore_index, reduction)(x, wrap(labels), Kept())
