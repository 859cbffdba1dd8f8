"""The Bessel functions of orders 0 and 1: J, Y, I, K, and I and K without their exponential."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import floating
from dist_ms.ops.kernels import special
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import Primitive

__all__ = [
    "BesselI0",
    "BesselI0e",
    "BesselI1",
    "BesselI1e",
    "BesselJ0",
    "BesselJ1",
    "BesselK0",
    "BesselK0e",
    "BesselK1",
    "BesselK1e",
    "BesselY0",
    "BesselY1",
    "bessel_i0",
    "bessel_i0e",
    "bessel_i1",
    "bessel_i1e",
    "bessel_j0",
    "bessel_j1",
    "bessel_k0",
    "bessel_k0e",
    "bessel_k1",
    "bessel_k1e",
    "bessel_y0",
    "bessel_y1",
]


class _Bessel(Primitive):
    """A Bessel function: SciPy's, of the name without Bessel; a subclass sets `gradient`."""

    def forward(self, x: np.ndarray) -> np.ndarray:
        kind = self.name[6:].lower()
        out = apply(getattr(special, kind), floating(x, "x", self.name, False))
        if kind[0] in "jy":  # SciPy finds no end of the waves.
            np.copyto(out, 0, where=(np.abs(x) if kind[0] == "j" else x) == np.inf)
        return out


def _over(y: Tensor, x: Tensor) -> Tensor:
    """y / x where y is about x / 2 close to 0."""
    zero = ops.equal(x, 0)
    return ops.where(zero, ops.full_like(x, 0.5), ops.true_divide(y, ops.where(zero, ops.ones_like(x), x)))


class BesselJ0(_Bessel):
    """The function J0, of the first kind.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_j0(ms.Tensor([1.0])).asnumpy().round(4))
        [0.7652]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.neg(bessel_j1(x)))


class BesselJ1(_Bessel):
    """The function J1, of the first kind.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_j1(ms.Tensor([1.0])).asnumpy().round(4))
        [0.4401]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.sub(bessel_j0(x), _over(bessel_j1(x), x)))


class BesselY0(_Bessel):
    """The function Y0, of the second kind; NaN below 0.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_y0(ms.Tensor([1.0])).asnumpy().round(4))
        [0.0883]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.neg(bessel_y1(x)))


class BesselY1(_Bessel):
    """The function Y1, of the second kind; NaN below 0.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_y1(ms.Tensor([1.0])).asnumpy().round(4))
        [-0.7812]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.sub(bessel_y0(x), ops.true_divide(bessel_y1(x), x)))


class BesselI0(_Bessel):
    """The modified function I0, of the first kind.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_i0(ms.Tensor([1.0])).asnumpy().round(4))
        [1.2661]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, bessel_i1(x))


class BesselI1(_Bessel):
    """The modified function I1, of the first kind.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_i1(ms.Tensor([1.0])).asnumpy().round(4))
        [0.5652]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.sub(bessel_i0(x), _over(bessel_i1(x), x)))


class BesselI0e(_Bessel):
    """exp(-|x|) I0(x), which never overflows.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_i0e(ms.Tensor([1.0])).asnumpy().round(4))
        [0.4658]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.sub(bessel_i1e(x), ops.mul(ops.sign(x), bessel_i0e(x))))


class BesselI1e(_Bessel):
    """exp(-|x|) I1(x), which never overflows.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_i1e(ms.Tensor([1.0])).asnumpy().round(4))
        [0.2079]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        y = bessel_i1e(x)
        return ops.mul(dout, ops.sub(ops.sub(bessel_i0e(x), ops.mul(ops.sign(x), y)), _over(y, x)))


class BesselK0(_Bessel):
    """The modified function K0, of the second kind; NaN below 0.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_k0(ms.Tensor([1.0])).asnumpy().round(4))
        [0.421]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.neg(bessel_k1(x)))


class BesselK1(_Bessel):
    """The modified function K1, of the second kind; NaN below 0.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_k1(ms.Tensor([1.0])).asnumpy().round(4))
        [0.6019]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.neg(ops.add(bessel_k0(x), ops.true_divide(bessel_k1(x), x))))


class BesselK0e(_Bessel):
    """exp(x) K0(x), which never vanishes.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_k0e(ms.Tensor([1.0])).asnumpy().round(4))
        [1.1445]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.sub(bessel_k0e(x), bessel_k1e(x)))


class BesselK1e(_Bessel):
    """exp(x) K1(x), which never vanishes.

    Call:
        x (Tensor): floats.

    Raises:
        TypeError: if `x` is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.bessel_k1e(ms.Tensor([1.0])).asnumpy().round(4))
        [1.6362]
    """

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(dout, ops.sub(ops.sub(bessel_k1e(x), bessel_k0e(x)), ops.true_divide(bessel_k1e(x), x)))


bessel_j0, bessel_j1, bessel_y0 = BesselJ0(), BesselJ1(), BesselY0()
bessel_y1, bessel_i0, bessel_i1 = BesselY1(), BesselI0(), BesselI1()
bessel_i0e, bessel_i1e, bessel_k0 = BesselI0e(), BesselI1e(), BesselK0()
bessel_k1, bessel_k0e, bessel_k1e = BesselK1(), BesselK0e(), BesselK1e()
