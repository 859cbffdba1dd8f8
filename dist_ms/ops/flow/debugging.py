"""Print, Assert, Depend, Identity and their kin: side effects and order."""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.ops import layout
from dist_ms.ops.arguments import array
from dist_ms.ops.primitive import Primitive

__all__ = [
    "Assert",
    "CheckNumerics",
    "Depend",
    "FloatStatus",
    "Identity",
    "NPUAllocFloatStatus",
    "NPUClearFloatStatus",
    "NPUGetFloatStatus",
    "Print",
    "deepcopy",
    "depend",
    "identity",
    "print_",
]


def print_(*input_x: Any) -> None:
    """Print values one below the other, tensors with shape and dtype.

    Args:
        input_x: Tensors, numbers, strings, or tuples and lists of them.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.print_("x is", ms.Tensor([1, 2]))
        x is
        Tensor(shape=[2], dtype=Int64, value= [1, 2])
    """
    for value in input_x:
        print(repr(value) if isinstance(value, Tensor) else value, flush=True)


class Print(Primitive):
    """`print_` as a primitive: `Print()(*values)`."""

    def __call__(self, *args: Any) -> None:
        print_(*args)


class Assert(Primitive):
    """Raises RuntimeError, after printing values, unless a condition is true.

    Args:
        summarize: how many elements of each value to print.

    Call:
        condition (Tensor of bools, or bool): all elements must be true.
        input_data (tuple or list of Tensors and other values): what to print.

    Raises:
        TypeError: if `condition` is neither a Tensor nor a bool.
        RuntimeError: if it is false.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.Assert()(ms.Tensor([True]), [ms.Tensor([1, 2])])
    """

    def __init__(self, summarize: int = 3) -> None:
        self.summarize = summarize

    def __call__(self, condition: Any, input_data: Any) -> None:
        if not isinstance(condition, (Tensor, bool, np.bool_)):
            raise TypeError(
                f"For '{self.name}', 'condition' must be a Tensor or a bool, but got {type(condition).__name__}."
            )
        if not (bool(condition.array().all()) if isinstance(condition, Tensor) else condition):
            print("For 'Assert' condition is false.", flush=True)
            for value in input_data:
                shown = value.array().reshape(-1)[: self.summarize] if isinstance(value, Tensor) else value
                print("input data:", shown, flush=True)
            raise RuntimeError("For 'Assert', 'condition' must be true, but got false.")


class CheckNumerics(Primitive):
    """The input itself, after a look that every element is finite.

    Raises:
        RuntimeError: if an element is NaN or infinite.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.CheckNumerics()(ms.Tensor([1.0])))
        [1.]
    """

    keeps = ()

    def forward(self, x: np.ndarray) -> np.ndarray:
        if not np.isfinite(array(x, "x", self.name)).all():
            raise RuntimeError(f"For '{self.name}', 'x' must hold finite numbers, but got NaN or infinity.")
        return x

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return dout


class Identity(Primitive):
    """A copy of a tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Identity()(ms.Tensor([1, 2])))
        [1 2]
    """

    keeps = ()

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        out = np.empty_like(array(input_x, "input_x", self.name))
        layout.copy_into(input_x, out)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return dout


class RowMajor(Identity):
    """A copy of a tensor with its elements row by row in memory."""

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        return layout.copied(array(input_x, "input_x", self.name))


copied, row_major = Identity(), RowMajor()


def deepcopy(input_x: Tensor) -> Tensor:
    """Return a copy of a tensor with memory of its own.

    Args:
        input_x: a Tensor.

    Returns:
        Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.deepcopy(ms.Tensor([1, 2])))
        [1 2]
    """
    return copied(input_x)


def identity(x: Any) -> Any:
    """Return the argument.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.identity(3)
        3
    """
    return x


def depend(value: Any, expr: Any) -> Any:
    """Return `value`; `expr` has been computed by then.

    Args:
        value: what to return.
        expr: what had to come first.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.depend(ms.Tensor([1.0]), ms.ops.identity(2)))
        [1.]
    """
    return value


class Depend(Primitive):
    """`depend` as a primitive: `Depend()(value, expr)`."""

    def __call__(self, value: Any, expr: Any) -> Any:
        return value


class FloatStatus(Primitive):
    """Whether a tensor holds NaN or infinities: a float32 tensor of one element, 1 for yes.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.FloatStatus()(ms.Tensor([1.0, float("nan")])))
        [1.]
    """

    differentiable = False

    def forward(self, x: np.ndarray) -> np.ndarray:
        return np.array([not np.isfinite(array(x, "x", self.name)).all()], np.float32)


class _OtherHardware(Primitive):
    """An operation of Ascend processors. It can be made anywhere, but runs nowhere here."""

    def __call__(self, *args: Any) -> NoReturn:
        raise RuntimeError(
            f"For '{self.name}', the device must be Ascend, but dist_ms runs on CPUs. Use "
            "'ops.isfinite' or 'amp.all_finite' to find overflows."
        )


class NPUAllocFloatStatus(_OtherHardware):
    """The overflow flag of an Ascend processor: refused here.

    Raises:
        RuntimeError: when called.
    """


class NPUGetFloatStatus(_OtherHardware):
    """The overflow flag of an Ascend processor: refused here.

    Raises:
        RuntimeError: when called.
    """


class NPUClearFloatStatus(_OtherHardware):
    """The overflow flag of an Ascend processor: refused here.

    Raises:
        RuntimeError: when called.
    """
