"""MAE and MSE: the mean absolute and the mean squared error."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.train.metrics.metric import MeanMetric, rearrange_inputs


class _MeanError(MeanMetric):
    """The mean over the labels' first axis of what a function makes of the differences."""

    sums = ("_error_sum", "_samples_num")
    _size: Any  # a function of an array

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels).

        Raises:
            ValueError: if the number of inputs or the shapes do not fit.
        """
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        self._add(float(self._size(y.reshape(y_pred.shape) - y_pred).sum()), len(inputs[1]))


class MAE(_MeanError):
    r"""Mean absolute error.

    .. math:: \text{MAE} = \frac{1}{n} \sum_i |y_i - \hat y_i|

    with all differences in the sum and n the length of the labels' first axis.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.MAE()
        >>> metric.update(np.array([0.0, 1.0]), np.array([1.0, 1.0]))
        >>> metric.eval()
        0.5
    """

    _size = staticmethod(np.abs)


class MSE(_MeanError):
    r"""Mean squared error.

    .. math:: \text{MSE} = \frac{1}{n} \sum_i (y_i - \hat y_i)^2

    with all differences in the sum and n the length of the labels' first axis.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.MSE()
        >>> metric.update(np.array([0.0, 1.0]), np.array([1.0, 3.0]))
        >>> metric.eval()
        2.5
    """

    _size = staticmethod(np.square)
