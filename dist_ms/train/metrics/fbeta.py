"""Fbeta and F1: precision and recall in one number."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.train.metrics.classes import ClassMetric, class_numbers
from dist_ms.train.metrics.metric import rearrange_inputs

_EPS = sys.float_info.min


class Fbeta(ClassMetric):
    r"""The weighted harmonic mean of precision and recall, per class.

    .. math:: F_\beta = \frac{(1 + \beta^2) TP}{(1 + \beta^2) TP + \beta^2 FN + FP}

    Args:
        beta: the weight of recall, above 0.

    Raises:
        ValueError: if `beta` is not above 0.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.Fbeta(2)
        >>> metric.update(np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7]]), np.array([1, 0, 0]))
        >>> print(metric.eval().round(4))
        [0.5556 0.8333]
    """

    sums = ("_true_positives", "_actual_positives", "_positives")

    def __init__(self, beta: float) -> None:
        super().__init__("classification")
        if not beta > 0:
            raise ValueError(f"For 'Fbeta', 'beta' must be a number above 0, but got {beta}.")
        self.beta = beta
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._true_positives: Any = 0.0
        self._actual_positives: Any = 0.0
        self._positives: Any = 0.0
        self._class_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (scores, labels).

        Raises:
            ValueError: if the number of inputs, the shapes or the values do not fit.
        """
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        y = class_numbers(y_pred, y)
        self._count_classes(y_pred)
        predicted, actual = self._one_hots(y_pred, y)
        self._true_positives = self._true_positives + (predicted * actual).sum(axis=0)
        self._positives = self._positives + predicted.sum(axis=0)
        self._actual_positives = self._actual_positives + actual.sum(axis=0)

    def eval(self, average: bool = False) -> np.ndarray | float:
        """Return the value of each class, or their mean.

        Args:
            average: return the mean.

        Raises:
            RuntimeError: if nothing was seen.
            TypeError: if `average` is no bool.
        """
        check_bool(average, "average", type(self).__name__)
        self._need(self._class_num)
        square = self.beta**2
        below = square * self._actual_positives + self._positives + _EPS
        fbeta = (1.0 + square) * self._true_positives / below
        return float(fbeta.mean()) if average else fbeta


class F1(Fbeta):
    r"""The harmonic mean of precision and recall, per class.

    .. math:: F_1 = \frac{2 TP}{2 TP + FN + FP}

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.F1()
        >>> metric.update(np.array([[0.2, 0.8], [0.9, 0.1], [0.3, 0.7]]), np.array([1, 0, 0]))
        >>> print(metric.eval().round(4))
        [0.6667 0.6667]
    """

    def __init__(self) -> None:
        super().__init__(1.0)
