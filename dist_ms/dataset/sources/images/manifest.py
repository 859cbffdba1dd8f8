"""ManifestDataset: images that a manifest file lists with their labels."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, complaint
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_file
from dist_ms.dataset.sources.images.image_files import ImageFiles

__all__ = ["ManifestDataset"]


class ManifestDataset(ImageFiles):
    """Images that a manifest file of ModelArts lists, a JSON object in each line, with their labels.

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, and `label`
    int32, a number, or an array of several.

    Args:
        dataset_file: the manifest.
        usage: which lines are read: "train", "eval" or "inference".
        class_indexing: the label of each class that is read; by default all, in the order of their names.
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache: as for MnistDataset.

    Raises:
        ValueError: if the file does not exist, or there is no such usage.
        RuntimeError: if a line is damaged, or none is of this usage.

    Examples:
        >>> import json, pathlib, tempfile
        >>> import dist_ms.dataset as ds
        >>> file = pathlib.Path(tempfile.mkdtemp()) / "all.manifest"
        >>> line = {"source": "a.jpg", "usage": "train", "annotation": [{"name": "cat"}]}
        >>> _ = file.write_text(json.dumps(line))
        >>> ds.ManifestDataset(str(file)).get_class_indexing()
        {'cat': 0}
    """

    def __init__(
        self,
        dataset_file: str,
        usage: str = "train",
        num_samples: int | None = None,
        num_parallel_workers: int | None = None,
        shuffle: bool | None = None,
        sampler: Any = None,
        class_indexing: dict[str, int] | None = None,
        decode: bool = False,
        num_shards: int | None = None,
        shard_id: int | None = None,
        cache: Any = None,
    ) -> None:
        owner = "ManifestDataset"
        path = check_file(dataset_file, "dataset_file", owner)
        check_string(usage, "usage", owner, ("train", "eval", "inference"))
        self.set_reading(decode)
        if class_indexing is not None and not isinstance(class_indexing, dict):
            raise TypeError(complaint("class_indexing", owner, "a dict", type(class_indexing).__name__))
        super().__init__(
            ["image", "label"], num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, cache
        )
        listed: list[tuple[str, list[str]]] = []
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
            if line.strip():
                try:
                    entry = json.loads(line)
                    if entry["usage"].lower() == usage:
                        listed.append((entry["source"], [label["name"] for label in entry["annotation"]]))
                except (ValueError, KeyError, TypeError, AttributeError) as error:
                    raise RuntimeError(
                        f"For '{owner}', line {number} of {str(path)!r} must be a JSON object with 'source', 'usage' "
                        f"and 'annotation', but {type(error).__name__}: {error}."
                    ) from error
        there = sorted({label for _, labels in listed for label in labels})
        self._classes = dict(zip(there, range(len(there)))) if class_indexing is None else dict(class_indexing)
        self._rows = []
        for source, labels in listed:
            numbers = [self._classes[label] for label in labels if label in self._classes]
            if numbers:
                self._rows.append((source, np.array(numbers if len(numbers) > 1 else numbers[0], np.int32)))
        if not self._rows:
            raise RuntimeError(
                f"For '{owner}', {str(path)!r} must have labelled lines of usage {usage!r}, but has none."
            )

    def get_class_indexing(self) -> dict[str, int]:
        """The label of each class by name."""
        return dict(self._classes)

    def num_classes(self) -> int:
        """How many classes there are."""
        return len(self._classes)

    def count(self) -> int:
        """How many images there are."""
        return len(self._rows)

    def read(self, number: int) -> Row:
        """An image and its label, or labels."""
        source, label = self._rows[number]
        return self.picture(source), label.copy()
