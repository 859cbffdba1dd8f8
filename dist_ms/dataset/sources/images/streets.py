"""Sets of photographs of streets, seen from a car: Cityscapes, KITTI."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import ImageFiles, no_images

__all__ = ["CityscapesDataset", "KITTIDataset"]

_TASKS = {"instance": "instanceIds.png", "semantic": "labelIds.png", "polygon": "polygons.json", "color": "color.png"}
_PARTS = {"fine": ("train", "test", "val"), "coarse": ("train", "train_extra", "val")}


class CityscapesDataset(ImageFiles):
    """Cityscapes: streets of fifty cities with the objects in them (Cordts et al., 2016).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `task`,
    likewise, or for polygons their JSON, without blanks and in the order of its names.

    Args:
        dataset_dir: the folder with leftImg8bit/, and gtFine/ or gtCoarse/.
        usage: "train", "test" (of "fine"), "train_extra" (of "coarse"), "val" or "all".
        quality_mode: "fine" or "coarse".
        task: "instance", "semantic", "polygon" or "color".
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part, mode or task.
        RuntimeError: if there is no image, or an annotation is missing.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("leftImg8bit/val/bonn/b_1_leftImg8bit.png", "gtFine/val/bonn/b_1_gtFine_color.png"):
        ...     (folder / name).parent.mkdir(parents=True)
        ...     _ = (folder / name).write_bytes(b"...")
        >>> ds.CityscapesDataset(str(folder), "val", task="color").get_dataset_size()
        1
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str = "train",
        quality_mode: str = "fine",
        task: str = "instance",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "CityscapesDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.task = check_string(task, "task", owner, list(_TASKS))
        parts = _PARTS[check_string(quality_mode, "quality_mode", owner, list(_PARTS))]
        part = check_usage(usage, owner, (*parts, "all"), "train")
        self.set_reading(False if decode is None else decode)
        super().__init__(
            ["image", "task"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        kind = f"gt{quality_mode.capitalize()}"
        self._rows: list[tuple[Path, Path]] = []
        for name in parts if part == "all" else (part,):
            for image in sorted((folder / "leftImg8bit" / name).glob("*/*_leftImg8bit.png")):
                stem = image.name.removesuffix("leftImg8bit.png")
                target = folder / kind / name / image.parent.name / f"{stem}{kind}_{_TASKS[task]}"
                if not target.is_file():
                    raise no_images(owner, folder, f"an annotation for each image such as {str(target)!r}")
                self._rows.append((image, target))
        if not self._rows:
            raise no_images(owner, folder / "leftImg8bit", f"images of the part {part!r}")

    def count(self) -> int:
        """How many images there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """An image and what is in it."""
        image, target = self._rows[number]
        if self.task != "polygon":
            return self.picture(image), self.picture(target)
        try:
            polygons = json.loads(target.read_text(encoding="utf-8"))
        except ValueError as error:
            raise RuntimeError(f"For 'CityscapesDataset', {str(target)!r} must be JSON, but {error}.") from None
        text = json.dumps(polygons, separators=(",", ":"), sort_keys=True, ensure_ascii=False)
        return self.picture(image), np.array(text)


class KITTIDataset(ImageFiles):
    r"""KITTI: streets with the objects in them and where they stand (Geiger et al., 2012).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and for
    "train" of each object `label` uint32, the number of its class among all in the order of their names, `truncated`
    float32, `occluded` uint32, `alpha` float32, `bbox` float32 of left, top, right and bottom, `dimensions` and
    `location` float32 of three numbers, `rotation_y` float32.

    Args:
        dataset_dir: the folder with data_object_image_2/, and data_object_label_2/ for "train".
        usage: "train" (the default) or "test".
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such usage.
        RuntimeError: if there is no image, or an annotation is missing or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "data_object_image_2/testing/image_2").mkdir(parents=True)
        >>> _ = (folder / "data_object_image_2/testing/image_2/000000.png").write_bytes(b"...")
        >>> ds.KITTIDataset(str(folder), "test").get_col_names()
        ['image']
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "KITTIDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        self._trains = check_usage(usage, owner, ("train", "test"), "train") == "train"
        self.set_reading(decode)
        columns = "image label truncated occluded alpha bbox dimensions location rotation_y".split()
        super().__init__(
            columns if self._trains else ["image"],
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache,
        )  # fmt: skip
        place = folder / "data_object_image_2" / ("training" if self._trains else "testing") / "image_2"
        self._files = sorted(place.glob("*.png"))
        self._classes: dict[str, int] = {}
        if self._trains:
            lists = folder / "data_object_label_2" / "training" / "label_2"
            objects = [self._objects(lists / f"{path.stem}.txt") for path in self._files]
            there = sorted({name for names, _ in objects for name in names})
            self._classes = {name: label for label, name in enumerate(there)}
            kept = [k for k, (names, _) in enumerate(objects) if names]
            self._files = [self._files[k] for k in kept]
            self._rows = [objects[k] for k in kept]
        if not self._files:
            raise no_images(owner, place, "images *.png" + " with objects" * self._trains)

    @staticmethod
    def _objects(path: Path) -> tuple[list[str], np.ndarray]:
        """The class of each object of an image, and what is said of it."""
        try:
            lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
            numbers = np.array([line[1:15] for line in lines], np.float64).reshape(len(lines), 14)
        except (OSError, ValueError) as error:
            raise RuntimeError(
                f"For 'KITTIDataset', {str(path)!r} must have a class and 14 numbers in each line, but {error}."
            ) from None
        return [line[0] for line in lines], numbers

    def get_class_indexing(self) -> dict[str, int]:
        """The label of each class by name."""
        return dict(self._classes)

    def count(self) -> int:
        """How many images there are."""
        return len(self._files)

    def read(self, number: int) -> Row:
        """An image and what is in it."""
        image = self.picture(self._files[number])
        if not self._trains:
            return (image,)
        names, numbers = self._rows[number]
        labels = np.array([[self._classes[name]] for name in names], np.uint32)
        singles = numbers.astype(np.float32)
        parts = [singles[:, a:b].copy() for a, b in ((2, 3), (3, 7), (7, 10), (10, 13), (13, 14))]
        return image, labels, singles[:, :1].copy(), numbers[:, 1:2].astype(np.int64).astype(np.uint32), *parts
