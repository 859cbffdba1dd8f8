"""VOCDataset: images with segmented objects, or with boxes around them."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_file, check_folder
from dist_ms.dataset.sources.images.image_files import METADATA, ImageFiles

__all__ = ["VOCDataset"]


class VOCDataset(ImageFiles):
    r"""Pascal VOC: images with segmented objects, or with boxes around them (Everingham et al., 2010).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and for
    the task "Segmentation" `target`, likewise; for "Detection" `bbox` float32 of shape (objects, 4), left, top, width
    and height, and `label`, `difficult`, `truncate` uint32 of shape (objects, 1).

    Args:
        dataset_dir: the folder with the data set's own folders.
        task: "Segmentation" or "Detection".
        usage: the name of a list in ImageSets/Segmentation or ImageSets/Main.
        class_indexing: the labels of the classes that are read, for "Detection"; by default all, in their order.
        decode: give images instead of the files' bytes.
        extra_metadata: a column `_meta-filename`, which is seen when it is renamed.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.
        decrypt: a function that returns the bytes of a file with the given name.

    Raises:
        ValueError: if the folder or list does not exist, or `class_indexing` is given for "Segmentation".
        RuntimeError: if the list is empty, or an annotation is missing or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("ImageSets/Segmentation", "JPEGImages", "SegmentationClass"):
        ...     (folder / name).mkdir(parents=True)
        >>> _ = (folder / "ImageSets/Segmentation/train.txt").write_text("a\n")
        >>> ds.VOCDataset(str(folder)).get_dataset_size()
        1
    """

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Segmentation",
        usage: str = "train",
        class_indexing: dict[str, int] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        extra_metadata: bool = False,
        decrypt: Callable | None = None,
    ) -> None:
        owner = "VOCDataset"
        self._folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.task = check_string(task, "task", owner, ("Segmentation", "Detection"))
        check_string(usage, "usage", owner)
        self.set_reading(decode, decrypt)
        self.extra_metadata = check_bool(extra_metadata, "extra_metadata", owner)
        if class_indexing is not None and task == "Segmentation":
            raise ValueError(complaint("class_indexing", owner, "None for the task 'Segmentation'", class_indexing))
        detects = task == "Detection"
        columns = ["image", "bbox", "label", "difficult", "truncate"] if detects else ["image", "target"]
        super().__init__(
            columns + [METADATA] * extra_metadata,
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache,
        )  # fmt: skip
        path = self._folder / "ImageSets" / ("Main" if detects else "Segmentation") / f"{usage}.txt"
        listed = [line.split()[0] for line in check_file(path, "usage", owner).read_text().splitlines() if line.strip()]
        self._boxes: dict[str, tuple] = {}
        self._classes: dict[str, int] = {}
        if detects:
            listed = self._read_boxes(listed, class_indexing)
        self._names = listed
        if not listed:
            raise RuntimeError(f"For '{owner}', {str(path)!r} must name images with objects, but it names none.")

    def _read_boxes(self, names: list[str], wanted: dict[str, int] | None) -> list[str]:
        """Read the objects of all images; return those that have one of the wanted classes."""
        found = {name: self._objects(name) for name in names}
        there = sorted({kind for objects in found.values() for kind, *_ in objects})
        self._classes = dict(zip(there, range(len(there)))) if wanted is None else dict(wanted)
        for name, objects in found.items():
            kept = [entry for entry in objects if entry[0] in self._classes]
            if kept:
                boxes = np.array([box for _, box, _, _ in kept], np.float32)
                numbers = [[self._classes[kind], difficult, cut] for kind, _, difficult, cut in kept]
                self._boxes[name] = boxes, *(column[:, None].copy() for column in np.array(numbers, np.uint32).T)
        return [name for name in names if name in self._boxes]

    def _objects(self, name: str) -> list[tuple[str, list[float], int, int]]:
        """The class, box, and flags of each object of an image."""
        path = self._folder / "Annotations" / f"{name}.xml"
        try:
            root = ElementTree.parse(path).getroot()
            found = []
            for thing in root.iter("object"):
                box = thing.find("bndbox")
                left, top, right, bottom = (float(box.findtext(side)) for side in ("xmin", "ymin", "xmax", "ymax"))  # type: ignore[union-attr, arg-type]
                flags = [int(thing.findtext(flag, "0")) for flag in ("difficult", "truncated")]
                found.append((thing.findtext("name") or "", [left, top, right - left, bottom - top], *flags))
        except (OSError, ElementTree.ParseError, TypeError, ValueError, AttributeError) as error:
            raise RuntimeError(
                f"For 'VOCDataset', {str(path)!r} must describe an image's objects, but {error}."
            ) from None
        return found  # type: ignore[return-value]

    def get_class_indexing(self) -> dict[str, int]:
        """The label of each class, for the task "Detection".

        Raises:
            NotImplementedError: for the task "Segmentation".
        """
        if self.task == "Segmentation":
            raise NotImplementedError("For 'VOCDataset', 'task' must be 'Detection' for labels of classes.")
        return dict(self._classes)

    def count(self) -> int:
        """How many images there are."""
        return len(self._names)

    def read(self, number: int) -> Row:
        """An image and what is in it."""
        name = self._names[number]
        path = self._folder / "JPEGImages" / f"{name}.jpg"
        if self.task == "Segmentation":
            row: Row = self.picture(path), self.picture(self._folder / "SegmentationClass" / f"{name}.png")
        else:
            row = self.picture(path), *(column.copy() for column in self._boxes[name])
        return (*row, np.array(str(path))) if self.extra_metadata else row
