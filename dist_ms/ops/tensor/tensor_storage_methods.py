"""Tensor's methods for the memory under it, and what MindSpore's engines note on a tensor."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from dist_ms.common.checks import check_bool, check_type, complaint
from dist_ms.common.dtype import Number
from dist_ms.common.error_classes import scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.common.tensor.storage import UntypedStorage, bytes_of, storage_of
from dist_ms.ops.arguments import integer


def untyped_storage(self: Tensor) -> UntypedStorage:
    """Return the memory under the tensor, as bytes.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([1.0, 2.0]).untyped_storage().size()
        8
    """
    return storage_of(self)


def storage(self: Tensor) -> UntypedStorage:
    """Return the memory under the tensor: `untyped_storage`."""
    return storage_of(self)


def set_(self: Tensor, source: Any = None, storage_offset: int = 0, size: Any = None, stride: Any = None) -> Tensor:
    """Let the tensor lie in another's memory, end its history, and return it.

    Args:
        source: a Tensor of the same type or a storage; None for no elements.
        storage_offset: how many elements of the memory come before the first.
        size: the shape; None for that of the Tensor, or all elements of the storage.
        stride: for each dimension, how many elements lie between neighbours; None for row-major order.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if elements would lie beyond the memory.
        RuntimeError: if `source` is of another type.

    Examples:
        >>> import dist_ms as ms
        >>> x, y = ms.Tensor([1.0]), ms.Tensor([3.0, 4.0, 5.0])
        >>> print(x.set_(y, 1, (2,)))
        [4. 5.]
    """
    kind = self.dtype.np
    if source is None:
        found = np.empty(0, kind)
    elif isinstance(source, Tensor) and size is None and not storage_offset and stride is None:
        _same_type(self, source)
        found = source.array()
    else:
        if isinstance(source, Tensor):
            _same_type(self, source)
        elif not isinstance(source, UntypedStorage):
            raise TypeError(complaint("source", "set_", "a Tensor or an UntypedStorage", type(source).__name__))
        flat = (bytes_of(source) if isinstance(source, Tensor) else source._bytes()).view(kind)
        shape = (flat.size - storage_offset,) if size is None else (size,) if isinstance(size, int) else tuple(size)
        if stride is None:
            steps = tuple(int(np.prod(shape[k + 1 :], dtype=np.int64)) for k in range(len(shape)))
        else:
            steps = (stride,) if isinstance(stride, int) else tuple(stride)
        last = storage_offset + sum((n - 1) * s for n, s in zip(shape, steps))
        fits = len(steps) == len(shape) and min((*shape, *steps, storage_offset), default=0) >= 0
        if not fits or (0 not in shape and last >= flat.size):
            raise ValueError(complaint("size", "set_", f"inside the {flat.size} elements of the memory", shape))
        strides = [s * kind.itemsize for s in steps]
        found = np.lib.stride_tricks.as_strided(flat[storage_offset:], shape, strides)
    self._data, self._node, self.init = found, None, None
    self.written()
    return self


def _same_type(self: Tensor, source: Tensor) -> None:
    if source.dtype != self.dtype:
        raise RuntimeError(complaint("source", "set_", f"of type {self.dtype}", source.dtype))


def to_dlpack(self: Tensor) -> Any:
    """Return a capsule with which other libraries share the memory.

    Raises:
        TypeError: for a type that DLPack or NumPy do not have, such as bfloat16.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor.from_dlpack(ms.Tensor([1.0, 2.0]).to_dlpack()))
        [1. 2.]
    """
    try:
        return self.array().__dlpack__()
    except (BufferError, RuntimeError) as error:
        raise TypeError(complaint("self", "to_dlpack", f"of a type that DLPack has: {error}", self.dtype)) from None


class _Held:
    """A capsule as NumPy asks for it."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **_: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0


class _Writable:
    """An array that NumPy made for reading only, for writing, too."""

    def __init__(self, array: np.ndarray) -> None:
        self._array = array
        self.__array_interface__ = {**array.__array_interface__, "data": (array.ctypes.data, False)}


def from_dlpack(dlpack: Any) -> Tensor:
    """Make a Tensor in the memory of a capsule of DLPack, or of an object that gives one.

    Raises:
        RuntimeError: if it is neither, or a capsule that was used before.
    """
    given = dlpack if hasattr(dlpack, "__dlpack__") else _Held(dlpack)
    try:
        array = np.from_dlpack(given)
    except (ValueError, TypeError, BufferError, AttributeError, RuntimeError) as error:
        raise RuntimeError(
            complaint("dlpack", "from_dlpack", f"a capsule of DLPack that was not used yet ({error})", dlpack)
        ) from None
    return wrap(array if array.flags.writeable else np.asarray(_Writable(array)))


def pin_memory(self: Tensor, device: str | None = None) -> NoReturn:
    """Refuse to copy the tensor into memory that a device reads; there is none.

    Raises:
        RuntimeError: always, as in MindSpore without an Ascend device.
    """
    raise RuntimeError(complaint("device", "pin_memory", "an Ascend device", "CPU", "use the tensor itself"))


def to_(self: Tensor, device: str | None = None, non_blocking: bool = False) -> Tensor:
    """Move the tensor to a device, which must be the CPU, where it is; return it.

    Args:
        device: "CPU" or None.
        non_blocking: accepted.

    Raises:
        ValueError: for another device.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([1.0]).to_("CPU"))
        [1.]
    """
    check_bool(non_blocking, "non_blocking", "to_")
    if device not in (None, "CPU"):
        raise ValueError(complaint("device", "to_", "'CPU', as dist_ms runs on CPUs", repr(device)))
    return self


def delete_(self: Tensor, non_blocking: bool = False) -> None:
    """Give up the tensor's values; their memory is free when nothing else holds it. The shape becomes (0,).

    Args:
        non_blocking: accepted.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([1.0, 2.0])
        >>> x.delete_()
        >>> x.shape
        (0,)
    """
    check_bool(non_blocking, "non_blocking", "delete_")
    self._data, self._node, self.init = np.empty(0, self.dtype.np), None, None


def data_sync(self: Tensor, need_wait: bool) -> None:
    """Wait until a device has given the values back; they are here."""
    check_bool(need_wait, "need_wait", "data_sync")


def assign_value_cpp(self: Tensor, value: Tensor) -> Tensor:
    """Take another tensor's values, shape and type: `assign_value`."""
    return self.assign_value(value)


def set_cast_dtype(self: Tensor, dtype: Number | None = None) -> None:
    """Note the type in which MindSpore's graphs use the tensor; without a graph nothing is cast."""
    check_type(dtype, "dtype", "set_cast_dtype", (Number, type(None)))


@scalars("flag")
def set_init_flag(self: Tensor, flag: bool) -> None:
    """Set `init_flag`."""
    self.__dict__["_init_flag"] = flag if isinstance(flag, int) else bool(integer(flag, "flag", "set_init_flag"))


def remove_hook(hook_id: int) -> None:
    """Forget a hook by the number of MindSpore's engine: none has one here; use the handle's `remove`."""


def _refuse(name: str) -> NoReturn:
    raise NotImplementedError(
        f"For '{name}', the tensor must be on a device, but got one on the CPU: it is part of MindSpore's engine."
    )


def set_device_address(self: Tensor, addr: int, shape: Any, dtype: Any) -> NoReturn:
    """Refuse to use memory of a device."""
    _refuse("set_device_address")


def getitem_index_info(self: Any, index: Any) -> NoReturn:
    """Refuse to tell how MindSpore's engine would read a part of a tensor."""
    _refuse("getitem_index_info")


def setitem_index_info(self: Any, index: Any, value: Any) -> NoReturn:
    """Refuse to tell how MindSpore's engine would write a part of a tensor."""
    _refuse("setitem_index_info")


def uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, generator: Any = None) -> Tensor:
    """Return a tensor of this shape and type with numbers equally likely in [from_, to).

    Args:
        from_: the smallest.
        to: the limit above.
        generator: a Generator whose numbers are used, or None.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.zeros((2, 3)).uniform(1.0, 2.0).shape
        (2, 3)
    """
    return wrap(np.empty_like(self.array())).uniform_(from_, to, generator=generator)


def triangular_solve(
    self: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """Solve A x = the tensor for a triangular A; see `mint.triangular_solve`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.Tensor([[3.0], [4.0]]).triangular_solve(ms.Tensor([[1.0, 1.0], [0.0, 2.0]]))[0])
        [[1.]
         [2.]]
    """
    from dist_ms.ops.extended.device_forms import triangular_solve as solve

    return solve(self, A, upper, transpose, unitriangular)


def _note(name: str, default: Any, what: str) -> property:
    """A place for what MindSpore's engine notes on a tensor."""
    place = f"_{name.strip('_')}"

    def read(self: Tensor) -> Any:
        return self.__dict__.get(place, default)

    def write(self: Tensor, value: Any) -> None:
        self.__dict__[place] = value

    return property(read, write, doc=what)


def _init_finished(self: Tensor) -> bool:
    return True


Tensor.init_finished = property(_init_finished, doc="Whether the values can be asked for: they always can.")
Tensor.init_flag = _note("init_flag", False, "What `set_init_flag` was given.")
Tensor.virtual_flag = _note("virtual_flag", False, "Free for use by engines.")
Tensor.parent_tensor_ = _note("parent_tensor_", None, "Free for use by engines.")
Tensor.index_of_parent_ = _note("index_of_parent_", None, "Free for use by engines.")
Tensor.symbolic_shape = property(lambda self: None, doc="The shape as symbols of a graph: None, without a graph.")
if not hasattr(Tensor, "param_info"):
    Tensor.param_info = _note("param_info", None, "What `set_param_info` was given.")


def set_param_info(self: Tensor, info: Any) -> None:
    """Note what MindSpore's engine knows of a parameter."""
    self.param_info = info


for _method in (
    *(untyped_storage, storage, set_, to_dlpack, pin_memory, to_, delete_, data_sync, assign_value_cpp),
    *(set_cast_dtype, set_init_flag, set_device_address, uniform, triangular_solve, set_param_info),
):
    setattr(Tensor, _method.__name__, _method)
for _method in (from_dlpack, remove_hook, getitem_index_info, setitem_index_info):
    setattr(Tensor, _method.__name__, staticmethod(_method))
