"""Image files' bytes as RGB arrays; of a part of a JPEG file only what the part needs is computed.

Pillow brings a libjpeg-turbo that can leave out lines and columns, which OpenCV's and Pillow's own functions do not
show: it is called directly and without the GIL, and what it gives has the same numbers. OpenCV reads everything else.
"""

from __future__ import annotations

import importlib
import threading
from typing import Any

import numpy as np

from dist_ms._ext import jpeg
from dist_ms.common.checks import complaint
from dist_ms.dataset.vision.images import encoded
from dist_ms.dataset.vision.libraries import opencv, pillow

__all__ = ["decode", "decode_part", "image_size"]

_START, _END = b"\xff\xd8\xff", b"\xff\xd9"
_RGB_FROM = (1, 2, 3)  # grey, RGB, YCbCr: what libjpeg makes RGB of
_lock = threading.Lock()
_state: dict[str, bool] = {}


def _library(owner: str) -> bool:
    """Whether Pillow's libjpeg is there; looked for once in a process."""
    if "found" not in _state:
        with _lock:
            if "found" not in _state:
                pillow(owner)
                _state["found"] = _open_loaded()
    return _state["found"]


def _open_loaded() -> bool:
    """Open the libjpeg that the process has loaded, Pillow's."""
    importlib.import_module("PIL._imaging")
    with open("/proc/self/maps") as maps:
        paths = {line.split(maxsplit=5)[-1].strip() for line in maps if "/libjpeg" in line}
    return any(jpeg.open_library(path) for path in sorted(paths))


def _file(value: Any, owner: str) -> np.ndarray:
    data = encoded(value, owner)
    if data.dtype != np.uint8:
        raise RuntimeError(complaint("image", owner, "a file's bytes, uint8", data.dtype))
    return np.ascontiguousarray(data)


def _jpeg_size(data: np.ndarray, owner: str) -> tuple[int, int] | None:
    """Height and width of a JPEG file that libjpeg makes RGB of; None of other files."""
    if data[:3].tobytes() != _START or not _library(owner):
        return None
    try:
        height, width, colours = jpeg.size(data)
    except RuntimeError as error:
        raise _damaged(data, owner, error) from None
    return (height, width) if colours in _RGB_FROM else None


def _damaged(data: np.ndarray, owner: str, error: Exception) -> RuntimeError:
    return RuntimeError(f"For '{owner}', the {data.size} bytes must be those of a whole JPEG file, but: {error}.")


def _read(data: np.ndarray, top: int, left: int, out: np.ndarray, owner: str) -> np.ndarray:
    try:
        jpeg.decode(data, out, top, left)
    except RuntimeError as error:
        if not _is_whole(data, top, left, out):
            raise _damaged(data, owner, error) from None
    return out


def _is_whole(data: np.ndarray, top: int, left: int, out: np.ndarray) -> bool:
    """Decode again with a mark of the end; whether that is all that was missing."""
    try:
        return not jpeg.decode(np.concatenate([data, np.frombuffer(_END, np.uint8)]), out, top, left)
    except RuntimeError:
        return False


def _by_opencv(data: np.ndarray, owner: str) -> np.ndarray:
    cv2 = opencv(owner)
    # As MindSpore does, the orientation that a camera noted is not followed.
    found = cv2.imdecode(data, cv2.IMREAD_COLOR | cv2.IMREAD_IGNORE_ORIENTATION) if data.size else None
    if found is None:
        raise RuntimeError(
            f"For '{owner}', the bytes must be those of an image file, but {data.size} are of no known kind."
        )
    return cv2.cvtColor(found, cv2.COLOR_BGR2RGB, dst=found)


def decode(value: Any, owner: str = "Decode") -> np.ndarray:
    """An image file's bytes as an RGB image (H, W, 3) uint8.

    Args:
        value: bytes, or a 1-D array of uint8.
        owner: who is named in errors.

    Raises:
        TypeError: if it is neither.
        RuntimeError: if the bytes are of no known kind of file, or of a JPEG file that ends too early.

    Examples:
        >>> from pathlib import Path
        >>> from dist_ms.dataset.vision.decoding import decode
        >>> decode(Path("tests/serial/dataset/files/photo.jpg").read_bytes()).shape
        (20, 30, 3)
    """
    data = _file(value, owner)
    size = _jpeg_size(data, owner)
    if size is None:
        return _by_opencv(data, owner)
    return _read(data, 0, 0, np.empty((*size, 3), np.uint8), owner)


def image_size(value: Any, owner: str = "Decode") -> tuple[int, int, np.ndarray | None]:
    """Height and width of an image file, and the decoded image if it was needed to know them.

    Args:
        value, owner: as for `decode`.

    Raises:
        TypeError, RuntimeError: as `decode` does.
    """
    data = _file(value, owner)
    size = _jpeg_size(data, owner)
    if size is not None:
        return (*size, None)
    image = _by_opencv(data, owner)
    return (*image.shape[:2], image)


def decode_part(value: Any, top: int, left: int, height: int, width: int, owner: str = "Decode") -> np.ndarray:
    """A part of the image that a file's bytes are: `decode(value)[top : top + height, left : left + width]`.

    A JPEG file that ends behind the part's last line is no error.

    Args:
        value, owner: as for `decode`.
        top, left, height, width: the part, within the image.

    Raises:
        TypeError, RuntimeError: as `decode` does, and if the part is not within the image.

    Examples:
        >>> from pathlib import Path
        >>> from dist_ms.dataset.vision.decoding import decode_part
        >>> decode_part(Path("tests/serial/dataset/files/photo.jpg").read_bytes(), 2, 3, 8, 4).shape
        (8, 4, 3)
    """
    rows, columns, image = image_size(value, owner)
    if min(top, left) < 0 or min(height, width) < 1 or top + height > rows or left + width > columns:
        raise RuntimeError(
            f"For '{owner}', the part of {height} x {width} at ({top}, {left}) must be within the image, but it is of "
            f"{rows} x {columns}."
        )
    if image is not None:
        return image[top : top + height, left : left + width]
    return _read(_file(value, owner), top, left, np.empty((height, width, 3), np.uint8), owner)
