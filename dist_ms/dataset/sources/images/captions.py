"""Sets of photographs that people described: Flickr8k and Flickr30k, SBU."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_file, check_folder
from dist_ms.dataset.sources.images.image_files import ImageFiles, no_images

__all__ = ["FlickrDataset", "SBUDataset"]


class FlickrDataset(ImageFiles):
    r"""Flickr8k and Flickr30k: photographs with five captions each (Hodosh et al., 2013; Young et al., 2014).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and
    `annotation`, an array of captions. Rows are in the order of the files' names.

    Args:
        dataset_dir: the folder with the images.
        annotation_file: the captions, a line for each: image.jpg#number, a tab, the caption.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder or the file does not exist.
        RuntimeError: if the file is empty or damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> _ = (folder / "a.jpg").write_bytes(b"...")
        >>> _ = (folder / "captions").write_text("a.jpg#0\tA dog runs .\na.jpg#1\tA dog .\n")
        >>> data = ds.FlickrDataset(str(folder), str(folder / "captions"))
        >>> [texts.tolist() for _, texts in data.create_tuple_iterator(output_numpy=True)]
        [['A dog runs .', 'A dog .']]
    """

    def __init__(
        self,
        dataset_dir: str,
        annotation_file: str,
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        decode: bool | None = None,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "FlickrDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        path = check_file(annotation_file, "annotation_file", owner)
        self.set_reading(False if decode is None else decode)
        super().__init__(
            ["image", "annotation"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        captions: dict[str, list[str]] = {}
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if not line.strip():
                continue
            name, tab, caption = line.partition("\t")
            image, mark, _ = name.rpartition("#")
            if not tab or not mark:
                raise RuntimeError(
                    f"For '{owner}', line {number} of {str(path)!r} must have an image's name, '#', a number, a tab "
                    f"and a caption, but is {line[:60]!r}."
                )
            captions.setdefault(image, []).append(caption)
        if not captions:
            raise RuntimeError(f"For '{owner}', {str(path)!r} must have captions, but it is empty.")
        self._rows = [(folder / image, np.array(texts)) for image, texts in sorted(captions.items())]

    def count(self) -> int:
        """How many images there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """An image and its captions."""
        path, captions = self._rows[number]
        return self.picture(path), captions.copy()


class SBUDataset(ImageFiles):
    r"""SBU: a million photographs with a caption each (Ordonez et al., 2011).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and
    `caption`. Images that were not downloaded are left out.

    Args:
        dataset_dir: the folder with SBU_captioned_photo_dataset_urls.txt, SBU_captioned_photo_dataset_captions.txt and
            sbu_images/, where http://static.flickr.com/1/2_3.jpg is m_1_2_3.jpg.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the folder or a list does not exist.
        RuntimeError: if a line is empty, or there is no image.

    Examples:
        >>> import pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> (folder / "sbu_images").mkdir()
        >>> _ = (folder / "sbu_images/m_1_2_3.jpg").write_bytes(b"...")
        >>> name = "SBU_captioned_photo_dataset"
        >>> _ = (folder / f"{name}_urls.txt").write_text("http://static.flickr.com/1/2_3.jpg\n")
        >>> _ = (folder / f"{name}_captions.txt").write_text("A dog.\n")
        >>> [str(text) for _, text in ds.SBUDataset(str(folder)).create_tuple_iterator(output_numpy=True)]
        ['A dog.']
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
        owner = "SBUDataset"
        folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.set_reading(decode)
        super().__init__(
            ["image", "caption"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        lists = []
        for name in ("urls", "captions"):
            path = check_file(folder / f"SBU_captioned_photo_dataset_{name}.txt", "dataset_dir", owner)
            lines = path.read_text(encoding="utf-8").removesuffix("\n").split("\n")
            lists.append([line.rstrip() for line in lines])
        place = folder / "sbu_images"
        self._rows = []
        for number, (url, caption) in enumerate(zip(*lists, strict=False), 1):
            if not url or not caption:
                raise RuntimeError(f"For '{owner}', the lists in {str(folder)!r} must have no empty line {number}.")
            image = place / url.replace("http://static.flickr.com/", "m_").replace("/", "_")
            if image.is_file():
                self._rows.append((image, caption))
        if not self._rows:
            raise no_images(owner, place, "images of the listed addresses")

    def count(self) -> int:
        """How many images there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """An image and its caption."""
        path, caption = self._rows[number]
        return self.picture(path), np.array(caption)
