"""CIFAR-10 and CIFAR-100: records of labels and planes of colour in binary files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage, matching
from dist_ms.dataset.sources.indexed import IndexedSource

__all__ = ["Cifar10Dataset", "Cifar100Dataset"]

_PIXELS = 3 * 32 * 32


class _CifarSource(IndexedSource):
    """Records of one length, which lie in memory."""

    label_columns = ("label",)
    _files: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = type(self).__name__
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "all"))
        super().__init__(
            ["image", *self.label_columns],
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache,
        )  # fmt: skip
        patterns = [p for p in self._files[part] if part != "all" or any(folder.glob(p))] or [self._files["train"][0]]
        records = np.concatenate([self._records(f) for p in patterns for f in matching(folder, p, owner)])
        n = len(self.label_columns)
        self._labels = records[:, :n].astype(np.uint32)
        self._images = np.ascontiguousarray(records[:, n:].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1))

    def _records(self, file: Path) -> np.ndarray:
        data = np.fromfile(file, np.uint8)
        length = len(self.label_columns) + _PIXELS
        if not len(data) or len(data) % length:
            raise RuntimeError(
                f"For '{type(self).__name__}', the file {str(file)!r} must consist of records of {length} bytes, but "
                f"it has {len(data)} bytes: it is cut off, or of another data set."
            )
        return data.reshape(-1, length)

    def count(self) -> int:
        """How many images there are."""
        return len(self._images)

    def read(self, number: int) -> Row:
        """An image and its labels."""
        return self._images[number].copy(), *(np.array(label) for label in self._labels[number])

    def read_many(self, numbers: np.ndarray) -> Row:
        """Images and their labels."""
        return self._images[numbers], *np.ascontiguousarray(self._labels[numbers].T)

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        if column in self.label_columns:
            return self._labels[:, self.label_columns.index(column)]
        return super().labels(column)


class Cifar10Dataset(_CifarSource):
    """CIFAR-10: 32 x 32 colour images of ten classes (Krizhevsky, 2009).

    Columns are `image` (32, 32, 3) uint8, and `label` uint32.

    Args:
        dataset_dir: the folder that holds the original binary files.
        usage: "train", "test" or "all" (the default); of "all", parts that are there are read.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if it has no such files, or they are damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "data_batch_1.bin").write_bytes(bytes([3]) + bytes(3072))
        >>> image, label = next(iter(ds.Cifar10Dataset(str(folder), "train")))
        >>> image.shape, int(label)
        ((32, 32, 3), 3)
    """

    _files: ClassVar = {
        "train": ("data_batch_*.bin",),
        "test": ("test_batch.bin",),
        "all": ("data_batch_*.bin", "test_batch.bin"),
    }  # fmt: skip


class Cifar100Dataset(_CifarSource):
    """CIFAR-100: 32 x 32 colour images of a hundred classes in twenty groups (Krizhevsky, 2009).

    Columns are `image` (32, 32, 3) uint8, `coarse_label` and `fine_label` uint32.

    Args:
        dataset_dir: the folder that holds the original binary files.
        usage: "train", "test" or "all" (the default); of "all", parts that are there are read.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if it has no such files, or they are damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "train.bin").write_bytes(bytes([3, 17]) + bytes(3072))
        >>> image, coarse, fine = next(iter(ds.Cifar100Dataset(str(folder), "train")))
        >>> int(coarse), int(fine)
        (3, 17)
    """

    label_columns = ("coarse_label", "fine_label")
    _files: ClassVar = {"train": ("train.bin",), "test": ("test.bin",), "all": ("train.bin", "test.bin")}
