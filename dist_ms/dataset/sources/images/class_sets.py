"""Sets of images in a folder for each class: Caltech-256, Food-101, Omniglot, Rendered SST-2."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import LabelledFiles, no_images

__all__ = ["Caltech256Dataset", "Food101Dataset", "OmniglotDataset", "RenderedSST2Dataset"]


def _folders(folder: Path) -> list[Path]:
    return sorted(path for path in folder.iterdir() if path.is_dir())


def _files(folder: Path, endings: tuple[str, ...] = ("",)) -> list[str | Path]:
    return sorted(path for path in folder.iterdir() if path.name.endswith(endings) and path.is_file())


class Caltech256Dataset(LabelledFiles):
    """Caltech-256: photographs of objects of 256 kinds and of others (Griffin et al., 2007).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`
    int32, the number of the folder in the order of their names.

    Args:
        dataset_dir: the folder that holds a folder for each class; files .jpg and .JPEG are read.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if there is no image in it.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "001.ak47").mkdir()
        >>> _ = (folder / "001.ak47" / "001_0001.jpg").write_bytes(b"...")
        >>> [int(label) for _, label in ds.Caltech256Dataset(str(folder)).create_tuple_iterator(output_numpy=True)]
        [0]
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
        folder = check_folder(dataset_dir, "dataset_dir", "Caltech256Dataset")
        self.set_reading(decode)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        self.set_files([_files(kind, (".jpg", ".JPEG")) for kind in _folders(folder)], np.int32)
        if not self._files:
            raise no_images("Caltech256Dataset", folder, "a folder of images *.jpg for each class")


class Food101Dataset(LabelledFiles):
    r"""Food-101: photographs of 101 dishes (Bossard et al., 2014).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`,
    the dish's name.

    Args:
        dataset_dir: the folder with images/ and meta/.
        usage: "train", "test" or "all" (the default).
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part.
        RuntimeError: if a list is missing, or names no image.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("images/waffles", "meta"):
        ...     (folder / name).mkdir(parents=True)
        >>> _ = (folder / "meta/test.txt").write_text("waffles/1\n")
        >>> _ = (folder / "images/waffles/1.jpg").write_bytes(b"...")
        >>> [str(name) for _, name in ds.Food101Dataset(str(folder), "test").create_tuple_iterator(output_numpy=True)]
        ['waffles']
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
        owner = "Food101Dataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "test", "all"))
        self.set_reading(decode)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        names: list[str] = []
        for name in ("train", "test") if part == "all" else (part,):
            path = folder / "meta" / f"{name}.txt"
            if not path.is_file():
                raise no_images(owner, folder, f"the list meta/{name}.txt")
            names += path.read_text().split()
        if not names:
            raise no_images(owner, folder, f"images of the part {part!r}")
        self._files = [folder / "images" / f"{name}.jpg" for name in names]
        self._labels = np.array([name.split("/")[0] for name in names])

    def num_classes(self) -> None:
        """None: the labels are no numbers."""


class OmniglotDataset(LabelledFiles):
    """Omniglot: drawings of the characters of fifty alphabets (Lake et al., 2015).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`
    int32, the character's number in the order of the alphabets' and characters' names.

    Args:
        dataset_dir: the folder with images_background/ and images_evaluation/, each with a folder for each alphabet.
        background: read the former (True, the default) or the latter.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist.
        RuntimeError: if there is no image in it.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "images_background/Greek/character01").mkdir(parents=True)
        >>> _ = (folder / "images_background/Greek/character01/0394_01.png").write_bytes(b"...")
        >>> data = ds.OmniglotDataset(str(folder))
        >>> data.get_dataset_size(), data.num_classes()
        (1, 1)
    """

    def __init__(
        self,
        dataset_dir: str,
        background: bool | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "OmniglotDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        known = True if background is None else check_bool(background, "background", owner)
        self.set_reading(decode)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        folder /= "images_background" if known else "images_evaluation"
        alphabets = _folders(folder) if folder.is_dir() else []
        self.set_files([_files(character) for alphabet in alphabets for character in _folders(alphabet)], np.int32)
        if not self._files:
            raise no_images(owner, folder, "a folder for each alphabet, and in it one of drawings for each character")


class RenderedSST2Dataset(LabelledFiles):
    """Rendered SST-2: images of sentences that praise or blame a film (Radford et al., 2021).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`
    uint32, 0 for negative and 1 for positive.

    Args:
        dataset_dir: the folder with train/, valid/ (or val/) and test/, each with negative/ and positive/.
        usage: "train", "val", "test" or "all" (the default).
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such part.
        RuntimeError: if there is no image in it.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "valid/positive").mkdir(parents=True)
        >>> _ = (folder / "valid/positive/1.png").write_bytes(b"...")
        >>> [int(label) for _, label in ds.RenderedSST2Dataset(str(folder)).create_tuple_iterator(output_numpy=True)]
        [1]
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
        owner = "RenderedSST2Dataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "val", "test", "all"))
        self.set_reading(decode)
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        validation = "val" if (folder / "val").is_dir() else "valid"  # as the set has it
        parts = ("test", "train", validation) if part == "all" else (validation if part == "val" else part,)
        places = [folder / name / kind for name in parts for kind in ("negative", "positive")]
        found = [_files(place, (".png",)) if place.is_dir() else [] for place in places]
        self.set_files(found, np.uint32)
        self._labels %= np.uint32(2)
        self._kinds = 2
        if not self._files:
            raise no_images(owner, folder, f"images {'train' if part == 'all' else parts[0]}/positive/*.png")
