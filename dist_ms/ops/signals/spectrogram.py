"""stft: the Fourier transforms of overlapping pieces of a signal."""

from __future__ import annotations

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import plain, raises
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, floating, integer, not_of, one_of, tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["FFTWithSize", "STFT", "stft"]

_PAD_MODES = ("CONSTANT", "REFLECT", "SYMMETRIC", "REPLICATE", "CIRCULAR")


@raises(pad_mode=ValueError)
@plain("n_fft", "hop_length", "win_length")
def stft(
    x: Tensor,
    n_fft: int,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: Tensor | None = None,
    center: bool = True,
    pad_mode: str = "REFLECT",
    normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:
    """Transform overlapping pieces of a signal.

    Args:
        x: the signal, a Tensor (length,) or (batch, length).
        n_fft: the length of a piece.
        hop_length: from one piece's start to the next, n_fft // 4 by default.
        win_length: the length of `window`, `n_fft` by default.
        window: what each piece is multiplied with, a Tensor (win_length,); ones by default.
        center: lengthen the signal on both sides, so that the k-th piece has its middle at k * hop_length.
        pad_mode: how it is lengthened: "REFLECT", "CONSTANT" ...
        normalized: divide by sqrt(n_fft).
        onesided: leave out the half that mirrors the other; by default for real numbers.
        return_complex: return complex numbers; by default for complex ones only.

    Returns:
        Tensor (batch, frequencies, pieces) of complex numbers, or (batch, frequencies, pieces, 2) of real ones.

    Raises:
        TypeError: if `x` is no Tensor.
        ValueError: if a length does not fit, or one side of a complex spectrum is wanted.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.stft(ms.ops.ones((2, 32)), 8).shape
        (2, 5, 17, 2)
    """
    not_of(x, "?ibhlBHILe", "x", "stft")
    center = boolean(center, "center", "stft") if center else False
    flags = {"normalized": normalized, "onesided": onesided, "return_complex": return_complex}
    for name, flag in flags.items():
        if flag is not None or name == "normalized":
            boolean(flag, name, "stft")
    if len(tensor(x, "x", "stft").shape) not in (1, 2):
        raise ValueError(f"For 'stft', 'x' must have one or two dimensions, but got the shape {x.shape}.")
    n_fft = integer(n_fft, "n_fft", "stft")
    hop_length = n_fft // 4 if hop_length is None else integer(hop_length, "hop_length", "stft")
    win_length = n_fft if win_length is None else integer(win_length, "win_length", "stft")
    if n_fft < 1 or hop_length < 1 or not 0 < win_length <= n_fft:
        raise ValueError(
            "For 'stft', 'n_fft' and 'hop_length' must be positive and 'win_length' in [1, n_fft], "
            f"but got {n_fft}, {hop_length} and {win_length}."
        )
    if window is None:
        window = ops.ones((win_length,), x.dtype)
    elif floating(tensor(window, "window", "stft").array(), "window", "stft").shape != (win_length,):
        raise ValueError(f"For 'stft', 'window' must have the shape ({win_length},), but got {window.shape}.")
    either = ops.is_complex(x) or ops.is_complex(window)
    onesided = not either if onesided is None else onesided
    if onesided and either:
        raise ValueError("For 'stft', 'onesided' must be False for complex numbers.")
    if center:
        one_of(pad_mode.upper() if isinstance(pad_mode, str) else pad_mode, "pad_mode", "stft", _PAD_MODES)
        rows = x if len(x.shape) == 2 else ops.expand_dims(x, 0)
        x = ops.pad(rows, (n_fft // 2, n_fft // 2), pad_mode.lower()).reshape(*x.shape[:-1], -1)
    if x.shape[-1] < n_fft:
        raise ValueError(f"For 'stft', 'n_fft' must not be longer than the signal, but got {n_fft} and {x.shape}.")
    left = (n_fft - win_length) // 2
    window = ops.pad(window, (left, n_fft - win_length - left))
    starts = np.arange(0, x.shape[-1] - n_fft + 1, hop_length)
    pieces = ops.mul(ops.gather(x, wrap(starts[:, None] + np.arange(n_fft)), -1), window)
    norm = "ortho" if normalized else "backward"
    out = ops.swapaxes((ops.rfft if onesided else ops.fft)(pieces, norm=norm), -1, -2)
    return out if (either if return_complex is None else return_complex) else ops.view_as_real(out)


class STFT(Primitive):
    """`stft` without lengthening as a primitive: `STFT(n_fft, hop_length, win_length, normalized, onesided,
    return_complex)(signal, window)`.
    """

    def __init__(
        self, n_fft: int, hop_length: int, win_length: int, normalized: bool, onesided: bool, return_complex: bool
    ) -> None:
        self.n_fft, self.hop_length, self.win_length = n_fft, hop_length, win_length
        self.normalized, self.onesided, self.return_complex = normalized, onesided, return_complex

    def __call__(self, signal: Tensor, window: Tensor) -> Tensor:
        return stft(
            signal,
            self.n_fft,
            self.hop_length,
            self.win_length,
            window,
            False,
            "REFLECT",
            self.normalized,
            self.onesided,
            self.return_complex,
        )


class FFTWithSize(Primitive):
    """The Fourier transform of the last dimensions.

    Args:
        signal_ndim: how many dimensions, 1 to 3.
        inverse: the transform back.
        real: of real numbers, or back to them.
        norm: where the factor 1/n is, as in `fft`.
        onesided: of a transform of real numbers, half of it.
        signal_sizes: of a transform back to real numbers, their lengths.

    Call:
        x (Tensor): the signals.

    Raises:
        ValueError: if `signal_ndim` is not in [1, 3].

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.FFTWithSize(1, False, True)(ms.Tensor([2.0, 1.0, 1.0])))
        [4.+0.j 1.+0.j]
    """

    def __init__(
        self,
        signal_ndim: int,
        inverse: bool,
        real: bool,
        norm: str = "backward",
        onesided: bool = True,
        signal_sizes: tuple = (),
    ) -> None:
        if not 1 <= integer(signal_ndim, "signal_ndim", self.name) <= 3:
            raise ValueError(f"For '{self.name}', 'signal_ndim' must be in [1, 3], but got {signal_ndim}.")
        self.signal_ndim, self.inverse, self.real = signal_ndim, inverse, real
        self.norm, self.onesided, self.signal_sizes = norm, onesided, tuple(signal_sizes)

    def __call__(self, x: Tensor) -> Tensor:
        axes = tuple(range(-self.signal_ndim, 0))
        if not self.inverse:
            return (ops.rfftn if self.real and self.onesided else ops.fftn)(x, None, axes, self.norm)
        if not self.real:
            return ops.ifftn(x, None, axes, self.norm)
        if self.onesided:
            return ops.irfftn(x, self.signal_sizes or None, axes, self.norm)
        return ops.real(ops.ifftn(x, None, axes, self.norm))
