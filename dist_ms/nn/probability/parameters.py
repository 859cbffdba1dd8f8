"""Parameters of distributions and bijectors: as tensors of one type, of one shape, and within their limits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.dtype import dtype_to_nptype, float16, float32, float64
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor

__all__ = [
    "FLOATS",
    "as_tensor",
    "batch_shape_of",
    "broadcast",
    "check_between",
    "check_dtype",
    "check_positive",
    "check_tensor",
    "common_type",
    "is_scalar",
]

FLOATS = (float16, float32, float64)


def check_tensor(value: Any, name: str, owner: str) -> Any:
    """Return the value if it is a Tensor; else raise TypeError."""
    if not isinstance(value, Tensor):
        raise TypeError(complaint(name, owner, "a Tensor or Parameter", value))
    return value


def check_dtype(dtype: Any, wanted: Iterable[Any], owner: str) -> Any:
    """Return the type if it is among those wanted; else raise TypeError."""
    wanted = tuple(wanted)
    if isinstance(dtype, str) or dtype not in wanted:
        raise TypeError(complaint("dtype", owner, "one of " + ", ".join(str(t) for t in wanted), dtype))
    return dtype


def common_type(parameters: Mapping[str, Any], hint: Any) -> Any:
    """Return the type of all parameters: that of the tensors among them, else `hint`; float32 where it is no float.

    Raises:
        TypeError: if tensors differ in it.
    """
    found: Any = None
    for name, value in parameters.items():
        if isinstance(value, (Tensor, np.ndarray)):
            kind = Tensor(value).dtype if isinstance(value, np.ndarray) else value.dtype
            if found not in (None, kind):
                raise TypeError(complaint(name, None, f"{found}, as the other parameters", kind))
            found = kind
    if found is None:
        found = hint
    elif found == float64:
        found = float32
    return found if found in FLOATS else float32


def as_tensor(value: Any, name: str, owner: str, dtype: Any) -> Tensor:
    """Return a parameter as a Tensor; a Parameter stays what it is."""
    if isinstance(value, Parameter):
        return value
    if isinstance(value, bool) or not isinstance(value, (Tensor, np.ndarray, list, tuple, int, float)):
        raise TypeError(complaint(name, owner, "an int, a float, a list, an array or a Tensor", value))
    if isinstance(value, Tensor):
        return value.astype(dtype)
    try:
        return Tensor(np.asarray(value, dtype_to_nptype(dtype)))
    except ValueError:
        raise TypeError(complaint(name, owner, "numbers", value)) from None


def is_scalar(parameters: Mapping[str, Any]) -> bool:
    """Whether all parameters that are given are plain numbers."""
    return all(value is None or isinstance(value, (int, float)) for value in parameters.values())


def batch_shape_of(parameters: Mapping[str, Any]) -> tuple[int, ...] | None:
    """Return the shape that all parameters broadcast to; None if one is not given."""
    if any(value is None for value in parameters.values()):
        return None
    return np.broadcast_shapes(*(np.shape(v) if not isinstance(v, Tensor) else v.shape for v in parameters.values()))


def broadcast(*tensors: Tensor) -> tuple[Tensor, ...]:
    """Bring tensors to their common shape."""
    shape = np.broadcast_shapes(*(t.shape for t in tensors))
    return tuple(t if t.shape == shape else ops.broadcast_to(t, shape) for t in tensors)


def check_positive(value: Tensor, name: str, owner: str) -> None:
    """Raise ValueError unless all of a tensor is above 0."""
    if not (value.asnumpy() > 0).all():
        raise ValueError(complaint(name, owner, "greater than 0", value.asnumpy().tolist()))


def check_between(value: Tensor, name: str, owner: str) -> None:
    """Raise ValueError unless all of a tensor lies between 0 and 1, both left out."""
    found = value.asnumpy()
    if not ((found > 0) & (found < 1)).all():
        raise ValueError(complaint(name, owner, "between 0 and 1, both left out", found.tolist()))
