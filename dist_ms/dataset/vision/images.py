"""What image transforms share: images as arrays, sizes, and Pillow when a file's bytes are read."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_positive_int


def image(value: Any, owner: str) -> np.ndarray:
    """An image, (H, W) or (H, W, C), as an array."""
    array = np.asarray(value)
    if array.ndim not in (2, 3):
        raise RuntimeError(f"For '{owner}', the image must be (H, W) or (H, W, C), but got shape {array.shape}.")
    return array


def pair(size: Any, name: str, owner: str) -> tuple[int, int]:
    """A height and a width from an int (both) or two of them."""
    if isinstance(size, (list, tuple)):
        if len(size) != 2:
            raise TypeError(f"For '{owner}', '{name}' must be an int or two ints, but got {size!r}.")
        return check_positive_int(size[0], name, owner), check_positive_int(size[1], name, owner)
    return (check_positive_int(size, name, owner),) * 2


def decode(value: Any, owner: str) -> np.ndarray:
    """An image file's bytes as an RGB image (H, W, 3) uint8."""
    import io

    try:
        from PIL import Image
    except ImportError as error:
        raise ImportError(
            f"For '{owner}', the package 'Pillow' must be installed to read image files, but it was not found: "
            "pip install dist_ms[vision]."
        ) from error
    data = np.asarray(value)
    if data.ndim != 1 or data.dtype != np.uint8:
        raise RuntimeError(f"For '{owner}', the input must be a file's bytes, 1-D uint8, but got {data.shape}.")
    return np.asarray(Image.open(io.BytesIO(data.tobytes())).convert("RGB"))
