"""Images read from files, encoded, and written to files."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_type, complaint
from dist_ms.dataset.vision.enums import ImageReadMode
from dist_ms.dataset.vision.files.raw import array_of, existing, writable
from dist_ms.dataset.vision.libraries import opencv


def read_image(filename: str, mode: ImageReadMode = ImageReadMode.UNCHANGED) -> np.ndarray:
    """Read a file as an image.

    Args:
        filename: its path; JPEG, PNG, BMP, TIFF or what else OpenCV reads.
        mode: ImageReadMode.UNCHANGED keeps the file's channels but for opacity, GRAYSCALE gives one, COLOR three (RGB).

    Returns:
        an array (H, W, C); uint8, or the file's type with UNCHANGED.

    Raises:
        TypeError: if `filename` is no str, or `mode` no ImageReadMode.
        RuntimeError: if there is no such file, or its bytes are of no known kind.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> path = os.path.join(tempfile.mkdtemp(), "a.png")
        >>> vision.write_png(path, np.zeros((4, 5, 3), np.uint8))
        >>> vision.read_image(path).shape
        (4, 5, 3)
    """
    check_type(filename, "filename", "read_image", str)
    check_type(mode, "mode", "read_image", ImageReadMode)
    cv2 = opencv("read_image")
    flags = {
        ImageReadMode.UNCHANGED: cv2.IMREAD_UNCHANGED,
        ImageReadMode.GRAYSCALE: cv2.IMREAD_GRAYSCALE,
        ImageReadMode.COLOR: cv2.IMREAD_COLOR,
    }
    found = cv2.imread(existing(filename, "read_image"), flags[mode])
    if found is None:
        raise RuntimeError(
            f"For 'read_image', the file {filename!r} must be an image, but its bytes are of no known kind."
        )
    if found.ndim == 2:
        return found[:, :, None]
    return cv2.cvtColor(found, cv2.COLOR_BGR2RGB if found.shape[2] == 3 else cv2.COLOR_BGRA2RGB)


def _encoded(image: Any, kind: str, level: Any, limits: tuple[int, int], name: str, owner: str) -> np.ndarray:
    """An image as a file's bytes."""
    check_type(level, name, owner, int)
    array = array_of(image, "image", owner)
    if array.dtype != np.uint8 or array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] not in (1, 3)):
        wanted = "uint8 of shape (H, W), (H, W, 1) or (H, W, 3)"
        raise RuntimeError(complaint("image", owner, wanted, f"{array.dtype} of shape {array.shape}"))
    if not limits[0] <= level <= limits[1]:
        raise RuntimeError(complaint(name, owner, f"from {limits[0]} to {limits[1]}", level))
    cv2 = opencv(owner)
    if kind == ".jpeg":
        settings = [cv2.IMWRITE_JPEG_QUALITY, level]
    else:
        settings = [cv2.IMWRITE_PNG_COMPRESSION, level, cv2.IMWRITE_PNG_STRATEGY, cv2.IMWRITE_PNG_STRATEGY_RLE]
    if array.ndim == 3 and array.shape[2] == 3:
        array = cv2.cvtColor(array, cv2.COLOR_RGB2BGR)
    return cv2.imencode(kind, array, settings)[1].ravel()


def encode_jpeg(image: Any, quality: int = 75) -> np.ndarray:
    """Encode an image as a JPEG file's bytes.

    Args:
        image: an array or Tensor of uint8, (H, W), (H, W, 1) or (H, W, 3) in RGB.
        quality: from 1 to 100.

    Returns:
        an array of uint8, 1-D.

    Raises:
        TypeError: if `image` is neither, or `quality` no int.
        RuntimeError: for another type, shape or quality.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.encode_jpeg(np.zeros((4, 5, 3), np.uint8))[:2])
        [255 216]
    """
    return _encoded(image, ".jpeg", quality, (1, 100), "quality", "encode_jpeg")


def encode_png(image: Any, compression_level: int = 6) -> np.ndarray:
    """Encode an image as a PNG file's bytes.

    Args:
        image: an array or Tensor of uint8, (H, W), (H, W, 1) or (H, W, 3) in RGB.
        compression_level: from 0 to 9.

    Returns:
        an array of uint8, 1-D.

    Raises:
        TypeError: if `image` is neither, or `compression_level` no int.
        RuntimeError: for another type, shape or level.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> print(vision.encode_png(np.zeros((4, 5, 3), np.uint8))[1:4].tobytes())
        b'PNG'
    """
    return _encoded(image, ".png", compression_level, (0, 9), "compression_level", "encode_png")


def write_jpeg(filename: str, image: Any, quality: int = 75) -> None:
    """Write an image to a JPEG file.

    Args:
        filename: its path.
        image, quality: as in `encode_jpeg`.

    Raises:
        TypeError: if `filename` is no str, and as in `encode_jpeg`.
        RuntimeError: if the folder does not exist, and as in `encode_jpeg`.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> path = os.path.join(tempfile.mkdtemp(), "a.jpg")
        >>> vision.write_jpeg(path, np.zeros((4, 5, 3), np.uint8))
        >>> vision.read_image(path).shape
        (4, 5, 3)
    """
    check_type(filename, "filename", "write_jpeg", str)
    found = _encoded(image, ".jpeg", quality, (1, 100), "quality", "write_jpeg")
    found.tofile(writable(filename, "write_jpeg"))


def write_png(filename: str, image: Any, compression_level: int = 6) -> None:
    """Write an image to a PNG file.

    Args:
        filename: its path.
        image, compression_level: as in `encode_png`.

    Raises:
        TypeError: if `filename` is no str, and as in `encode_png`.
        RuntimeError: if the folder does not exist, and as in `encode_png`.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> path = os.path.join(tempfile.mkdtemp(), "a.png")
        >>> vision.write_png(path, np.zeros((4, 5, 3), np.uint8))
        >>> print(vision.read_file(path)[1:4].tobytes())
        b'PNG'
    """
    check_type(filename, "filename", "write_png", str)
    found = _encoded(image, ".png", compression_level, (0, 9), "compression_level", "write_png")
    found.tofile(writable(filename, "write_png"))
