"""UntypedStorage: the memory under a tensor, as bytes."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.tensor.tensor import Tensor

__all__ = ["UntypedStorage"]


class UntypedStorage:
    """The bytes of the memory that a tensor lies in; views of one tensor have one storage.

    `Tensor.untyped_storage` and `Tensor.storage` make it.

    Raises:
        TypeError: if it is made otherwise.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0, 3.0])
        >>> x[1:].storage().nbytes()
        12
    """

    def __init__(self) -> None:
        if type(self) is UntypedStorage:
            raise TypeError("For 'UntypedStorage', use Tensor.untyped_storage() of a tensor to get its storage.")

    def size(self) -> int:
        """The number of bytes."""
        return self._bytes().size

    nbytes = __len__ = size

    def element_size(self) -> int:
        """The bytes of an element: 1."""
        return 1

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return self._bytes().ctypes.data

    def is_shared(self) -> bool:
        """Whether processes share the memory: False."""
        return False

    @property
    def device(self) -> str:
        """The device: "CPU"."""
        return "CPU"

    @property
    def dtype(self) -> Any:
        """The element type of the tensor that was asked."""
        return self._tensor.dtype

    def copy_(self, src: UntypedStorage, non_blocking: bool = False) -> UntypedStorage:
        """Copy the bytes of another storage of this size into this one.

        Args:
            src: the other.
            non_blocking: accepted: the bytes are there when it returns.

        Raises:
            TypeError: if `src` is no storage.
            ValueError: if it has another size.
        """
        if not isinstance(src, UntypedStorage):
            raise TypeError(complaint("src", "UntypedStorage.copy_", "an UntypedStorage", src))
        if src.size() != self.size():
            raise ValueError(complaint("src", "UntypedStorage.copy_", f"of {self.size()} bytes", src.size()))
        self._bytes()[...] = src._bytes().copy()
        self._tensor.written()
        return self

    def resize_(self, size: int) -> UntypedStorage:
        """Keep the size, the only one it may have: arrays over the memory hold it.

        Raises:
            NotImplementedError: for another size.
        """
        if size != self.size():
            raise NotImplementedError(
                complaint("size", "UntypedStorage.resize_", f"{self.size()}, as tensors hold the memory", size)
            )
        return self

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self.data_ptr() == other.data_ptr()

    def __hash__(self) -> int:
        return hash(self.data_ptr())

    _tensor: Tensor

    def _bytes(self) -> np.ndarray:
        return bytes_of(self._tensor)


class _OfTensor(UntypedStorage):
    """The storage of a tensor."""

    def __init__(self, tensor: Tensor) -> None:
        self._tensor = tensor


_OfTensor.__name__ = _OfTensor.__qualname__ = "UntypedStorage"


def storage_of(tensor: Tensor) -> UntypedStorage:
    """The storage of a tensor."""
    return _OfTensor(tensor)


def bytes_of(tensor: Tensor) -> np.ndarray:
    """The bytes of the array that a tensor's array is a part of."""
    array = tensor.array()
    while isinstance(array.base, np.ndarray) and array.base.dtype == array.dtype and array.base.size:
        array = array.base
    flat = array.reshape(-1, order="A") if array.flags.forc else array
    if not array.flags.forc or not np.shares_memory(flat, array):
        tensor._data = np.ascontiguousarray(tensor.array())
        flat = tensor._data.reshape(-1)
    return flat.view(np.uint8)
