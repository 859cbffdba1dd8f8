"""NumPy's names of the Fourier transforms: those of `ops`, with NumPy's names of parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms import ops
from dist_ms.common.dtype import Number
from dist_ms.common.tensor import Tensor

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

_TEXT = """`ops.{name}`, with NumPy's names of parameters.

    Args:
        a: a Tensor of numbers.
        {size}
        {axes}
        norm: where the factor 1/n is: "forward", "backward" (None, default), or "ortho" for its root on both ways.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.numpy.fft.{name}(ms.Tensor([{data}])).shape)
        {shape}
    """


def _transform(name: str, dims: tuple | int | None, shape: str) -> Callable[..., Tensor]:
    """A transform of one dimension (`dims` is an int) or of several."""
    if isinstance(dims, int):

        def function(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
            return getattr(ops, name)(a, n, axis, norm)

        size, axes, data = (
            "n: length; None (default) for the tensor's own.",
            "axis: dimension, the last by default.",
            "",
        )
    else:

        def function(a: Tensor, s: Any = None, axes: Any = dims, norm: str | None = None) -> Tensor:
            return getattr(ops, name)(a, s, axes, norm)

        size = "s: lengths; None (default) for the tensor's own."
        axes = f"axes: dimensions, {'the last two' if dims else 'all'} by default."
        data = "[]"
    data = "1.0, 2.0, 3.0, 4.0" if not data else "[1.0, 2.0, 3.0, 4.0]"
    function.__name__ = function.__qualname__ = name
    function.__doc__ = _TEXT.format(name=name, size=size, axes=axes, data=data, shape=shape)
    return function


fft = _transform("fft", -1, "(4,)")
ifft = _transform("ifft", -1, "(4,)")
rfft = _transform("rfft", -1, "(3,)")
irfft = _transform("irfft", -1, "(6,)")
hfft = _transform("hfft", -1, "(6,)")
ihfft = _transform("ihfft", -1, "(3,)")
fft2 = _transform("fft2", (-2, -1), "(1, 4)")
ifft2 = _transform("ifft2", (-2, -1), "(1, 4)")
rfft2 = _transform("rfft2", (-2, -1), "(1, 3)")
irfft2 = _transform("irfft2", (-2, -1), "(1, 6)")
hfft2 = _transform("hfft2", (-2, -1), "(1, 6)")
ihfft2 = _transform("ihfft2", (-2, -1), "(1, 3)")
fftn = _transform("fftn", None, "(1, 4)")
ifftn = _transform("ifftn", None, "(1, 4)")
rfftn = _transform("rfftn", None, "(1, 3)")
irfftn = _transform("irfftn", None, "(1, 6)")
hfftn = _transform("hfftn", None, "(1, 6)")
ihfftn = _transform("ihfftn", None, "(1, 3)")


def fftshift(x: Tensor, axes: Any = None) -> Tensor:
    """Put frequency 0 into the middle.

    Args:
        x: a Tensor.
        axes: dimensions to shift; None (default) for all.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.numpy.fft.fftshift(ms.Tensor([0, 1, 2, -2, -1])))
        [-2 -1  0  1  2]
    """
    return ops.fftshift(x, axes)


def ifftshift(x: Tensor, axes: Any = None) -> Tensor:
    """Undo `fftshift`.

    Args:
        x: a Tensor.
        axes: dimensions to shift; None (default) for all.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.numpy.fft.ifftshift(ms.Tensor([-2, -1, 0, 1, 2])))
        [ 0  1  2 -2 -1]
    """
    return ops.ifftshift(x, axes)


def fftfreq(n: int, d: float = 1.0, dtype: Number | None = None) -> Tensor:
    """Return the frequencies of the coefficients of `fft`.

    Args:
        n: length of the transform.
        d: distance of the samples.
        dtype: of the result; float32 for None (default).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.numpy.fft.fftfreq(4))
        [ 0.    0.25 -0.5  -0.25]
    """
    return ops.fftfreq(n, d, dtype)


def rfftfreq(n: int, d: float = 1.0, dtype: Number | None = None) -> Tensor:
    """Return the frequencies of the coefficients of `rfft`.

    Args:
        n: length of the transform.
        d: distance of the samples.
        dtype: of the result; float32 for None (default).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.numpy.fft.rfftfreq(4))
        [0.   0.25 0.5 ]
    """
    return ops.rfftfreq(n, d, dtype)
