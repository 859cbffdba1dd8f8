"""Perplexity: how many classes a model hesitates between."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_int
from dist_ms.train.metrics.metric import MeanMetric, rearrange_inputs


class Perplexity(MeanMetric):
    r"""The exponential of the mean negative log-probability of the right classes.

    .. math:: \text{PPL} = \exp\Big(-\frac{1}{n} \sum_i \log p_i\Big)

    Args:
        ignore_label: labels of this value do not count; None counts all.

    Raises:
        TypeError: if `ignore_label` is no int.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.Perplexity(ignore_label=None)
        >>> metric.update(np.array([[0.5, 0.5], [0.5, 0.5]]), np.array([1, 0]))
        >>> metric.eval()
        2.0
    """

    sums = ("_sum_metric", "_num_inst")

    def __init__(self, ignore_label: int | None = None) -> None:
        super().__init__()
        if ignore_label is not None:
            check_int(ignore_label, "ignore_label", "Perplexity")
        self.ignore_label = ignore_label

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See one batch of (probabilities (..., C), labels (...)).

        Raises:
            ValueError: if the number of inputs is wrong.
            RuntimeError: if there is not one label for each row of probabilities.
        """
        pred, label = (self._convert_data(d) for d in self._expect(inputs, "output", "label"))
        if label.size * pred.shape[-1] != pred.size:
            raise RuntimeError(
                "For 'Perplexity.update', the labels must have the shape of the outputs without "
                f"their last axis, but got shapes {label.shape} and {pred.shape}."
            )
        label = label.reshape(-1).astype(int)
        right = pred.reshape(-1, pred.shape[-1])[np.arange(label.size), label]
        right = right.astype(np.result_type(right, np.float32), copy=False)
        if self.ignore_label is not None:
            right = right[label != self.ignore_label]
        self._add(-float(np.log(np.maximum(1e-10, right)).sum()), right.size)

    def eval(self) -> float:
        """Return the perplexity so far.

        Raises:
            RuntimeError: if nothing was seen.
        """
        return math.exp(super().eval())
