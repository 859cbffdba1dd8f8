"""The MNIST family: images and labels in IDX files."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage, matching
from dist_ms.dataset.sources.indexed import IndexedSource

__all__ = ["EMnistDataset", "FashionMnistDataset", "KMnistDataset", "MnistDataset", "QMnistDataset"]

_IMAGES, _LABELS, _QMNIST = 2051, 2049, 3074  # the first word of each kind of file


def idx_array(path: Path, kind: int, owner: str) -> np.ndarray:
    """The array in an IDX file, unpacked if its name ends with .gz.

    Raises:
        RuntimeError: if the file is no such file, or shorter than it says.
    """
    with (gzip.open if path.suffix == ".gz" else open)(path, "rb") as file:
        data = np.frombuffer(file.read(), np.uint8)
    rank = kind & 255
    head = data[: 4 * (rank + 1)]
    sizes = head.view(">i4").astype(int).tolist() if len(head) == 4 * (rank + 1) else []
    if not sizes or sizes[0] != kind:
        found = f"{sizes[0]}" if sizes else f"only {len(data)} bytes"
        raise RuntimeError(
            f"For '{owner}', the file {str(path)!r} must begin with the word {kind}, but it has {found}."
        )
    dtype = np.dtype(">i4" if kind >> 8 == 12 else np.uint8)
    wanted = int(np.prod(sizes[1:])) * dtype.itemsize
    body = data[len(head) :]
    if len(body) < wanted:
        raise RuntimeError(
            f"For '{owner}', the file {str(path)!r} must have {wanted} bytes behind its head, for {sizes[1]} rows, but "
            f"it has {len(body)}: it is cut off. Get it again."
        )
    return body[:wanted].view(dtype).reshape(sizes[1:])


class _IdxSource(IndexedSource):
    """Images and labels that lie in memory.

    Args:
        pairs: the files of images and of labels.
    """

    _image_shape: tuple[int, ...] = (28, 28, 1)

    def __init__(self, pairs: list[tuple[Path, Path]], *sampling: Any) -> None:
        super().__init__(["image", "label"], *sampling)
        owner = type(self).__name__
        images, labels = [], []
        for image_file, label_file in pairs:
            images.append(idx_array(image_file, _IMAGES, owner))
            labels.append(self._labels_of(label_file))
            if len(images[-1]) != len(labels[-1]):
                raise RuntimeError(
                    f"For '{owner}', {image_file.name!r} and {label_file.name!r} must have as many rows, but got "
                    f"{len(images[-1])} and {len(labels[-1])}."
                )
        self._images = np.concatenate(images)[..., None]
        self._all_labels = np.concatenate(labels)

    def _labels_of(self, file: Path) -> np.ndarray:
        return idx_array(file, _LABELS, type(self).__name__).astype(np.uint32)

    def count(self) -> int:
        """How many images there are."""
        return len(self._images)

    def read(self, number: int) -> Row:
        """An image and its label."""
        return self._images[number].copy(), np.array(self._all_labels[number])

    def read_many(self, numbers: np.ndarray) -> Row:
        """Images and their labels."""
        return self._images[numbers], self._all_labels[numbers]

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        return self._all_labels if column == "label" else super().labels(column)


def _pairs(folder: Path, owner: str, *beginnings: str) -> list[tuple[Path, Path]]:
    """The files of images and labels whose names begin so; packed or not."""
    found = []
    for beginning in beginnings:
        images = matching(folder, f"{beginning}*-images-idx3-ubyte*", owner)
        found += [(path, Path(str(path).replace("-images-idx3", "-labels-idx1"))) for path in images]
    for _, labels in found:
        if not labels.is_file():
            raise RuntimeError(
                f"For '{owner}', each file of images must have labels beside it, but {str(labels)!r} is missing."
            )
    return found


_MNIST_PARTS = {"train": ("train",), "test": ("t10k",), "all": ("t10k", "train")}


class MnistDataset(_IdxSource):
    """MNIST: 28 x 28 grey images of digits (LeCun, Cortes and Burges).

    Columns are `image` (28, 28, 1) uint8, and `label` uint32.

    Args:
        dataset_dir: the folder that holds the four original files, packed (.gz) or not.
        usage: "train", "test" or "all" (the default); of "all", parts that are there are read.
        num_samples: read at most so many rows.
        num_parallel_workers: workers that read.
        shuffle: draw a new order every epoch (True by default).
        sampler: chooses the rows, instead of `shuffle`, `num_shards` and `num_samples`.
        num_shards, shard_id: read every num_shards-th row, the part of one rank.
        cache: a DatasetCache.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if it has no such files, or they are damaged.

    Examples:
        >>> import gzip, pathlib, struct, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "train-images-idx3-ubyte").write_bytes(struct.pack(">4i", 2051, 2, 28, 28) + bytes(2 * 784))
        >>> _ = (folder / "train-labels-idx1-ubyte").write_bytes(struct.pack(">2i", 2049, 2) + bytes([7, 2]))
        >>> data = ds.MnistDataset(str(folder), usage="train", shuffle=False)
        >>> [(image.shape, int(label)) for image, label in data.create_tuple_iterator(output_numpy=True)]
        [((28, 28, 1), 7), ((28, 28, 1), 2)]
    """

    _beginning = ""

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
        beginnings = [b for b in _MNIST_PARTS[part] if part != "all" or any(folder.glob(f"{b}*-images-idx3-ubyte*"))]
        pairs = _pairs(folder, owner, *(beginnings or ["train"]))
        super().__init__(pairs, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class FashionMnistDataset(MnistDataset):
    """Fashion-MNIST: 28 x 28 grey images of clothes (Xiao, Rasul and Vollgraf, 2017); files and arguments as MNIST's.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> try:
        ...     ds.FashionMnistDataset("nowhere")
        ... except ValueError as error:
        ...     print(error)
        For 'FashionMnistDataset', 'dataset_dir' must be a folder that can be read, but got 'nowhere'.
    """


class KMnistDataset(MnistDataset):
    """Kuzushiji-MNIST: 28 x 28 grey images of cursive Japanese (Clanuwat et al., 2018); files and arguments as MNIST's.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> try:
        ...     ds.KMnistDataset("nowhere")
        ... except ValueError as error:
        ...     print(error)
        For 'KMnistDataset', 'dataset_dir' must be a folder that can be read, but got 'nowhere'.
    """


class EMnistDataset(_IdxSource):
    """EMNIST: 28 x 28 grey images of letters and digits (Cohen et al., 2017).

    Args:
        dataset_dir: the folder that holds the original files.
        name: "byclass", "bymerge", "balanced", "letters", "digits" or "mnist": how they are divided into classes.
        usage: "train", "test" or "all".
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> try:
        ...     ds.EMnistDataset(".", "words")
        ... except ValueError as error:
        ...     print("ValueError")
        ValueError
    """

    def __init__(
        self,
        dataset_dir: str,
        name: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "EMnistDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        check_string(name, "name", owner, ["byclass", "bymerge", "balanced", "letters", "digits", "mnist"])
        part = check_usage(usage, owner, ("train", "test", "all"))
        parts = ("test", "train") if part == "all" else (part,)
        pairs = _pairs(folder, owner, *(f"emnist-{name}-{p}" for p in parts))
        super().__init__(pairs, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)


class QMnistDataset(_IdxSource):
    """QMNIST: MNIST made again, with where each digit comes from (Yadav and Bottou, 2019).

    Args:
        dataset_dir: the folder that holds the original files.
        usage: "train", "test", "test10k", "test50k", "nist" or "all".
        compat: labels are digits; False: eight numbers that tell their origin.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Examples:
        >>> import dist_ms.dataset as ds
        >>> try:
        ...     ds.QMnistDataset(".", "words")
        ... except ValueError as error:
        ...     print("ValueError")
        ValueError
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        compat: bool = True,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "QMnistDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "test10k", "test50k", "nist", "all"))
        self._compat = check_bool(compat, "compat", owner)
        names = {"train": ["qmnist-train"], "nist": ["xnist"], "all": ["qmnist-test", "qmnist-train", "xnist"]}
        pairs = []
        for beginning in names.get(part, ["qmnist-test"]):
            (images, *_) = matching(folder, f"{beginning}-images-idx3-ubyte*", owner)
            pairs.append((images, matching(folder, f"{beginning}-labels-idx2-int*", owner)[0]))
        super().__init__(pairs, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        if part in ("test10k", "test50k"):
            kept = slice(10_000) if part == "test10k" else slice(10_000, None)
            self._images, self._all_labels = self._images[kept], self._all_labels[kept]

    def _labels_of(self, file: Path) -> np.ndarray:
        labels = idx_array(file, _QMNIST, "QMnistDataset").astype(np.uint32)
        return labels[:, 0] if self._compat else labels
