"""CocoDataset: images with boxes, outlines, key points, captions or panoptic segments."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_file, check_folder
from dist_ms.dataset.sources.images.image_files import METADATA, ImageFiles

__all__ = ["CocoDataset"]

_COLUMNS = {
    "Detection": ["bbox", "category_id", "iscrowd"],
    "Stuff": ["segmentation", "iscrowd"],
    "Keypoint": ["keypoints", "num_keypoints"],
    "Panoptic": ["bbox", "category_id", "iscrowd", "area"],
    "Captioning": ["captions"],
}


class CocoDataset(ImageFiles):
    """COCO: images with boxes, outlines, key points, captions or panoptic segments (Lin et al., 2014).

    The column `image` is a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8. Then
    follow by task, with a row per object: "Detection": `bbox` float32 (objects, 4), `category_id`, `iscrowd` uint32
    (objects, 1); "Stuff": `segmentation` float32, outlines filled up with -1, `iscrowd`; "Keypoint": `keypoints`
    float32, `num_keypoints`; "Panoptic": as "Detection", and `area`; "Captioning": `captions`, texts.

    Args:
        dataset_dir: the folder with the images.
        annotation_file: the annotations' JSON file.
        task: what is read of it.
        decode: give images instead of the files' bytes.
        extra_metadata: a column `_meta-filename`, which is seen when it is renamed.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.
        decrypt: a function that returns the bytes of a file with the given name.

    Raises:
        ValueError: if the folder or file does not exist, or there is no such task.
        RuntimeError: if the annotations are damaged, or of another task.

    Examples:
        >>> import json, pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.jpg").write_bytes(b"...")
        >>> images, captions = [{"id": 1, "file_name": "a.jpg"}], [{"image_id": 1, "caption": "a cat"}]
        >>> _ = (folder / "all.json").write_text(json.dumps({"images": images, "annotations": captions}))
        >>> data = ds.CocoDataset(str(folder), str(folder / "all.json"), "Captioning")
        >>> [captions.tolist() for _, captions in data.create_tuple_iterator(output_numpy=True)]
        [[['a cat']]]
    """

    def __init__(
        self,
        dataset_dir: str,
        annotation_file: str,
        task: str = "Detection",
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
        owner = "CocoDataset"
        self._folder = check_folder(dataset_dir, "dataset_dir", owner)
        path = check_file(annotation_file, "annotation_file", owner)
        self.task = check_string(task, "task", owner, tuple(_COLUMNS))
        self.set_reading(decode, decrypt)
        self.extra_metadata = check_bool(extra_metadata, "extra_metadata", owner)
        super().__init__(
            ["image", *_COLUMNS[task], *[METADATA] * extra_metadata],
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache,
        )  # fmt: skip
        try:
            with open(path, encoding="utf-8") as file:
                content = json.load(file)
            names = {image["id"]: image["file_name"] for image in content["images"]}
            self._kinds = self._read_kinds(content.get("categories", []))
            find = self._panoptic if task == "Panoptic" else self._objects
            rows = find(content["annotations"], names)
            self._rows = [(name, self._columns_of(found)) for name, found in rows.items()]
        except (ValueError, KeyError, TypeError, AttributeError, OSError) as error:
            raise RuntimeError(
                f"For '{owner}', {str(path)!r} must hold annotations for the task {task!r}, but "
                f"{type(error).__name__}: {error}."
            ) from error
        if not self._rows:
            raise RuntimeError(
                f"For '{owner}', {str(path)!r} must annotate images for the task {task!r}, but has none."
            )

    def _read_kinds(self, categories: list[dict]) -> dict[str, list[int]]:
        if self.task == "Panoptic":
            return {kind["name"]: [kind["id"], kind["isthing"]] for kind in categories}
        return {kind["name"]: [kind["id"]] for kind in categories}

    @staticmethod
    def _objects(annotations: list[dict], names: dict[int, str]) -> dict[str, list[dict]]:
        """The annotations of each image, in the order of the images' numbers in the file."""
        found: dict[str, list[dict]] = {}
        for thing in annotations:
            found.setdefault(names[thing["image_id"]], []).append(thing)
        return {name: found[name] for name in names.values() if name in found}

    @staticmethod
    def _panoptic(annotations: list[dict], names: dict[int, str]) -> dict[str, list[dict]]:
        """The segments of each image."""
        found = {names[entry["image_id"]]: entry["segments_info"] for entry in annotations}
        return {name: found[name] for name in names.values() if name in found}

    def _columns_of(self, things: list[dict]) -> tuple[np.ndarray, ...]:
        """The columns that describe an image's objects."""

        def numbers(field: str) -> np.ndarray:
            return np.array([[thing.get(field, 0)] for thing in things], np.uint32)

        if self.task == "Captioning":
            return (np.array([[thing["caption"]] for thing in things], "U"),)
        if self.task == "Keypoint":
            return np.array([thing["keypoints"] for thing in things], np.float32), numbers("num_keypoints")
        if self.task == "Stuff":
            lines = [line for thing in things for line in _outlines(thing["segmentation"])]
            width = max(map(len, lines))
            filled = np.full((len(lines), width), -1, np.float32)
            for row, line in zip(filled, lines, strict=True):
                row[: len(line)] = line
            return filled, numbers("iscrowd")
        boxes = np.array([thing["bbox"] for thing in things], np.float32).reshape(len(things), 4)
        columns = ["category_id", "iscrowd", *(["area"] if self.task == "Panoptic" else [])]
        return boxes, *map(numbers, columns)

    def get_class_indexing(self) -> dict[str, list[int]]:
        """The number of each category by name, for "Detection" and "Panoptic"; then whether it is a thing, too.

        Raises:
            NotImplementedError: for other tasks.
        """
        if self.task not in ("Detection", "Panoptic"):
            raise NotImplementedError("For 'CocoDataset', 'task' must be 'Detection' or 'Panoptic' for categories.")
        return {name: list(numbers) for name, numbers in self._kinds.items()}

    def count(self) -> int:
        """How many images there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """An image and what is in it."""
        name, columns = self._rows[number]
        path = self._folder / name
        row = self.picture(path), *(column.copy() for column in columns)
        return (*row, np.array(str(path))) if self.extra_metadata else row


def _outlines(segmentation: Any) -> list[list[float]]:
    """The outlines of an object; of a crowd the counts of its run lengths."""
    return [segmentation["counts"]] if isinstance(segmentation, dict) else segmentation
