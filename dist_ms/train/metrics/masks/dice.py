"""Dice: how far two sets overlap."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_float
from dist_ms.train.metrics.metric import MeanMetric, rearrange_inputs


class Dice(MeanMetric):
    r"""The Dice coefficients of batches, added up and divided by the number of samples.

    .. math:: \text{dice} = \frac{2 \sum x y}{\sum x^2 + \sum y^2 + \text{smooth}}

    Args:
        smooth: a float above 0 that keeps the denominator from 0.

    Raises:
        TypeError: if `smooth` is no float.
        ValueError: if `smooth` is not above 0.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.Dice(smooth=1e-5)
        >>> metric.update(np.array([[0.0, 1.0]]), np.array([[0.0, 1.0]]))
        >>> round(metric.eval(), 4)
        1.0
    """

    sums = ("_dice_coeff_sum", "_samples_num")

    def __init__(self, smooth: float = 1e-5) -> None:
        super().__init__()
        self.smooth = check_positive_float(smooth, "smooth", "Dice")

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels) of one shape.

        Raises:
            ValueError: if the number of inputs or the shapes do not fit.
        """
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        if y_pred.shape != y.shape:
            raise ValueError(
                f"For 'Dice.update', outputs and labels must have one shape, but got {y_pred.shape} and {y.shape}."
            )
        a, b = y_pred.ravel(), y.ravel()
        size = float(np.dot(a, a) + np.dot(b, b)) + self.smooth
        self._add(2 * float(np.dot(a, b)) / size, len(y))
