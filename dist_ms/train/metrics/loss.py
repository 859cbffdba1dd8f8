"""Loss: the mean loss over batches."""

from __future__ import annotations

from typing import Any

from dist_ms.train.metrics.metric import Metric, rearrange_inputs


class Loss(Metric):
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

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        self._sum_loss = 0.0
        self._total_num = 0

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
        self._sum_loss += float(loss.mean())
        self._total_num += 1

    def eval(self) -> float:
        """Return the mean so far.

        Raises:
            RuntimeError: if nothing was seen.
        """
        self._need(self._total_num)
        return self._sum_loss / self._total_num
