"""What sources of image files share: a file's bytes, or the image in it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import file_bytes
from dist_ms.dataset.sources.indexed import IndexedSource

METADATA = "_meta-filename"


class ImageFiles(IndexedSource):
    """A source of image files; a subclass sets these before it reads.

    Attributes:
        decode: give images of shape (height, width, 3) instead of the files' bytes.
        decrypt: a function that returns the bytes of a file with the given name; None: files are read as they are.
    """

    decode = False
    decrypt: Callable | None = None

    def set_reading(self, decode: Any, decrypt: Any = None) -> None:
        """Check and keep how files are read.

        Raises:
            TypeError: if `decode` is no bool or `decrypt` no function.
        """
        owner = type(self).__name__
        self.decode = check_bool(decode, "decode", owner)
        if decrypt is not None:
            check_callable(decrypt, "decrypt", owner)
        self.decrypt = decrypt

    def picture(self, path: str | Path) -> np.ndarray:
        """A file's bytes, or the image in it.

        Raises:
            RuntimeError: if it cannot be read, or holds no image.
        """
        owner = type(self).__name__
        if self.decrypt is not None:
            data = np.frombuffer(bytearray(self.decrypt(os.fspath(path))), np.uint8)
        else:
            data = file_bytes(path, owner)
        if self.decode:
            from dist_ms.dataset.vision.decoding import decode

            try:
                data = decode(data, owner)
            except Exception as error:
                error.add_note(f"The file is {os.fspath(path)!r}.")
                raise
        return data


class LabelledFiles(ImageFiles):
    """A source of image files that have a label each; a subclass finds them."""

    _files: list[str | Path]
    _labels: np.ndarray
    _kinds = 0  # how many classes there are

    def set_files(self, kinds: list[list[str | Path]], dtype: type) -> None:
        """Keep the files of each class, the first of which has label 0."""
        self._files = [path for paths in kinds for path in paths]
        self._labels = np.repeat(np.arange(len(kinds)), [len(paths) for paths in kinds]).astype(dtype)
        self._kinds = len(kinds)

    def num_classes(self) -> int | None:
        """How many classes there are."""
        return self._kinds or None

    def count(self) -> int:
        """How many images there are."""
        return len(self._files)

    def read(self, number: int) -> Row:
        """An image and its label."""
        return self.picture(self._files[number]), np.array(self._labels[number])

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        return self._labels if column == "label" else super().labels(column)


def no_images(owner: str, folder: Path, wanted: str) -> RuntimeError:
    """The error of a folder that holds none of a set's images."""
    return RuntimeError(
        f"For '{owner}', {str(folder)!r} must hold {wanted}, but there are none: give the folder of the unpacked set."
    )
