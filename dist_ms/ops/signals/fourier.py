"""fft, ifft, rfft, irfft, hfft, ihfft in one, two and more dimensions.

Every transform is linear, so its gradient is its adjoint: the transform back, unscaled.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_float
from dist_ms.common.dtype import Number, float32
from dist_ms.common.error_classes import plain, scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import array, data_type, integer, integers, many_axes, not_of, one_of, tensor
from dist_ms.ops.kernels import fft as fft_of_arrays
from dist_ms.ops.primitive import Primitive

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "hfft2",
    "hfftn",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "ihfft2",
    "ihfftn",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]

# The scale of the way back, whose other factor the way there has.
_OPPOSITE = {"backward": "forward", "ortho": "ortho", "forward": "backward"}


def _widened(x: np.ndarray) -> np.ndarray:
    """The array in a type that SciPy knows: it makes float64 of any other."""
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


class Fit(Primitive):
    """Cut dimensions at their ends, or lengthen them with zeros."""

    keeps = ()

    def __init__(self, axes: tuple, sizes: tuple) -> None:
        self.axes, self.sizes = axes, sizes

    def forward(self, x: np.ndarray) -> np.ndarray:
        shape = list(x.shape)
        for axis, size in zip(self.axes, self.sizes):
            shape[axis] = size
        out = np.zeros(shape, x.dtype)
        common = tuple(slice(min(a, b)) for a, b in zip(x.shape, shape))
        out[common] = x[common]
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        return Fit(self.axes, tuple(inputs[0].shape[a] for a in self.axes))(dout)


class ComplexTransform(Primitive):
    """The discrete Fourier transform along some dimensions, complex numbers to complex numbers."""

    keeps = ()

    def __init__(self, axes: tuple, norm: str, inverse: bool) -> None:
        self.axes, self.norm, self.inverse = axes, norm, inverse

    def forward(self, x: np.ndarray) -> np.ndarray:
        transform = fft_of_arrays.ifftn if self.inverse else fft_of_arrays.fftn
        out = transform(_widened(x), axes=self.axes, norm=self.norm)
        out += 0  # no zero is negative
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        back = ComplexTransform(self.axes, _OPPOSITE[self.norm], not self.inverse)(dout)
        return back if ops.is_complex(inputs[0]) else ops.real(back)


class RealTransform(Primitive):
    """The transform of real numbers: the half that is not the mirror image of the other."""

    keeps = ()

    def __init__(self, axes: tuple, norm: str) -> None:
        self.axes, self.norm = axes, norm

    def forward(self, x: np.ndarray) -> np.ndarray:
        return fft_of_arrays.rfftn(_widened(x), axes=self.axes, norm=self.norm)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        last = self.axes[-1]
        full = Fit((last,), (inputs[0].shape[last],))(dout)
        return ops.real(ComplexTransform(self.axes, _OPPOSITE[self.norm], True)(full))


class ToReal(Primitive):
    """The transform back to real numbers; `size` is the length of the last dimension then."""

    keeps = ()

    def __init__(self, axes: tuple, norm: str, size: int) -> None:
        self.axes, self.norm, self.size = axes, norm, size

    def forward(self, x: np.ndarray) -> np.ndarray:
        sizes = [x.shape[a] for a in self.axes[:-1]] + [self.size]
        return fft_of_arrays.irfftn(_widened(x), sizes, self.axes, self.norm)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> Tensor:
        last, real = self.axes[-1], dout.array().dtype
        # All coefficients count twice, for their mirror images, but for those that are their own.
        weight = np.full(self.size // 2 + 1, 2, real)
        weight[0] = 1
        if self.size % 2 == 0:
            weight[-1] = 1
        shape = [1] * len(dout.shape)
        shape[last] = -1
        back = ops.mul(RealTransform(self.axes, _OPPOSITE[self.norm])(dout), wrap(weight.reshape(shape)))
        return back if ops.is_complex(inputs[0]) else ops.real(back)


def _prepared(name: str, x: Any, sizes: Any, dims: Any, default: tuple | None, norm: Any) -> tuple:
    """The tensor as floats, the lengths (None as given) and dimensions of a transform, and the scale."""
    data = not_of(tensor(x, "input", name).array(), "?BHIL", "input", name)
    if name.endswith(("2", "n")):
        for what, value in (("s", sizes), ("dim", dims)):
            if not isinstance(value, (tuple, list)) and (value is not None or (what == "dim" and default)):
                raise TypeError(f"For '{name}', '{what}' must be a tuple of ints, but got {type(value).__name__}.")
            if value is not None and any(isinstance(v, Tensor) for v in value):
                raise ValueError(f"For '{name}', '{what}' must hold ints, but got a Tensor among them: {value}.")
    if not data.size:
        raise ValueError(f"For '{name}', 'input' must not be empty, but got the shape {data.shape}.")
    if data.dtype.kind in "biu":
        x = ops.cast(x, float32)
    if sizes is not None:
        sizes = integers(sizes, "s", name)
        if any(size < 1 and size != -1 for size in sizes):
            raise ValueError(f"For '{name}', the lengths must be positive, but got {sizes}.")
    if dims is None:
        dims = default if default is not None else tuple(range(-len(sizes), 0)) if sizes else None
    axes = many_axes(dims, "dim", name, data.ndim)
    if sizes is not None and len(sizes) != len(axes):
        raise ValueError(f"For '{name}', 's' and 'dim' must be equally long, but got {sizes} and {axes}.")
    norm = "backward" if norm is None else one_of(norm, "norm", name, tuple(_OPPOSITE))
    return x, sizes, axes, norm


def _fitted(name: str, x: Tensor, axes: tuple, sizes: tuple | None) -> Tensor:
    """The tensor with the lengths wanted; None and -1 leave one as it is."""
    before = tuple(x.shape[a] for a in axes)
    sizes = before if sizes is None else tuple(b if size == -1 else size for b, size in zip(before, sizes))
    if 0 in sizes:
        raise ValueError(f"For '{name}', the dimensions transformed must not be empty, but got the shape {x.shape}.")
    return x if sizes == before else Fit(axes, sizes)(x)


def _complex(name: str, x: Any, sizes: Any, dims: Any, default: tuple | None, norm: Any, inverse: bool) -> Tensor:
    """`fftn` or `ifftn` under another name."""
    x, sizes, axes, norm = _prepared(name, x, sizes, dims, default, norm)
    return ComplexTransform(axes, norm, inverse)(_fitted(name, x, axes, sizes))


def _to_half(name: str, x: Any, sizes: Any, dims: Any, default: tuple | None, norm: Any, mirrored: bool) -> Tensor:
    """`rfftn`, or with `mirrored` `ihfftn`, under another name."""
    x, sizes, axes, norm = _prepared(name, x, sizes, dims, default, norm)
    if ops.is_complex(x):
        raise TypeError(f"For '{name}', the dtype of 'input' must be real, but got {x.dtype}.")
    x = _fitted(name, x, axes, sizes)
    return ops.conj(RealTransform(axes, _OPPOSITE[norm])(x)) if mirrored else RealTransform(axes, norm)(x)


def _to_real(name: str, x: Any, sizes: Any, dims: Any, default: tuple | None, norm: Any, mirrored: bool) -> Tensor:
    """`irfftn`, or with `mirrored` `hfftn`, under another name."""
    x, sizes, axes, norm = _prepared(name, x, sizes, dims, default, norm)
    last = 2 * (x.shape[axes[-1]] - 1) if sizes is None or sizes[-1] == -1 else sizes[-1]
    if last < 1:
        raise ValueError(f"For '{name}', the result must not be empty; give the length of its last dimension.")
    before = tuple(x.shape[a] for a in axes[:-1]) if sizes is None else sizes[:-1]
    x = _fitted(name, x, axes, (*before, last // 2 + 1))
    return ToReal(axes, _OPPOSITE[norm], last)(ops.conj(x)) if mirrored else ToReal(axes, norm, last)(x)


_ARGUMENTS = """
    Args:
        input: a Tensor of numbers; integers are made float32 first.
        {size}
        {dim}
        norm: where the factor 1/n is: "forward", "backward" (default), or "ortho" for its root on both ways.

    Returns:
        Tensor of {result} numbers.

    Raises:
        TypeError: if `input` is no Tensor{real}.
        ValueError: if a length, a dimension or `norm` is none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.{name}(ms.ops.ones({shape})).shape
        {shape_out}
"""


def _transform(
    name: str, summary: str, general: Callable, flag: bool, rank: int | None, bare: str = "", taken: str = ""
) -> Callable:
    """Make one function of the family: of `rank` dimensions, None for any. More arguments are `plain` or `scalars`."""
    if rank == 1:

        def function(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
            size = None if n is None else (integer(n, "n", name),)
            if size and size[0] < 1:
                raise ValueError(f"For '{name}', 'n' must be positive, but got {n}.")
            return general(name, input, size, (integer(dim, "dim", name),), None, norm, flag)
    elif rank == 2:

        def function(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None) -> Tensor:
            return general(name, input, s, dim, (-2, -1), norm, flag)
    else:

        def function(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
            return general(name, input, s, dim, None, norm, flag)

    shape = (4,) if rank == 1 else (2, 4)
    last = {_complex: 4, _to_half: 3, _to_real: 6}[general]
    text = _ARGUMENTS.format(
        name=name,
        shape=shape,
        shape_out=(*shape[:-1], last),
        size="n: the length the dimension is cut or lengthened to first."
        if rank == 1
        else "s: the lengths the dimensions are cut or lengthened to first.",
        dim="dim: the dimension."
        if rank == 1
        else "dim: the dimensions; None for " + ("the last two." if rank == 2 else "the last len(s), or all."),
        result="real" if general is _to_real else "complex",
        real=" or holds complex numbers" if general is _to_half else "",
    )
    function.__name__ = function.__qualname__ = name
    if rank == 1:
        scalars("n", "dim")(function)
    if bare:
        plain(*bare.split())(function)
    if taken:
        scalars(*taken.split())(function)
    function.__doc__ = f"{summary}\n{text}"
    return function


fft = _transform("fft", "The discrete Fourier transform: sum of x[j] exp(-2 pi i j k / n).", _complex, False, 1)
fft2 = _transform("fft2", "The discrete Fourier transform in two dimensions.", _complex, False, 2, bare="dim")
fftn = _transform("fftn", "The discrete Fourier transform in several dimensions.", _complex, False, None, bare="dim")
ifft = _transform("ifft", "The inverse of `fft`.", _complex, True, 1)
ifft2 = _transform("ifft2", "The inverse of `fft2`.", _complex, True, 2, bare="dim")
ifftn = _transform("ifftn", "The inverse of `fftn`.", _complex, True, None)
rfft = _transform("rfft", "The first n//2 + 1 coefficients of `fft` of real numbers.", _to_half, False, 1)
rfft2 = _transform("rfft2", "`fft2` of real numbers, half of the last dimension.", _to_half, False, 2, taken="s")
rfftn = _transform("rfftn", "`fftn` of real numbers, half of the last dimension.", _to_half, False, None)
ihfft = _transform("ihfft", "The inverse of `hfft`, half of it.", _to_half, True, 1)
ihfft2 = _transform("ihfft2", "The inverse of `hfft2`, half of the last dimension.", _to_half, True, 2)
ihfftn = _transform("ihfftn", "The inverse of `hfftn`, half of the last dimension.", _to_half, True, None, bare="s")
irfft = _transform("irfft", "The inverse of `rfft`.", _to_real, False, 1)
irfft2 = _transform("irfft2", "The inverse of `rfft2`.", _to_real, False, 2)
irfftn = _transform("irfftn", "The inverse of `rfftn`.", _to_real, False, None, taken="dim")
hfft = _transform("hfft", "`fft` of a signal whose second half mirrors the first, conjugated.", _to_real, True, 1)
hfft2 = _transform("hfft2", "`fft2` of a signal whose second half mirrors the first.", _to_real, True, 2, "s", "dim")
hfftn = _transform("hfftn", "`fftn` of a signal whose second half mirrors the first.", _to_real, True, None)


def _rolled(name: str, x: Tensor, dim: Any, back: bool) -> Tensor:
    """The tensor with each dimension rolled by half its length."""
    axes = many_axes(dim, "dim", name, array(tensor(x, "input", name).array(), "input", name).ndim)
    shifts = tuple(-(x.shape[a] // 2) if back else x.shape[a] // 2 for a in axes)
    return ops.roll(x, shifts, axes)


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Put frequency 0 into the middle.

    Args:
        input: a Tensor.
        dim: the dimensions, an int or ints; None for all.

    Returns:
        Tensor of the shape of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fftshift(ms.Tensor([0, 1, 2, -2, -1])))
        [-2 -1  0  1  2]
    """
    return _rolled("fftshift", input, dim, False)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """Undo `fftshift`.

    Args:
        input: a Tensor.
        dim: the dimensions, an int or ints; None for all.

    Returns:
        Tensor of the shape of `input`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.ifftshift(ms.Tensor([-2, -1, 0, 1, 2])))
        [ 0  1  2 -2 -1]
    """
    return _rolled("ifftshift", input, dim, True)


def _frequencies(name: str, function: Callable, n: Any, d: Any, dtype: Any) -> Tensor:
    """The frequencies of the coefficients of a transform."""
    n = integer(n, "n", name)
    if n < 1:
        raise ValueError(f"For '{name}', 'n' must be positive, but got {n}.")
    check_float(d, "d", name)
    return wrap(function(n, d).astype((float32 if dtype is None else data_type(dtype, "dtype", name)).np))


@scalars("n", "d")
def fftfreq(n: int, d: float = 1.0, dtype: Number | None = None) -> Tensor:
    """Return the frequencies of the coefficients of `fft`.

    Args:
        n: how many there are.
        d: the time between two samples.
        dtype: of the result, float32 by default.

    Returns:
        Tensor (n,).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    return _frequencies("fftfreq", np.fft.fftfreq, n, d, dtype)


@scalars("n", "d")
def rfftfreq(n: int, d: float = 1.0, dtype: Number | None = None) -> Tensor:
    """Return the frequencies of the coefficients of `rfft`.

    Args:
        n: the length of the signal.
        d: the time between two samples.
        dtype: of the result, float32 by default.

    Returns:
        Tensor (n // 2 + 1,).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.rfftfreq(4))
        [0.   0.25 0.5 ]
    """
    return _frequencies("rfftfreq", np.fft.rfftfreq, n, d, dtype)
