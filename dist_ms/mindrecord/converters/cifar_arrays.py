"""CIFAR's files as arrays of all their images and labels."""

from __future__ import annotations

import os
import re
from types import SimpleNamespace
from typing import ClassVar

import numpy as np

from dist_ms.mindrecord.converters.images import _pickled
from dist_ms.mindrecord.names import check_filename

__all__ = ["Cifar10", "Cifar100"]


class _Cifar:
    """Base of both sets.

    Args:
        path: the folder of the unpacked files.
        one_hot: give each label as a row of zeros and a one.
    """

    classes: ClassVar[dict[str, int]] = {}  # of each kind of label, by its name in the files

    def __init__(self, path: str, one_hot: bool = True) -> None:
        check_filename(path, "path")
        if not isinstance(one_hot, bool):
            raise ValueError(f"For '{type(self).__name__}', 'one_hot' must be a bool, but got {one_hot!r}.")
        self.path, self.one_hot = path, one_hot
        self.images: np.ndarray | None = None
        self.Test = SimpleNamespace()

    def _read(self, pattern: str) -> tuple[np.ndarray, list[np.ndarray]]:
        """The images (N, 32, 32, 3) and the labels of each kind of the files of a pattern."""
        names = sorted(n for n in os.listdir(self.path) if re.fullmatch(pattern, n))
        if not names:
            raise RuntimeError(f"For '{type(self).__name__}', 'path' has no file {pattern}: {self.path}.")
        parts = [_pickled(os.path.join(self.path, name)) for name in names]
        images = np.concatenate([np.asarray(p[b"data"]).reshape(-1, 3, 32, 32) for p in parts]).transpose(0, 2, 3, 1)
        labels = []
        for kind, classes in self.classes.items():
            numbers = np.concatenate([np.asarray(p[kind.encode()]).reshape(-1) for p in parts])
            labels.append(np.eye(classes)[numbers] if self.one_hot else numbers.reshape(-1, 1))
        return images, labels


class Cifar10(_Cifar):
    """The images of CIFAR-10 as arrays.

    Args:
        path: the folder with data_batch_1 ... and test_batch.
        one_hot: give each label as a row of zeros and a one.

    Attributes:
        images, labels: of the training part, once they are loaded.
        Test: has `images` and `labels` of the other part.

    Raises:
        ValueError: if `one_hot` is no bool.

    Examples:
        >>> import pickle, tempfile
        >>> import numpy as np
        >>> from dist_ms.mindrecord.converters.cifar_arrays import Cifar10
        >>> folder = tempfile.TemporaryDirectory()
        >>> for name in ("data_batch_1", "test_batch"):
        ...     with open(f"{folder.name}/{name}", "wb") as file:
        ...         pickle.dump({b"data": np.zeros((2, 3072), np.uint8), b"labels": [3, 1]}, file)
        >>> images, labels, test_images, test_labels = Cifar10(folder.name, one_hot=False).load_data()
        >>> images.shape, labels.tolist()
        ((2, 32, 32, 3), [[3], [1]])
        >>> folder.cleanup()
    """

    classes: ClassVar[dict[str, int]] = {"labels": 10}

    def load_data(self) -> list[np.ndarray]:
        """Read all files.

        Returns:
            list of the training images (N, 32, 32, 3), their labels, and the same of the test.

        Raises:
            RuntimeError: if a file is missing or damaged.
        """
        self.images, (self.labels,) = self._read(r"data_batch_\d+")
        self.Test.images, (self.Test.labels,) = self._read("test_batch")
        return [self.images, self.labels, self.Test.images, self.Test.labels]


class Cifar100(_Cifar):
    """The images of CIFAR-100 as arrays; see `Cifar10`.

    Args:
        path: the folder with train and test.
        one_hot: give each label as a row of zeros and a one.

    Attributes:
        images, fine_labels, coarse_labels: of the training part, once they are loaded.
        Test: has the same of the other part.

    Raises:
        ValueError: if `one_hot` is no bool.
    """

    classes: ClassVar[dict[str, int]] = {"fine_labels": 100, "coarse_labels": 20}

    def load_data(self) -> list[np.ndarray]:
        """Read both files.

        Returns:
            list of the training images (N, 32, 32, 3), their fine and their coarse labels, and the same of the test.

        Raises:
            RuntimeError: if a file is missing or damaged.
        """
        self.images, (self.fine_labels, self.coarse_labels) = self._read("train")
        test = self.Test
        test.images, (test.fine_labels, test.coarse_labels) = self._read("test")
        return [self.images, self.fine_labels, self.coarse_labels, test.images, test.fine_labels, test.coarse_labels]
