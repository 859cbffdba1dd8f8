"""Sets of images into MindRecord files: CIFAR, MNIST and ImageNet."""

from __future__ import annotations

import gzip
import io
import os
import pickle
from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms import log
from dist_ms.mindrecord.converters.rows import HEADER_BYTES, PAGE_BYTES, check_partitions, library, write
from dist_ms.mindrecord.exceptions import PathNotExistsError
from dist_ms.mindrecord.names import check_filename
from dist_ms.mindrecord.status import SUCCESS, MSRStatus
from dist_ms.mindrecord.writer import FileWriter

__all__ = ["Cifar10ToMR", "Cifar100ToMR", "ImageNetToMR", "MnistToMR"]

_ARRAYS = {
    (module, name)
    for module in ("numpy", "numpy.core.multiarray", "numpy._core.multiarray")
    for name in ("ndarray", "dtype", "_reconstruct", "scalar")
} | {("_codecs", "encode")}


class _ArraysOnly(pickle.Unpickler):
    """Loads arrays, numbers and text, and calls nothing else that a file names."""

    def find_class(self, module: str, name: str) -> Any:
        if (module, name) not in _ARRAYS:
            raise pickle.UnpicklingError(f"it asks for {module}.{name}")
        return super().find_class(module, name)


def _pickled(path: str) -> dict:
    """The content of one of CIFAR's files.

    Raises:
        RuntimeError: if it is none.
    """
    with open(path, "rb") as file:
        try:
            return _ArraysOnly(io.BytesIO(file.read()), encoding="bytes").load()
        except (pickle.UnpicklingError, EOFError, ValueError, IndexError, AttributeError) as error:
            raise RuntimeError(f"{path} is no file of CIFAR's Python version ({error}): unpack it again.") from None


class _CifarToMR:
    """Base of the converters of CIFAR."""

    labels: tuple[str, ...] = ()

    def __init__(self, source: str, destination: str) -> None:
        self._cv2 = library("cv2", type(self).__name__)
        check_filename(source, "source")
        self.source = source
        self._parts = {part: self._files(part) for part in ("train", "test")}
        self.destination = check_filename(destination, "destination")

    def _files(self, part: str) -> list[str]:
        raise NotImplementedError

    def run(self, fields: list[str] | None = None) -> MSRStatus:
        """Write the files; `transform` does the same."""
        if fields and not isinstance(fields, list):
            raise ValueError(f"For '{type(self).__name__}', 'fields' must be a list or None, but got {fields!r}.")
        schema = {"id": {"type": "int64"}, **{name: {"type": "int64"} for name in self.labels}}
        schema["data"] = {"type": "bytes"}
        for part, path in (("train", self.destination), ("test", self.destination + "_test")):
            write(FileWriter(path, 1), schema, f"img_{part}", fields, self._rows(self._parts[part]))
        return SUCCESS

    def _rows(self, paths: list[str]) -> Iterator[dict]:
        number = 0
        for path in paths:
            content = _pickled(path)
            images = content[b"data"].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
            stored = [content[f"{name}s".encode()] for name in self.labels]
            for image, *labels in zip(images, *stored):
                _, encoded = self._cv2.imencode(".jpeg", np.ascontiguousarray(image[..., ::-1]))
                row = {"id": number, "data": encoded.tobytes()}
                yield row | {name: int(label) for name, label in zip(self.labels, labels)}
                number += 1

    def transform(self, fields: list[str] | None = None) -> None:
        """Write the images of training to the file named, those of test to one with "_test" after its name.

        Args:
            fields: the index fields; all numbers by default.

        Raises:
            RuntimeError: if a file cannot be read, or exists already.
        """
        self.run(fields)


class Cifar10ToMR(_CifarToMR):
    """CIFAR-10's Python version into MindRecord files, with the fields "id", "label" and "data", a JPEG file.

    Args:
        source: the folder with `data_batch_1` and the like, and `test_batch`.
        destination: the file to write.

    Raises:
        PathNotExistsError: if a file is missing.

    Examples:
        >>> from dist_ms.mindrecord import Cifar10ToMR
        >>> Cifar10ToMR("cifar-10-batches-py", "cifar10.mindrecord").transform()  # doctest: +SKIP
    """

    labels = ("label",)

    def _files(self, part: str) -> list[str]:
        begin = "data_batch_" if part == "train" else "test_batch"
        names = sorted(name for name in os.listdir(self.source) if name.startswith(begin))
        if not names:
            raise PathNotExistsError(f"{begin} in {self.source}")
        return [os.path.join(self.source, name) for name in names]


class Cifar100ToMR(_CifarToMR):
    """CIFAR-100's Python version into MindRecord files: "id", "fine_label", "coarse_label" and "data", a JPEG file.

    Args:
        source: the folder with `train` and `test`.
        destination: the file to write.

    Raises:
        PathNotExistsError: if a file is missing.

    Examples:
        >>> from dist_ms.mindrecord import Cifar100ToMR
        >>> Cifar100ToMR("cifar-100-python", "cifar100.mindrecord").transform()  # doctest: +SKIP
    """

    labels = ("fine_label", "coarse_label")

    def _files(self, part: str) -> list[str]:
        path = os.path.join(self.source, part)
        if not os.path.isfile(path):
            raise PathNotExistsError(path)
        return [path]


class MnistToMR:
    """MNIST's packed files into MindRecord files, with the fields "label" and "data", a JPEG file.

    Args:
        source: the folder with `train-images-idx3-ubyte.gz` and the like.
        destination: how the files' names begin; `_train.mindrecord` and `_test.mindrecord` follow.
        partition_number: how many files of each.

    Raises:
        ValueError: if an argument is wrong.

    Examples:
        >>> from dist_ms.mindrecord import MnistToMR
        >>> MnistToMR("mnist", "mnist").transform()  # doctest: +SKIP
    """

    def __init__(self, source: str, destination: str, partition_number: int = 1) -> None:
        self._cv2 = library("cv2", "MnistToMR")
        self.source = check_filename(source, "source")
        check_filename(destination, "destination")
        self.partition_number = check_partitions(partition_number, "MnistToMR")
        self._writers = {
            begin: FileWriter(f"{destination}_{part}.mindrecord", partition_number)
            for begin, part in (("train", "train"), ("t10k", "test"))
        }

    def _content(self, name: str, head: int) -> np.ndarray:
        path = os.path.join(self.source, name)
        try:
            with gzip.open(path, "rb") as file:
                return np.frombuffer(file.read(), np.uint8, offset=head)
        except (OSError, EOFError, ValueError) as error:
            raise RuntimeError(f"{path} is none of MNIST's packed files ({error}).") from None

    def _rows(self, begin: str) -> Iterator[dict]:
        images = self._content(f"{begin}-images-idx3-ubyte.gz", 16).reshape(-1, 28, 28, 1)
        labels = self._content(f"{begin}-labels-idx1-ubyte.gz", 8)
        if len(images) != len(labels):
            raise RuntimeError(f"{self.source} has {len(images)} images, but {len(labels)} labels of {begin}.")
        for image, label in zip(images, labels):
            yield {"label": int(label), "data": self._cv2.imencode(".jpeg", image)[1].tobytes()}

    def run(self) -> MSRStatus:
        """Write the files; `transform` does the same."""
        schema = {"label": {"type": "int64"}, "data": {"type": "bytes"}}
        for begin, writer in self._writers.items():
            writer.set_header_size(HEADER_BYTES)
            writer.set_page_size(PAGE_BYTES)
            write(writer, schema, "mnist_schema", ["label"], self._rows(begin))
        return SUCCESS

    def transform(self) -> None:
        """Write the images of training and of test.

        Raises:
            RuntimeError: if a file cannot be read, or exists already.
        """
        self.run()


class ImageNetToMR:
    """ImageNet's folders into MindRecord files, with the fields "label", "image" (the file as it is) and "file_name".

    Args:
        map_file: lines with a folder's name and its label.
        image_dir: where the folders are.
        destination: the file to write.
        partition_number: how many files.

    Raises:
        ValueError: if an argument is wrong.

    Examples:
        >>> from dist_ms.mindrecord import ImageNetToMR
        >>> ImageNetToMR("labels.txt", "train", "imagenet.mindrecord", 8).transform()  # doctest: +SKIP
    """

    def __init__(self, map_file: str, image_dir: str, destination: str, partition_number: int = 1) -> None:
        self.map_file = check_filename(map_file, "map_file")
        self.image_dir = check_filename(image_dir, "image_dir")
        self.destination = check_filename(destination, "destination")
        self.writer = FileWriter(destination, check_partitions(partition_number, "ImageNetToMR"))

    def _rows(self) -> Iterator[dict]:
        if not os.path.isfile(self.map_file):
            raise OSError(f"For 'ImageNetToMR', the file {self.map_file} does not exist.")
        with open(self.map_file, encoding="utf-8") as file:
            entries = [line.split() for line in file if line.strip()]
        places = [(os.path.join(self.image_dir, name), int(label)) for name, label in entries]
        there = [(place, label) for place, label in places if os.path.isdir(place)]
        for place, _ in set(places) - set(there):
            log.warning("For 'ImageNetToMR', the folder %s does not exist.", place)
        if not there:
            raise PathNotExistsError(f"no folder of {self.map_file} is in {self.image_dir}")
        for place, label in there:
            for name in sorted(os.listdir(place)):
                path = os.path.join(place, name)
                if not name.endswith(("JPEG", "jpg")):
                    log.warning("For 'ImageNetToMR', %s is left out: it is no JPEG file.", path)
                    continue
                with open(path, "rb") as image:
                    content = image.read()
                if content:
                    yield {"file_name": path, "label": label, "image": content}
                else:
                    log.warning("For 'ImageNetToMR', %s is left out: it is empty.", path)

    def run(self) -> MSRStatus:
        """Write the files; `transform` does the same."""
        schema = {"label": {"type": "int32"}, "image": {"type": "bytes"}, "file_name": {"type": "string"}}
        self.writer.set_header_size(HEADER_BYTES)
        self.writer.set_page_size(PAGE_BYTES)
        write(self.writer, schema, "imagenet_schema", ["label", "file_name"], self._rows(), in_turn=True)
        return SUCCESS

    def transform(self) -> None:
        """Write the images, some hundred at a time to each file in turn.

        Raises:
            OSError: if the file of labels is missing.
            PathNotExistsError: if there is none of the folders.
        """
        self.run()
