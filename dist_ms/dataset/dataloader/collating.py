"""Items put together in batches."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor, wrap

_NUMBERS = (bool, int, float, complex, np.number, np.bool_)


def default_convert(data: Any) -> Any:
    """Return arrays and NumPy numbers as Tensors, within lists, tuples and dicts, too; other values as they are.

    Args:
        data: an item.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.dataset.dataloader import default_convert
        >>> default_convert({"x": np.ones(2), "name": "a"})["x"].asnumpy().tolist()
        [1.0, 1.0]
    """
    if isinstance(data, (np.ndarray, np.number, np.bool_)):
        array = np.asarray(data)
        return data if array.dtype.kind in "SUO" else wrap(array)
    if isinstance(data, Mapping):
        return {key: default_convert(value) for key, value in data.items()}
    if isinstance(data, tuple) and hasattr(data, "_fields"):
        return type(data)(*map(default_convert, data))
    if isinstance(data, Sequence) and not isinstance(data, (str, bytes)):
        return [default_convert(value) for value in data]
    return data


def default_collate(batch: list) -> Any:
    """Put items together: numbers, arrays and Tensors along a new first axis, dicts by key, lists and tuples by place.

    Args:
        batch: the items; text and bytes stay a list.

    Raises:
        ValueError: if lists have different lengths, or arrays different shapes.
        TypeError: if items cannot be put together.

    Examples:
        >>> from dist_ms.dataset.dataloader import default_collate
        >>> x, names = default_collate([(1, "a"), (2, "b")])
        >>> x.asnumpy().tolist(), names
        ([1, 2], ['a', 'b'])
    """
    return _collated(list(batch))


def _collated(batch: list) -> Any:
    first = batch[0]
    if isinstance(first, Tensor):
        return wrap(np.stack([value.asnumpy() for value in batch]))
    if isinstance(first, np.ndarray) and first.dtype.kind not in "SUO":
        return wrap(np.stack(batch))
    if isinstance(first, _NUMBERS):
        return wrap(np.array(batch))
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: _collated([item[key] for item in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(_collated, map(list, zip(*batch))))
    if isinstance(first, Sequence):
        lengths = {len(item) for item in batch}
        if len(lengths) > 1:
            raise ValueError(f"For 'default_collate', lists must be of one length, but got {sorted(lengths)}.")
        return [_collated(list(values)) for values in zip(*batch)]
    raise TypeError(
        "For 'default_collate', items must be Tensors, arrays, numbers, text, or dicts and lists of such, but got "
        f"{type(first).__name__}: give DataLoader a 'collate_fn'."
    )
