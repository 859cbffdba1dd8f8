"""Images as arrays, and files' bytes as images."""

from __future__ import annotations

import io
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.dataset.vision.libraries import opencv, pillow


def image(value: Any, owner: str) -> np.ndarray:
    """An image, (H, W) or (H, W, C), as an array."""
    array = np.asarray(value)
    if array.ndim not in (2, 3):
        raise RuntimeError(f"For '{owner}', the image must be (H, W) or (H, W, C), but got shape {array.shape}.")
    return array


def rgb(value: Any, owner: str) -> np.ndarray:
    """An image of three channels, (H, W, 3)."""
    array = image(value, owner)
    if array.ndim != 3 or array.shape[2] != 3:
        raise RuntimeError(f"For '{owner}', the image must be (H, W, 3), but got shape {array.shape}.")
    return array


def encoded(value: Any, owner: str) -> np.ndarray:
    """An image file's bytes as a 1-D array of uint8."""
    if isinstance(value, bytes):
        value = np.frombuffer(value, np.uint8)
    if not isinstance(value, np.ndarray):
        raise TypeError(complaint("image", owner, "a NumPy array of a file's bytes", type(value).__name__))
    if value.dtype.kind == "S" and value.size == 1:
        value = value.reshape(1).view(np.uint8)  # as MindRecord's columns of bytes hold a file
    if value.ndim != 1:
        raise TypeError(complaint("image", owner, "a file's bytes, a 1-D array", f"shape {value.shape}"))
    if value.dtype.kind in "US":
        raise TypeError(complaint("image", owner, "a file's bytes, uint8", value.dtype))
    return value


def decode(value: Any, owner: str) -> np.ndarray:
    """An image file's bytes as an RGB image (H, W, 3) uint8."""
    data = encoded(value, owner)
    if data.dtype != np.uint8:
        raise RuntimeError(complaint("image", owner, "a file's bytes, uint8", data.dtype))
    cv2 = opencv(owner)
    # As MindSpore does, the orientation that a camera noted is not followed.
    flags = cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION
    found = cv2.imdecode(data, flags) if data.size else None
    if found is None:
        raise RuntimeError(
            f"For '{owner}', the bytes must be those of an image file, but {data.size} are of no known kind."
        )
    return cv2.cvtColor(found, cv2.COLOR_BGR2RGB, dst=found)


def decode_pil(value: Any, owner: str) -> Any:
    """An image file's bytes as a PIL image in RGB."""
    data = encoded(value, owner)
    try:
        return pillow(owner).Image.open(io.BytesIO(data.tobytes())).convert("RGB")
    except OSError as error:
        raise ValueError(f"For '{owner}', the bytes must be those of an image file, but: {error}.") from error
