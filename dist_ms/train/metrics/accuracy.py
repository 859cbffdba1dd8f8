"""Accuracy: the part of predictions that are right."""

from __future__ import annotations

from typing import Any

from dist_ms.train.metrics.classes import ClassMetric
from dist_ms.train.metrics.metric import rearrange_inputs


class Accuracy(ClassMetric):
    r"""The share of right predictions, :math:`(TP + TN) / \text{all}`.

    Args:
        eval_type: "classification": output (N, C, ...) of scores, labels (N, ...) or one-hot;
            "multilabel": output and labels (N, C) of 0 and 1, right when the whole row agrees.

    Raises:
        TypeError: for another `eval_type`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.Accuracy()
        >>> metric.update(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([1, 1]))
        >>> metric.eval()
        0.5
    """

    sums = ("_correct_num", "_total_num")

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._correct_num = 0
        self._total_num = 0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels).

        Raises:
            ValueError: if the number of inputs, the shapes or the values do not fit.
        """
        y_pred, y = self._pair(inputs)
        if self._type == "classification":
            right = y_pred.argmax(axis=1) == y
        else:
            last = y_pred.ndim - 1
            right = (y_pred.swapaxes(1, last) == y.swapaxes(1, last)).reshape(-1, self._class_num)
            right = right.all(axis=1)
        self._correct_num += int(right.sum())
        self._total_num += right.size

    def eval(self) -> float:
        """Return the accuracy so far.

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._total_num)
        return self._correct_num / self._total_num
