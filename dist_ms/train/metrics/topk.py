"""TopKCategoricalAccuracy: how often the right class is among the k best scores."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.train.metrics.classes import class_numbers
from dist_ms.train.metrics.metric import MeanMetric, rearrange_inputs


class TopKCategoricalAccuracy(MeanMetric):
    """The share of samples whose class is among the k with the highest scores.

    Args:
        k: how many classes count.

    Raises:
        TypeError: if `k` is no int.
        ValueError: if `k` is below 1.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.TopKCategoricalAccuracy(2)
        >>> metric.update(np.array([[0.2, 0.5, 0.3], [0.1, 0.3, 0.6]]), np.array([2, 0]))
        >>> metric.eval()
        0.5
    """

    sums = ("_correct_num", "_samples_num")

    def __init__(self, k: int) -> None:
        super().__init__()
        owner = "TopKCategoricalAccuracy"
        if not isinstance(k, int):
            raise TypeError(f"For '{owner}', 'k' must be an int, but got {type(k).__name__}.")
        if k < 1:
            raise ValueError(f"For '{owner}', 'k' must be at least 1, but got {k}.")
        self.k = k

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (scores (N, C), labels (N,) or one-hot).

        Raises:
            ValueError: if the number of inputs or the shapes do not fit, or there are fewer than k classes.
        """
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        if y_pred.ndim > 1 and y_pred.shape[1] < self.k:
            raise ValueError(
                f"For '{type(self).__name__}.update', the outputs must have at least k = {self.k} classes, but got "
                f"the shape {y_pred.shape}: give a smaller 'k', or leave the metric out."
            )
        y = class_numbers(y_pred, y).reshape(-1, 1)
        best = np.argsort(-y_pred, axis=1)[:, : self.k]
        self._add(int((best == y).sum()), len(y))


class Top1CategoricalAccuracy(TopKCategoricalAccuracy):
    """`TopKCategoricalAccuracy` with k = 1.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> ms.train.Top1CategoricalAccuracy()(np.array([[0.2, 0.8], [0.9, 0.1]]), np.array([1, 1]))
        0.5
    """

    def __init__(self) -> None:
        super().__init__(1)


class Top5CategoricalAccuracy(TopKCategoricalAccuracy):
    """`TopKCategoricalAccuracy` with k = 5.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> ms.train.Top5CategoricalAccuracy()(np.arange(6.0).reshape(1, 6), np.array([0]))
        0.0
    """

    def __init__(self) -> None:
        super().__init__(5)
