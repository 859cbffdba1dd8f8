"""ImageFolderDataset: images in a folder per class."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable, check_elements, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, file_bytes
from dist_ms.dataset.sources.indexed import IndexedSource

__all__ = ["ImageFolderDataset"]

EXTENSIONS = (".jpg", ".jpeg", ".png", ".bmp", ".JPG", ".JPEG", ".PNG", ".BMP")


class ImageFolderDataset(IndexedSource):
    """Images in a folder per class.

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and
    `label` int32, the number of the folder among all in the order of their names.

    Args:
        dataset_dir: the folder that holds a folder for each class.
        num_samples, num_parallel_workers, shuffle, sampler: as for MnistDataset.
        extensions: the endings of the files that are read; those of images by default.
        class_indexing: the label of each folder that is read, by its name.
        decode: give images instead of the files' bytes.
        num_shards, shard_id, cache: as for MnistDataset.
        decrypt: a function that returns the bytes of a file with the given name.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if there is no image in it.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("cat", "dog"):
        ...     (folder / name).mkdir()
        ...     _ = (folder / name / "1.png").write_bytes(b"...")
        >>> data = ds.ImageFolderDataset(str(folder), shuffle=False)
        >>> data.get_class_indexing(), [int(label) for _, label in data.create_tuple_iterator(output_numpy=True)]
        ({'cat': 0, 'dog': 1}, [0, 1])
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        extensions: list[str] | None = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable | None = None,
    ) -> None:
        owner = "ImageFolderDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.decode = check_bool(decode, "decode", owner)
        self.decrypt = _check_function(decrypt, owner)
        endings = EXTENSIONS
        if extensions is not None:
            endings = tuple(check_elements(extensions, "extensions", owner, str, list))
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        there = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        self._classes = (
            dict(zip(there, range(len(there)))) if class_indexing is None else _check_classes(class_indexing)
        )
        self._files: list[str] = []
        labels: list[int] = []
        for name in (n for n in there if n in self._classes):
            # As far down as there are folders; each folder's files in the order of their names.
            found = sorted(
                os.path.join(place, file)
                for place, _, files in os.walk(folder / name, followlinks=True)
                for file in files
                if file.endswith(endings)
            )
            self._files += found
            labels += [self._classes[name]] * len(found)
        if not self._files:
            raise RuntimeError(
                f"For '{owner}', {str(folder)!r} must hold a folder of images for each class, but there are no files "
                f"{', '.join(endings)} in {len(there)} folders."
            )
        self._numbers = np.array(labels, np.int32)

    def get_class_indexing(self) -> dict[str, int]:
        """The label of each class by name."""
        return dict(self._classes)

    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self._classes)

    def count(self) -> int:
        """How many images there are."""
        return len(self._files)

    def read(self, number: int) -> Row:
        """An image, or its file's bytes, and its label."""
        path = self._files[number]
        data = self.decrypt(path) if self.decrypt is not None else file_bytes(path, "ImageFolderDataset")
        if not isinstance(data, np.ndarray):
            data = np.frombuffer(bytearray(data), np.uint8)
        if self.decode:
            from dist_ms.dataset.vision.decoding import decode

            try:
                data = decode(data, "ImageFolderDataset")
            except Exception as error:
                error.add_note(f"The file is {path!r}.")
                raise
        return data, np.array(self._numbers[number])

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        return self._numbers if column == "label" else super().labels(column)


def _check_function(value: Any, owner: str) -> Callable | None:
    if value is not None:
        check_callable(value, "decrypt", owner)
    return value


def _check_classes(value: Any) -> dict[str, int]:
    if not isinstance(value, dict) or not all(isinstance(k, str) and isinstance(v, int) for k, v in value.items()):
        raise TypeError(complaint("class_indexing", "ImageFolderDataset", "a dict of ints by folder", repr(value)))
    return dict(value)
