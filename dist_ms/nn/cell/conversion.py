"""Cell.to and Cell.to_empty: parameters and buffers in another type, or without values.

Fields of a cell: writes `_buffers`; reads `_params`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor, wrap

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell

_FORMS = (
    "to(device=None, dtype=None, non_blocking=False), to(dtype, non_blocking=False), to(tensor, non_blocking=False)"
)
_OTHER_DEVICES = ("Ascend", "GPU", "meta")


def _apply(self: Cell, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Any:
    """Replace the values of every parameter, and every buffer, by what `fn` makes of it. Returns the cell."""
    for _, cell in self.cells_and_names() if recurse else [("", self)]:
        for p in cell._params.values():
            if p is not None:
                p.data = fn(p)
        for key, buffer in cell._buffers.items():
            if buffer is not None:
                new = cell._buffers[key] = fn(buffer)
                new._is_buffer = True
    return self


def to(self: Cell, *args: Any, **kwargs: Any) -> Any:
    """Give the floating-point and complex parameters and buffers another type; the others stay.

    Forms: `to(device=None, dtype=None, non_blocking=False)`, `to(dtype, non_blocking=False)`,
    `to(tensor, non_blocking=False)`. The Parameter objects stay.

    Args:
        args, kwargs: `device` is None or "CPU", `dtype` a floating-point or complex type, `tensor`
            one whose type is taken, `non_blocking` a bool without effect.

    Returns:
        The cell itself.

    Raises:
        TypeError: if the arguments fit no form, or the type is another one.
        RuntimeError: for a device that is not here.
        ValueError: for an unknown device.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(2, 1).to(ms.float16)
        >>> print(net.weight.dtype)
        Float16
    """
    device, dtype = _destination(args, kwargs)
    _check_device("to", device)
    if dtype is None:
        return self
    if dtype not in mstype.float_type and dtype not in mstype.complex_type:
        raise TypeError(f"Cell.to only accepts floating point or complex dtypes, but got desired dtype={dtype}")

    def convert(x: Tensor) -> Tensor:
        array = x.array()
        if array.dtype.kind not in "fcV":
            return wrap(array)
        real = array.real if array.dtype.kind == "c" and not dtype.is_complex else array
        return wrap(real.astype(dtype.np))

    return self._apply(convert)


def to_empty(self: Cell, *, device: str | None = None, recurse: bool = True) -> Any:
    """Give all parameters and buffers new memory that is not filled.

    Args:
        device: None or "CPU".
        recurse: include nested cells.

    Returns:
        The cell itself.

    Raises:
        RuntimeError: for a device that is not here.
        ValueError: for an unknown device.

    Examples:
        >>> from dist_ms import nn
        >>> net = nn.Dense(2, 3).to_empty()
        >>> net.weight.shape
        (3, 2)
    """
    _check_device("to_empty", device)
    return self._apply(lambda x: wrap(np.empty(x.shape, x.dtype.np)), recurse)


def _destination(args: tuple, kwargs: dict) -> tuple[Any, Any]:
    """The device and the type that the arguments of `to` ask for."""
    names: tuple[str, ...] = ("device", "dtype", "non_blocking")
    if args and isinstance(args[0], (mstype.Number, Tensor)):
        names = ("tensor" if isinstance(args[0], Tensor) else "dtype", "non_blocking")
    elif "tensor" in kwargs:
        names = ("tensor", "non_blocking")
    given = dict(zip(names, args))
    kinds = {"device": str, "dtype": mstype.Number, "tensor": Tensor, "non_blocking": bool}
    fits = len(args) <= len(names) and not set(kwargs) & set(given) and set(kwargs) <= set(names)
    given.update(kwargs)
    if not fits or not all(v is None or isinstance(v, kinds[k]) for k, v in given.items()):
        shown = ", ".join([type(a).__name__ for a in args] + [f"{k}={type(v).__name__}" for k, v in kwargs.items()])
        raise TypeError(f'Failed calling Cell.to with "Cell.to({shown})". The valid calling should be: {_FORMS}.')
    tensor = given.get("tensor")
    return given.get("device"), given.get("dtype") if tensor is None else tensor.dtype


def _check_device(method: str, device: str | None) -> None:
    name = None if device is None else device.partition(":")[0]
    if name in _OTHER_DEVICES:
        raise RuntimeError(f"For 'Cell.{method}', 'device' must be None or 'CPU', but got {device!r}.")
    if name not in (None, "CPU"):
        raise ValueError(f"For 'Cell.{method}', 'device' must be None or 'CPU', but got {device!r}: it is unknown.")
