"""Activation layers in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms.common import dtype as mstype
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell

__all__ = [
    "ELU",
    "GELU",
    "GLU",
    "Hardshrink",
    "Hardsigmoid",
    "Hardswish",
    "Hardtanh",
    "LogSigmoid",
    "LogSoftmax",
    "Mish",
    "PReLU",
    "ReLU",
    "ReLU6",
    "SELU",
    "SiLU",
    "Sigmoid",
    "Softmax",
    "Softshrink",
    "Tanh",
    "Threshold",
]


class _Plain(Cell):
    """A layer that applies a function without arguments."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, input: Tensor) -> Tensor:
        return getattr(functional, type(self).__name__.lower())(input)


class Hardsigmoid(_Plain):
    """Applies `functional.hardsigmoid`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Hardsigmoid()(ms.Tensor([0.0])))
        [0.5]
    """


class Hardswish(_Plain):
    """Applies `functional.hardswish`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Hardswish()(ms.Tensor([3.0])))
        [3.]
    """


class LogSigmoid(_Plain):
    """Applies `functional.logsigmoid`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.LogSigmoid()(ms.Tensor([0.0])))
        [-0.6931472]
    """


class Mish(_Plain):
    """Applies `functional.mish`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Mish()(ms.Tensor([0.0])))
        [0.]
    """


class ReLU(_Plain):
    """Applies `functional.relu`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.ReLU()(ms.Tensor([-1.0, 2.0])))
        [0. 2.]
    """


class SELU(_Plain):
    """Applies `functional.selu`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.SELU()(ms.Tensor([0.0])))
        [0.]
    """


class Sigmoid(_Plain):
    """Applies `functional.sigmoid`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Sigmoid()(ms.Tensor([0.0])))
        [0.5]
    """


class Tanh(_Plain):
    """Applies `functional.tanh`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Tanh()(ms.Tensor([0.0])))
        [0.]
    """


class ReLU6(Cell):
    """Applies `functional.relu6`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.ReLU6()(ms.Tensor([-1.0, 8.0])))
        [0. 6.]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.relu6(input, self.inplace)


class SiLU(Cell):
    """Applies `functional.silu`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.SiLU()(ms.Tensor([0.0])))
        [0.]
    """

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.silu(input, self.inplace)


class ELU(Cell):
    """Applies `functional.elu`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.ELU()(ms.Tensor([2.0])))
        [2.]
    """

    def __init__(self, alpha: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.alpha, self.inplace = alpha, inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.elu(input, self.alpha, self.inplace)


class GELU(Cell):
    """x times the normal distribution's probability below x; `approximate` "none" or "tanh".

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.GELU()(ms.Tensor([0.0])))
        [0.]
    """

    def __init__(self, approximate: str = "none") -> None:
        super().__init__()
        self.approximate = approximate

    def construct(self, input: Tensor) -> Tensor:
        return functional.gelu(input, self.approximate)


class GLU(Cell):
    """Applies `functional.glu` along `dim`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.GLU()(ms.Tensor([1.0, 0.0])))
        [0.5]
    """

    def __init__(self, dim: int = -1) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return functional.glu(input, self.dim)


class Hardshrink(Cell):
    """The input where its size is above `lambd`, else 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Hardshrink()(ms.Tensor([0.2, 2.0])))
        [0. 2.]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, input: Tensor) -> Tensor:
        return functional.hardshrink(input, self.lambd)


class Softshrink(Cell):
    """The input moved by `lambd` towards 0, and 0 where that would cross it.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Softshrink()(ms.Tensor([0.2, 2.0])))
        [0.  1.5]
    """

    def __init__(self, lambd: float = 0.5) -> None:
        super().__init__()
        self.lambd = lambd

    def construct(self, input: Tensor) -> Tensor:
        return functional.softshrink(input, self.lambd)


class Hardtanh(Cell):
    """Applies `functional.hardtanh`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Hardtanh()(ms.Tensor([-3.0, 0.5])))
        [-1.   0.5]
    """

    def __init__(self, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> None:
        super().__init__()
        self.min_val, self.max_val, self.inplace = min_val, max_val, inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.hardtanh(input, self.min_val, self.max_val, self.inplace)


class Threshold(Cell):
    """Applies `functional.threshold`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Threshold(2.0, 9.0)(ms.Tensor([1.0, 3.0])))
        [9. 3.]
    """

    def __init__(self, threshold: float, value: float, inplace: bool = False) -> None:
        super().__init__()
        self.threshold, self.value, self.inplace = threshold, value, inplace

    def construct(self, input: Tensor) -> Tensor:
        return functional.threshold(input, self.threshold, self.value, self.inplace)


class Softmax(Cell):
    """Applies `functional.softmax` along `dim`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.Softmax()(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return functional.softmax(input, self.dim)


class LogSoftmax(Cell):
    """Applies `functional.log_softmax` along `dim`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.LogSoftmax()(ms.Tensor([1.0, 1.0])))
        [-0.6931472 -0.6931472]
    """

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def construct(self, input: Tensor) -> Tensor:
        return functional.log_softmax(input, self.dim)


class PReLU(Cell):
    """The input where it is positive, else a learned `weight` times it.

    Args:
        num_parameters: 1, or one for each channel.
        init: the weights' first value.
        dtype: their type; None for float32.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.nn.PReLU()(ms.Tensor([-1.0, 2.0])))
        [-0.25  2.  ]
    """

    def __init__(self, num_parameters: int = 1, init: float = 0.25, dtype: Any = None) -> None:
        super().__init__()
        kind = mstype.float32 if dtype is None else dtype
        self.weight = Parameter(initializer(init, (num_parameters,), kind), name="weight")

    def construct(self, input: Tensor) -> Tensor:
        return functional.prelu(input, self.weight)
