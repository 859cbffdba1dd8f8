"""igamma, igammac, zeta: functions of two variables around the gamma function."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.common.error_classes import reads
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating
from dist_ms.ops.broadcasting import reduce_to
from dist_ms.ops.primitive import OfTensors, Primitive, quiet
from dist_ms.ops.special_functions import incomplete_gamma_functions as values

__all__ = ["Igamma", "Igammac", "Mvlgamma", "Zeta", "igamma", "igammac", "zeta"]


class _OfTwo(OfTensors):
    """A function of two Tensors of floats of one dtype."""

    @staticmethod
    def value(a: np.ndarray, x: np.ndarray) -> np.ndarray:
        """The function on arrays of one dtype."""
        raise NotImplementedError

    wide = False  # whether float16 and bfloat16 are refused, as in MindSpore

    @quiet
    def forward(self, input: np.ndarray, other: np.ndarray) -> np.ndarray:
        a, x = floating(input, "input", self.name, False), floating(other, "other", self.name, False)
        if self.wide and a.dtype not in (np.float32, np.float64):
            raise TypeError(f"For '{self.name}', 'input' must be float32 or float64, but got {a.dtype.name}.")
        if a.dtype != x.dtype:
            raise TypeError(
                f"For '{self.name}', 'input' and 'other' must have the same dtype, "
                f"but got {a.dtype.name} and {x.dtype.name}."
            )
        return np.asarray(self.value(*np.broadcast_arrays(a, x))).astype(a.dtype, copy=False)


class _IgammaByA(_OfTwo):
    """The derivative of `igamma` by its first argument; there is none of second order by it."""

    value = staticmethod(values.igamma_by_a_array)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, x = inputs
        if wanted(a):
            raise RuntimeError("For 'igamma', the second-order gradient by 'input' is not supported.")
        return None, reduce_to(ops.mul(dout, ops.mul(_density(a, x), ops.sub(ops.log(x), ops.digamma(a)))), x)


_IgammaByA.name = "igamma"
_by_a = _IgammaByA()


def _density(a: Tensor, x: Tensor) -> Tensor:
    """The derivative of `igamma` by its second argument, x^(a - 1) exp(-x) / Gamma(a)."""
    return ops.exp(ops.sub(ops.sub(ops.mul(ops.sub(a, 1), ops.log(x)), x), ops.lgamma(a)))


class Igamma(_OfTwo):
    """The lower incomplete gamma function, divided by the gamma function.

    P(a, x) = 1 / Gamma(a) * integral from 0 to x of t^(a - 1) exp(-t)

    Call:
        input (Tensor): a, above 0, float32 or float64.
        other (Tensor): x, from 0, of the same dtype.

    Raises:
        TypeError: for other dtypes, or if they differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.igamma(ms.Tensor([1.0]), ms.Tensor([1.0])).asnumpy().round(4))
        [0.6321]
    """

    value = staticmethod(values.igamma_array)
    wide = True

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, x = inputs
        return (
            reduce_to(ops.mul(dout, _by_a(a, x)), a) if wanted(a) else None,
            reduce_to(ops.mul(dout, _density(a, x)), x) if wanted(x) else None,
        )


class Igammac(_OfTwo):
    """`Igamma` taken from 1, precise where that is small.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.igammac(ms.Tensor([1.0]), ms.Tensor([1.0])).asnumpy().round(4))
        [0.3679]
    """

    value = staticmethod(values.igammac_array)
    wide = True

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return igamma.gradient(inputs, output, ops.neg(dout))


@reads("shape")
class Zeta(_OfTwo):
    """The zeta function of Hurwitz, the sum over n = 0, 1 ... of (n + q)^-x.

    Call:
        input (Tensor): x, floats above 1; it gets no gradient.
        other (Tensor): q, floats above 0, of the same dtype. One of the two may be a number.

    Raises:
        TypeError: if an input is no Tensor of floats, or their dtypes differ.
        ValueError: if one is empty, or two of as many elements have other shapes.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.zeta(ms.Tensor([2.0]), ms.Tensor([1.0])).asnumpy().round(4))
        [1.6449]
    """

    value = staticmethod(values.zeta_array)

    def __call__(self, input: Any, other: Any) -> Tensor:
        if isinstance(input, Tensor) and isinstance(other, (int, float)):
            other = Tensor(float(other), input.dtype)
        elif isinstance(other, Tensor) and isinstance(input, (int, float)):
            input = Tensor(float(input), other.dtype)
        if isinstance(input, Tensor) and isinstance(other, Tensor):
            sizes = input.size, other.size
            if 0 in sizes or (sizes[0] == sizes[1] and input.shape != other.shape):
                raise ValueError(
                    f"For '{self.name}', 'input' and 'other' must have elements, and one shape if equally many, "
                    f"but got the shapes {input.shape} and {other.shape}."
                )
        return super().__call__(input, other)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, q = inputs
        return None, reduce_to(ops.neg(ops.mul(dout, ops.mul(x, zeta(ops.add(x, 1), q)))), q) if wanted(q) else None


class Mvlgamma(Primitive):
    """`mvlgamma` as a primitive: `Mvlgamma(p)(x)`."""

    def __init__(self, p: int) -> None:
        self.p = p

    def __call__(self, x: Tensor) -> Tensor:
        return ops.mvlgamma(x, self.p)


igamma, igammac, zeta = Igamma(), Igammac(), Zeta()
