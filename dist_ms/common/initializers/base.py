"""Initializer: makes the values of a tensor when they are asked for, whole or one slice."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_number, complaint
from dist_ms.common.random import seed as seeds

CHUNK = 1 << 16  # elements drawn at a time: the temporary stays in the cache
_registry: dict[str, type[Initializer]] = {}


class Initializer:
    """Base class of initializers; a subclass fills an array in `_initialize`.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.common.initializer import Initializer, initializer
        >>> class Ramp(Initializer):
        ...     def _initialize(self, arr):
        ...         arr[:] = np.arange(arr.size).reshape(arr.shape)
        >>> print(initializer(Ramp(), [4]).init_data())
        [0. 1. 2. 3.]
    """

    elementwise = True  # a slice can be filled by itself, without its neighbours
    remade = False  # see `Again`
    _whole_shape: tuple[int, ...] | None = None

    def __init__(self, **kwargs: Any) -> None:
        self._kwargs = kwargs

    def __repr__(self) -> str:
        given = dict(self.__dict__.get("_kwargs", {}))
        for name in inspect.signature(type(self).__init__).parameters:
            if name not in given and name in self.__dict__ and name != "self":
                given[name] = self.__dict__[name]
        return f"{type(self).__name__}({', '.join(f'{name}={value!r}' for name, value in given.items())})"

    def _initialize(self, arr: np.ndarray) -> None:
        """Fill `arr` in place."""
        raise NotImplementedError(
            f"For '{type(self).__name__}', '_initialize' must be defined: it fills the array it is given."
        )

    def __call__(self, arr: np.ndarray) -> None:
        return self._initialize(arr)

    def create(self, shape: Sequence[int], np_dtype: np.dtype) -> np.ndarray:
        """Make the values of a whole tensor."""
        array = np.empty(tuple(shape), np_dtype)
        self._initialize(array)
        return array

    def create_slice(
        self,
        shape: Sequence[int],
        np_dtype: np.dtype,
        slice_index: int,
        full_shape: Sequence[int] | None = None,
        start: Sequence[int] | None = None,
        name: str = "",
    ) -> np.ndarray:
        """Make the values of one slice of a tensor, the same on every rank that holds it.

        Args:
            shape: the slice's.
            np_dtype: its element type.
            slice_index: its number; other numbers give other random values.
            full_shape: the whole tensor's, which scales the values where fans do.
            start: the position of the slice's first element in the whole.
            name: the parameter's; other names give other random values.
        """
        shape = tuple(shape)
        if self.elementwise or start is None or full_shape is None:
            with seeds.seeded_for_slice(name, slice_index):
                self._whole_shape = None if full_shape is None else tuple(full_shape)
                try:
                    return self.create(shape, np_dtype)
                finally:
                    self._whole_shape = None
        with seeds.seeded_for_slice(name, None):
            whole = self.create(full_shape, np_dtype)
        return whole[tuple(slice(s, s + n) for s, n in zip(start, shape))].copy()

    def create_first(self, tensor: Any) -> np.ndarray:
        """Make the values for a parameter from a lazy tensor; the tensor itself, if anyone
        reads it, makes the same ones again, so that both never exist at once for nothing.
        """
        state = np.random.get_state()
        array = self.create(tensor._shape, tensor._dtype)
        tensor.init = Again(self, state)
        return array

    def _fan_shape(self, arr: np.ndarray) -> tuple[int, ...]:
        """The shape that fans are counted on: the whole tensor's, also for a slice."""
        return self._whole_shape or arr.shape


class Again(Initializer):
    """Repeats what an initializer made from a given state of the global generator."""

    remade = True

    def __init__(self, first: Initializer, state: Any) -> None:
        self._first = first
        self._state = state

    def _initialize(self, arr: np.ndarray) -> None:
        now = np.random.get_state()
        np.random.set_state(self._state)
        try:
            self._first._initialize(arr)
        finally:
            np.random.set_state(now)

    def create_first(self, tensor: Any) -> np.ndarray:
        return self.create(tensor._shape, tensor._dtype)


def _register(*aliases: str) -> Callable[[type], type]:
    """Let `initializer` find a class under its own name and `aliases`, in any case."""

    def enter(cls: type) -> type:
        for alias in (cls.__name__, *aliases):
            _registry[alias.lower()] = cls
        return cls

    return enter


def find(alias: str) -> Initializer:
    """Make an initializer from its name.

    Raises:
        ValueError: if there is none of that name.
        TypeError: if it needs arguments.
    """
    cls = _registry.get(alias.lower())
    if cls is None:
        raise ValueError(
            f"For 'initializer', the class corresponding to '{alias}' was not found: "
            f"'init' must be one of {', '.join(sorted(_registry))}."
        )
    return cls()


def _assignment(arr: np.ndarray, num: Any) -> np.ndarray:
    """Write a number or an array over `arr` and return it."""
    arr[...] = np.asarray(num).reshape(arr.shape) if np.ndim(num) else num
    return arr


def fill(arr: np.ndarray, draw: Callable[[np.ndarray, int], None]) -> None:
    """Fill `arr` with draws.

    Args:
        arr: any shape and type; drawn in float32, as MindSpore draws all of them.
        draw: called with a contiguous float32 array to fill and the place of its first element in the whole.
    """
    if arr.flags.c_contiguous and arr.dtype.type is np.float32:
        draw(arr, 0)
        return
    flat = arr.reshape(-1) if arr.flags.c_contiguous else arr.flat
    values = np.empty(CHUNK, np.float32)
    for begin in range(0, arr.size, CHUNK):
        end = min(begin + CHUNK, arr.size)
        part = values[: end - begin]
        draw(part, begin)
        flat[begin:end] = part.astype(arr.dtype) if arr.dtype.kind in "iub" else part


def _calculate_fan_in_and_fan_out(shape: Sequence[int]) -> tuple[int, int]:
    """Inputs and outputs of one unit of a layer with weights of this shape (out, in, *kernel).

    Raises:
        ValueError: for fewer than 2 dimensions.
    """
    if len(shape) < 2:
        raise ValueError(
            "For 'initializer', 'shape' must have 2 or more dimensions, whose lengths fan_in and fan_out come from, "
            f"but got {shape}."
        )
    area = math.prod(shape[2:])
    return shape[1] * area, shape[0] * area


def _calculate_in_and_out(arr: np.ndarray) -> tuple[int, int]:
    """The fans of an array."""
    return _calculate_fan_in_and_fan_out(arr.shape)


def _calculate_correct_fan(shape: Sequence[int], mode: str) -> int:
    """The fan that `mode` names.

    Raises:
        ValueError: unless `mode` is 'fan_in' or 'fan_out'.
    """
    modes = ("fan_in", "fan_out")
    lower = mode.lower() if isinstance(mode, str) else mode
    if lower not in modes:
        raise ValueError(f"'mode' {mode} not supported, please use one of {list(modes)}")
    return _calculate_fan_in_and_fan_out(shape)[modes.index(lower)]


def _calculate_gain(nonlinearity: str, param: float | None = None) -> float:
    """How much wider weights must be so that values keep their variance behind a nonlinearity.

    Raises:
        ValueError: for an unknown nonlinearity, or a slope that is no number.
    """
    if nonlinearity == "sigmoid":
        return 1.0
    if nonlinearity == "tanh":
        return 5.0 / 3
    if nonlinearity == "relu":
        return math.sqrt(2.0)
    if nonlinearity == "leaky_relu":
        slope = 0.01 if param is None else param
        if isinstance(slope, bool) or not isinstance(slope, (int, float)):
            raise ValueError(complaint("negative_slope", "initializer", "a number", repr(slope)))
        return math.sqrt(2.0 / (1 + slope**2))
    raise ValueError(
        complaint(
            "nonlinearity",
            "initializer",
            "one of 'sigmoid', 'tanh', 'relu', 'leaky_relu'",
            repr(nonlinearity),
        )
    )


def number(value: Any, name: str, owner: object) -> Any:
    """Require a number for an initializer's argument."""
    return check_number(value, name, type(owner).__name__)
