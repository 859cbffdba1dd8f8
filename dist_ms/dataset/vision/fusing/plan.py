"""FusedImages: how a list of image transforms runs, and which of them in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms._ext import pixels
from dist_ms.common.checks import complaint
from dist_ms.dataset.columns import OtherShapeError
from dist_ms.dataset.transforms.chains import Compose
from dist_ms.dataset.vision.fusing.places import (
    CROPS,
    FLIPS,
    Crops,
    Draws,
    halves,
    is_bilinear,
    is_drawn,
    turned,
    turned_once,
)
from dist_ms.dataset.vision.fusing.reading import reader
from dist_ms.dataset.vision.fusing.tables import Tables, follows, turns

_SIZES_KEPT = 64  # sizes of images whose crops are remembered


def fuse(operations: list, dtype: Any = None) -> FusedImages:
    """Plan how a map's operations run on a column of images.

    Args:
        operations: callables; transforms of `dataset.vision` among them are recognised, subclasses are not.
        dtype: the column's, where it is known; bytes are fused only.

    Examples:
        >>> from dist_ms.dataset import vision
        >>> from dist_ms.dataset.vision.fusing import fuse
        >>> fuse([vision.RandomCrop(32, 4), vision.Rescale(1 / 255, 0), vision.HWC2CHW()])
        FusedImages(in one pass: RandomCrop, Rescale, HWC2CHW; whole batches: yes)
    """
    flat: list = []
    for operation in operations:
        flat += operation.transforms if type(operation) is Compose else [operation]
    return FusedImages(flat, dtype is None or np.dtype(dtype) == np.uint8)


class FusedImages:
    """A list of image transforms: those that run as they are, those in one pass, and the rest.

    `apply` equals the operations called in turn, with the same random numbers of the row's stream.

    Args:
        operations: callables of one image.
        of_bytes: whether the images may be uint8.

    Attributes:
        leading, fused, rest: the operations that run before, in, and after the pass.
        takes_batches: whether `apply_many` runs all of them, for images that `fits` allows.
        is_random: whether the operations in the pass draw random numbers.
    """

    def __init__(self, operations: list, of_bytes: bool = True) -> None:
        self.operations = list(operations)
        start, places, stop = _run(self.operations) if of_bytes else (len(operations),) * 3
        self._reader = reader(self.operations[: min(start + 1, places)])
        if self._reader is not None:
            start = max(start, len(self._reader.operations))
        self.leading = self.operations[:start]
        self.fused, self.rest = self.operations[start:stop], self.operations[stop:]
        self._tables = Tables(self.operations[places:stop])
        moved = self.operations[start:places]
        self._crop = moved[0] if moved and type(moved[0]) in CROPS else None
        self._flips = moved if self._crop is None else moved[1:]
        self._early, self._resize = self._before_size()
        self.takes_batches = bool(self.fused) and not self.rest and self._early is not None
        early = self._early or ([], [])
        self.is_random = any(is_drawn(o) for o in (*self.fused, *early[0], *early[1]))
        self._crops: dict[tuple, Crops] = {}

    def _before_size(self) -> tuple[tuple[list, list] | None, Any]:
        """What a batch does before its images get another size: a crop and mirror images, or None; and the Resize."""
        if not self.leading:
            return ([], []), None
        *before, last = self.leading
        crop, flips = (before[:1], before[1:]) if before and type(before[0]) in CROPS else ([], before)
        if not is_bilinear(last) or any(type(o) not in FLIPS for o in flips) or self._crop is not None:
            return None, None
        return (crop, flips), last

    def __getstate__(self) -> dict:
        return self.__dict__ | {"_crops": {}}

    @property
    def reads_files(self) -> bool:
        """Whether the first operations decode files, of which only what is needed is computed."""
        return self._reader is not None

    def __repr__(self) -> str:
        names = (("as they are", self.leading), ("in one pass", self.fused), ("after it", self.rest))
        parts = [f"{what}: {', '.join(_name(o) for o in found)}" for what, found in names if found]
        return f"FusedImages({'; '.join(parts)}; whole batches: {'yes' if self.takes_batches else 'no'})"

    def apply(self, image: Any, out: np.ndarray | None = None) -> Any:
        """Run the operations on one image, or on a file's bytes.

        Args:
            image: what the first operation takes.
            out: memory for the result, of its shape, of any strides and of its type, or another to which it is rounded.

        Returns:
            the result, in `out` if that is given.
        """
        value = image
        leading = self.leading
        if self._reader is not None:
            value = self._reader(value)
            leading = leading[len(self._reader.operations) :]
        value = _in_turn(leading, value)
        if self.fused:
            value = self._one_pass(value, None if self.rest else out)
        value = _in_turn(self.rest, value)
        if out is None or value is out:
            return value
        if np.shape(value) != out.shape:
            raise OtherShapeError(complaint("out", "FusedImages.apply", f"{np.shape(value)}, as the result", out.shape))
        out[...] = value
        return out

    def _one_pass(self, value: Any, out: np.ndarray | None) -> Any:
        if not isinstance(value, np.ndarray) or value.ndim != 3 or value.dtype != np.uint8 or not value.size:
            return _in_turn(self.fused, value)
        height, width, channels = value.shape
        tables = self._tables.of(channels, None if out is None else out.dtype)
        crops = self._crops_of(self._crop, height, width, channels)
        if tables is None or not crops.fits:
            return _in_turn(self.fused, value)
        at = self._crop.parameters(height, width) if crops.is_drawn else crops.at
        late = turned_once(self._flips, *crops.part)
        if value.strides[2] != 1 or value.strides[1] != channels:
            value = np.ascontiguousarray(value)
        result, slot = self._memory((), crops.part, channels, tables, out)
        if crops.row_map is None:
            value = value[at[0] : at[0] + crops.part[0], at[1] : at[1] + crops.part[1]]
            pixels.write(value[None], tables, slot[None], late=late)
        else:
            tops, lefts = np.array(at, np.int64)[:, None]
            pixels.write(
                value[None], tables, slot[None], None, crops.part, tops, np.ascontiguousarray(lefts),
                crops.row_map, crops.column_map, crops.fill, late=late,
            )  # fmt: skip
        return result

    def fits(self, shape: tuple) -> bool:
        """Whether `apply_many` takes images of this (height, width, channels)."""
        if not self.takes_batches or len(shape) != 3 or 0 in shape or self._tables.of(shape[2]) is None:
            return False
        crops = self._crops_of(self._first_crop(), *shape)
        if not crops.fits or (crops.is_drawn and min(crops.free) < 0):
            return False
        return self._resize is None or not halves(crops.part, self._resize.wanted(*crops.part))

    def apply_many(self, images: np.ndarray, keys: np.ndarray | None = None) -> np.ndarray:
        """Run the operations on images of one size, in one call on this thread.

        Args:
            images: (N, H, W, C) uint8, for which `fits(images.shape[1:])`.
            keys: the keys of the images' random streams (`draws.row_seeds`), needed if `is_random`.

        Returns:
            (N, C, h, w), or (N, h, w, C) if no operation turns the axes.
        """
        if not self.fits(images.shape[1:]) or images.dtype != np.uint8:
            wanted = "uint8 (N, H, W, C) of a size that the operations take in batches"
            raise ValueError(complaint("images", "apply_many", wanted, f"{images.dtype} {images.shape}"))
        if self.is_random and keys is None:
            raise ValueError(complaint("keys", "apply_many", "the rows' keys, as random numbers are drawn", None))
        count, channels = len(images), images.shape[3]
        draws = None if keys is None else Draws(keys)
        crops = self._crops_of(self._first_crop(), *images.shape[1:])
        tables = self._tables.of(channels)
        tops = lefts = None
        if crops.is_drawn:
            tops, lefts = draws.whole(crops.free[0]), draws.whole(crops.free[1])
        elif any(crops.at):
            tops, lefts = (np.full(count, at, np.int64) for at in crops.at)
        early = turned(self._early[1], count, draws)
        late = turned(self._flips, count, draws)
        size = crops.part if self._resize is None else self._resize.wanted(*crops.part)
        result, slots = self._memory((count,), size, channels, tables, None)
        pixels.write(
            images, tables, slots, None, crops.part, tops, lefts,
            crops.row_map, crops.column_map, crops.fill, early, late, self._resize is not None,
        )  # fmt: skip
        return result

    def _first_crop(self) -> Any:
        return self._early[0][0] if self._early and self._early[0] else self._crop

    def _crops_of(self, operation: Any, height: int, width: int, channels: int) -> Crops:
        key = operation is None, height, width, channels
        found = self._crops.get(key)
        if found is None:
            if len(self._crops) >= _SIZES_KEPT:
                self._crops.clear()
            found = self._crops[key] = Crops(operation, height, width, channels)
        return found

    def _memory(
        self, count: tuple, size: tuple, channels: int, tables: np.ndarray, out: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray]:
        """The result's memory, and the same with the channels last."""
        shape = (*count, channels, *size) if self._tables.has_channels_first else (*count, *size, channels)
        if out is None:
            out = np.empty(shape, tables.dtype)
        elif out.shape != shape:
            raise OtherShapeError(complaint("out", "FusedImages", f"{shape}, as the result", out.shape))
        if not self._tables.has_channels_first:
            return out, out
        return out, out.transpose((0, 2, 3, 1) if count else (1, 2, 0))


def _run(operations: list) -> tuple[int, int, int]:
    """Where the pass starts, its functions of single pixels start, and it ends; the end for all without one."""
    for place, operation in enumerate(operations):
        if not follows(operation, False):
            continue
        stop, is_turned = place, False
        while stop < len(operations) and follows(operations[stop], is_turned):
            is_turned |= turns(operations[stop])
            stop += 1
        start = place
        while start and type(operations[start - 1]) in FLIPS:
            start -= 1
        if start and type(operations[start - 1]) in CROPS:
            start -= 1
        return start, place, stop
    return (len(operations),) * 3


def _in_turn(operations: list, value: Any) -> Any:
    for operation in operations:
        value = operation(value)
    return value


def _name(operation: Any) -> str:
    return getattr(operation, "__name__", type(operation).__name__)
