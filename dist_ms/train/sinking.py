"""Functions over a dataset's next batches: on a CPU a batch is handed over, not sunk into a device's queue."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

from dist_ms.common.checks import check_callable, check_positive_int, check_type, complaint
from dist_ms.common.jit import JitConfig
from dist_ms.dataset import Dataset
from dist_ms.nn import Cell
from dist_ms.train.dataset_steps import DatasetHelper

__all__ = ["connect_network_with_dataset", "data_sink"]


def data_sink(
    fn: Callable,
    dataset: Dataset,
    sink_size: int = 1,
    jit_config: JitConfig | None = None,
    input_signature: Any = None,
) -> Callable[[], Any]:
    """A function without arguments that calls another with the next batches of a dataset, which begins anew at its end.

    Args:
        fn: called with the columns of a batch.
        dataset: the batches.
        sink_size: how many batches one call takes.
        jit_config: accepted; nothing is compiled.
        input_signature: accepted, likewise.

    Returns:
        Function, which returns what `fn` returned for the last of its batches.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `sink_size` is not positive, or the dataset is empty.

    Examples:
        >>> import dist_ms as ms
        >>> data = ms.dataset.NumpySlicesDataset([1, 2, 3], ["x"], shuffle=False).batch(1)
        >>> step = ms.data_sink(lambda x: int(x.sum()), data, sink_size=2)
        >>> step(), step()
        (2, 1)
    """
    check_callable(fn, "fn", "data_sink")
    check_type(dataset, "dataset", "data_sink", Dataset)
    check_positive_int(sink_size, "sink_size", "data_sink")
    check_type(jit_config, "jit_config", "data_sink", (JitConfig, type(None)))
    batches = _without_end(dataset)

    @functools.wraps(fn)
    def sunk() -> Any:
        for _ in range(sink_size):
            result = fn(*next(batches))
        return result

    return sunk


def _without_end(dataset: Any) -> Iterator[list]:
    while True:
        batch = None
        for batch in dataset.create_tuple_iterator(num_epochs=1):
            yield batch
        if batch is None:
            raise ValueError(complaint("dataset", "data_sink", "a dataset with a batch", "one without"))


def connect_network_with_dataset(network: Cell, dataset_helper: DatasetHelper) -> NoReturn:
    """Join a network with a queue of data on a device, of which a CPU has none.

    Args:
        network: the network.
        dataset_helper: the batches.

    Raises:
        TypeError: if an argument has the wrong type.
        RuntimeError: always, as in MindSpore where batches are not sunk.
    """
    check_type(network, "network", "connect_network_with_dataset", Cell)
    check_type(dataset_helper, "dataset_helper", "connect_network_with_dataset", DatasetHelper)
    raise RuntimeError(
        "For 'connect_network_with_dataset', 'dataset_helper' must sink its batches, but on a CPU none does: "
        "call the network with each batch of the helper."
    )
