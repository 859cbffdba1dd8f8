"""CelebADataset: faces with forty attributes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_elements
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_file, check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import ImageFiles

__all__ = ["CelebADataset"]

_PARTS = {"train": "0", "valid": "1", "test": "2"}


class CelebADataset(ImageFiles):
    r"""CelebA: photographs of faces with forty attributes (Liu et al., 2015).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and
    `attr` uint32, 1 or 0 for each attribute.

    Args:
        dataset_dir: the folder with the images, list_attr_celeba.txt, and list_eval_partition.txt unless all are read.
        usage: "train", "valid", "test" or "all".
        extensions: the endings of the files that are read; all by default.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.
        decrypt: a function that returns the bytes of a file with the given name.

    Raises:
        ValueError: if the folder or a list does not exist, or there is no such part.
        RuntimeError: if a list is damaged, or names no image.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "1.jpg").write_bytes(b"...")
        >>> _ = (folder / "list_attr_celeba.txt").write_text("1\nSmiling Young\n1.jpg -1 1\n")
        >>> [attr.tolist() for _, attr in ds.CelebADataset(str(folder)).create_tuple_iterator(output_numpy=True)]
        [[0, 1]]
    """

    def __init__(
        self,
        dataset_dir: str,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        usage: str = "all",
        sampler: Any = None,
        decode: bool = False,
        extensions: list[str] | None = None,
        num_samples: int | None = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
        decrypt: Callable | None = None,
    ) -> None:
        owner = "CelebADataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        part = check_usage(usage, owner, (*_PARTS, "all"))
        self.set_reading(decode, decrypt)
        if extensions is not None:
            check_elements(extensions, "extensions", owner, str, list)
        super().__init__(
            ["image", "attr"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        wanted = None
        if part != "all":
            lines = check_file(folder / "list_eval_partition.txt", "dataset_dir", owner).read_text().split("\n")
            pairs = [line.split() for line in lines if line.strip()]
            wanted = {pair[0] for pair in pairs if pair[1:] == [_PARTS[part]]}
        path = check_file(folder / "list_attr_celeba.txt", "dataset_dir", owner)
        lines = path.read_text().splitlines()
        try:
            count, width = int(lines[0]), len(lines[1].split())
        except (ValueError, IndexError):
            raise RuntimeError(
                f"For '{owner}', {str(path)!r} must begin with a line of their number and one of the attributes' names."
            ) from None
        self._files, rows = [], []
        for number, line in enumerate(lines[2 : 2 + count], 3):
            name, *values = line.split() or [""]
            if len(values) != width or not set(values) <= {"1", "-1"}:
                raise RuntimeError(
                    f"For '{owner}', line {number} of {str(path)!r} must have a file's name and {width} values of 1 or "
                    f"-1, but it has {len(values)}: {line[:60]!r}."
                )
            if (wanted is None or name in wanted) and (not extensions or name.endswith(tuple(extensions))):
                self._files.append(str(folder / name))
                rows.append([value == "1" for value in values])
        if not rows:
            raise RuntimeError(
                f"For '{owner}', {str(path)!r} must name images of the part {part!r}, but there are none."
            )
        self._attributes = np.array(rows, np.uint32)

    def count(self) -> int:
        """How many images there are."""
        return len(self._files)

    def read(self, number: int) -> Row:
        """An image and its attributes."""
        return self.picture(self._files[number]), self._attributes[number].copy()
