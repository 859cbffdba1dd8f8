"""mutable: containers and numbers whose tensors a gradient function differentiates."""

from __future__ import annotations

from typing import Any

from dist_ms.common.tensor import Tensor


class _Tuple(tuple):
    """A mutable tuple."""

    __ms_mutable__ = True


class _List(list):
    """A mutable list."""

    __ms_mutable__ = True


class _Dict(dict):
    """A mutable dict."""

    __ms_mutable__ = True


class _Int(int):
    """A mutable int."""

    __ms_mutable__ = True


class _Float(float):
    """A mutable float."""

    __ms_mutable__ = True


class _Bool(int):
    """A mutable bool."""

    __ms_mutable__ = True

    def __repr__(self) -> str:
        return repr(bool(self))

    __str__ = __repr__


_KINDS = (
    (bool, _Bool),
    (int, _Int),
    (float, _Float),
    (tuple, _Tuple),
    (list, _List),
    (dict, _Dict),
)


def mutable(input_data: Any, dynamic_len: bool = False) -> Any:
    """Mark a tuple, list or dict so that gradient functions differentiate the tensors in it.

    Args:
        input_data: a Tensor, a number, or a nested tuple, list or dict of them.
        dynamic_len: for MindSpore's graph compiler; here no length is fixed, and the mark is only kept.

    Returns:
        An equal value of a marked subclass; a Tensor itself.

    Raises:
        TypeError: for another type, or if `dynamic_len` is True for something else than a tuple or
            list.

    Examples:
        >>> import dist_ms as ms
        >>> pair = ms.mutable((ms.Tensor(2.0), ms.Tensor(5.0)))
        >>> print(ms.grad(lambda p: p[0] * p[1])(pair))
        (Tensor(shape=[], dtype=Float32, value= 5), Tensor(shape=[], dtype=Float32, value= 2))
    """
    if not isinstance(dynamic_len, bool):
        raise TypeError(
            f"For 'mutable', the second input 'dynamic_len' should be bool, but got: {type(dynamic_len).__name__}."
        )
    if not _is_allowed(input_data):
        raise TypeError(
            "For 'mutable', 'input_data' must be a number, a bool, a Tensor, or a tuple, list or dict of such, "
            f"but got {type(input_data).__name__}: {input_data}."
        )
    if dynamic_len and not isinstance(input_data, (tuple, list)):
        raise TypeError(
            "For 'mutable', when 'dynamic_len' is True, the first input should be list or tuple, "
            f"but got: {type(input_data).__name__}."
        )
    if isinstance(input_data, Tensor):
        return input_data
    kind = next(of_marked for plain, of_marked in _KINDS if isinstance(input_data, plain))
    marked: Any = kind(input_data)
    if dynamic_len:
        marked.__ms_dynamic_len__ = True
    return marked


def _is_allowed(value: Any) -> bool:
    if isinstance(value, (tuple, list)):
        return all(map(_is_allowed, value))
    if isinstance(value, dict):
        return all(map(_is_allowed, value.values()))
    return isinstance(value, (bool, int, float, Tensor))


def is_mutable(value: Any) -> bool:
    """Whether a value was marked by `mutable`."""
    return getattr(type(value), "__ms_mutable__", False)
