"""MAE and MSE: the mean absolute and the mean squared error."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.train.metrics.metric import Metric, rearrange_inputs


def _difference(metric: Metric, inputs: tuple) -> np.ndarray:
    """Return label - output of one batch."""
    y_pred, y = (metric._convert_data(d) for d in metric._expect(inputs, "output", "label"))
    return y.reshape(y_pred.shape) - y_pred


class MAE(Metric):
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

    sums = ("_abs_error_sum", "_samples_num")

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._abs_error_sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels).

        Raises:
            ValueError: if the number of inputs or the shapes do not fit.
        """
        difference = _difference(self, inputs)
        self._abs_error_sum += float(np.abs(difference).sum())
        self._samples_num += len(inputs[1])

    def eval(self) -> float:
        """Return the error so far.

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._samples_num)
        return self._abs_error_sum / self._samples_num


class MSE(Metric):
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

    sums = ("_squared_error_sum", "_samples_num")

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._squared_error_sum = 0.0
        self._samples_num = 0

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels).

        Raises:
            ValueError: if the number of inputs or the shapes do not fit.
        """
        difference = _difference(self, inputs)
        self._squared_error_sum += float(np.square(difference).sum())
        self._samples_num += len(inputs[1])

    def eval(self) -> float:
        """Return the error so far.

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._samples_num)
        return self._squared_error_sum / self._samples_num
