"""Tensor methods that put values into a file, from where they are read when they are used."""

from __future__ import annotations

import os

import numpy as np

from dist_ms.common.checks import check_string, complaint
from dist_ms.common.tensor import Tensor


def offload(self: Tensor, file_path: str) -> bool:
    """Put the values into a file and free their memory; using them reads the file.

    Later changes of the values stay in memory. The file must stay as long as the tensor is used.

    Args:
        file_path: the file, made or overwritten.

    Returns:
        True.

    Raises:
        TypeError: if `file_path` is no str.
        ValueError: if it is empty, or its folder does not exist.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> x.offload(os.path.join(tempfile.mkdtemp(), "x.data"))
        True
        >>> print(x + 1)
        [2. 3.]
    """
    check_string(file_path, "file_path", "offload")
    folder = os.path.dirname(os.path.realpath(file_path))
    if not file_path or not os.path.isdir(folder):
        raise ValueError(complaint("file_path", "offload", "a file in a folder that exists", repr(file_path)))
    array = np.ascontiguousarray(self.array())
    # Written aside first: the values may be read from this very file.
    aside = f"{file_path}.{os.getpid()}.tmp"
    array.tofile(aside)
    os.replace(aside, file_path)
    if array.nbytes:
        mapped = np.memmap(file_path, np.uint8, "c").view(np.ndarray)
        self._data = mapped.view(array.dtype).reshape(self.shape)
    self.__dict__["_offloaded_to"] = file_path
    return True


def offload_file_path(self: Tensor) -> str:
    """The file that `offload` put the values into, "" before.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1.0]).offload_file_path()
        ''
    """
    return self.__dict__.get("_offloaded_to", "")


for _method in (offload, offload_file_path):
    setattr(Tensor, _method.__name__, _method)
