"""NumPy's names of the Fourier transforms: those of `ops`, with NumPy's names of parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms import ops
from dist_ms.common.tensor import Tensor

__all__ = [
    *("fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn"),
    *("ifftshift", "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn"),
]

fftfreq, rfftfreq = ops.fftfreq, ops.rfftfreq


def _named(function: Callable[..., Tensor], name: str) -> Callable[..., Tensor]:
    """Give a transform its name and text."""
    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"`ops.{name}`, with NumPy's names of parameters."
    return function


def _along_one(name: str) -> Callable[..., Tensor]:
    """A transform along one dimension."""

    def function(a: Tensor, n: int | None = None, axis: int = -1, norm: str | None = None) -> Tensor:
        return getattr(ops, name)(a, n, axis, norm)

    return _named(function, name)


def _along_many(name: str, dims: tuple | None) -> Callable[..., Tensor]:
    """A transform along several dimensions, by default these; None for all."""

    def function(a: Tensor, s: Any = None, axes: Any = dims, norm: str | None = None) -> Tensor:
        return getattr(ops, name)(a, s, axes, norm)

    return _named(function, name)


fft, ifft = _along_one("fft"), _along_one("ifft")
rfft, irfft = _along_one("rfft"), _along_one("irfft")
hfft, ihfft = _along_one("hfft"), _along_one("ihfft")
fft2, ifft2 = _along_many("fft2", (-2, -1)), _along_many("ifft2", (-2, -1))
rfft2, irfft2 = _along_many("rfft2", (-2, -1)), _along_many("irfft2", (-2, -1))
hfft2, ihfft2 = _along_many("hfft2", (-2, -1)), _along_many("ihfft2", (-2, -1))
fftn, ifftn = _along_many("fftn", None), _along_many("ifftn", None)
rfftn, irfftn = _along_many("rfftn", None), _along_many("irfftn", None)
hfftn, ihfftn = _along_many("hfftn", None), _along_many("ihfftn", None)


def fftshift(x: Tensor, axes: Any = None) -> Tensor:
    """`ops.fftshift`, with NumPy's names of parameters."""
    return ops.fftshift(x, axes)


def ifftshift(x: Tensor, axes: Any = None) -> Tensor:
    """`ops.ifftshift`, with NumPy's names of parameters."""
    return ops.ifftshift(x, axes)
