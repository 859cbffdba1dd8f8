"""Maximum, Minimum and clamping: elementwise limits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import number, real
from dist_ms.ops.broadcasting import Binary, promote, reduce_to
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import mul, sub
from dist_ms.ops.kernels import pointwise
from dist_ms.ops.layout import converted, copied
from dist_ms.ops.pointwise import apply, select
from dist_ms.ops.pointwise import clamp as clamp_array
from dist_ms.ops.primitive import Primitive, numpy_dtype

__all__ = [
    "Fmax",
    "Fmin",
    "Maximum",
    "Minimum",
    "NanToNum",
    "clamp",
    "clip",
    "clip_by_value",
    "fmax",
    "fmin",
    "maximum",
    "minimum",
    "nan_to_num",
]


class _Extreme(Binary):
    """The one of two operands that `choose` picks; equal ones share the gradient."""

    choose: Any
    wins: Callable[..., Any]

    def forward(self, input: Any, other: Any) -> np.ndarray:
        x, y = promote(input, other)
        if x.dtype.kind == "c":
            raise TypeError(f"For '{self.name}', the operands must be real, but got {from_numpy(x.dtype)}.")
        return apply(self.choose, x, y)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        share = Share(self.wins)(x, y, numpy_dtype(dout))
        dx = mul(dout, share)
        return reduce_to(dx, x), reduce_to(sub(dout, dx), y) if wanted(y) else None


def _wins(compare: Any, x: np.ndarray, y: np.ndarray, nan: np.ndarray) -> np.ndarray:
    """Whether x compares to y so, or `nan`, which is one of them, is NaN."""
    return apply(np.logical_or, apply(compare, x, y), apply(np.isnan, nan))


class Share(Primitive):
    """The part of the gradient that the first of two operands takes: 1, 0, or a half if they are equal."""

    differentiable = False

    def __init__(self, wins: Any) -> None:
        self.wins = wins

    def forward(self, x: Any, y: Any, dtype: np.dtype) -> np.ndarray:
        x, y = promote(x, y)
        half = np.asarray(0.5, dtype)
        return select(apply(np.equal, x, y), half, self.wins(x, y).astype(dtype))


class Maximum(_Extreme):
    """The larger of two elements, with broadcasting; NaN if one of them is.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number, or complex.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.maximum(ms.Tensor([1.0, 5.0]), ms.Tensor([4.0, 2.0])))
        [4. 5.]
    """

    choose = staticmethod(np.maximum)
    wins = staticmethod(lambda x, y: _wins(np.greater, x, y, x))


class Minimum(_Extreme):
    """The smaller of two elements, with broadcasting; NaN if one of them is.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other.

    Raises:
        TypeError: if an operand is neither a Tensor nor a number, or complex.
        ValueError: if the shapes do not broadcast.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.minimum(ms.Tensor([1.0, 5.0]), ms.Tensor([4.0, 2.0])))
        [1. 2.]
    """

    choose = staticmethod(np.minimum)
    wins = staticmethod(lambda x, y: _wins(np.less, x, y, x))


class Fmax(_Extreme):
    """The larger of two elements, with broadcasting; a number wins over NaN.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fmax(ms.Tensor([1.0, float("nan")]), ms.Tensor([4.0, 2.0])))
        [4. 2.]
    """

    choose = staticmethod(np.fmax)
    wins = staticmethod(lambda x, y: _wins(np.greater, x, y, y))


class Fmin(_Extreme):
    """The smaller of two elements, with broadcasting; a number wins over NaN.

    Call:
        input (Tensor or number): one operand.
        other (Tensor or number): the other.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fmin(ms.Tensor([1.0, float("nan")]), ms.Tensor([4.0, 2.0])))
        [1. 2.]
    """

    choose = staticmethod(np.fmin)
    wins = staticmethod(lambda x, y: _wins(np.less, x, y, y))


class Clamp(Primitive):
    """Each element limited to [low, high]; either limit may be None.

    Args:
        low: smallest value, a number or None.
        high: largest value, a number or None; it wins over `low`.

    Call:
        input (Tensor): real numbers. A limit of a higher kind than the input's (a float for
            integers) widens the result.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.ops.elementwise.extremes import Clamp
        >>> print(Clamp(0, 1)(ms.Tensor([-1.0, 0.5, 2.0])))
        [0.  0.5 1. ]
    """

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def forward(self, input: np.ndarray) -> np.ndarray:
        real(input, "input", self.name)
        # Limits that are NaN, unlike themselves, make all elements NaN.
        if self.low is not None and self.high is not None and self.low == self.low and self.high == self.high:
            low, high = promote(input, self.low)[1], promote(input, self.high)[1]
            if low.dtype == high.dtype == input.dtype:
                return clamp_array(input, low, high)
        if self.low is not None:
            input = apply(np.maximum, *promote(input, self.low))
        if self.high is not None:
            input = apply(np.minimum, *promote(input, self.high))
        return input

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return reduce_to(mul(dout, Inside(self.low, self.high)(x, numpy_dtype(dout))), x)


class Inside(Primitive):
    """1 where an element lies in [low, high], 0 elsewhere."""

    differentiable = False

    def __init__(self, low: Any, high: Any) -> None:
        self.low, self.high = low, high

    def forward(self, input: np.ndarray, dtype: np.dtype) -> np.ndarray:
        inside = np.ones(input.shape, bool) if self.low is None else input >= self.low
        if self.high is not None:
            inside = inside & (input <= self.high)
        return converted(inside, dtype)


class NanToNum(Primitive):
    """`nan_to_num` as a primitive: `NanToNum(nan, posinf, neginf)(input)`."""

    def __init__(self, nan: float | None = None, posinf: float | None = None, neginf: float | None = None) -> None:
        self.nan, self.posinf, self.neginf = nan, posinf, neginf

    def forward(self, input: np.ndarray) -> np.ndarray:
        real(input, "input", self.name)
        if input.dtype.kind not in "fV":
            return input.copy()
        d = input.dtype.type
        largest = np.finfo(input.dtype).max if input.dtype.kind == "f" else d(3.3895314e38)
        if self.posinf is None and self.neginf is None:
            return apply(pointwise.finite, input, np.asarray(d(self.nan or 0)), np.asarray(d(largest)))
        if apply(np.isfinite, input).all():
            return copied(input)
        out = np.where(apply(np.isnan, input), d(self.nan or 0), input)
        out = np.where(out == np.inf, d(largest if self.posinf is None else self.posinf), out)
        return np.where(out == -np.inf, d(-largest if self.neginf is None else self.neginf), out)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return mul(dout, cast_array(ops.isfinite(inputs[0]), numpy_dtype(dout)))


maximum, minimum, fmax, fmin = Maximum(), Minimum(), Fmax(), Fmin()


def clamp(input: Tensor, min: Any = None, max: Any = None) -> Tensor:
    """Limit each element to [min, max].

    At a limit that is a number the gradient passes; between two tensors that are equal it is shared.

    Args:
        input: a Tensor of real numbers.
        min: the smallest value, a number, a Tensor that broadcasts, or None.
        max: the largest value, likewise; it wins where `min` is larger.

    Returns:
        Tensor of the shape of `input` and the common type.

    Raises:
        TypeError: if `input` is no Tensor.
        ValueError: if both limits are None, or one does not broadcast to the shape of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.clamp(ms.Tensor([-1.0, 0.5, 2.0]), 0, 1))
        [0.  0.5 1. ]
    """
    for name, value in (("input", input), ("min", min), ("max", max)):
        if isinstance(value, Tensor) and value._element.kind == "b":
            raise ValueError(f"For 'clamp', the dtype of '{name}' must not be Bool; cast it first.")
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'clamp', 'input' must be a Tensor, but got {type(input).__name__}.")
    if min is None and max is None:
        raise ValueError("For 'clamp', 'min' or 'max' must be given, but got None for both.")
    given = [v for v in (min, max) if v is not None]
    numbers = [v for v in given if not isinstance(v, Tensor)]
    mixed = 0 < len(numbers) < len(given)
    if mixed and all(isinstance(v, (int, float)) and not isinstance(v, bool) for v in numbers):
        mixed = any(isinstance(v, Tensor) and v.ndim for v in given)  # one without dimensions is a number
    if mixed or any(isinstance(v, (str, tuple, list, dict)) for v in numbers):
        raise TypeError(
            "For 'clamp', 'min' and 'max' must be two numbers or two Tensors, but got "
            f"{type(min).__name__} and {type(max).__name__}."
        )
    if any(isinstance(v, bool) for v in numbers):
        raise ValueError(f"For 'clamp', 'min' and 'max' must not be bools, but got {min} and {max}.")
    if numbers == given:
        return Clamp(min, max)(input)
    out = input if min is None else maximum(input, min)
    out = out if max is None else minimum(out, max)
    if out.shape != input.shape:
        raise ValueError(
            f"For 'clamp', 'min' and 'max' must broadcast to the shape {input.shape} of 'input', but got {out.shape} "
            f"with them."
        )
    return out


def clip_by_value(x: Any, clip_value_min: Any = None, clip_value_max: Any = None) -> Any:
    """Limit each element of a tensor, or of several, to [clip_value_min, clip_value_max].

    At a limit the gradient is shared between the tensor and the limit.

    Args:
        x: a Tensor, or a tuple or list of them.
        clip_value_min: the smallest value, a number, a Tensor that broadcasts, or None.
        clip_value_max: the largest value, likewise; it wins where `clip_value_min` is larger.

    Returns:
        Tensor, or tuple of Tensors.

    Raises:
        TypeError: if `x` is neither a Tensor nor a tuple or list of them.
        ValueError: if both limits are None.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.clip_by_value(ms.Tensor([-1.0, 0.5, 2.0]), 0, 1))
        [0.  0.5 1. ]
    """
    if clip_value_min is None and clip_value_max is None:
        raise ValueError(
            "For 'clip_by_value', 'clip_value_min' or 'clip_value_max' must be given, but got None for both."
        )
    if isinstance(x, (tuple, list)):
        return tuple([clip_by_value(t, clip_value_min, clip_value_max) for t in x])
    if not isinstance(x, Tensor):
        raise TypeError(
            f"For 'clip_by_value', 'x' must be a Tensor, or a tuple or list of them, but got {type(x).__name__}."
        )
    if clip_value_min is not None:
        x = maximum(x, clip_value_min)
    return x if clip_value_max is None else minimum(x, clip_value_max)


clip = clamp


def nan_to_num(
    input: Tensor, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Tensor:
    """Replace NaN and the infinities by numbers.

    Args:
        input: a Tensor of real numbers.
        nan: what replaces NaN, 0 by default.
        posinf: what replaces infinity, the largest number of the dtype by default.
        neginf: what replaces minus infinity, the smallest number of the dtype by default.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` is no Tensor of real numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.nan_to_num(ms.Tensor([float("nan"), 1.0]), nan=5.0))
        [5. 1.]
    """
    for name, value in (("nan", nan), ("posinf", posinf), ("neginf", neginf)):
        if value is not None:
            number(value, name, "nan_to_num", True)
    return NanToNum(nan, posinf, neginf)(input)
