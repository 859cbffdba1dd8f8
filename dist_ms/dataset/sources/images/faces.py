"""Sets of photographs of people: Labeled Faces in the Wild, WIDER FACE."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import ImageFiles, no_images

__all__ = ["LFWDataset", "WIDERFaceDataset"]

_FACES = {"original": "lfw", "funneled": "lfw_funneled", "deepfunneled": "lfw-deepfunneled"}
_LISTS = {"10fold": ("",), "train": ("DevTrain",), "test": ("DevTest",), "all": ("DevTrain", "DevTest")}


def _lines(folder: Path, name: str, owner: str) -> list[str]:
    path = folder / name
    if not path.is_file():
        raise no_images(owner, folder, f"the list {name}")
    return path.read_text(encoding="utf-8").splitlines()


class LFWDataset(ImageFiles):
    r"""Labeled Faces in the Wild: faces with their names, or pairs of them (Huang et al., 2007).

    Columns for "people" are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8,
    and `label` uint32, the number of the name in lfw-names.txt; for "pairs" `image1`, `image2`, and `label` uint32, 1
    for two of the same person and 0 for others.

    Args:
        dataset_dir: the folder with the data set's own folders and lists.
        task: "people" (the default) or "pairs".
        usage: "10fold", "train", "test" or "all" (the default).
        image_set: "original", "funneled" (the default) or "deepfunneled".
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such task, usage or image set.
        RuntimeError: if a list is missing, empty or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "lfw-names.txt").write_text("Ann\t1\nBob\t2\n")
        >>> _ = (folder / "peopleDevTest.txt").write_text("1\nBob\t2\n")
        >>> ds.LFWDataset(str(folder), usage="test").get_dataset_size()
        2
    """

    def __init__(
        self,
        dataset_dir: str,
        task: str | None = None,
        usage: str | None = None,
        image_set: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "LFWDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.task = "people" if task is None else check_string(task, "task", owner, ("people", "pairs"))
        part = check_usage(usage, owner, tuple(_LISTS))
        images = "funneled" if image_set is None else check_string(image_set, "image_set", owner, list(_FACES))
        self.set_reading(decode)
        columns = ["image", "label"] if self.task == "people" else ["image1", "image2", "label"]
        super().__init__(columns, num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache)
        self._place = folder / _FACES[images]
        names = _lines(folder, "lfw-names.txt", owner) if self.task == "people" else []
        self._numbers = {line.split()[0]: k for k, line in enumerate(n for n in names if n.strip())}
        self._rows: list[tuple[list[tuple[str, int]], int]] = []
        for ending in _LISTS[part]:
            name = f"{self.task}{ending}.txt"
            for number, line in enumerate(_lines(folder, name, owner), 1):
                fields = line.split()
                if all(field.isdecimal() for field in fields):  # how many lines follow
                    continue
                try:
                    self._rows += self._listed(fields)
                except (ValueError, KeyError, IndexError):
                    wanted = "a name of lfw-names.txt and a number" if self.task == "people" else "two images of people"
                    raise RuntimeError(
                        f"For '{owner}', line {number} of {str(folder / name)!r} must have {wanted}, but is "
                        f"{line[:60]!r}."
                    ) from None
        if not self._rows:
            raise no_images(owner, folder, f"{self.task} of the part {part!r}")

    def _listed(self, fields: list[str]) -> Iterator[tuple[list[tuple[str, int]], int]]:
        """The images that a line names, with their label."""
        if self.task == "people":
            name, count = fields
            yield from (([(name, k)], self._numbers[name]) for k in range(1, int(count) + 1))
        elif len(fields) == 3:
            yield [(fields[0], int(fields[1])), (fields[0], int(fields[2]))], 1
        else:
            one, first, two, second = fields
            yield [(one, int(first)), (two, int(second))], 0

    def count(self) -> int:
        """How many images or pairs there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """An image or two, and a label."""
        images, label = self._rows[number]
        found = [self.picture(self._place / name / f"{name}_{k:04d}.jpg") for name, k in images]
        return *found, np.array(label, np.uint32)

    def labels(self, column: str) -> np.ndarray:
        """The labels of all rows."""
        if column != "label":
            return super().labels(column)
        return np.array([label for _, label in self._rows], np.uint32)


class WIDERFaceDataset(ImageFiles):
    r"""WIDER FACE: photographs of people with boxes around their faces (Yang et al., 2016).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and unless
    usage is "test" in int32 `bbox` of shape (faces, 4), left, top, width and height, and `blur`, `expression`,
    `illumination`, `occlusion`, `pose`, `invalid`, the numbers behind it in this order. Rows are in the lists' order.

    Args:
        dataset_dir: the folder with WIDER_train/, WIDER_val/ or WIDER_test/, and wider_face_split/.
        usage: "train", "valid", "test", or "all" (the default) for the former two.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such usage.
        RuntimeError: if a list is missing, empty or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "wider_face_split").mkdir()
        >>> boxes = "0--Parade/0_a.jpg\n2\n1 2 30 40 0 0 0 0 0 0\n5 6 7 8 2 0 0 0 1 0\n"
        >>> _ = (folder / "wider_face_split/wider_face_val_bbx_gt.txt").write_text(boxes)
        >>> ds.WIDERFaceDataset(str(folder), "valid").get_dataset_size()
        1
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
        owner = "WIDERFaceDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "valid", "all"))
        self.set_reading(decode)
        columns = "image bbox blur expression illumination occlusion pose invalid".split()
        super().__init__(
            ["image"] if part == "test" else columns,
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache,
        )  # fmt: skip
        self._rows: list[tuple[Path, np.ndarray | None]] = []
        if part == "test":
            names = _lines(folder, "wider_face_split/wider_face_test_filelist.txt", owner)
            self._rows = [(folder / "WIDER_test/images" / name.strip(), None) for name in names if name.strip()]
        else:
            for name in {"train": ["train"], "valid": ["val"]}.get(part, ["train", "val"]):
                self._rows += self._boxes(folder, name)
        if not self._rows:
            raise no_images(owner, folder, f"images of the part {part!r}")

    @staticmethod
    def _boxes(folder: Path, part: str) -> Iterator[tuple[Path, np.ndarray]]:
        """The images of a part with what is said of each face."""
        owner = "WIDERFaceDataset"
        name = f"wider_face_split/wider_face_{part}_bbx_gt.txt"
        lines = _lines(folder, name, owner)
        place = 0
        while place < len(lines) and lines[place].strip():
            try:
                # An image without a face has a line of zeros.
                count = max(1, int(lines[place + 1]))
                faces = [line.split()[:10] for line in lines[place + 2 : place + 2 + count]]
                numbers = np.array(faces, np.int32).reshape(count, 10)
            except (ValueError, IndexError) as error:
                raise RuntimeError(
                    f"For '{owner}', {str(folder / name)!r} must have from line {place + 1} on an image's name, how "
                    f"many faces it has, and a line of ten numbers for each, but {error}."
                ) from None
            yield folder / f"WIDER_{part}" / "images" / lines[place].strip(), numbers
            place += 2 + count

    def count(self) -> int:
        """How many images there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """An image and the faces in it."""
        path, faces = self._rows[number]
        image = self.picture(path)
        return (image,) if faces is None else (image, faces[:, :4].copy(), *faces[:, 4:].T.copy())
