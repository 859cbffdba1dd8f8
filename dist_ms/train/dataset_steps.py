"""DatasetHelper: iterates over the batches of a dataset, epoch by epoch."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dist_ms.common.checks import check_bool, check_int
from dist_ms.common.dtype import from_numpy


class DatasetHelper:
    """The batches of a dataset for a training loop written by hand.

    Args:
        dataset: a dataset of `dist_ms.dataset`.
        dataset_sink_mode: must be False: on the CPU batches are never sunk.
        sink_size: accepted; belongs to `dataset_sink_mode`.
        epoch_num: how many epochs may be iterated; -1 for any number.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another sink size.
        RuntimeError: with `dataset_sink_mode`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> data = ms.dataset.NumpySlicesDataset(np.ones((4, 2), np.float32), shuffle=False).batch(2)
        >>> [batch[0].shape for batch in ms.train.DatasetHelper(data, dataset_sink_mode=False)]
        [(2, 2), (2, 2)]
    """

    def __init__(self, dataset: Any, dataset_sink_mode: bool = True, sink_size: int = -1, epoch_num: int = 1) -> None:
        check_bool(dataset_sink_mode, "dataset_sink_mode", "DatasetHelper")
        check_int(sink_size, "sink_size", "DatasetHelper")
        if sink_size < -1 or sink_size == 0:
            raise ValueError(f"For 'DatasetHelper', 'sink_size' must be -1 or positive, but got {sink_size}.")
        if dataset_sink_mode:
            raise RuntimeError(
                "For 'DatasetHelper', 'dataset_sink_mode' must be False on the CPU, but got True: batches are not sunk."
            )
        self.dataset = dataset
        self.iter = dataset.create_tuple_iterator(num_epochs=epoch_num)

    def __iter__(self) -> Iterator[list]:
        return iter(self.iter)

    def types_shapes(self) -> tuple[list, list]:
        """Return the types and the shapes of the columns of the first batch."""
        return [from_numpy(t) for t in self.dataset.output_types()], self.dataset.output_shapes()

    def sink_size(self) -> int:
        """Return how many batches one iteration gives at a time: 1."""
        return 1
