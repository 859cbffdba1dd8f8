"""ConfusionMatrixMetric: rates of a confusion matrix over images."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string
from dist_ms.train.metrics.confusion.confusion_rates import rate
from dist_ms.train.metrics.metric import Metric, rearrange_inputs

_DECREASES = ("none", "mean", "sum", "mean_batch", "sum_batch", "mean_channel", "sum_channel")


class ConfusionMatrixMetric(Metric):
    """A rate of the confusion matrix of one-hot outputs, overall or averaged over images.

    Args:
        skip_channel: count channel 0 as well; False leaves it out where there are others.
        metric_name: a rate, such as "sensitivity", "tpr", "precision", "f1", "mcc",
            "accuracy" or "balanced accuracy".
        calculation_method: compute the rate of each image and channel and take the mean over
            those where it is defined; else add the counts up first. Outputs without more than
            two dimensions (or a third of length 1) are always added up.
        decrease: how images and channels are put together with `calculation_method`: "none",
            or "mean" or "sum" of all, "..._batch" over images, "..._channel" over channels.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another `decrease`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.ConfusionMatrixMetric(metric_name="tpr")
        >>> metric.update(np.array([[[0], [1]], [[1], [0]]]), np.array([[[0], [1]], [[0], [1]]]))
        >>> print(metric.eval())
        [0.5]
    """

    sums = ("_total_num", "_class_num", "_totals")
    largest = ("_per_image",)

    def __init__(
        self,
        skip_channel: bool = True,
        metric_name: str = "sensitivity",
        calculation_method: bool = False,
        decrease: str = "mean",
    ) -> None:
        super().__init__()
        owner = "ConfusionMatrixMetric"
        self.skip_channel = check_bool(skip_channel, "skip_channel", owner)
        self.calculation_method = check_bool(calculation_method, "calculation_method", owner)
        self.metric_name = check_string(metric_name, "metric_name", owner)
        check_string(decrease, "decrease", owner)
        self.decrease = check_string(decrease, "decrease", owner, _DECREASES)
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._total_num = 0.0
        self._class_num = 0
        self._totals = np.zeros(4)
        self._per_image: bool | None = None

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (outputs, labels), both (N, C, ...) of 0 and 1.

        Raises:
            ValueError: if the number of inputs, the shapes or the labels' values do not fit.
        """
        y_pred, y = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        counts = self._counts(y_pred, y)
        self._per_image = (
            self.calculation_method and y_pred.ndim > 2 and not (y_pred.ndim == 3 and y_pred.shape[-1] == 1)
        )
        if not self._per_image:
            self._totals += counts.sum(axis=(0, 1))
            return
        values, defined = _decreased(rate(self.metric_name, counts), self.decrease)
        self._total_num += float((values * defined).sum())
        self._class_num += int(defined.sum())

    def _counts(self, y_pred: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Return true and false positives and negatives, (N, C, 4)."""
        if not np.all(y.astype(np.uint8) == y):
            raise ValueError("For 'ConfusionMatrixMetric.update', the labels must be 0 or 1, but got others.")
        if y_pred.ndim < 2 or y_pred.shape != y.shape:
            raise ValueError(
                "For 'ConfusionMatrixMetric.update', outputs and labels must have one shape, of "
                f"at least 2 dimensions, but got {y_pred.shape} and {y.shape}."
            )
        if not self.skip_channel and y.shape[1] > 1:
            y, y_pred = y[:, 1:], y_pred[:, 1:]
        y = y.astype(float).reshape(*y.shape[:2], -1)
        both = y + y_pred.astype(float).reshape(y.shape)
        tp, tn = (both == 2).sum(axis=2), (both == 0).sum(axis=2)
        positives = y.sum(axis=2)
        fn = positives - tp
        fp = y.shape[-1] - positives - tn
        return np.stack([tp, fp, tn, fn], axis=-1)

    def eval(self) -> np.ndarray | float:
        """Return the rate so far: an array of one element, or the mean over images.

        Raises:
            RuntimeError: if no image was seen where the rate is defined.
            NotImplementedError: if `metric_name` is unknown.
        """
        if self.calculation_method and self._per_image is not False:
            self._need(self._class_num)
            return self._total_num / self._class_num
        return rate(self.metric_name, self._totals[np.newaxis])


def _decreased(values: np.ndarray, how: str) -> tuple[np.ndarray, np.ndarray]:
    """Put (N, C) values together; returns them and how many stand behind each."""
    defined = (~np.isnan(values)).astype(float)
    values = np.where(defined > 0, values, 0.0)
    if how == "none":
        return values, defined
    if how == "mean":
        values, defined = _mean(values, defined, 1)
        return _mean(values, (defined > 0).astype(float), 0)
    kind, _, where = how.partition("_")
    axis: Any = {"": (0, 1), "batch": 0, "channel": 1}[where]
    if kind == "mean":
        return _mean(values, defined, axis)
    return values.sum(axis=axis), defined.sum(axis=axis)


def _mean(values: np.ndarray, defined: np.ndarray, axis: Any) -> tuple[np.ndarray, np.ndarray]:
    """The mean of those defined, 0 where none is."""
    count = defined.sum(axis=axis)
    return values.sum(axis=axis) / np.maximum(count, 1), count
