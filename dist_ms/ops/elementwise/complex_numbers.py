"""Complex, Real, Imag, Conj and their kin."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import array, floating, not_of
from dist_ms.ops.broadcasting import promote, reduce_to
from dist_ms.ops.pointwise import apply
from dist_ms.ops.primitive import OfTensors, Primitive

__all__ = [
    "Angle",
    "Complex",
    "ComplexAbs",
    "Conj",
    "Imag",
    "Polar",
    "Real",
    "angle",
    "conj",
    "imag",
    "is_complex",
    "polar",
    "real",
    "view_as_real",
]


class Complex(Primitive):
    """A complex tensor of its real and its imaginary part.

    Call:
        real (Tensor): float32 or float64.
        imag (Tensor): the same dtype.

    Raises:
        TypeError: if the parts are no Tensors of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Complex()(ms.Tensor([1.0]), ms.Tensor([2.0])))
        [1.+2.j]
    """

    keeps = ()

    def forward(self, real: np.ndarray, imag: np.ndarray) -> np.ndarray:
        x, y = promote(floating(real, "real", self.name, False), floating(imag, "imag", self.name, False))
        out = np.empty(np.broadcast_shapes(x.shape, y.shape), np.complex128 if x.dtype == np.float64 else np.complex64)
        out.real, out.imag = x, y
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return reduce_to(real(dout), inputs[0]), reduce_to(imag(dout), inputs[1])


class Real(Primitive):
    """The real part of each element.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.real(ms.Tensor([1 + 2j])))
        [1.]
    """

    keeps = ()

    def forward(self, input: np.ndarray) -> np.ndarray:
        return input.real.copy() if array(input, "input", self.name).dtype.kind == "c" else input

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return ops.cast(dout, inputs[0].dtype)


class Imag(Primitive):
    """The imaginary part of each element, 0 for real numbers.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.imag(ms.Tensor([1 + 2j])))
        [2.]
    """

    keeps = ()

    def forward(self, input: np.ndarray) -> np.ndarray:
        return input.imag.copy() if array(input, "input", self.name).dtype.kind == "c" else np.zeros_like(input)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        return ops.mul(ops.cast(dout, x.dtype), 1j if is_complex(x) else 0)


class Conj(Primitive):
    """The conjugate of each element; real numbers stay as they are.

    Call:
        input (Tensor): numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.conj(ms.Tensor([1 + 2j])))
        [1.-2.j]
    """

    keeps = ()

    def forward(self, input: np.ndarray) -> np.ndarray:
        not_of(input, "?", "input", self.name)
        return np.conjugate(input) if array(input, "input", self.name).dtype.kind == "c" else input

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return conj(dout)


class Angle(Primitive):
    """The angle in radians of each complex number.

    Call:
        input (Tensor): complex numbers.

    Raises:
        TypeError: if `input` holds no complex numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.angle(ms.Tensor([1j, -1j])).asnumpy().round(4))
        [ 1.5708 -1.5708]
    """

    def forward(self, input: np.ndarray) -> np.ndarray:
        return np.angle(_complex(self.name, input))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        x = inputs[0]
        size = ops.add(ops.square(real(x)), ops.square(imag(x)))
        return ops.cast(ops.mul(ops.mul(x, 1j), ops.div_no_nan(dout, size)), x.dtype)


class ComplexAbs(Primitive):
    """The modulus of each complex number, as a real number.

    Call:
        x (Tensor): complex numbers.

    Raises:
        TypeError: if `x` holds no complex numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ComplexAbs()(ms.Tensor([3 + 4j])))
        [5.]
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        return apply(np.absolute, _complex(self.name, x))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return ops.mul(ops.sgn(inputs[0]), dout)


class Polar(OfTensors):
    """The complex numbers abs * (cos(angle) + i sin(angle)).

    Call:
        abs (Tensor): the moduli, float32 or float64.
        angle (Tensor): the angles in radians, of the same dtype.

    Raises:
        TypeError: if an input is no Tensor of floats.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.polar(ms.Tensor([2.0]), ms.Tensor([0.0])))
        [2.+0.j]
    """

    def forward(self, abs: np.ndarray, angle: np.ndarray) -> np.ndarray:
        r, a = floating(abs, "abs", self.name, False), floating(angle, "angle", self.name, False)
        if r.dtype != a.dtype:
            raise TypeError(
                f"For '{self.name}', 'angle' must have the dtype of 'abs', {from_numpy(r.dtype)}, "
                f"but got {from_numpy(a.dtype)}."
            )
        if r.shape != a.shape:
            raise ValueError(f"For '{self.name}', 'angle' must have the shape {r.shape} of 'abs', but got {a.shape}.")
        out = np.empty(np.broadcast_shapes(r.shape, a.shape), np.complex128 if r.dtype == np.float64 else np.complex64)
        out.real, out.imag = r * np.cos(a), r * np.sin(a)
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        r, a = inputs
        x, y = real(dout), imag(dout)
        cos, sin = ops.cos(a), ops.sin(a)
        along = ops.add(ops.mul(x, cos), ops.mul(y, sin))
        across = ops.mul(ops.sub(ops.mul(y, cos), ops.mul(x, sin)), r)
        return reduce_to(along, r), reduce_to(across, a)


def _complex(name: str, value: Any) -> np.ndarray:
    """Check that an array holds complex numbers."""
    if array(value, "input", name).dtype.kind != "c":
        raise TypeError(f"For '{name}', the dtype of 'input' must be complex, but got {value.dtype.name}.")
    return value


real, imag, conj, angle, polar = Real(), Imag(), Conj(), Angle(), Polar()


def is_complex(input: Tensor) -> bool:
    """Tell whether a tensor's dtype is complex.

    Args:
        input: a Tensor.

    Returns:
        bool.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.is_complex(ms.Tensor([1j])), ms.ops.is_complex(ms.Tensor([1.0]))
        (True, False)
    """
    if not isinstance(input, Tensor):
        raise TypeError(f"For 'is_complex', 'input' must be a Tensor, but got {type(input).__name__}.")
    return input._element.kind == "c"


def view_as_real(input: Tensor) -> Tensor:
    """Return real and imaginary parts side by side in a new last dimension of length 2.

    Args:
        input: a Tensor of complex numbers.

    Returns:
        Tensor of floats of shape (*input.shape, 2).

    Raises:
        TypeError: if `input` holds no complex numbers.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.view_as_real(ms.Tensor([1 + 2j])))
        [[1. 2.]]
    """
    if not is_complex(input):
        raise TypeError(f"For 'view_as_real', the dtype of 'input' must be complex, but got {input.dtype}.")
    return ops.stack((real(input), imag(input)), -1)
