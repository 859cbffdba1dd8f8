"""Tensor: a NumPy array, its place in the gradient graph, and MindSpore's face.

Operators and most methods are attached by `dist_ms.ops`, so this file imports
nothing above it. A tensor's array has the logical shape; its strides may be
anything dense (convolution keeps activations channels-last in memory).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from dist_ms._ext.tape import formless, know, wrap
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_string
from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import slices
from dist_ms.common.tensor.data import array_from, cast
from dist_ms.common.tensor.form import TensorForm
from dist_ms.common.tensor.symbol import Symbol
from dist_ms.common.tensor.text import lazy_text, plain_repr, tensor_repr, tensor_str

_FORM = ("_data", "_shape", "_dtype")
# What ties a tensor to a gradient, besides `_node`; copies leave it behind.
_GRAPH = ("_hooks", "_viewed", "lent", "reduction")

if TYPE_CHECKING:
    from dist_ms.common.tensor.attached import Attached as _Attached

    class _Base(TensorForm, _Attached): ...
else:
    _Base = TensorForm


class Tensor(_Base):
    """An n-dimensional array that operations differentiate through.

    Args:
        input_data: a NumPy array, number, bool, or nested list / tuple of them and of
            Tensors, which is copied; or a Tensor, whose memory and history are shared
            unless `dtype` changes it.
        dtype: element type; the default keeps an array's, and makes float32 of Python
            floats and int64 of Python ints.
        shape: without `input_data`: the shape. Lengths that are unknown are None, -1 or a Symbol.
        init: an Initializer that creates the values when `init_data` is called; needs
            `shape` and `dtype`.
        const_arg: whether a compiled network may take the values for constants (a bool).
        device: None or "CPU"; or "meta" for a shape and a dtype without values.

    Raises:
        TypeError: if `input_data` cannot become an array of numbers, or `dtype` is no
            dist_ms type.
        ValueError: if both `input_data` and `shape` are given, `init` comes without
            `shape` and `dtype`, or `device` is another.

    Examples:
        >>> import dist_ms as ms
        >>> ms.Tensor([[1, 2], [3, 4]], ms.float32)
        Tensor(shape=[2, 2], dtype=Float32, value=
        [[ 1.00000000e+00,  2.00000000e+00],
         [ 3.00000000e+00,  4.00000000e+00]])
    """

    __module__ = "dist_ms.common.tensor"  # the path that programs know
    _plain_text: bool = False  # the memory came from NumPy, which shows in `repr`
    elsewhere: bool = False  # another process has the values
    const_arg: bool = False
    device: str = "CPU"
    delta_seed: int = 0
    __array_priority__ = 1000  # NumPy hands binary operators to Tensor

    def __init__(
        self,
        input_data: Any = None,
        dtype: Any = None,
        shape: Any = None,
        init: Any = None,
        const_arg: bool = False,
        device: str | None = None,
    ) -> None:
        if device not in (None, "CPU"):
            if device != "meta":
                raise ValueError(
                    f"For 'Tensor', 'device' must be None, 'CPU' or 'meta', but got {device!r}: dist_ms runs on CPUs."
                )
            self._set_meta(input_data, dtype, shape, init)
            return
        if const_arg is not False:
            self.const_arg = check_bool(const_arg, "const_arg", "Tensor")
        if dtype is not None and not isinstance(dtype, mstype.Number):
            raise TypeError(f"For 'Tensor', 'dtype' must be a type such as dist_ms.float32, but got {dtype!r}.")
        if input_data is None:
            self._set_without_data(dtype, shape, init)
            return
        if shape is not None:
            raise ValueError(f"For 'Tensor', 'shape' must be None when 'input_data' is given, but got {shape}.")
        if init is not None:
            raise ValueError("For 'Tensor', 'init' must be None when 'input_data' is given: it makes the data.")
        np_dtype = None if dtype is None else dtype.np
        if isinstance(input_data, Tensor):
            self._share(input_data, np_dtype)
        else:
            self._data = array_from(input_data, np_dtype)

    def _set_without_data(self, dtype: Any, shape: Any, init: Any) -> None:
        """Remember shape and type, and perhaps how to make the values."""
        if dtype is None or (init is not None and shape is None):
            if init is not None:
                raise ValueError("For 'Tensor', 'init' needs 'shape' and 'dtype', but one of them is None.")
            raise TypeError("For 'Tensor', 'input_data' must be given, or 'shape' and 'dtype', but got None.")
        if init is not None and not hasattr(init, "create"):
            raise TypeError(f"For 'Tensor', 'init' must be an Initializer, but got {type(init).__name__}.")
        lengths = (-2,) if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        self._shape = tuple(-1 if n is None or isinstance(n, Symbol) else int(n) for n in lengths)
        self._dtype = dtype.np
        if min(self._shape, default=0) >= 0:
            if init is None:
                self._data = np.zeros(self._shape, self._dtype)
            self.init = init
        elif init is not None:
            raise ValueError(f"For 'Tensor', 'init' needs a known 'shape', but got {shape}.")

    def _set_meta(self, input_data: Any, dtype: Any, shape: Any, init: Any) -> None:
        """Remember shape and type only, as they would be elsewhere."""
        like = Tensor(input_data, dtype, shape, init)
        self._shape, self._dtype, self.init, self.device = like.shape, like.dtype.np, None, "meta"

    @property
    def is_meta(self) -> bool:
        """Whether the tensor was made on the device "meta", where there are shapes and dtypes only.

        Examples:
            >>> import dist_ms as ms
            >>> x = ms.Tensor([[1.0, 2.0]], device="meta")
            >>> x.is_meta, x.shape
            (True, (1, 2))
        """
        return self.device == "meta"

    def _share(self, source: Tensor, np_dtype: np.dtype | None) -> None:
        """Take over another tensor's memory and history, or a cast copy of its values."""
        array = source.array()
        self._data, self._part = cast(array, np_dtype), source._part
        if self._data is array:
            self._plain_text = source._plain_text
            if source._node is not None:
                self._node, self._index = source._node, source._index

    # ---- its values
    def _materialise(self) -> np.ndarray:
        if self.init is None:
            why = (
                "it was made on the device 'meta'"
                if self.is_meta
                else "its shape has unknown lengths"
                if min(self._shape, default=0) < 0
                else "the operation that made it does not keep its values for the gradient"
            )
            raise RuntimeError(f"This tensor has a shape, {self._shape}, and a dtype but no data: {why}.")
        self._data = self.init.create(self._shape, self._dtype)
        self._plain_text = True
        self.init = None
        return self._data

    def init_data(
        self, slice_index: int | None = None, shape: Any = None, opt_shard_group: str | None = None
    ) -> Tensor:
        """Make the values of a lazily initialised tensor and return the tensor itself.

        Args:
            slice_index: make one slice only: equal numbers give equal values on every
                rank, other numbers other values. The whole never exists.
            shape: the slice's shape; by default the tensor's.
            opt_shard_group: the group over which the optimizer shards the slice further;
                each of its ranks gets values of its own.

        Raises:
            TypeError: if the tensor was not made with an initializer, or `slice_index`
                is no int.

        Examples:
            >>> import dist_ms as ms
            >>> from dist_ms.common.initializer import initializer
            >>> print(initializer("ones", [2]).init_data())
            [1. 1.]
        """
        if self._data is not None or self.init is None:
            if self._shape is None:
                raise TypeError("For 'Tensor.init_data', the tensor must be made with 'init', but it was not.")
            return self
        if slice_index is not None and (isinstance(slice_index, bool) or not isinstance(slice_index, int)):
            raise TypeError(f"For 'Tensor.init_data', 'slice_index' must be an int, but got {slice_index!r}.")
        if slice_index is None and shape is None:
            self._materialise()
            return self
        wanted = self._shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
        if slice_index is None:
            self._data = self.init.create(wanted, self._dtype)
        else:
            name = f"{opt_shard_group}/{slices.rank(opt_shard_group)}" if opt_shard_group else ""
            self._data = self.init.create_slice(wanted, self._dtype, slice_index, full_shape=self._shape, name=name)
        self.init = None
        self._plain_text = True
        return self

    def asnumpy(self) -> np.ndarray:
        """Return the values as a NumPy array that shares the tensor's memory.

        Examples:
            >>> import dist_ms as ms
            >>> x = ms.Tensor([1.0, 2.0])
            >>> x.asnumpy()[0] = 11
            >>> print(x)
            [11.  2.]
        """
        return self.array()

    def numpy(self) -> np.ndarray:
        """The same as `asnumpy`."""
        return self.array()

    @staticmethod
    def from_numpy(array: np.ndarray) -> Tensor:
        """Make a Tensor that shares the memory of a NumPy array.

        Raises:
            TypeError: for anything but an array of numbers.

        Examples:
            >>> import dist_ms as ms
            >>> import numpy as np
            >>> a = np.ones(2, np.float32)
            >>> x = ms.Tensor.from_numpy(a)
            >>> a[0] = 5
            >>> print(x)
            [5. 1.]
        """
        if not isinstance(array, np.ndarray):
            raise TypeError(f"For 'from_numpy', 'array' must be a numpy.ndarray, but got {type(array).__name__}.")
        mstype.from_numpy(array.dtype)
        tensor = wrap(array)
        tensor._plain_text = True
        return tensor

    def value(self) -> Tensor:
        """The tensor itself; of a Parameter, its values as a plain Tensor."""
        return self

    @property
    def data(self) -> Tensor:
        """A tensor in the same memory, outside any gradient; assigning is `assign_value`."""
        return self._alias()

    @data.setter
    def data(self, value: Tensor) -> None:
        self.assign_value(value)

    def _alias(self) -> Tensor:
        twin = wrap(self.array())
        twin._part = self._part
        if self._plain_text:
            twin._plain_text = True
        return twin

    def written(self) -> None:
        """Note that the values were written over: they are no longer those of NumPy's memory.

        Inside the package only.
        """
        if self._plain_text:
            del self._plain_text

    def assign_value(self, value: Tensor) -> Tensor:
        """Take a copy of the values, shape and type of another tensor, and end this one's history.

        Raises:
            TypeError: if `value` is no Tensor.

        Examples:
            >>> import dist_ms as ms
            >>> x = ms.Tensor([1.0, 2.0])
            >>> print(x.assign_value(ms.Tensor([3, 4, 5])))
            [3 4 5]
        """
        if not isinstance(value, Tensor):
            raise TypeError(f"For 'assign_value', 'value' must be a Tensor, but got {type(value).__name__}.")
        self._data = value.array().copy(order="K")
        self.init = None
        self._node = None
        self._plain_text = value._plain_text
        return self

    def set_dtype(self, dtype: mstype.Number) -> mstype.Number:
        """Cast the values to another type, in this tensor itself, and return the type.

        Raises:
            RuntimeError: if `dtype` is no dist_ms type.

        Examples:
            >>> import dist_ms as ms
            >>> ms.Tensor([1.5, 2.5]).set_dtype(ms.int32)
            mindspore.int32
        """
        if not isinstance(dtype, mstype.Number):
            raise RuntimeError(f"For 'set_dtype', 'dtype' must be a type such as dist_ms.float32, but got {dtype!r}.")
        if self._data is None:
            self._dtype = dtype.np
        else:
            self._data = cast(self._data, dtype.np)
        return dtype

    def set_const_arg(self, const_arg: bool = True) -> Tensor:
        """Say whether a compiled network may take the values for constants."""
        self.const_arg = check_bool(const_arg, "const_arg", "Tensor.set_const_arg")
        return self

    @raises(blocking=ValueError)
    def move_to(self, to: str, blocking: bool = True) -> Tensor:
        """A tensor on the device `to`, which must be the CPU, in the same memory.

        Raises:
            ValueError: if `to` names no device.
            RuntimeError: if it names another device than the CPU.
        """
        check_string(to, "to", "move_to", ("Ascend", "GPU", "CPU"))
        if to != "CPU":
            raise RuntimeError(f"For 'move_to', 'to' must be 'CPU', but got {to!r}: dist_ms runs on CPUs.")
        check_bool(blocking, "blocking", "move_to")
        return Tensor(self.value())

    def flush_from_cache(self) -> None:
        """Write rows of an embedding cache back: done at once here, so nothing is left to write."""

    # ---- copies and text
    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.array()
        if dtype is not None and dtype != array.dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    def _state(self) -> dict:
        """What a copy takes along: everything but the place in a gradient."""
        state = {key: value for key in _FORM if (value := getattr(self, key)) is not None}
        state.update((key, value) for key, value in self.__dict__.items() if key not in _GRAPH)
        return state

    def __deepcopy__(self, memodict: dict) -> Tensor:
        memo = memodict if isinstance(memodict, dict) else {}  # MindSpore reads none, and programs give anything

        def taken(value: Any) -> Any:
            return value.copy(order="K") if isinstance(value, np.ndarray) else copy.deepcopy(value, memo)

        return self._twin(taken, memo)

    def _twin(self, taken: Callable[[Any], Any], memo: dict | None = None) -> Self:
        """A tensor with what `taken` makes of this one's state, and no part in a gradient.

        Args:
            taken: makes a value of another.
            memo: of a deep copy.
        """
        twin = type(self).__new__(type(self))
        if memo is not None:
            memo[id(self)] = twin
        twin._part = self._part
        for key, value in self._state().items():
            _set(twin, key, taken(value))
        return twin

    def __copy__(self) -> Tensor:
        return copy.deepcopy(self)

    def __reduce__(self):
        return _restore, (type(self), self._state())

    def __repr__(self) -> str:
        if self._data is None and (self.init is None or not self.init.remade):
            return lazy_text(self._shape, str(self.dtype))
        array = self.array()
        write = plain_repr if self._plain_text else tensor_repr
        return write(array, str(self.dtype))

    def __str__(self) -> str:
        if self._data is None and (self.init is None or not self.init.remade):
            return lazy_text(self._shape, str(self.dtype))
        return tensor_str(self.array())

    __hash__ = object.__hash__


know(Tensor)


def _restore(cls: type[Tensor], state: dict) -> Tensor:
    """Rebuild a tensor (pickle support)."""
    tensor = cls.__new__(cls)
    for key, value in state.items():
        _set(tensor, key, value)
    return tensor


def _set(tensor: Tensor, key: str, value: Any) -> None:
    """Set a part of the state, past the checks of the flags of Parameters."""
    if key in _FORM:
        setattr(tensor, key, value)
    else:
        tensor.__dict__[key] = value


def tensor(
    input_data: Any = None,
    dtype: Any = None,
    shape: Any = None,
    init: Any = None,
    const_arg: bool = False,
    device: str | None = None,
) -> Tensor:
    """Make a Tensor; the arguments are those of the class.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.tensor([1.9, 2.2]))
        [1.9 2.2]
    """
    return Tensor(input_data, dtype, shape, init, const_arg, device)


def is_tensor(obj: Any) -> bool:
    """Whether an object is a Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> ms.is_tensor(ms.Tensor([1.0])), ms.is_tensor(1.0)
        (True, False)
    """
    return isinstance(obj, Tensor)


from_numpy = Tensor.from_numpy


def frombuffer(
    buffer: Any, *, dtype: Any = None, count: int = -1, offset: int = 0, requires_grad: bool = False
) -> Tensor:
    """Make a Tensor of the bytes of a buffer, with a copy of them.

    Args:
        buffer: an object with Python's buffer interface, such as a bytearray.
        dtype: of the elements; None for float32.
        count: how many elements; -1 for all that follow.
        offset: bytes to leave out at the start.
        requires_grad: accepted; a plain Tensor takes part in gradients where it is asked for.

    Returns:
        Tensor (count,).

    Raises:
        ValueError: if the buffer does not hold so many elements.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.frombuffer(bytearray([1, 2, 3]), dtype=ms.uint8, offset=1))
        [2 3]
    """
    kind = (mstype.float32 if dtype is None else dtype).np
    try:
        return wrap(np.frombuffer(buffer, kind, count, offset).copy())
    except (ValueError, TypeError) as error:
        raise type(error)(f"For 'frombuffer', 'buffer' must hold 'count' elements after 'offset': {error}.") from None


def to_array(value: Any, dtype: Any = None) -> np.ndarray:
    """Make a new array from anything `Tensor` accepts, with MindSpore's default types."""
    np_dtype = None if dtype is None else mstype.to_numpy(dtype)
    if isinstance(value, Tensor):
        value = value.array()
    return array_from(value, np_dtype)


def from_array(array: np.ndarray) -> Tensor:
    """Like `wrap`, for anything NumPy makes an array of (scalars too)."""
    return wrap(np.asarray(array))


meta = formless
