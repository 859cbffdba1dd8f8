"""ConfusionMatrix: how often each class was taken for each other."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_float, check_int, check_string
from dist_ms.train.metrics.metric import Metric, rearrange_inputs

_NORMS = ("no_norm", "target", "prediction", "all")


class ConfusionMatrix(Metric):
    """Counts of (true class, predicted class), rows for the true ones.

    Args:
        num_classes: the number of classes.
        normalize: "no_norm" for counts; "target" divides each row by its sum, "prediction" each
            column, "all" everything by the number of samples.
        threshold: scores without a class axis count as class 1 from here on.

    Raises:
        TypeError: if `num_classes` is no int or `threshold` no float.
        ValueError: for another `normalize`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.ConfusionMatrix(num_classes=2)
        >>> metric.update(np.array([1, 0, 1, 0]), np.array([1, 0, 0, 0]))
        >>> print(metric.eval())
        [[2. 1.]
         [0. 1.]]
    """

    sums = ("confusion_matrix",)
    largest = ("_is_update",)

    def __init__(self, num_classes: int, normalize: str = "no_norm", threshold: float = 0.5) -> None:
        super().__init__()
        self.num_classes = check_int(num_classes, "num_classes", "ConfusionMatrix")
        self.normalize = check_string(normalize, "normalize", "ConfusionMatrix", _NORMS)
        self.threshold = check_float(threshold, "threshold", "ConfusionMatrix")
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self.confusion_matrix = np.zeros((self.num_classes, self.num_classes))
        self._is_update = False

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels).

        Args:
            inputs: labels (N, ...) and outputs: scores (N, C, ...), or class numbers or scores of
                class 1 in the shape of the labels.

        Raises:
            ValueError: if the number of inputs, the shapes or the class numbers do not fit.
        """
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        if y_pred.ndim not in (y.ndim, y.ndim + 1):
            raise ValueError(
                "For 'ConfusionMatrix.update', the outputs must have as many dimensions as the "
                f"labels or one more, but got {y_pred.ndim} and {y.ndim}."
            )
        if y_pred.ndim == y.ndim + 1:
            y_pred = y_pred.argmax(axis=1)
        elif y_pred.dtype.kind == "f":
            y_pred = y_pred >= self.threshold
        n = self.num_classes
        if y.size and max(y.max(), y_pred.max()) >= n:
            raise ValueError(
                f"For 'ConfusionMatrix.update', classes must be below 'num_classes' {n}, but got "
                f"{max(y.max(), y_pred.max())}."
            )
        pairs = (y.reshape(-1) * n + y_pred.reshape(-1)).astype(int)
        self.confusion_matrix += np.bincount(pairs, minlength=n * n).reshape(n, n)
        self._is_update = True

    def eval(self) -> np.ndarray:
        """Return the matrix so far, of float64; where nothing was counted, quotients are 0.

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._is_update)
        counts = self.confusion_matrix.astype(float)
        if self.normalize == "no_norm":
            return counts
        axis = {"target": 1, "prediction": 0, "all": None}[self.normalize]
        total = counts.sum(axis=axis, keepdims=True)
        return np.divide(counts, total, out=np.zeros_like(counts), where=total != 0)
