"""The methods of Dataset that make stages of it, attached to it as operations are to Tensor."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.dataset.dataset import Dataset, columns_among
from dist_ms.dataset.execution.iterators import RowIterator
from dist_ms.dataset.execution.processes import close_pool as close_processes
from dist_ms.dataset.row_messages import recv, send
from dist_ms.dataset.serialization import serialize
from dist_ms.dataset.stages import ordering, selecting
from dist_ms.dataset.stages.batching import BatchDataset
from dist_ms.dataset.stages.flattening import FlatMapDataset
from dist_ms.dataset.stages.joining import ConcatDataset, ZipDataset
from dist_ms.dataset.stages.mapping import MapDataset
from dist_ms.dataset.stages.padding import BucketBatchByLengthDataset, PaddedBatchDataset
from dist_ms.dataset.stages.waiting import SyncWaitDataset, waiting_stage


def create_tuple_iterator(
    self: Dataset,
    columns: list[str] | None = None,
    num_epochs: int = -1,
    output_numpy: bool = False,
    do_copy: bool = False,
) -> RowIterator:
    """Iterate over rows as lists of Tensors (or NumPy arrays), a new epoch at each iteration.

    Args:
        columns: the columns to give, in this order; all by default.
        num_epochs: how many epochs may be iterated; -1 for any number.
        output_numpy: give NumPy arrays.
        do_copy: give copies that nothing else holds (always so for NumPy-sourced batches).

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
        >>> [int(row[0]) for row in data.create_tuple_iterator(output_numpy=True)]
        [1, 2]
    """
    source = self if columns is None else _chosen(self, columns)
    return RowIterator(_shown(source), num_epochs, output_numpy, do_copy, as_dict=False)


def create_dict_iterator(
    self: Dataset, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
) -> RowIterator:
    """Iterate over rows as dicts column name -> Tensor (or NumPy array).

    Args:
        num_epochs, output_numpy, do_copy: as for `create_tuple_iterator`.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset({"x": [1, 2]}, shuffle=False)
        >>> [int(row["x"]) for row in data.create_dict_iterator(output_numpy=True)]
        [1, 2]
    """
    return RowIterator(_shown(self), num_epochs, output_numpy, do_copy, as_dict=True)


def _chosen(dataset: Dataset, columns: list[str]) -> Dataset:
    """A pipeline with some of its columns."""
    names = columns_among(columns, "columns", "create_tuple_iterator", dataset)
    source = project(dataset, names)
    source.position = dataset.position  # of one pipeline, whatever columns are given
    return source


def _shown(dataset: Dataset) -> Dataset:
    """A pipeline without columns of metadata, which are seen under another name only, as in MindSpore."""
    names = dataset.columns if isinstance(getattr(dataset, "columns", None), list) else []
    shown = [name for name in names if not name.startswith("_meta-")]
    return dataset if len(shown) == len(names) else _chosen(dataset, shown)


def batch(
    self: Dataset,
    batch_size: Any,
    drop_remainder: bool = False,
    num_parallel_workers: int | None = None,
    **kwargs: Any,
) -> Dataset:
    """Stack rows into batches along a new first axis.

    Args:
        batch_size: rows per batch, or a function of a BatchInfo that tells them.
        drop_remainder: leave out a last, smaller batch.
        num_parallel_workers: workers that make batches; they come in order either way.
        kwargs: `per_batch_map` (function of the columns, as lists of rows, and a BatchInfo), `input_columns`,
            `output_columns`, `python_multiprocessing` (run it in processes).

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False).batch(2)
        >>> [x.tolist() for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [[1, 2], [3]]
    """
    return BatchDataset(self, batch_size, drop_remainder, num_parallel_workers, **kwargs)


def padded_batch(
    self: Dataset,
    batch_size: Any,
    drop_remainder: bool = False,
    num_parallel_workers: int | None = None,
    pad_info: dict | None = None,
) -> Dataset:
    """Stack rows of different shapes into batches, filled up to one shape.

    Args:
        batch_size, drop_remainder, num_parallel_workers: as for `batch`.
        pad_info: per column (shape, fill); in the shape, None stands for the largest of the batch. Without it every
            column is filled up with zeros.

    Examples:
        >>> import numpy as np
        >>> import dist_ms.dataset as ds
        >>> rows = [np.ones(1, int), np.ones(3, int)]
        >>> data = ds.GeneratorDataset(rows, "x", shuffle=False).padded_batch(2, pad_info={"x": ([None], -1)})
        >>> print(next(data.create_tuple_iterator(output_numpy=True))[0])
        [[ 1 -1 -1]
         [ 1  1  1]]
    """
    return PaddedBatchDataset(self, batch_size, drop_remainder, num_parallel_workers, pad_info)


def bucket_batch_by_length(
    self: Dataset,
    column_names: list[str],
    bucket_boundaries: list[int],
    bucket_batch_sizes: list[int],
    element_length_function: Callable | None = None,
    pad_info: dict | None = None,
    pad_to_bucket_boundary: bool = False,
    drop_remainder: bool = False,
) -> Dataset:
    """Batch rows with others of like length.

    Args:
        column_names: the columns that tell the length.
        bucket_boundaries: a row of length n is in the first bucket whose boundary is above n, or in one after the last.
        bucket_batch_sizes: the batch size of each bucket, one more than boundaries.
        element_length_function: the length from the columns; that of the only column's first axis by default.
        pad_info: as for `padded_batch`.
        pad_to_bucket_boundary: fill dimensions that are None in `pad_info` up to the boundary less one.
        drop_remainder: leave out what does not fill a batch.

    Examples:
        >>> import numpy as np
        >>> import dist_ms.dataset as ds
        >>> rows = [np.ones(n, int) for n in (1, 5, 2)]
        >>> data = ds.GeneratorDataset(rows, "x", shuffle=False).bucket_batch_by_length(["x"], [4], [2, 1])
        >>> [x.shape for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [(1, 5), (2, 2)]
    """
    return BucketBatchByLengthDataset(
        self, column_names, bucket_boundaries, bucket_batch_sizes, element_length_function, pad_info,
        pad_to_bucket_boundary, drop_remainder,
    )  # fmt: skip


def shuffle(self: Dataset, buffer_size: int) -> Dataset:
    """Draw rows at random from a buffer of `buffer_size` (2 or more)."""
    return ordering.ShuffleDataset(self, buffer_size)


def map(
    self: Dataset,
    operations: Any,
    input_columns: Any = None,
    output_columns: Any = None,
    num_parallel_workers: int | None = None,
    **kwargs: Any,
) -> Dataset:
    """Apply functions to columns, one after another.

    Args:
        operations: a function or a list of them; each takes the columns and returns the new ones:
            arrays, numbers, or dicts, which later stages get as dicts and `batch` stacks key by key.
        input_columns: names; the first columns by default.
        output_columns: names of the results; the input names by default.
        num_parallel_workers: workers that run the functions; rows keep their order.
        kwargs: `python_multiprocessing` (run them in processes of their own instead of threads), `cache` (a
            DatasetCache), `callbacks` (DSCallbacks), `max_rowsize` (accepted; memory grows as rows need it).
    """
    return MapDataset(self, operations, input_columns, output_columns, num_parallel_workers, **kwargs)


def filter(
    self: Dataset, predicate: Callable, input_columns: Any = None, num_parallel_workers: int | None = None
) -> Dataset:
    """Keep the rows for which `predicate(columns...)` is true."""
    return selecting.FilterDataset(self, predicate, input_columns, num_parallel_workers)


def flat_map(self: Dataset, func: Callable) -> Dataset:
    """Make a dataset of each row, and give their rows one after another.

    Args:
        func: takes a row's columns and returns a dataset; all have the same columns.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False)
        >>> data = data.flat_map(lambda n: ds.NumpySlicesDataset([int(n)] * int(n), shuffle=False))
        >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
        [1, 2, 2]
    """
    return FlatMapDataset(self, func)


def repeat(self: Dataset, count: int | None = None) -> Dataset:
    """Give the rows `count` times in an epoch."""
    return ordering.RepeatDataset(self, count)


def take(self: Dataset, count: int = -1) -> Dataset:
    """Give the first `count` rows; -1 for all."""
    return ordering.TakeDataset(self, count)


def skip(self: Dataset, count: int) -> Dataset:
    """Leave out the first `count` rows."""
    return ordering.SkipDataset(self, count)


def zip(self: Dataset, datasets: Any) -> Dataset:
    """Put the columns of other datasets beside these."""
    return ZipDataset((self, *(datasets if isinstance(datasets, tuple) else (datasets,))))


def concat(self: Dataset, datasets: Any) -> Dataset:
    """Give the rows of other datasets after these."""
    return ConcatDataset([self, *(datasets if isinstance(datasets, list) else [datasets])])


def project(self: Dataset, columns: Any) -> Dataset:
    """Keep some columns, in this order."""
    return selecting.ProjectDataset(self, [columns] if isinstance(columns, str) else list(columns))


def rename(self: Dataset, input_columns: Any, output_columns: Any) -> Dataset:
    """Give columns other names."""
    return selecting.RenameDataset(self, input_columns, output_columns)


def split(self: Dataset, sizes: list, randomize: bool = True) -> list[Dataset]:
    """Split the rows into parts.

    Args:
        sizes: row counts that add up to all rows, or fractions that add up to 1.
        randomize: shuffle the rows (the same way every time) before splitting.
    """
    return selecting.split_rows(self, sizes, randomize)


def apply(self: Dataset, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
    """Return `apply_func(self)`."""
    result = apply_func(self)
    if not isinstance(result, Dataset):
        raise TypeError(f"For 'apply', 'apply_func' must return a dataset, but got {type(result).__name__}.")
    return result


def sync_wait(self: Dataset, condition_name: str, num_batch: int = 1, callback: Callable | None = None) -> Dataset:
    """Stand still after every `num_batch` batches until `sync_update` is called.

    Args:
        condition_name: the condition's name, for `sync_update`.
        num_batch: batches that pass.
        callback: called with the `data` of `sync_update`, before rows pass.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> offset = [0]
        >>> data = ds.NumpySlicesDataset([1, 2, 3], shuffle=False)
        >>> data = data.sync_wait("step", callback=lambda new: offset.__setitem__(0, new))
        >>> data = data.map(lambda x: x + offset[0], num_parallel_workers=1)
        >>> for step, (x,) in enumerate(data.create_tuple_iterator(num_epochs=1, output_numpy=True)):
        ...     print(int(x))
        ...     data.sync_update("step", data=10 * (step + 1))
        1
        12
        23
    """
    return SyncWaitDataset(self, condition_name, num_batch, callback)


def sync_update(self: Dataset, condition_name: str, num_batch: int | None = None, data: Any = None) -> None:
    """Let the batches pass that wait at `sync_wait`.

    Args:
        condition_name: its condition's name.
        num_batch: how many; as many as `sync_wait` says by default.
        data: given to its callback.

    Raises:
        RuntimeError: if the pipeline has no such condition.
        ValueError: if `num_batch` is not positive.
    """
    if num_batch is not None:
        check_positive_int(num_batch, "num_batch", "sync_update")
    waiting_stage(self, condition_name).release(num_batch, data)


def is_sync(self: Dataset) -> bool:
    """Whether the pipeline waits for `sync_update` somewhere.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2])
        >>> data.is_sync(), data.sync_wait("step").is_sync()
        (False, True)
    """
    return any(isinstance(stage, SyncWaitDataset) for stage in self.stages())


def disable_sync(self: Dataset) -> None:
    """Let all batches pass from now on, without `sync_update`.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2], shuffle=False).sync_wait("step")
        >>> data.disable_sync()
        >>> [int(x) for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [1, 2]
    """
    for stage in self.stages():
        if isinstance(stage, SyncWaitDataset):
            stage.disable()


def save(self: Dataset, file_name: str, num_files: int = 1, file_type: str = "mindrecord") -> None:
    """Write the rows of an epoch into MindRecord files.

    Whole numbers of fewer than 32 bits become int32, float16 becomes float32: the files have no narrower types.

    Args:
        file_name: the file; of several, numbers follow the name.
        num_files: how many files, from 1 to 1000.
        file_type: "mindrecord".

    Raises:
        TypeError: if a column holds what such files cannot.
        ValueError: if an argument is out of range.
        RuntimeError: if a file exists, or there are no rows.

    Examples:
        >>> import tempfile
        >>> import dist_ms.dataset as ds
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     ds.NumpySlicesDataset({"x": [5, 6]}, shuffle=False).save(folder + "/rows.mindrecord")
        ...     rows = ds.MindDataset(folder + "/rows.mindrecord", shuffle=False)
        ...     print([int(x) for (x,) in rows.create_tuple_iterator(output_numpy=True)])
        [5, 6]
    """
    from dist_ms.dataset.saving import save_rows

    save_rows(self, file_name, num_files, file_type)


def to_json(self: Dataset, filename: str = "") -> str:
    """Describe the pipeline as JSON.

    Args:
        filename: a file to write it to.

    Raises:
        TypeError: if it was made of something that cannot be described, such as a function.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> print(ds.NumpySlicesDataset([1, 2], shuffle=False).to_json()[:35])
        {"stage": "NumpySlicesDataset", "ar
    """
    return json.dumps(serialize(self, filename))


def get_sync_notifiers(self: Dataset) -> dict[str, Callable]:
    """What `sync_update` calls: for the name of each condition of the pipeline, the function that lets batches pass.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> list(ds.NumpySlicesDataset([1, 2]).sync_wait("loss").batch(2).get_sync_notifiers())
        ['loss']
    """
    return {stage.name: stage.release for stage in self.stages() if isinstance(stage, SyncWaitDataset)}


def device_que(
    self: Dataset, send_epoch_end: bool = True, create_data_info_queue: bool = False, queue_name: str = ""
) -> Dataset:
    """Return the pipeline itself: there is no device to send its rows to.

    Args:
        send_epoch_end, create_data_info_queue, queue_name: of the queue that is not there.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> len(ds.NumpySlicesDataset([1, 2]).device_que())
        2
    """
    check_bool(send_epoch_end, "send_epoch_end", "device_que")
    check_bool(create_data_info_queue, "create_data_info_queue", "device_que")
    return self


def close_pool(self: Dataset) -> None:
    """End the worker processes; an iteration starts others.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> ds.NumpySlicesDataset([1, 2]).close_pool()
    """
    close_processes(self)


def build_vocab(
    self: Dataset,
    columns: str | list[str] | None = None,
    freq_range: tuple | None = None,
    top_k: int | None = None,
    special_tokens: list[str] | None = None,
    special_first: bool = True,
) -> Any:
    """Return the `text.Vocab` of the words in the rows; see `text.Vocab.from_dataset`.

    Args:
        columns, freq_range, top_k, special_tokens, special_first: as there.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> ds.NumpySlicesDataset(["b", "a", "b"], ["word"]).build_vocab("word", None, None, None, True).vocab()
        {'b': 0, 'a': 1}
    """
    from dist_ms.dataset.text.vocabulary import Vocab

    return Vocab.from_dataset(self, columns, freq_range, top_k, special_tokens, special_first)


def build_sentencepiece_vocab(
    self: Dataset, columns: list[str], vocab_size: int, character_coverage: float, model_type: Any, params: dict
) -> Any:
    """Return the `text.SentencePieceVocab` learnt from the texts in the rows; see its `from_dataset`.

    Args:
        columns, vocab_size, character_coverage, model_type, params: as there.
    """
    from dist_ms.dataset.text.sentencepiece import SentencePieceVocab

    return SentencePieceVocab.from_dataset(self, columns, vocab_size, character_coverage, model_type, params)


METHODS = (
    create_tuple_iterator, create_dict_iterator, batch, padded_batch, bucket_batch_by_length, shuffle, map, filter,
    flat_map, repeat, take, skip, zip, concat, project, rename, split, apply, sync_wait, sync_update,
    is_sync, disable_sync, get_sync_notifiers, save, to_json, device_que, close_pool, build_vocab,
    build_sentencepiece_vocab, send, recv,
)  # fmt: skip


def attach() -> None:
    """Give Dataset these methods."""
    for method in METHODS:
        method.__qualname__ = f"Dataset.{method.__name__}"
        setattr(Dataset, method.__name__, method)
    Dataset.__add__ = concat  # type: ignore[method-assign]
