"""Files' bytes decoded: where a chain takes a part of the image first, only that part."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.dataset.vision.cropping import CenterCrop, Crop, RandomCrop
from dist_ms.dataset.vision.decoding import decode, decode_part, image_size
from dist_ms.dataset.vision.pixels import Decode
from dist_ms.dataset.vision.resizing import RandomCropDecodeResize, RandomResizedCrop, resize

_CROPS = (CenterCrop, Crop, RandomCrop, RandomResizedCrop)


class Reader:
    """Decodes, with the crop that follows.

    Args:
        decoder: Decode, or RandomCropDecodeResize.
        crop: the crop that follows a Decode, if one does.
    """

    def __init__(self, decoder: Any, crop: Any = None) -> None:
        self.decoder, self.crop = decoder, crop
        self.operations = [decoder] if crop is None else [decoder, crop]

    def __call__(self, value: Any) -> np.ndarray:
        """What the operations make of a file's bytes; the bytes of other things go to them as they are."""
        if not _is_file(value):
            return self._in_turn(value)
        if type(self.decoder) is RandomCropDecodeResize:
            return _part_resized(self.decoder, value)
        if type(self.crop) is RandomResizedCrop:
            return _part_resized(self.crop, value)
        if self.crop is None:
            return decode(value, "Decode")
        height, width, image = image_size(value, "Decode")
        part = _part(self.crop, height, width)
        if part is None or image is not None:
            return self.crop(decode(value, "Decode") if image is None else image)
        return decode_part(value, *part, "Decode")

    def _in_turn(self, value: Any) -> Any:
        for operation in self.operations:
            value = operation(value)
        return value


def _is_file(value: Any) -> bool:
    """Whether it is an array of a file's bytes: uint8, or one number of so many bytes, as MindRecord has them."""
    if not isinstance(value, np.ndarray):
        return False
    return (value.ndim == 1 and value.dtype == np.uint8) or (value.dtype.kind == "S" and value.size == 1)


def reader(operations: list) -> Reader | None:
    """What decodes, if the first of the operations does."""
    first = operations[0] if operations else None
    if type(first) is RandomCropDecodeResize:
        return Reader(first)
    if type(first) is not Decode or first.to_pil:
        return None
    following = operations[1] if len(operations) > 1 else None
    return Reader(first, following if type(following) in _CROPS else None)


def _part_resized(operation: RandomResizedCrop, value: np.ndarray) -> np.ndarray:
    owner = type(operation).__name__
    height, width, image = image_size(value, owner)
    drawn = operation.parameters(height, width)
    if image is not None:
        return operation.apply(image, drawn)
    return resize(decode_part(value, *drawn, owner), *operation.size, operation.kind, owner)


def _part(operation: Any, height: int, width: int) -> tuple[int, int, int, int] | None:
    """Top, left, height and width of what a crop takes; None, and nothing drawn, if that is not all inside."""
    if type(operation) is Crop:
        top, left = operation.top, operation.left
    elif operation.size[0] > height or operation.size[1] > width:
        return None
    elif type(operation) is CenterCrop:
        top, left = (height - operation.size[0]) // 2, (width - operation.size[1]) // 2
    elif any(operation.margins(height, width)):
        return None
    else:
        top, left = operation.parameters(height, width)
    if top + operation.size[0] > height or left + operation.size[1] > width:
        return None
    return (top, left, *operation.size)
