"""_Buffer: marks a tensor that a Cell keeps and saves but does not train."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_type
from dist_ms.common.tensor import Tensor, wrap


class _BufferType(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, Tensor) and instance.__dict__.get("_is_buffer", False)


class _Buffer(metaclass=_BufferType):
    """A plain Tensor in the memory of `data`, which a Cell it is assigned to registers.

    Args:
        data: a Tensor.
        persistent: whether `Cell.state_dict` holds it.

    Raises:
        ValueError: if `data` is None.
        TypeError: if it is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.common.parameter.buffer import _Buffer
        >>> b = _Buffer(ms.Tensor([1.0, 2.0]), persistent=False)
        >>> isinstance(b, _Buffer), b.persistent
        (True, False)
    """

    def __new__(cls, data: Tensor, *, persistent: bool = True) -> Tensor:
        if data is None:
            raise ValueError("For '_Buffer', 'data' must be a Tensor, but got None.")
        check_type(data, "data", "_Buffer", Tensor)
        buffer = wrap(data.array())
        buffer._is_buffer = True
        buffer.persistent = persistent
        return buffer
