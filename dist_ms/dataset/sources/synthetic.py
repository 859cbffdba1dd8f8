"""Rows that stand in no file: false images, random columns, rows that fill up others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import check_int_range, check_type, complaint
from dist_ms.dataset import config
from dist_ms.dataset.columns import to_column
from dist_ms.dataset.dataset import Row, column_list
from dist_ms.dataset.sources.indexed import IndexedSource
from dist_ms.dataset.sources.records.schema import Schema

__all__ = ["FakeImageDataset", "PaddedDataset", "RandomDataset"]

_MOST = 2**31 - 1
_KINDS = "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64".split()
_LONGEST, _ROWS = 32, 1000  # of a dimension, and of rows, that no schema names


class FakeImageDataset(IndexedSource):
    """Images of random bytes with random labels, MindSpore's own for a seed.

    Columns are `image` uint8, and `label` uint32. Half of the bytes are zero: they are those of random numbers in
    float64, the negative ones of which are replaced.

    Args:
        num_images: how many images there are.
        image_size: their height, width and channels.
        num_classes: how many labels there are.
        base_seed: the seed of the first image; each following has the next one.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if one is out of its range.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.FakeImageDataset(3, (2, 1, 3), shuffle=False)
        >>> image, label = next(data.create_tuple_iterator(output_numpy=True))
        >>> image.ravel().tolist(), int(label)
        ([183, 215, 236, 211, 247, 246], 5)
    """

    def __init__(
        self,
        num_images: int = 1000,
        image_size: tuple[int, int, int] | list[int] = (224, 224, 3),
        num_classes: int = 10,
        base_seed: int = 0,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "FakeImageDataset"
        self._count = check_int_range(num_images, "num_images", owner, 1, _MOST)
        check_type(image_size, "image_size", owner, (tuple, list))
        if len(image_size) != 3:
            raise ValueError(complaint("image_size", owner, "three ints", image_size))
        self._shape = tuple(check_int_range(size, "image_size", owner, 1, _MOST) for size in image_size)
        self._kinds = check_int_range(num_classes, "num_classes", owner, 1, _MOST)
        self._seed = check_int_range(base_seed, "base_seed", owner, -_MOST - 1, _MOST)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )

    def num_classes(self) -> int:
        """How many labels there are."""
        return self._kinds

    def count(self) -> int:
        """How many images there are."""
        return self._count

    def read(self, number: int) -> Row:
        """An image and its label."""
        seed = (self._seed + number) % 2**32
        size = int(np.prod(self._shape))
        numbers = np.maximum(_normal(seed, -(-size // 8)), 0)
        return numbers.view(np.uint8)[:size].reshape(self._shape).copy(), np.array(self._label(seed))

    def _label(self, seed: int) -> np.uint32:
        # As many words as can be are dealt to the labels in stretches; others are drawn again.
        words = (2**32 - 1) // self._kinds
        draw = np.random.RandomState(seed)
        while (found := int.from_bytes(draw.bytes(4), "little") // words) >= self._kinds:
            pass
        return np.uint32(found)

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        if column != "label":
            return super().labels(column)
        return np.array([self._label((self._seed + n) % 2**32) for n in range(self._count)])


def _normal(seed: int, count: int) -> np.ndarray:
    """Normal random numbers by Marsaglia's polar method, as C++'s standard library draws them from an mt19937."""
    draw = np.random.RandomState(seed)
    found = np.empty(0)
    while len(found) < count:
        pairs = (count - len(found) + 1) // 2
        words = np.frombuffer(draw.bytes(16 * pairs), "<u4").astype(np.float64).reshape(pairs, 2, 2)
        points = 2 * ((words[..., 0] + words[..., 1] * 2.0**32) / 2.0**64) - 1
        squares = (points * points).sum(1)
        inside = (squares <= 1) & (squares > 0)
        points, squares = points[inside], squares[inside]
        # NumPy's logarithm may differ in the last bit.
        logarithms = np.fromiter(map(math.log, squares.tolist()), np.float64, len(squares))
        scaled = points * np.sqrt(-2 * logarithms / squares)[:, None]
        found = np.concatenate([found, scaled[:, ::-1].ravel()])
    return found[:count]


class PaddedDataset(IndexedSource):
    """Rows that are given, in their order: they fill up a dataset so that its shards are of one length.

    Args:
        padded_samples: a dict of values by column for each row.

    Raises:
        TypeError: if it is no list of dicts.
        ValueError: if it is empty.
        RuntimeError: if a row has not the columns of the first.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> data = ds.NumpySlicesDataset([1, 2, 3], ["a"], shuffle=False) + ds.PaddedDataset([{"a": 0}])
        >>> data.use_sampler(ds.DistributedSampler(num_shards=2, shard_id=1, shuffle=False))
        >>> [int(a) for (a,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        [2, 0]
    """

    runs_python = False
    shards_of_job = False  # the dataset that it fills up tells who reads what

    def __init__(self, padded_samples: list[dict]) -> None:
        owner = "PaddedDataset"
        check_type(padded_samples, "padded_samples", owner, list)
        if not padded_samples:
            raise ValueError(complaint("padded_samples", owner, "one or more rows", "none"))
        for sample in padded_samples:
            check_type(sample, "padded_samples", owner, dict)
        super().__init__(list(padded_samples[0]), shuffle=False)
        self.padded_samples = padded_samples
        for number, sample in enumerate(padded_samples):
            missing = [name for name in self.columns if name not in sample]
            if missing:
                raise RuntimeError(
                    f"For '{owner}', each row must have the columns {self.columns}, but row {number} has no "
                    f"{missing[0]!r}."
                )

    def count(self) -> int:
        """How many rows there are."""
        return len(self.padded_samples)

    def read(self, number: int) -> Row:
        """A row that was given."""
        sample = self.padded_samples[number]
        return tuple(to_column(sample[name]) for name in self.columns)


class RandomDataset(IndexedSource):
    """Rows of random numbers, the same in each epoch: integers of the whole range of their type, floats from 0 to 1.

    Args:
        total_rows: how many rows there are; where neither it nor the schema tells, a random number.
        schema: the columns, a Schema or a JSON file of one; by default columns of random types and shapes.
        columns_list: the columns of the schema that are made; without a schema, the names of the columns, instead of
            "c0", "c1" and so on.
        num_samples, num_parallel_workers, cache, shuffle, num_shards, shard_id: as for MnistDataset.

    Raises:
        TypeError: if an argument is of another type.
        ValueError: if `total_rows` is negative, or the schema's file does not exist.
        RuntimeError: if a column is not in the schema, or holds text.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> schema = ds.Schema()
        >>> schema.add_column("image", "uint8", [2, 3])
        >>> ds.RandomDataset(5, schema).output_shapes()
        [[2, 3]]
    """

    def __init__(
        self,
        total_rows: int | None = None,
        schema: str | Schema | None = None,
        columns_list: list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        cache: Any = None,
        shuffle: bool | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "RandomDataset"
        self._count = 0 if total_rows is None else check_int_range(total_rows, "total_rows", owner, 0, _MOST)
        if schema is not None and not isinstance(schema, Schema):
            schema = Schema(check_type(schema, "schema", owner, str))
        if columns_list is not None:
            columns_list = column_list(check_type(columns_list, "columns_list", owner, list), "columns_list")
        draw = np.random.default_rng(config.get_seed())
        rows = int(draw.integers(1, _ROWS))
        self._columns = self._invented(columns_list, draw) if schema is None else self._chosen(schema, columns_list)
        self._count = self._count or (schema.num_rows if schema is not None else None) or rows
        super().__init__(
            [column["name"] for column in self._columns],
            num_samples, num_parallel_workers, shuffle, None, num_shards, shard_id, cache,
        )  # fmt: skip

    @staticmethod
    def _invented(names: list[str] | None, draw: np.random.Generator) -> list[dict]:
        """Columns of random types and shapes."""
        names = names or [f"c{k}" for k in range(draw.integers(1, 5))]
        shapes = [draw.integers(1, _LONGEST + 1, draw.integers(1, 4)).tolist() for _ in names]
        return [{"name": name, "type": str(draw.choice(_KINDS)), "shape": shape} for name, shape in zip(names, shapes)]

    @staticmethod
    def _chosen(schema: Schema, names: list[str] | None) -> list[dict]:
        """Columns of a schema."""
        there = {column["name"]: column for column in schema.columns}
        missing = [name for name in names or () if name not in there]
        if missing:
            raise RuntimeError(complaint("columns_list", "RandomDataset", f"among {list(there)}", repr(missing[0])))
        chosen = [there[name] for name in names or there]
        texts = [column["name"] for column in chosen if column["type"] not in _KINDS]
        if texts:
            raise RuntimeError(f"For 'RandomDataset', the column {texts[0]!r} must be of numbers, but is of text.")
        return chosen

    def count(self) -> int:
        """How many rows there are."""
        return self._count

    def read(self, number: int) -> Row:
        """A row of random numbers, which depend on the seed and the row's number."""
        draw = np.random.default_rng([config.get_seed(), number])
        return tuple(self._numbers(draw, column) for column in self._columns)

    @staticmethod
    def _numbers(draw: np.random.Generator, column: dict) -> np.ndarray:
        shape = [int(draw.integers(1, _LONGEST + 1)) if size < 0 else size for size in column.get("shape", [])]
        kind = np.dtype(column["type"])
        if kind.kind == "f":
            return np.asarray(draw.random(shape)).astype(kind)
        if kind.kind == "b":
            return np.asarray(draw.integers(0, 2, shape)).astype(kind)
        limits = np.iinfo(kind)
        return np.asarray(draw.integers(limits.min, limits.max, shape, kind, endpoint=True))
