"""Sets of photographs of places: LSUN, Places365, SUN397."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string, check_type
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import LabelledFiles, no_images

__all__ = ["LSUNDataset", "Places365Dataset", "SUN397Dataset"]

_LSUN = """
bedroom bridge church_outdoor classroom conference_room dining_room kitchen living_room restaurant tower
""".split()


def _lines(folder: Path, name: str, owner: str) -> list[str]:
    """The lines of a list that are not empty."""
    path = folder / name
    if not path.is_file():
        raise no_images(owner, folder, f"the list {name}")
    return [line for line in path.read_text().splitlines() if line.strip()]


class LSUNDataset(LabelledFiles):
    """LSUN: photographs of ten kinds of scenes (Yu et al., 2015), as files.

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`
    uint32, the number of the class among those that are read, in the order of their names; 0 for "test".

    Args:
        dataset_dir: the folder with bedroom_train/, bedroom_val/ and so on, and test/.
        usage: "train", "valid", "test", or "all" (the default) for "train" and "valid".
        classes: the classes that are read; all that are there by default.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        TypeError: if `classes` is no str and no list of them.
        ValueError: if the folder does not exist, or there is no such part or class.
        RuntimeError: if there is no image in it.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("tower_train", "bridge_train"):
        ...     (folder / name).mkdir()
        ...     _ = (folder / name / "1.jpg").write_bytes(b"...")
        >>> data = ds.LSUNDataset(str(folder), "train")
        >>> data.get_dataset_size(), data.num_classes()
        (2, 2)
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        classes: str | list[str] | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "LSUNDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "valid", "test", "all"))
        if classes is not None:
            check_type(classes, "classes", owner, (str, list))
        wanted = [classes] if isinstance(classes, str) else classes or _LSUN
        for name in wanted:
            check_string(name, "classes", owner, _LSUN)
        self.set_reading(decode)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        parts = {"train": ["train"], "valid": ["val"], "all": ["train", "val"]}.get(part, [])
        kinds = [[folder / f"{name}_{end}" for end in parts] for name in sorted(set(wanted))] if parts else []
        there = [[place for place in places if place.is_dir()] for places in kinds or [[folder / "test"]]]
        self.set_files(
            [[file for place in places for file in self._images(place)] for places in there if places], np.uint32
        )
        if not self._files:
            raise no_images(owner, folder, f"folders of images such as {'bedroom_val' if parts else 'test'!r}")

    @staticmethod
    def _images(folder: Path) -> list[str | Path]:
        found: list[str | Path] = sorted(folder.iterdir())
        for path in found:
            if not Path(path).is_file():
                raise RuntimeError(
                    f"For 'LSUNDataset', {str(folder)!r} must hold images, but {str(path)!r} is no file."
                )
        return found


class Places365Dataset(LabelledFiles):
    r"""Places365: photographs of 365 kinds of places (Zhou et al., 2017).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`
    uint32.

    Args:
        dataset_dir: the folder with places365_train_standard.txt, places365_train_challenge.txt or places365_val.txt,
            and the folders of the images.
        usage: "train-standard" (the default), "train-challenge" or "val".
        small: read images of 256 x 256, of data_256_standard/, data_256_challenge/ or val_256/, instead of those in
            data_large_standard/, data_large_challenge/ or val_large/.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part.
        RuntimeError: if the list is missing, empty or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "val_256").mkdir()
        >>> _ = (folder / "val_256/1.jpg").write_bytes(b"...")
        >>> _ = (folder / "places365_val.txt").write_text("1.jpg 7\n")
        >>> [int(n) for _, n in ds.Places365Dataset(str(folder), "val").create_tuple_iterator(output_numpy=True)]
        [7]
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str | None = None,
        small: bool = True,
        decode: bool = False,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "Places365Dataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train-standard", "train-challenge", "val"), "train-standard")
        size = "256" if check_bool(small, "small", owner) else "large"
        self.set_reading(decode)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        name = f"places365_{part.replace('-', '_')}.txt"
        place = folder / (f"val_{size}" if part == "val" else f"data_{size}_{part.removeprefix('train-')}")
        rows = []
        for number, line in enumerate(_lines(folder, name, owner), 1):
            file, _, label = line.strip().rpartition(" ")
            if not file or not label.isdecimal():
                raise RuntimeError(
                    f"For '{owner}', line {number} of {str(folder / name)!r} must have an image's name and a number, "
                    f"but is {line[:60]!r}."
                )
            rows.append((f"{place}/{file.strip().lstrip('/')}", int(label)))
        if not rows:
            raise no_images(owner, folder, f"images that {name} names")
        self._files = [file for file, _ in rows]
        self._labels = np.array([label for _, label in rows], np.uint32)


class SUN397Dataset(LabelledFiles):
    r"""SUN397: photographs of 397 kinds of places (Xiao et al., 2010).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`
    uint32, the number of the class in ClassName.txt.

    Args:
        dataset_dir: the folder with ClassName.txt and the folders it names, whose files sun_*.jpg are read.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if ClassName.txt is missing, or a folder that it names.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "a/abbey").mkdir(parents=True)
        >>> _ = (folder / "a/abbey/sun_aaa.jpg").write_bytes(b"...")
        >>> _ = (folder / "ClassName.txt").write_text("/a/abbey\n")
        >>> ds.SUN397Dataset(str(folder)).get_dataset_size()
        1
    """

    def __init__(
        self,
        dataset_dir: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "SUN397Dataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.set_reading(decode)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        numbers = {name.strip(): k for k, name in enumerate(_lines(folder, "ClassName.txt", owner))}
        rows: list[tuple[Path, int]] = []
        for name in sorted(numbers):
            place = folder / name.lstrip("/")
            if not place.is_dir():
                raise no_images(owner, folder, f"the folder {name!r} of ClassName.txt")
            rows += [(path, numbers[name]) for path in sorted(place.glob("sun_*.jpg"))]
        if not rows:
            raise no_images(owner, folder, "images sun_*.jpg in the folders of ClassName.txt")
        self._files = [path for path, _ in rows]
        self._labels = np.array([label for _, label in rows], np.uint32)
