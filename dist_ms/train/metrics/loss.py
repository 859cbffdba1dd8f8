"""Loss: the mean loss over batches."""

from __future__ import annotations

from typing import Any

from dist_ms.train.metrics.metric import MeanMetric, rearrange_inputs


class Loss(MeanMetric):
    """The mean of the losses of all batches.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> metric = ms.train.Loss()
        >>> metric.update(np.array(0.25))
        >>> metric.update(np.array([0.5, 1.0]))
        >>> metric.eval()
        0.5
    """

    sums = ("_sum_loss", "_total_num")
    needs_loss = True

    @rearrange_inputs
    def update(self, *inputs: Any) -> None:
        """See the loss of one batch: a number, or an array whose mean counts.

        Args:
            inputs: the loss alone.

        Raises:
            ValueError: if there is another number of inputs, or the loss has 2 dimensions or more.
        """
        (loss,) = self._expect(inputs, "loss")
        loss = self._convert_data(loss)
        if loss.ndim > 1:
            raise ValueError(f"For 'Loss.update', the dimension of the loss must be 0 or 1, but got {loss.ndim}.")
        self._add(float(loss.mean()), 1)
