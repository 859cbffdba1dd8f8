"""Files' bytes, and the sizes of images."""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.dataset.vision.libraries import is_pil


def existing(filename: Any, owner: str) -> str:
    """The name of a file that is there."""
    check_type(filename, "filename", owner, str)
    if not os.path.isfile(filename):
        raise RuntimeError(f"For '{owner}', 'filename' must be a file that exists, but got {filename!r}.")
    return filename


def writable(filename: Any, owner: str) -> str:
    """The name of a file that can be written."""
    check_type(filename, "filename", owner, str)
    folder = os.path.dirname(os.path.abspath(filename))
    if not os.path.isdir(folder) or os.path.isdir(filename):
        raise RuntimeError(f"For '{owner}', 'filename' must be in a folder that exists, but got {filename!r}.")
    return filename


def array_of(value: Any, name: str, owner: str) -> np.ndarray:
    """The array of an array or a Tensor."""
    if isinstance(value, Tensor):
        return value.asnumpy()
    return check_type(value, name, owner, np.ndarray)


def read_file(filename: str) -> np.ndarray:
    """Read a file's bytes.

    Args:
        filename: its path.

    Returns:
        an array of uint8, 1-D.

    Raises:
        TypeError: if `filename` is no str.
        RuntimeError: if there is no such file.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
        >>> vision.write_file(path, np.array([1, 2, 3], np.uint8))
        >>> print(vision.read_file(path))
        [1 2 3]
    """
    return np.fromfile(existing(filename, "read_file"), np.uint8)


def write_file(filename: str, data: Any) -> None:
    """Write bytes to a file.

    Args:
        filename: its path.
        data: an array or Tensor of uint8, 1-D.

    Raises:
        TypeError: if `filename` is no str, or `data` neither an array nor a Tensor.
        RuntimeError: if `data` has another type or shape, or the folder does not exist.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> path = os.path.join(tempfile.mkdtemp(), "a.bin")
        >>> vision.write_file(path, np.array([1, 2, 3], np.uint8))
        >>> os.path.getsize(path)
        3
    """
    check_type(filename, "filename", "write_file", str)
    data = array_of(data, "data", "write_file")
    if data.dtype != np.uint8 or data.ndim != 1:
        raise RuntimeError(complaint("data", "write_file", "uint8, 1-D", f"{data.dtype} of shape {data.shape}"))
    data.tofile(writable(filename, "write_file"))


def get_image_size(image: Any) -> list[int]:
    """Find an image's height and width.

    Args:
        image: an array (H, W) or (..., H, W, C), or a PIL image.

    Returns:
        [height, width].

    Raises:
        TypeError: for something else.
        RuntimeError: for an array of one dimension.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.get_image_size(np.zeros((4, 5, 3)))
        [4, 5]
    """
    if is_pil(image):
        return [image.size[1], image.size[0]]
    check_type(image, "image", "get_image_size", np.ndarray)
    if image.ndim < 2:
        raise RuntimeError(complaint("image", "get_image_size", "of two or more dimensions", f"{image.ndim}"))
    return list(image.shape) if image.ndim == 2 else list(image.shape[-3:-1])


def get_image_num_channels(image: Any) -> int:
    """Find how many channels an image has.

    Args:
        image: an array (H, W) or (..., H, W, C), or a PIL image.

    Returns:
        the number of channels.

    Raises:
        TypeError: for something else.
        RuntimeError: for an array of one dimension.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset import vision
        >>> vision.get_image_num_channels(np.zeros((4, 5, 3)))
        3
    """
    if is_pil(image):
        return len(image.getbands())
    check_type(image, "image", "get_image_num_channels", np.ndarray)
    if image.ndim < 2:
        raise RuntimeError(complaint("image", "get_image_num_channels", "of two or more dimensions", f"{image.ndim}"))
    return 1 if image.ndim == 2 else image.shape[-1]
