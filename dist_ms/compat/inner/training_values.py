"""`mindspore.train._utils`: batches as tensors, types and shapes of a data set, folders."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor

__all__: list[str] = []


def _to_tensor(elem: Any, scaling_sens: float | None = None) -> Any:
    """Values as tensors: a tuple of them, with the scale of the loss at the end if there is one.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.compat.inner.training_values import _to_tensor
        >>> _to_tensor([np.ones(2)], 2.0)[1].shape
        ()
    """
    elements = elem if isinstance(elem, (tuple, list)) else [elem]
    found = [Tensor(e) if isinstance(e, np.ndarray) else e for e in elements]
    if scaling_sens:
        found.append(Tensor(scaling_sens, mstype.float32))
    return found[0] if len(found) == 1 and isinstance(found[0], Tensor) else tuple(found)


def _convert_type(types: Iterable) -> list:
    """NumPy's types as tensors have them."""
    return [
        mstype.pytype_to_dtype(t) if isinstance(t, type) and t in (bool, int, float) else mstype.to_type(t)
        for t in types
    ]


def _get_types_and_shapes(dataset: Any) -> tuple[list, list]:
    """The types and shapes of a data set's columns."""
    return _convert_type(dataset.output_types()), dataset.output_shapes()


def _construct_tensor_list(types: Iterable, shapes: Iterable, batch_expand_num: int = 1) -> list[Tensor]:
    """Tensors of zeros of types and shapes, with `batch_expand_num` times the rows.

    Raises:
        ValueError: if there are more types than shapes, or the other way round.
    """
    types, shapes = list(types), list(shapes)
    if len(types) != len(shapes):
        raise ValueError(complaint("shapes", None, f"of {len(types)} shapes, one per type", shapes))
    sizes = [(shape[0] * batch_expand_num, *shape[1:]) if len(shape) else () for shape in shapes]
    return [Tensor(np.zeros(size, mstype.to_numpy(t))) for t, size in zip(types, sizes)]


_construct_input_tensors = _construct_tensor_list


def check_value_type(arg_name: str, arg_value: Any, valid_types: Any) -> None:
    """Refuse a value of other types than some.

    Raises:
        TypeError: if so; a bool is no int.
    """
    types = tuple(valid_types) if isinstance(valid_types, (tuple, list)) else (valid_types,)
    if not isinstance(arg_value, types) or (isinstance(arg_value, bool) and bool not in types):
        wanted = f"of type {' or '.join(t.__name__ for t in types)}"
        raise TypeError(complaint(arg_name, None, wanted, type(arg_value).__name__))


def _make_directory(path: str, arg_name: str = "path") -> str:
    """Make a folder where there is none, and return its whole path.

    Raises:
        TypeError: if `path` is no text, or an empty one.
    """
    if not isinstance(path, str) or not path.strip():
        raise TypeError(complaint(arg_name, None, "a text that is not empty", repr(path)))
    found = os.path.realpath(path)
    os.makedirs(found, exist_ok=True)
    return found


def _progress_bar(iterable: Any, total: int | None = None) -> Iterator:
    """The elements of an iterable, in a line that shows how many there were."""
    count = len(iterable) if total is None else total
    for i, element in enumerate(iterable, 1):
        yield element
        print(f"\r{i}/{count}", end="" if i < count else "\n", flush=True)


def _rotate_list_elements(i: int, input_list: list) -> list:
    """A list from its element `i` on, and then what was before."""
    return input_list[i:] + input_list[:i]
