"""ROC: the true and false positive rates at every threshold."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_int
from dist_ms.train.metrics.metric import Metric, rearrange_inputs


class ROC(Metric):
    """The receiver operating characteristic of the latest batch (of all ranks' latest batches).

    Args:
        class_num: the number of classes, for scores (N, C); None for scores of one class.
        pos_label: the label that counts as positive, for scores of one class; 1 by default.

    Raises:
        TypeError: if one is no int.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.ROC(pos_label=1)
        >>> metric.update(np.array([0.9, 0.2, 0.6]), np.array([1, 0, 0]))
        >>> fpr, tpr, thresholds = metric.eval()
        >>> print(fpr, tpr, thresholds)
        [0.  0.  0.5 1. ] [0. 1. 1. 1.] [1.9 0.9 0.6 0.2]
    """

    rows = ("y_pred", "y")
    largest = ("class_num", "pos_label", "_is_update")

    def __init__(self, class_num: int | None = None, pos_label: int | None = None) -> None:
        super().__init__()
        for name, value in (("class_num", class_num), ("pos_label", pos_label)):
            if value is not None:
                check_int(value, name, "ROC")
        self.class_num = class_num
        self.pos_label = pos_label
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self.y_pred: Any = 0
        self.y: Any = 0
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch, in the place of the one before.

        Args:
            inputs: scores and labels of one shape, or scores (N, C, ...) and labels (N, ...).

        Raises:
            ValueError: if the number of inputs, the shapes or the class number do not fit.
        """
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        if y_pred.ndim == y.ndim:
            self._check("class_num", self.class_num, (None, 1), "1 (or None) for scores of one class")
            self.class_num = 1
            if self.pos_label is None:
                self.pos_label = 1
            y_pred = y_pred.reshape(-1)
        elif y_pred.ndim == y.ndim + 1:
            self._check("pos_label", self.pos_label, (None,), "None for scores of several classes")
            classes = y_pred.shape[1]
            self._check("class_num", self.class_num, (classes,), f"the number of classes {classes}")
            y_pred = np.moveaxis(y_pred, 1, -1).reshape(-1, classes)
        else:
            raise ValueError(
                "For 'ROC.update', the outputs must have as many dimensions as the labels or one "
                f"more, but got {y_pred.ndim} and {y.ndim}."
            )
        self.y_pred, self.y = y_pred, y.reshape(-1)
        self._is_update = True

    @staticmethod
    def _check(name: str, value: Any, allowed: tuple, wanted: str) -> None:
        if value not in allowed:
            raise ValueError(f"For 'ROC', '{name}' must be {wanted}, but got {value}.")

    def eval(self) -> tuple[Any, Any, Any]:
        """Return (false positive rates, true positive rates, thresholds).

        Each is an array, or with several classes a list of one array per class. The first
        threshold lies above all scores.

        Raises:
            RuntimeError: if nothing was seen.
            ValueError: if there is no positive or no negative sample.
        """
        self._need(self._is_update)
        if self.class_num is None or self.class_num == 1:
            return _curve(self.y_pred, self.y == self.pos_label)
        curves = [_curve(self.y_pred[:, c], self.y == c) for c in range(self.class_num)]
        false, true, thresholds = map(list, zip(*curves, strict=True))
        return false, true, thresholds


def _curve(scores: np.ndarray, positive: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the curve of one class: every distinct score is a threshold, the highest first."""
    order = np.argsort(-scores, kind="stable")
    scores, positive = scores[order], positive[order]
    last = np.append(np.flatnonzero(np.diff(scores)), scores.size - 1)
    true = np.cumsum(positive)[last]
    false = last + 1 - true
    for count, what in ((false, "negative"), (true, "positive")):
        if count[-1] <= 0:
            raise ValueError(f"For 'ROC.eval', the labels must have {what} samples, but got none.")
    start = np.zeros(1)
    thresholds = np.concatenate([scores[last[:1]] + 1, scores[last]])
    return (
        np.concatenate([start, false / false[-1]]),
        np.concatenate([start, true / true[-1]]),
        thresholds,
    )
