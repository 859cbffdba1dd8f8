"""Dataset: a pipeline of rows as a plan; every method adds a stage.

A row is a tuple of NumPy arrays or dicts, one per column. An epoch's rows have keys, small values that tell how to
make them: `keys(epoch)` gives them in order without reading anything, and `load(key)` makes one row. Workers share
the loading, so neither order nor random numbers depend on how many there are, and a pipeline goes on at any key.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from dist_ms.dataset import config
from dist_ms.dataset.plan import tree
from dist_ms.dataset.position import Position

Row = tuple
Key = tuple  # of ints and keys: (epoch, place in the order of all ranks, number) of a source's row


class Dataset:
    """Base class of all stages.

    Attributes:
        columns: names of the columns.
        inputs: the stages this one reads from.
        workers: how many workers the stage asks for; None for the configured number.
        depth: how many stages lie before this one.
        to_send: the iteration whose rows `send` takes.
    """

    create_tuple_iterator: Callable[..., Any]
    runs_python = False  # the stage calls functions of the user, or reads files: workers pay
    makes_batches = False
    holds_back = False  # keys wait for what the consumer does with rows before
    wants_processes = False  # those functions shall run in processes of their own

    def __new__(cls, *args: Any, **kwargs: Any) -> Dataset:
        self = super().__new__(cls)
        self._made_of = (args, kwargs)
        return self

    def __init__(self, columns: list[str], *inputs: Dataset) -> None:
        self.columns = list(columns)
        self.inputs = inputs
        self.workers: int | None = None
        self.depth = 1 + max((d.depth for d in inputs), default=-1)
        self.position = Position()
        self.to_send: Iterator | None = None

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_made_of": ((), {}), "to_send": None}  # the fields hold what it was made of

    # ---- what a stage defines
    def keys(self, epoch: int) -> Iterator[Key]:
        """The keys of an epoch's rows, in order."""
        return self.inputs[0].keys(epoch)

    def load(self, key: Key) -> Row:
        """The row of a key; called by several threads at once."""
        return self.inputs[0].load(key)

    def load_many(self, keys: list[Key]) -> Row | None:
        """Several rows at once, each column an array or, of rows unlike each other, a list; None for one by one."""
        return None

    def keys_from(self, epoch: int, rows: int) -> Iterator[Key] | None:
        """The keys that follow the first `rows` source rows of all ranks; None where rows cannot be told so."""
        return None

    def source_rows(self) -> int | None:
        """How many rows of the source all ranks together use up for one key each; None where it varies."""
        return None

    def get_dataset_size(self) -> int:
        """The number of rows (batches after `batch`) in an epoch."""
        return self.inputs[0].get_dataset_size()

    def get_batch_size(self) -> int:
        """Rows per batch, 1 before `batch`; of the last of several datasets."""
        return self.inputs[-1].get_batch_size() if self.inputs else 1

    def get_repeat_count(self) -> int:
        """The count of the last `repeat`, 1 without one; of the last of several datasets."""
        return self.inputs[-1].get_repeat_count() if self.inputs else 1

    # ---- about the rows
    def rows(self, epoch: int) -> Iterator[Row]:
        """The rows of one epoch, made one after another by the caller."""
        return (self.load(key) for key in self.keys(epoch))

    def get_col_names(self) -> list[str]:
        """The names of the columns."""
        return list(self.columns)

    def _first(self) -> Row:
        for row in self.rows(0):
            return row
        raise RuntimeError(f"For '{type(self).__name__}', the shapes and types of no rows are asked for: it is empty.")

    def _first_of_any(self) -> Row:
        return next(iter(self.rows(0)), ())

    def output_shapes(self, estimate: bool = False) -> list[list[int | None]]:
        """The shape of each column in the first row, [0] of a dict; [] without rows.

        Args:
            estimate: look at all rows: dimensions that differ among them are None.
        """
        shapes: list[list[int | None]] = [[0] if isinstance(a, dict) else list(a.shape) for a in self._first_of_any()]
        for row in self.rows(0) if estimate else ():
            for shape, value in zip(shapes, row):
                if isinstance(value, dict):
                    continue
                if len(shape) != value.ndim:
                    raise RuntimeError(
                        f"For 'output_shapes', the rows of a column must have one number of dimensions, but got "
                        f"{len(shape)} and {value.ndim}."
                    )
                for axis, size in enumerate(value.shape):
                    shape[axis] = size if shape[axis] == size else None
        return shapes

    def output_types(self) -> list[np.dtype]:
        """The NumPy dtype of each column in the first row: of text without a length, object of a dict."""
        return [np.dtype(object) if isinstance(a, dict) else _without_length(a.dtype) for a in self._first_of_any()]

    def num_classes(self) -> int | None:
        """How many classes the labels have; None where the source does not tell.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> print(ds.NumpySlicesDataset([1, 2]).num_classes())
            None
        """
        return self.inputs[-1].num_classes() if self.inputs else None

    def get_class_indexing(self) -> dict:
        """The number of each class by name; empty where the source has none.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> ds.NumpySlicesDataset([1, 2]).get_class_indexing()
            {}
        """
        return self.inputs[0].get_class_indexing() if self.inputs else {}

    @property
    def input_indexs(self) -> Any:
        """What was assigned to it here or at an earlier stage, () if nothing was.

        MindSpore tells a device by it which column is which input of the network. Here columns are given in their own
        order, which `project` changes.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset([1, 2])
            >>> data.input_indexs = 10
            >>> data.batch(2).input_indexs
            10
        """
        chosen = (stage.__dict__["input_indexs"] for stage in self.stages() if "input_indexs" in stage.__dict__)
        return next(chosen, ())

    @input_indexs.setter
    def input_indexs(self, value: Any) -> None:
        self.__dict__["input_indexs"] = value

    @property
    def dataset_size(self) -> int:
        """The number of rows in an epoch, as `get_dataset_size` tells it."""
        return self.get_dataset_size()

    @property
    def column_names(self) -> list[str]:
        """The names of the columns, as `get_col_names` tells them."""
        return self.get_col_names()

    # ---- shards
    def shard_seeds(self) -> list[int]:
        """The seeds of the sources whose rows are a shard of a shuffled order; all ranks must have the same."""
        found = [seed for d in self.inputs for seed in d.shard_seeds()]
        sampling = getattr(self, "sampling", None)
        return [*found, config.shuffle_seed()] if sampling is not None and sampling.is_shuffled_shard else found

    def is_shuffled(self) -> bool:
        """Whether a source or a stage shuffles rows.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> ds.NumpySlicesDataset([1, 2], shuffle=False).is_shuffled()
            False
        """
        sampling = getattr(self, "sampling", None)
        return (sampling is not None and sampling.is_shuffled) or any(d.is_shuffled() for d in self.inputs)

    def is_sharded(self) -> bool:
        """Whether a source reads only one of several shards.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> ds.NumpySlicesDataset([1, 2], num_shards=2, shard_id=0).is_sharded()
            True
        """
        sampling = getattr(self, "sampling", None)
        return (sampling is not None and sampling.shards > 1) or any(d.is_sharded() for d in self.inputs)

    def shards(self) -> int:
        """Over how many ranks the sources' rows are dealt."""
        sampling = getattr(self, "sampling", None)
        return max([1 if sampling is None else sampling.shards, *(d.shards() for d in self.inputs)])

    def deal_anew(self, before: int, shards: int, shard: int) -> None:
        """Deal the rows to another number of ranks; for the next iteration.

        Args:
            before: to how many they were dealt.
            shards: to how many they are dealt now.
            shard: which of them this rank reads.

        Raises:
            ValueError: if they were dealt to another number, or by a sampler that deals them itself.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset(list(range(6)), shuffle=False, num_shards=3, shard_id=2)
            >>> data.deal_anew(3, 2, 1)
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [1, 3, 5]
        """
        for stage in self.stages():
            parts = getattr(stage, "sampling", None), getattr(getattr(stage, "sampler", None), "sampling", None)
            for sampling in parts:
                if sampling is not None:
                    sampling.deal_anew(before, shards, shard)
        if self.shards() != shards:
            raise ValueError(
                f"The rows must be dealt to all {before} ranks to be dealt anew, but a sampler deals them."
            )

    @contextmanager
    def without_padding(self) -> Iterator[None]:
        """Meanwhile shards repeat no row to be of one length: the shards of all ranks have every row once."""
        sampling = getattr(self, "sampling", None)
        with ExitStack() as stack:
            for part in (*self.inputs, sampling) if sampling is not None else self.inputs:
                stack.enter_context(part.without_padding())
            yield

    # ---- about the workers
    def stages(self) -> Iterator[Dataset]:
        """This stage and all before it."""
        yield self
        for d in self.inputs:
            yield from d.stages()

    def number_of_workers(self) -> int:
        """How many workers load rows: what a stage asks for at most, 0 if none has work for them."""
        usual = config.get_num_parallel_workers()
        return max((d.workers or usual for d in self.stages() if d.runs_python), default=0)

    # ---- where an iteration stands
    def state_dict(self) -> dict:
        """Where the last iteration stands, as a small dict that JSON can hold.

        Returns:
            dict: the epoch, the rows given in it by this rank, and how many rows of the source all ranks together
            have used up where that can be told; the seed. Random numbers of transforms follow from these.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset([5, 6, 7, 8], shuffle=False)
            >>> rows = iter(data.create_tuple_iterator(output_numpy=True))
            >>> [int(next(rows)[0]) for _ in range(3)]
            [5, 6, 7]
            >>> again = ds.NumpySlicesDataset([5, 6, 7, 8], shuffle=False)
            >>> again.load_state_dict(data.state_dict())
            >>> [int(x) for (x,) in again.create_tuple_iterator(output_numpy=True)]
            [8]
        """
        return self.position.state(self)

    def load_state_dict(self, state: dict) -> None:
        """Go on where another iteration stood: the next one gives what follows, without making what was given.

        Args:
            state: what `state_dict` returned, on any number of workers, and of ranks where the rows of a source
                are only mapped and batched.

        Raises:
            TypeError: if it is no such dict.
            ValueError: if the seed differs, or the number of ranks for a pipeline that cannot be cut so: one that
                shuffles, filters or repeats rows, or reads stretches of files.
        """
        self.position.load(self, state)

    def set_init_step(self, init_step: int) -> None:
        """Begin the next iteration after so many steps, as counted over whole epochs.

        Args:
            init_step: the steps (rows, or batches after `batch`) that were given already.

        Raises:
            TypeError: if it is no int.
            ValueError: if it is negative.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset([5, 6, 7], shuffle=False)
            >>> data.set_init_step(4)
            >>> [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            [6, 7]
        """
        self.position.set_step(self, init_step)

    def get_init_step(self) -> int:
        """The step at which the next iteration begins, counted over whole epochs.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> ds.NumpySlicesDataset([5, 6, 7]).get_init_step()
            0
        """
        return self.position.step(self)

    def set_epoch(self, epoch: int) -> None:
        """Make the next iteration that of an epoch, with the epoch's own shuffle.

        Args:
            epoch: its number, from 0.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset(list(range(100)))
            >>> data.set_epoch(1)
            >>> later = [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            >>> data.reset()
            >>> _, again = [[int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)] for _ in range(2)]
            >>> later == again
            True
        """
        self.position.begin_at(epoch)

    def reset(self) -> None:
        """Make the next iteration that of the first epoch.

        Examples:
            >>> import dist_ms.dataset as ds
            >>> data = ds.NumpySlicesDataset(list(range(9)))
            >>> first = [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            >>> data.reset()
            >>> first == [int(x) for (x,) in data.create_tuple_iterator(output_numpy=True)]
            True
        """
        self.position.begin_at(0)

    # ---- iteration
    def __len__(self) -> int:
        return self.get_dataset_size()

    def __iter__(self) -> Iterator:
        return iter(self.create_tuple_iterator(num_epochs=1))

    def __repr__(self) -> str:
        return tree(self)


def _without_length(dtype: np.dtype) -> np.dtype:
    return np.dtype(dtype.kind) if dtype.kind in "SU" else dtype


def column_list(value: Any, name: str) -> list[str]:
    """A list of column names from one name or several.

    Raises:
        TypeError: if something is no str.
    """
    names = [value] if isinstance(value, str) else list(value)
    for n in names:
        if not isinstance(n, str):
            raise TypeError(f"For 'Dataset', '{name}' must be column names, but got {n!r}.")
    if len(set(names)) != len(names):
        raise ValueError(f"For 'Dataset', '{name}' must not name a column twice, but got {names}.")
    return names


def columns_among(value: Any, name: str, owner: str, source: Dataset) -> list[str]:
    """Column names that a dataset has.

    Raises:
        RuntimeError: if it has one of them not.
    """
    names = column_list(value, name)
    for n in names:
        if n not in source.columns:
            raise RuntimeError(f"For '{owner}', '{name}' must be among {source.columns}, but got {n!r}.")
    return names


def columns_after(columns: list[str], taken: list[str], made: list[str]) -> list[str]:
    """The columns behind a stage that takes some and makes others.

    Args:
        columns: those before it.
        taken: those that it takes.
        made: those that it makes: as many take the places of those taken, another number comes before the others.
    """
    others = [c for c in columns if c not in taken and c not in made]
    if len(taken) != len(made):
        return [*made, *others]
    renamed = dict(zip(taken, made))
    return [renamed.get(c, c) for c in columns if c in renamed or c in others]


def check_datasets(values: Iterable, owner: str) -> None:
    """Raise a TypeError unless all are datasets."""
    for value in values:
        if not isinstance(value, Dataset):
            raise TypeError(f"For '{owner}', 'datasets' must be datasets, but got {type(value).__name__}.")
