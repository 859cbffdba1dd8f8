"""Precision and Recall: how many of the predicted, or of the actual, positives are right."""

from __future__ import annotations

import sys
from abc import abstractmethod
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.train.metrics.classes import ClassMetric
from dist_ms.train.metrics.metric import rearrange_inputs

_EPS = sys.float_info.min


class _Ratio(ClassMetric):
    """True positives over a count, per class or (multilabel) per sample."""

    def __init__(self, eval_type: str = "classification") -> None:
        super().__init__(eval_type)
        if eval_type == "multilabel":
            self.rows = ("_true_positives", "_counts")
            self.sums = ("_average_sum", "_average_num")
        else:
            self.sums = ("_true_positives", "_counts")
        self.clear()

    @staticmethod
    @abstractmethod
    def _counted(y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return which of the two the true positives are divided by."""

    def clear(self) -> None:
        """Forget everything seen."""
        self._class_num = 0
        multilabel = self._type == "multilabel"
        self._true_positives: Any = np.empty(0) if multilabel else 0.0
        self._counts: Any = np.empty(0) if multilabel else 0.0
        self._average_sum, self._average_num = 0.0, 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels).

        Raises:
            ValueError: if the number of inputs, the shapes or the values do not fit.
        """
        y_pred, y = self._pair(inputs)
        if self._type == "classification":
            y_pred, y = self._one_hots(y_pred, y)
        else:
            y_pred = y_pred.swapaxes(1, 0).reshape(self._class_num, -1)
            y = y.swapaxes(1, 0).reshape(self._class_num, -1)
        hits = (y_pred * y).sum(axis=0)
        counts = self._counted(y_pred, y).sum(axis=0)
        if self._type == "classification":
            self._true_positives = self._true_positives + hits
            self._counts = self._counts + counts
        else:
            self._true_positives = np.concatenate((self._true_positives, hits))
            self._counts = np.concatenate((self._counts, counts))
            self._average_sum += float((hits / (counts + _EPS)).sum())
            self._average_num += counts.size

    def eval(self, average: bool = False) -> np.ndarray | float:
        """Return the value of each class (multilabel: of each sample), or their mean.

        Args:
            average: return the mean.

        Raises:
            RuntimeError: if nothing was seen.
            TypeError: if `average` is no bool.
        """
        self._need(self._class_num)
        check_bool(average, "average", type(self).__name__)
        if average and self._type == "multilabel":
            return self._average_sum / self._average_num
        ratio = self._true_positives / (self._counts + _EPS)
        return float(ratio.mean()) if average else ratio


class Precision(_Ratio):
    r"""The share of right ones among those predicted positive, :math:`TP / (TP + FP)`.

    Args:
        eval_type: "classification" (scores (N, C, ...), labels (N, ...) or one-hot): a value per
            class; "multilabel" (outputs and labels (N, C) of 0 and 1): a value per sample.

    Raises:
        TypeError: for another `eval_type`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.Precision()
        >>> metric.update(np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7]]), np.array([1, 0, 0]))
        >>> print(metric.eval(), metric.eval(average=True))
        [1.  0.5] 0.75
    """

    @staticmethod
    def _counted(y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y_pred


class Recall(_Ratio):
    r"""The share of actual positives that were found, :math:`TP / (TP + FN)`.

    Args:
        eval_type: as for `Precision`.

    Raises:
        TypeError: for another `eval_type`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.Recall()
        >>> metric.update(np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7]]), np.array([1, 0, 0]))
        >>> print(metric.eval())
        [0.5 1. ]
    """

    @staticmethod
    def _counted(y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        return y
