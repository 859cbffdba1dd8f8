"""Fourier transforms, spectrograms and windows: against NumPy and finite differences."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import same, tensor

RNG = np.random.default_rng(0)
X = RNG.standard_normal((3, 5, 4))
Z = X + 1j * RNG.standard_normal(X.shape)


@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
@pytest.mark.parametrize("n", [None, 3, 7])
def test_one_dimension(n, norm):
    for name in ("fft", "ifft", "rfft", "ihfft", "irfft", "hfft"):
        x = X if name in ("rfft", "ihfft") else Z
        same(getattr(ops, name)(tensor(x), n, 1, norm), getattr(np.fft, name)(x, n, 1, norm), 1e-12)


@pytest.mark.parametrize("s", [None, (4, 3)])
def test_more_dimensions(s):
    for name in ("fft", "ifft", "rfft", "irfft"):
        x = X if name == "rfft" else Z
        same(getattr(ops, name + "2")(tensor(x), s), getattr(np.fft, name + "2")(x, s), 1e-12)
        axes = None if s is None else (-2, -1)
        same(getattr(ops, name + "n")(tensor(x), s), getattr(np.fft, name + "n")(x, s, axes), 1e-12)
    half = ops.ihfftn(tensor(X), s, (0, 1) if s else None)
    back = ops.hfftn(half, s or X.shape, (0, 1) if s else None)
    same(
        back,
        ops.fftn(ops.ifftn(tensor(X), s, (0, 1) if s else None), None, (0, 1) if s else None).asnumpy().real,
        1e-12,
    )
    same(ops.hfft2(tensor(Z)), np.fft.irfft2(Z.conj(), norm="forward"), 1e-12)
    same(ops.ihfft2(tensor(X)), np.fft.rfft2(X, norm="forward").conj(), 1e-12)


def test_dtypes_and_frequencies():
    same(ops.fft(tensor([1, 2, 3])), np.fft.fft([1, 2, 3]).astype("complex64"))
    assert ops.irfft(tensor([1, 2, 3])).dtype == ms.float32
    for x in (X.astype("float16"), X.astype("float16").astype(ms.bfloat16.np)):
        same(ops.rfft(tensor(x)), np.fft.rfft(x.astype(float)).astype("complex64"))
    same(ops.fftfreq(5, 0.5), np.fft.fftfreq(5, 0.5).astype("float32"))
    same(ops.rfftfreq(5), np.fft.rfftfreq(5).astype("float32"))
    same(ops.fftshift(tensor(X), (0, 2)), np.fft.fftshift(X, (0, 2)))
    same(ops.ifftshift(tensor(X)), np.fft.ifftshift(X))


def test_gradients():
    def parts(y):
        return ops.real(y), ops.imag(y)

    def joined(x, y):
        return ops.add(x, ops.mul(y, 1j))

    for n in (3, 4, 6):
        for name in ("fft", "ifft", "rfft", "ihfft"):
            check_gradient(lambda x, name=name, n=n: parts(getattr(ops, name)(x, n, 0)), X)
        for name in ("irfft", "hfft"):
            check_gradient(lambda x, y, name=name, n=n: getattr(ops, name)(joined(x, y), n, 1), X, X[::-1])
    check_gradient(lambda x, y: parts(ops.fft2(joined(x, y))), X, X + 1)
    check_gradient(lambda x, y: ops.irfftn(joined(x, y), (5, 4), (0, 1), "ortho"), X, X + 1)
    check_gradient(
        lambda x, w: ops.stft(x, 8, window=w, normalized=True), RNG.standard_normal((2, 16)), RNG.standard_normal(8)
    )


def test_stft():
    x, w = RNG.standard_normal((2, 40)), RNG.standard_normal(6)
    found = ops.stft(tensor(x), 8, 3, 6, tensor(w), return_complex=True)
    long = np.pad(x, ((0, 0), (4, 4)), mode="reflect")
    pieces = [np.fft.rfft(long[:, i : i + 8] * np.pad(w, 1)) for i in range(0, 41, 3)]
    same(found, np.stack(pieces, -1), 1e-12)
    same(ops.stft(tensor(x), 8, 3, 6, tensor(w))[..., 1], np.stack(pieces, -1).imag, 1e-12)
    assert ops.stft(tensor(x[0]), 8, onesided=False, center=False).shape == (8, 17, 2)
    found = ops.STFT(8, 2, 8, False, True, True)(tensor(x), ops.ones((8,), ms.float64))
    same(found[..., 1], np.fft.rfft(x[:, 2:10]), 1e-12)


def test_with_size():
    same(ops.FFTWithSize(2, False, False)(tensor(Z)), np.fft.fft2(Z), 1e-12)
    same(ops.FFTWithSize(1, True, True, "ortho", True, (5,))(tensor(Z)), np.fft.irfft(Z, 5, norm="ortho"), 1e-12)
    same(ops.FFTWithSize(1, False, True, onesided=False)(tensor(X)), np.fft.fft(X), 1e-12)
    same(ops.FFTWithSize(1, True, True, onesided=False)(tensor(Z)), np.fft.ifft(Z).real, 1e-12)


def test_windows():
    for n in (2, 5, 8):
        for name in ("bartlett", "blackman", "hamming"):
            wanted = getattr(np, name)(n)
            same(getattr(ops, name + "_window")(n, False), wanted.astype("float32"))
            same(getattr(ops, name.title() + "Window")()(tensor(n)), getattr(np, name)(n + 1)[:-1].astype("float32"))
        same(ops.hann_window(n, False), np.hanning(n), 1e-14)
        same(ops.kaiser_window(n, False), np.kaiser(n, 12), 1e-14)
    assert ops.hann_window(0).shape == (0,) and ops.hann_window(1).asnumpy().tolist() == [1]


def test_errors():
    with pytest.raises(TypeError, match="For 'rfft', the dtype of 'input' must be real"):
        ops.rfft(tensor(Z))
    with pytest.raises(ValueError, match="For 'fft', 'norm' must be one of"):
        ops.fft(tensor(X), norm="none")
    with pytest.raises(ValueError, match="'n' must be positive"):
        ops.fft(tensor(X), 0)
    with pytest.raises(ValueError, match="For 'fft2', 'input' must not be empty"):
        ops.fft2(tensor(np.zeros((2, 0))))
    with pytest.raises(ValueError, match="For 'irfft', the result must not be empty"):
        ops.irfft(tensor([1.0]))
    with pytest.raises(ValueError, match="'window_length' must not be negative, but got -1"):
        ops.hann_window(-1)
    with pytest.raises(TypeError, match="'periodic' must be a bool"):
        ops.HammingWindow(periodic=1)
    with pytest.raises(ValueError, match="For 'stft', 'window' must have the shape"):
        ops.stft(tensor(X[0]), 4, window=tensor([1.0]))
