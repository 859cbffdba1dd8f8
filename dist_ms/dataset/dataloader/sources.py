"""What a DataLoader reads: items that have numbers, or an iterable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from dist_ms.common.tensor import Tensor


class Dataset:
    """Base class of items that have numbers: define `__getitem__`, and `__len__` for samplers.

    Examples:
        >>> from dist_ms.dataset.dataloader import DataLoader, Dataset
        >>> class Squares(Dataset):
        ...     def __getitem__(self, index):
        ...         return index**2
        ...     def __len__(self):
        ...         return 3
        >>> [batch.asnumpy().tolist() for batch in DataLoader(Squares(), batch_size=2)]
        [[0, 1], [4]]
    """

    def __getitem__(self, index: int) -> Any:
        raise NotImplementedError(f"For '{type(self).__name__}', '__getitem__' is not defined.")


class IterableDataset:
    """Base class of items that come one after another: define `__iter__`.

    Examples:
        >>> from dist_ms.dataset.dataloader import DataLoader, IterableDataset
        >>> class Countdown(IterableDataset):
        ...     def __iter__(self):
        ...         yield from (3, 2, 1)
        >>> [batch.asnumpy().tolist() for batch in DataLoader(Countdown(), batch_size=2)]
        [[3, 2], [1]]
    """

    def __iter__(self) -> Iterator:
        raise NotImplementedError(f"For '{type(self).__name__}', '__iter__' is not defined.")


class TensorDataset(Dataset):
    """Items cut from Tensors along their first axis.

    Args:
        tensors: of one length.

    Raises:
        TypeError: if something is no Tensor.
        ValueError: if their lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.dataset.dataloader import TensorDataset
        >>> data = TensorDataset(ms.Tensor([1, 2]), ms.Tensor([3, 4]))
        >>> len(data), [int(x) for x in data[1]]
        (2, [2, 4])
    """

    def __init__(self, *tensors: Tensor) -> None:
        for tensor in tensors:
            if not isinstance(tensor, Tensor):
                raise TypeError(f"For 'TensorDataset', 'tensors' must be Tensors, but got {type(tensor).__name__}.")
        lengths = [tensor.shape[0] for tensor in tensors]
        if len(set(lengths)) > 1:
            raise ValueError(f"For 'TensorDataset', 'tensors' must be of one length, but got {lengths}.")
        self.tensors = tensors

    def __getitem__(self, index: int) -> tuple:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return self.tensors[0].shape[0] if self.tensors else 0
