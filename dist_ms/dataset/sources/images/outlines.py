"""Sets of images with outlines that MATLAB files hold: Caltech-101, the semantic boundaries of SBD."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import ImageFiles, LabelledFiles, no_images
from dist_ms.dataset.sources.images.matlab import read_matlab

__all__ = ["Caltech101Dataset", "SBDataset"]

# Classes whose outlines are in a folder of another name.
_OUTLINES = {
    "Faces": "Faces_2", "Faces_easy": "Faces_3", "Motorbikes": "Motorbikes_16", "airplanes": "Airplanes_Side_2"
}  # fmt: skip


class Caltech101Dataset(LabelledFiles):
    """Caltech-101: photographs of objects of 101 kinds, with their outlines (Fei-Fei et al., 2004).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and, as
    `target_type` has it, `category` int64, the number of the class in the order of their names, and `annotation`
    float64 of shape (2, points).

    Args:
        dataset_dir: the folder with 101_ObjectCategories/, and Annotations/ for outlines.
        target_type: "category" (the default), "annotation" or "all".
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such target.
        FileNotFoundError: if 101_ObjectCategories does not.
        RuntimeError: if there is no image in it, or an outline is missing or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("ant", "BACKGROUND_Google"):
        ...     (folder / "101_ObjectCategories" / name).mkdir(parents=True)
        ...     _ = (folder / "101_ObjectCategories" / name / "image_0001.jpg").write_bytes(b"...")
        >>> data = ds.Caltech101Dataset(str(folder))
        >>> data.get_class_indexing(), data.get_dataset_size()
        ({'ant': 0}, 1)
    """

    def __init__(
        self,
        dataset_dir: str,
        target_type: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "Caltech101Dataset"
        self._folder = check_folder(dataset_dir, "dataset_dir", owner)
        wanted = "category" if target_type is None else target_type
        check_string(wanted, "target_type", owner, ("category", "annotation", "all"))
        self._targets = ["category", "annotation"] if wanted == "all" else [wanted]
        self.set_reading(decode)
        super().__init__(
            ["image", *self._targets], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None
        )
        place = self._folder / "101_ObjectCategories"
        if not place.is_dir():
            raise FileNotFoundError(f"For '{owner}', {str(self._folder)!r} must hold {place.name}, but does not.")
        kinds = sorted(path for path in place.iterdir() if path.is_dir() and path.name != "BACKGROUND_Google")
        self.set_files([sorted(path.glob("image_*.jpg")) for path in kinds], np.int64)
        self._classes = [path.name for path in kinds]
        if not self._files:
            raise no_images(owner, place, "a folder of images image_*.jpg for each class")

    def get_class_indexing(self) -> dict[str, int]:
        """The label of each class by name."""
        return {name: label for label, name in enumerate(self._classes)}

    def num_classes(self) -> None:
        """None, as MindSpore has it."""

    def read(self, number: int) -> Row:
        """An image, and its label and outline as they are asked for."""
        path = Path(self._files[number])
        row = [self.picture(path)]
        for target in self._targets:
            row.append(np.array(self._labels[number]) if target == "category" else self._outline(path))
        return tuple(row)

    def _outline(self, image: Path) -> np.ndarray:
        kind = image.parent.name
        name = image.stem.replace("image", "annotation") + ".mat"
        path = self._folder / "Annotations" / _OUTLINES.get(kind, kind) / name
        return read_matlab(path, ("obj_contour",), "Caltech101Dataset")["obj_contour"]

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        return self._labels if column == "category" else super().labels(column)


class SBDataset(ImageFiles):
    r"""SBD: photographs with the boundaries of objects of twenty kinds (Hariharan et al., 2011).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `task`
    uint8, the boundaries of each kind, of shape (20, height, width), or the kind at each pixel, (height, width).

    Args:
        dataset_dir: the folder with img/, cls/, train.txt, val.txt and train_noval.txt.
        task: "Boundaries" or "Segmentation".
        usage: "train", "val", "train_noval", or "all" for the former two.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such task or usage.
        FileNotFoundError: if a list does not.
        RuntimeError: if a list is empty, or a MATLAB file damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "val.txt").write_text("2008_000002\n2008_000003\n")
        >>> ds.SBDataset(str(folder), usage="val").get_dataset_size()
        2
    """

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Boundaries",
        usage: str = "all",
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "SBDataset"
        self._folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.task = check_string(task, "task", owner, ("Boundaries", "Segmentation"))
        part = check_usage(usage, owner, ("train", "val", "train_noval", "all"))
        self.set_reading(False if decode is None else decode)
        super().__init__(
            ["image", "task"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None
        )
        self._names: list[str] = []
        for name in ("train", "val") if part == "all" else (part,):
            path = self._folder / f"{name}.txt"
            if not path.is_file():
                raise FileNotFoundError(
                    f"For '{owner}', {str(self._folder)!r} must hold the list {name}.txt, but does not."
                )
            self._names += path.read_text().split()
        if not self._names:
            raise no_images(owner, self._folder, f"images of the part {part!r}")

    def count(self) -> int:
        """How many images there are."""
        return len(self._names)

    def read(self, number: int) -> Row:
        """An image and its boundaries, or segmentation."""
        name = self._names[number]
        path = self._folder / "cls" / f"{name}.mat"
        try:
            found = read_matlab(path, ("GTcls",), "SBDataset")["GTcls"][self.task][0, 0]
            if self.task == "Boundaries":
                found = np.stack([np.asarray(kind[0].todense()) for kind in found])
        except (ValueError, IndexError, AttributeError, TypeError) as error:
            raise RuntimeError(
                f"For 'SBDataset', {str(path)!r} must hold GTcls with {self.task}, but {type(error).__name__}: {error}."
            ) from None
        return self.picture(self._folder / "img" / f"{name}.jpg"), np.ascontiguousarray(found, np.uint8)
