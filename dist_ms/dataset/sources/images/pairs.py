"""Sets of images that come in pairs: DIV2K's of two resolutions, Photo Tour's patches of one place or of two."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, check_type
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import ImageFiles, no_images
from dist_ms.dataset.sources.indexed import IndexedSource

__all__ = ["DIV2KDataset", "PhotoTourDataset"]

_DOWNGRADES = ("bicubic", "unknown", "mild", "difficult", "wild")
_SIDE, _ROW = 64, 16  # of a patch in pixels, and patches of a row of a file
_TOURS = ("notredame", "yosemite", "liberty", "notredame_harris", "yosemite_harris", "liberty_harris")


class DIV2KDataset(ImageFiles):
    """DIV2K: photographs in high and low resolution (Agustsson and Timofte, 2017).

    Columns are `hr_image` and `lr_image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in
    uint8.

    Args:
        dataset_dir: the folder with the data set's own folders.
        usage: "train", "valid" or "all".
        downgrade: how images were made small: "bicubic", "unknown", or for scale 4 "mild", "difficult" or "wild".
        scale: how many times smaller they are: 2, 3, 4, or for "bicubic" 8.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there are no such images.
        RuntimeError: if there is no image, or one has no small one.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> for name in ("DIV2K_valid_HR/0801.png", "DIV2K_valid_LR_unknown/X3/0801x3.png"):
        ...     (folder / name).parent.mkdir(parents=True)
        ...     _ = (folder / name).write_bytes(b"...")
        >>> ds.DIV2KDataset(str(folder), "valid", "unknown", 3).get_dataset_size()
        1
    """

    def __init__(
        self,
        dataset_dir: str,
        usage: str = "train",
        downgrade: str = "bicubic",
        scale: int = 2,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "DIV2KDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, ("train", "valid", "all"), "train")
        check_string(downgrade, "downgrade", owner, _DOWNGRADES)
        check_type(scale, "scale", owner, int)
        scales = {"bicubic": (2, 3, 4, 8), "unknown": (2, 3, 4)}.get(downgrade, (4,))
        if scale not in scales:
            wanted = " or ".join(map(str, scales))
            raise ValueError(f"For '{owner}', 'scale' must be {wanted} for {downgrade!r}, but got {scale}.")
        self.set_reading(False if decode is None else decode)
        super().__init__(
            ["hr_image", "lr_image"],
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache,
        )  # fmt: skip
        self._rows: list[tuple[Path, Path]] = []
        for name in ("train", "valid") if part == "all" else (part,):
            small, ending = folder / f"DIV2K_{name}_LR_{downgrade}", f"x{scale}"
            if downgrade not in ("bicubic", "unknown"):
                ending += downgrade[0]
            elif scale == 8:
                small = folder / f"DIV2K_{name}_LR_x8"
            else:
                small /= f"X{scale}"
            for path in sorted((folder / f"DIV2K_{name}_HR").glob("*.png")):
                other = small / f"{path.stem}{ending}.png"
                if not other.is_file():
                    raise no_images(owner, folder, f"small images such as {str(other)!r}")
                self._rows.append((path, other))
        if not self._rows:
            raise no_images(owner, folder, f"images *.png of the part {part!r}")

    def count(self) -> int:
        """How many pairs there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """A large and a small image."""
        return tuple(self.picture(path) for path in self._rows[number])


class PhotoTourDataset(IndexedSource):
    r"""Photo Tour: patches of photographs of sights, and whether two show the same place (Brown et al., 2010).

    Columns for "train" are `image` (64, 64, 1) uint8, for "test" `image1`, `image2`, likewise, and `matches` uint32, 1
    for the same place and 0 for others.

    Args:
        dataset_dir: the folder that holds a folder for each sight, with patches*.bmp, info.txt and
            m50_100000_100000_0.txt.
        name: "notredame", "yosemite", "liberty", "notredame_harris", "yosemite_harris" or "liberty_harris".
        usage: "train" (the default) or "test".
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder does not exist, or there is no such sight or usage.
        RuntimeError: if a list is missing or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "liberty").mkdir()
        >>> _ = (folder / "liberty" / "info.txt").write_text("0 0\n0 0\n1 0\n")
        >>> ds.PhotoTourDataset(str(folder), "liberty").get_dataset_size()
        3
    """

    def __init__(
        self,
        dataset_dir: str,
        name: str,
        usage: str | None = None,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "PhotoTourDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        self._folder = folder / check_string(name, "name", owner, _TOURS)
        tests = check_usage(usage, owner, ("train", "test"), "train") == "test"
        super().__init__(
            ["image1", "image2", "matches"] if tests else ["image"],
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache,
        )  # fmt: skip
        path = self._folder / ("m50_100000_100000_0.txt" if tests else "info.txt")
        if not path.is_file():
            raise no_images(owner, folder, f"the list {name}/{path.name}")
        lines = [line.split() for line in path.read_text().splitlines() if line.strip()]
        self._last: tuple[int, np.ndarray] = -1, np.empty(0, np.uint8)
        self._patches = np.arange(len(lines))[:, None]
        self._matches: np.ndarray | None = None
        if tests:
            try:
                numbers = np.array([line[:5] for line in lines], np.int64).reshape(len(lines), 5)
            except ValueError as error:
                raise RuntimeError(
                    f"For '{owner}', {str(path)!r} must have seven numbers in each line, but {error}."
                ) from None
            self._patches = numbers[:, [0, 3]]
            self._matches = (numbers[:, 1] == numbers[:, 4]).astype(np.uint32)
        if not lines:
            raise no_images(owner, folder, f"patches that {name}/{path.name} lists")

    def __getstate__(self) -> dict:
        return super().__getstate__() | {"_last": (-1, np.empty(0, np.uint8))}

    def count(self) -> int:
        """How many patches or pairs there are."""
        return len(self._patches)

    def read(self, number: int) -> Row:
        """A patch; or two, and whether they show the same place."""
        patches = [self._patch(int(patch)) for patch in self._patches[number]]
        return tuple(patches) if self._matches is None else (*patches, np.array(self._matches[number]))

    def _patch(self, number: int) -> np.ndarray:
        file, place = divmod(number, _ROW * _ROW)
        top, left = (_SIDE * k for k in divmod(place, _ROW))
        return self._sheet(file)[top : top + _SIDE, left : left + _SIDE, None].copy()

    def _sheet(self, number: int) -> np.ndarray:
        """The file that holds 256 patches; the last one is kept."""
        from dist_ms.dataset.vision.libraries import opencv

        last, sheet = self._last
        if last != number:
            path = self._folder / f"patches{number:04d}.bmp"
            cv2 = opencv("PhotoTourDataset")
            sheet = cv2.imread(str(path), cv2.IMREAD_GRAYSCALE) if path.is_file() else None
            if sheet is None or sheet.shape != (_SIDE * _ROW, _SIDE * _ROW):
                raise RuntimeError(
                    f"For 'PhotoTourDataset', {str(path)!r} must be an image of 1024 x 1024, but "
                    f"{'is none' if sheet is None else f'is of {sheet.shape[1]} x {sheet.shape[0]}'}."
                )
            self._last = number, sheet
        return sheet

    def labels(self, column: str) -> np.ndarray:
        """The labels of all pairs."""
        if column == "matches" and self._matches is not None:
            return self._matches
        return super().labels(column)
