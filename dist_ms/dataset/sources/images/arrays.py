"""Images that stand as arrays in files: STL-10, SVHN, Semeion's and the post's digits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.dataset.dataset import Row
from dist_ms.dataset.shuffles import Shuffle
from dist_ms.dataset.sources.folders import check_file, check_folder, check_usage
from dist_ms.dataset.sources.images.matlab import read_matlab
from dist_ms.dataset.sources.indexed import IndexedSource
from dist_ms.dataset.sources.text.files import ParsedSource

__all__ = ["STL10Dataset", "SVHNDataset", "SemeionDataset", "USPSDataset"]


class _ArraysSource(IndexedSource):
    """Images and labels that lie in memory."""

    _images: np.ndarray
    _labels: np.ndarray

    def count(self) -> int:
        """How many images there are."""
        return len(self._images)

    def read(self, number: int) -> Row:
        """An image and its label."""
        return self._images[number].copy(), np.array(self._labels[number])

    def read_many(self, numbers: np.ndarray) -> Row:
        """Images and their labels."""
        return self._images[numbers], self._labels[numbers]

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        return self._labels if column == "label" else super().labels(column)


def _damaged(owner: str, path: Path, wanted: str) -> RuntimeError:
    return RuntimeError(
        f"For '{owner}', the file {str(path)!r} must hold {wanted}: it is cut off, or of another data set."
    )


class STL10Dataset(_ArraysSource):
    """STL-10: 96 x 96 colour images of ten classes, and many without labels (Coates et al., 2011).

    Columns are `image` (96, 96, 3) uint8, and `label` int32, -1 for none.

    Args:
        dataset_dir: the folder with the original binary files.
        usage: "train", "test", "unlabeled", "train+unlabeled" or "all" (the default).
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder or a file does not exist.
        RuntimeError: if a file is damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "test_X.bin").write_bytes(bytes(3 * 96 * 96)), (folder / "test_y.bin").write_bytes(bytes([7]))
        >>> image, label = next(iter(ds.STL10Dataset(str(folder), "test")))
        >>> image.shape, int(label)
        ((96, 96, 3), 6)
    """

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
        owner = "STL10Dataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "unlabeled", "train+unlabeled", "all"))
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        parts = ["test", "train", "unlabeled"] if part == "all" else part.split("+")
        files = [check_file(folder / f"{name}_X.bin", "dataset_dir", owner) for name in parts]
        images = [self._read(path) for path in files]
        labels = [self._read_labels(folder, name, len(found)) for name, found in zip(parts, images, strict=True)]
        self._images, self._labels = np.concatenate(images), np.concatenate(labels)

    def _read(self, path: Path) -> np.ndarray:
        data = np.fromfile(path, np.uint8)
        if not data.size or data.size % (3 * 96 * 96):
            raise _damaged("STL10Dataset", path, "images of 27,648 bytes")
        return data.reshape(-1, 3, 96, 96).transpose(0, 3, 2, 1)

    @staticmethod
    def _read_labels(folder: Path, part: str, count: int) -> np.ndarray:
        if part == "unlabeled":
            return np.full(count, -1, np.int32)
        path = check_file(folder / f"{part}_y.bin", "dataset_dir", "STL10Dataset")
        labels = np.fromfile(path, np.uint8)
        if len(labels) != count:
            raise _damaged("STL10Dataset", path, f"{count} labels, as many as there are images")
        return labels.astype(np.int32) - 1


class SVHNDataset(_ArraysSource):
    """SVHN: 32 x 32 colour images of digits on houses (Netzer et al., 2011).

    Columns are `image` (32, 32, 3) uint8, and `label` uint32.

    Args:
        dataset_dir: the folder with the original MATLAB files.
        usage: "train", "test", "extra" or "all" (the default).
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for MnistDataset.

    Raises:
        ValueError: if the folder or a file does not exist.
        RuntimeError: if a file is damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from scipy.io import savemat
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> savemat(folder / "test_32x32.mat", {"X": np.zeros((32, 32, 3, 1), np.uint8), "y": np.uint8([[10]])})
        >>> image, label = next(iter(ds.SVHNDataset(str(folder), "test")))
        >>> image.shape, int(label)
        ((32, 32, 3), 0)
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "SVHNDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "extra", "all"))
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None
        )
        images, labels = [], []
        for name in ("train", "test", "extra") if part == "all" else (part,):
            path = check_file(folder / f"{name}_32x32.mat", "dataset_dir", owner)
            content = read_matlab(path, ("X", "y"), owner)
            shape = content["X"].shape
            if len(shape) != 4 or shape[:3] != (32, 32, 3) or content["y"].size != shape[3]:
                raise _damaged(owner, path, "X of shape (32, 32, 3, images) and as many labels y")
            images.append(content["X"].astype(np.uint8).transpose(3, 0, 1, 2))
            labels.append(content["y"].reshape(-1).astype(np.uint32) % 10)
        self._images, self._labels = np.ascontiguousarray(np.concatenate(images)), np.concatenate(labels)


class SemeionDataset(_ArraysSource):
    """Semeion's handwritten digits: 16 x 16 black and white images (Buscema, 1998).

    Columns are `image` (16, 16) uint8 of 0 and 1, and `label` uint32.

    Args:
        dataset_dir: the folder with semeion.data.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder or the file does not exist.
        RuntimeError: if a line is damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "semeion.data").write_text("1.0000 " * 256 + "0 0 1 0 0 0 0 0 0 0")
        >>> [int(label) for _, label in ds.SemeionDataset(str(folder)).create_tuple_iterator(output_numpy=True)]
        [2]
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "SemeionDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        path = check_file(folder / "semeion.data", "dataset_dir", owner)
        rows = []
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if not line.strip():
                continue
            try:
                values = np.array(line.split(), np.float32)
            except ValueError:
                values = np.empty(0, np.float32)
            if len(values) != 266 or values[256:].sum() != 1 or values[256:].max() != 1:
                raise RuntimeError(
                    f"For '{owner}', line {number} of {str(path)!r} must have 256 pixels and ten numbers of which one "
                    f"is 1, but it has {len(line.split())} numbers: {line[:40]!r}."
                )
            rows.append(values)
        if not rows:
            raise _damaged(owner, path, "lines of 266 numbers")
        found = np.stack(rows)
        self._images = found[:, :256].astype(np.uint8).reshape(-1, 16, 16)
        self._labels = found[:, 256:].argmax(1).astype(np.uint32)


class USPSDataset(ParsedSource):
    """USPS: 16 x 16 grey images of digits on letters (Hull, 1994), in LIBSVM's form.

    Columns are `image` (16, 16, 1) uint8, and `label` uint32, one less than in the file.

    Args:
        dataset_dir: the folder with the files usps and usps.t.
        usage: "train", "test" or "all" (the default).
        shuffle: True or Shuffle.GLOBAL: all rows; Shuffle.FILES: the files; False: nothing.
        num_samples, num_parallel_workers, num_shards, shard_id, cache: as for TextFileDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part.
        RuntimeError: if a file is missing, or a line damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "usps.t").write_text("7 " + " ".join(f"{k}:-1" for k in range(1, 257)))
        >>> image, label = next(iter(ds.USPSDataset(str(folder), "test")))
        >>> image.shape, int(label)
        ((16, 16, 1), 6)
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | Shuffle = Shuffle.GLOBAL,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "USPSDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "all"))
        files = [str(folder / name) for kind, name in (("train", "usps"), ("test", "usps.t")) if part in (kind, "all")]
        missing = [path for path in files if not Path(path).is_file()]
        if missing:
            raise RuntimeError(f"For '{owner}', 'dataset_dir' must hold the file {missing[0]!r}, but does not.")
        super().__init__(
            ["image", "label"], files, num_samples, num_parallel_workers, shuffle, num_shards, shard_id, cache
        )

    def parse(self, path: str) -> list[tuple]:
        """The images of a file, with their labels."""
        lines = [line for line in Path(path).read_text().splitlines() if line.strip()]
        images = np.empty((len(lines), 16, 16, 1), np.uint8)
        labels = np.empty(len(lines), np.uint32)
        for number, line in enumerate(lines):
            label, *pairs = line.split()
            try:
                # Each is its number, a colon, and a grey value from -1 to 1.
                values = np.array([pair.split(":")[1] for pair in pairs], np.float32).astype(np.float64)
                kind = int(label)
                if len(values) != 256 or not 1 <= kind <= 10 or not np.abs(values).max() <= 1:
                    raise ValueError(f"there are {len(values)}")
            except (ValueError, IndexError) as error:
                raise RuntimeError(
                    f"For 'USPSDataset', line {number + 1} of {path!r} must have a digit's number from 1 to 10 and 256 "
                    f"numbered values from -1 to 1, but {error}."
                ) from None
            images[number] = ((values + 1) / 2 * 255).astype(np.uint8).reshape(16, 16, 1)
            labels[number] = kind - 1
        return list(zip(images, labels, strict=True))
