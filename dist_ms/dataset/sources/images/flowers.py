"""Flowers102Dataset: flowers of 102 kinds."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.dataset.dataset import Row
from dist_ms.dataset.sources.folders import check_file, check_folder, check_usage
from dist_ms.dataset.sources.images.image_files import ImageFiles
from dist_ms.dataset.sources.images.matlab import read_matlab

__all__ = ["Flowers102Dataset"]

# In the order of their labels.
_NAMES = """
pink primrose, hard-leaved pocket orchid, canterbury bells, sweet pea, english marigold, tiger lily, moon orchid,
bird of paradise, monkshood, globe thistle, snapdragon, colt's foot, king protea, spear thistle, yellow iris, globe-
flower, purple coneflower, peruvian lily, balloon flower, giant white arum lily, fire lily, pincushion flower,
fritillary, red ginger, grape hyacinth, corn poppy, prince of wales feathers, stemless gentian, artichoke, sweet
william, carnation, garden phlox, love in the mist, mexican aster, alpine sea holly, ruby-lipped cattleya, cape
flower, great masterwort, siam tulip, lenten rose, barbeton daisy, daffodil, sword lily, poinsettia, bolero deep
blue, wallflower, marigold, buttercup, oxeye daisy, common dandelion, petunia, wild pansy, primula, sunflower,
pelargonium, bishop of llandaff, gaura, geranium, orange dahlia, pink-yellow dahlia?, cautleya spicata, japanese
anemone, black-eyed susan, silverbush, californian poppy, osteospermum, spring crocus, bearded iris, windflower,
tree poppy, gazania, azalea, water lily, rose, thorn apple, morning glory, passion flower, lotus, toad lily,
anthurium, frangipani, clematis, hibiscus, columbine, desert-rose, tree mallow, magnolia, cyclamen, watercress,
canna lily, hippeastrum, bee balm, ball moss, foxglove, bougainvillea, camellia, mallow, mexican petunia, bromelia,
blanket flower, trumpet creeper, blackberry lily
"""
_PARTS = {"train": ("trnid",), "valid": ("valid",), "test": ("tstid",), "all": ("trnid", "tstid", "valid")}


class Flowers102Dataset(ImageFiles):
    """Oxford's flowers of 102 kinds (Nilsback and Zisserman, 2008).

    Columns are `image`, a file's bytes (or, with `decode`, an image of shape (height, width, 3)) in uint8, for the task
    "Segmentation" `segmentation`, likewise, and `label` uint32.

    Args:
        dataset_dir: the folder with jpg/, segmim/, imagelabels.mat and setid.mat.
        task: "Classification" or "Segmentation".
        usage: "train", "valid", "test" or "all" (the default).
        decode: give images instead of the files' bytes.
        num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id: as for MnistDataset.

    Raises:
        ValueError: if the folder or a file does not exist, or there is no such task or usage.
        RuntimeError: if a list is damaged.

    Examples:
        >>> import pathlib, tempfile
        >>> import numpy as np
        >>> from scipy.io import savemat
        >>> import dist_ms.dataset as ds
        >>> folder = pathlib.Path(tempfile.mkdtemp())
        >>> savemat(folder / "imagelabels.mat", {"labels": np.uint8([[3, 5]])})
        >>> savemat(folder / "setid.mat", {"trnid": np.uint16([[2]])})
        >>> ds.Flowers102Dataset(str(folder), usage="train").get_dataset_size()
        1
    """

    def __init__(
        self,
        dataset_dir: str,
        task: str = "Classification",
        usage: str = "all",
        num_samples: int | None = None,
        num_parallel_workers: int | None = 1,
        shuffle: bool | None = None,
        decode: bool = False,
        sampler: Any = None,
        num_shards: int | None = None,
        shard_id: int | None = None,
    ) -> None:
        owner = "Flowers102Dataset"
        self._folder = check_folder(dataset_dir, "dataset_dir", owner)
        self.task = check_string(task, "task", owner, ("Classification", "Segmentation"))
        part = check_usage(usage, owner, tuple(_PARTS))
        self.set_reading(decode)
        super().__init__(
            ["image", *["segmentation"] * (task == "Segmentation"), "label"],
            num_samples, num_parallel_workers, shuffle, sampler, num_shards, shard_id, None,
        )  # fmt: skip
        labels = check_file(self._folder / "imagelabels.mat", "dataset_dir", owner)
        lists = check_file(self._folder / "setid.mat", "dataset_dir", owner)
        found = read_matlab(labels, ("labels",), owner)["labels"].reshape(-1)
        numbers = read_matlab(lists, _PARTS[part], owner)
        self._numbers = np.concatenate([numbers[name].reshape(-1) for name in _PARTS[part]]).astype(np.int64)
        if self._numbers.size and not 1 <= self._numbers.min() <= self._numbers.max() <= len(found):
            raise RuntimeError(
                f"For '{owner}', {str(lists)!r} must have numbers from 1 to {len(found)}, the number of labels, but it "
                f"has {self._numbers.min()} to {self._numbers.max()}."
            )
        self._labels = found[self._numbers - 1].astype(np.uint32) - np.uint32(1)

    def get_class_indexing(self) -> dict[str, int]:
        """The label of each kind by name."""
        return {name: label for label, name in enumerate(" ".join(_NAMES.split()).split(", "))}

    def count(self) -> int:
        """How many images there are."""
        return len(self._numbers)

    def read(self, number: int) -> Row:
        """An image, its segmentation if that is asked for, and its label."""
        image = int(self._numbers[number])
        row = [self.picture(self._folder / "jpg" / f"image_{image:05d}.jpg")]
        if self.task == "Segmentation":
            row.append(self.picture(self._folder / "segmim" / f"segmim_{image:05d}.jpg"))
        return *row, np.array(self._labels[number])

    def labels(self, column: str) -> np.ndarray:
        """The labels of all images."""
        return self._labels if column == "label" else super().labels(column)
