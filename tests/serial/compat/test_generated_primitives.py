"""Primitives of `mindspore.ops.auto_generate` that stand for functions in PyTorch's form."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.compat.inner.operations import generated_primitives as P

rng = np.random.default_rng(5)


def n(*shape):
    return rng.uniform(-3, 3, shape).astype(np.float32)


def f(*shape):
    return rng.uniform(0.2, 0.9, shape).astype(np.float32)


X, Y, V, W, T3, S = n(3, 2), n(3, 2), n(3), n(3), n(2, 3, 3), n(3, 3)
MASK, WORDS, PLACES = X > 0, np.array([3, 6, 5]), np.array([0, 2])
ROW = np.array([[0, 1]])
LINE, PLANE = n(4), n(4, 4)


def put(x, values):
    x = x.copy()
    x[0, 0], x[1, 1] = values
    return x


def added(x, values):
    return put(x, (x[0, 0] + values[0, 0], x[1, 1] + values[0, 1]))


def picked(x, function, where):
    return function(x, 0), where(x, 0)


# name: (inputs, what NumPy makes of them)
CALLS = {
    "AddExt": ((X, Y, 2), X + 2 * Y),
    "SubExt": ((X, Y, 2), X - 2 * Y),
    "AddScalar": ((X, 3, 2), X + 6),
    "SubScalar": ((X, 3, 2), X - 6),
    "Addbmm": ((S, T3, T3, 0.5, 2), 0.5 * S + 2 * (T3 @ T3).sum(0)),
    "Baddbmm": ((T3, T3, T3, 0.5, 2), 0.5 * T3 + 2 * T3 @ T3),
    "Addmm": ((S, S, S, 0.5, 2), 0.5 * S + 2 * S @ S),
    "Addmv": ((V, S, W, 0.5, 2), 0.5 * V + 2 * S @ W),
    "AddcdivExt": ((V, W, f(3) + 1, 0.5), None),
    "AddcmulExt": ((V, W, V, 0.5), V + 0.5 * W * V),
    "AnyExt": ((MASK, 1, False), MASK.any(1)),
    "Arange": ((0, 5, 2, ms.int64), np.arange(0, 5, 2)),
    "BincountExt": ((np.array([0, 1, 1]), None, 4), np.bincount([0, 1, 1], minlength=4)),
    "BroadcastToView": ((V, (2, 3)), np.tile(V, (2, 1))),
    "Chunk": ((LINE, 2, 0), (LINE[:2], LINE[2:])),
    "ChunkView": ((LINE, 2, 0), (LINE[:2], LINE[2:])),
    "CosineEmbeddingLoss": ((X[:2], Y[:2], np.float32([1, -1]), 0.1, "mean"), None),
    "CumminExt": ((X, 0), None),
    "CumsumExt": ((X, 0, None), X.cumsum(0)),
    "DiagExt": ((V, 0), np.diag(V)),
    "DiagonalView": ((S, 0, 0, 1), np.diagonal(S)),
    "EinsumExt": (("ij,jk->ik", (S, S)), S @ S),
    "Embedding": ((PLACES, X, None, None, 2.0, False), X[PLACES]),
    "EqualExt": ((X, X), True),
    "ExpandAs": ((V, S), np.tile(V, (3, 1))),
    "ExpandDimsView": ((V, 0), V[None]),
    "FlattenExt": ((T3, 1, 2), T3.reshape(2, 9)),
    "Frac": ((X,), X - np.trunc(X)),
    "FullLike": ((X, 3, None), np.full_like(X, 3)),
    "GatherNdExt": ((X, ROW), X[0, 1:]),
    "GeluExt": ((X, "none"), None),
    "Hardtanh": ((X, -1, 1), X.clip(-1, 1)),
    "HistcExt": ((LINE, 4, -3, 3), None),
    "IndexAddExt": ((X, 0, PLACES, Y[:2], 2), X + 2 * np.stack([Y[0], 0 * Y[0], Y[1]])),
    "IndexSelect": ((X, 0, PLACES), X[PLACES]),
    "L1LossExt": ((X, Y, "mean"), np.abs(X - Y).mean()),
    "LogSoftmaxExt": ((X, 1, None), X - np.log(np.exp(X).sum(1, keepdims=True))),
    "MSELossExt": ((X, Y, "mean"), ((X - Y) ** 2).mean()),
    "Max": ((X,), X.max()),
    "Min": ((X,), X.min()),
    "MaxDim": ((X, 0, False), picked(X, np.max, np.argmax)),
    "MinDim": ((X, 0, False), picked(X, np.min, np.argmin)),
    "MeanExt": ((X, 0, False, None), X.mean(0)),
    "MedianExt": ((V,), np.median(V)),
    "MedianDim": ((S, 0, False), None),
    "MishExt": ((X,), X * np.tanh(np.log1p(np.exp(X)))),
    "Mm": ((S, S), S @ S),
    "Mv": ((S, V), S @ V),
    "Narrow": ((LINE, 0, 1, 2), LINE[1:3]),
    "NarrowView": ((LINE, 0, 1, 2), LINE[1:3]),
    "OnesLikeExt": ((X, None), np.ones_like(X)),
    "ZerosLikeExt": ((X, None), np.zeros_like(X)),
    "Outer": ((V, W), np.outer(V, W)),
    "PixelShuffle": ((n(1, 4, 2, 2), 2), None),
    "ProdExt": ((X, 0, False, None), X.prod(0)),
    "ScatterAddExt": ((X, 0, ROW, Y[:1]), added(X, Y)),
    "SelectExtView": ((X, 0, 1), X[1]),
    "SoftplusExt": ((X, 1, 20), np.log1p(np.exp(X))),
    "SortExt": ((X, 0, False, False), (np.sort(X, 0), np.argsort(X, 0))),
    "SumExt": ((X, 0, True, None), X.sum(0, keepdims=True)),
    "Swiglu": ((PLANE, -1), PLANE[:, :2] / (1 + np.exp(-PLANE[:, :2])) * PLANE[:, 2:]),
    "TExt": ((X,), X.T),
    "Take": ((X, PLACES), X.ravel()[PLACES]),
    "Threshold": ((X, 0.5, 9), np.where(X > 0.5, X, 9)),
    "TopkExt": ((LINE, 2, 0, True, True), (-np.sort(-LINE)[:2], np.argsort(-LINE)[:2])),
    "TransposeExtView": ((X, 0, 1), X.T),
    "TrilExt": ((S, 0), np.tril(S)),
    "UnstackExtView": ((X, 0), tuple(X)),
    "ViewAs": ((X, X.T), X.reshape(2, 3)),
    "AcosExt": ((f(3),), None),
    "AcoshExt": ((f(3) + 1,), None),
    "AsinExt": ((f(3),), None),
    "AsinhExt": ((V,), np.arcsinh(V)),
    "Atan2Ext": ((X, Y), np.arctan2(X, Y)),
    "AtanExt": ((X,), np.arctan(X)),
    "Exp2": ((X,), np.exp2(X)),
    "Log10": ((f(3),), None),
    "Log2": ((f(3),), None),
    "Muls": ((X, 3), X * 3),
    "Divs": ((X, 3), X / 3),
    "BatchMatMulExt": ((T3, T3), T3 @ T3),
    "MatMulExt": ((S, S), S @ S),
    "BitwiseAndScalar": ((WORDS, 3), WORDS & 3),
    "BitwiseAndTensor": ((WORDS, WORDS[::-1].copy()), WORDS & WORDS[::-1]),
    "BitwiseOrScalar": ((WORDS, 3), WORDS | 3),
    "BitwiseOrTensor": ((WORDS, WORDS), WORDS),
    "BitwiseXorScalar": ((WORDS, 3), WORDS ^ 3),
    "BitwiseXorTensor": ((WORDS, WORDS), WORDS * 0),
    "BitwiseNot": ((WORDS,), ~WORDS),
    "EqScalar": ((WORDS, 3), WORDS == 3),
    "LessScalar": ((WORDS, 4), WORDS < 4),
    "GreaterEqualScalar": ((WORDS, 5), WORDS >= 5),
    "FloorDivScalar": ((X, 2), np.floor(X / 2)),
    "FmodScalar": ((X, 2), np.fmod(X, 2)),
    "FmodTensor": ((X, np.abs(Y) + 1), np.fmod(X, np.abs(Y) + 1)),
    "PowScalarTensor": ((2, X), 2**X),
    "PowTensorScalar": ((X, 2), X**2),
    "RemainderScalarTensor": ((3, X), np.mod(3, X)),
    "RemainderTensorScalar": ((X, 2), np.mod(X, 2)),
    "RemainderTensorTensor": ((X, Y), np.mod(X, Y)),
    "XLogYScalarOther": ((X, 2), X * np.log(np.float32(2))),
    "XLogYScalarSelf": ((2, np.abs(X)), 2 * np.log(np.abs(X))),
    "LogAddExp": ((X, Y), np.logaddexp(X, Y)),
    "LogAddExp2": ((X, Y), np.logaddexp2(X, Y)),
    "ClampScalar": ((X, -1, 1), X.clip(-1, 1)),
    "ClampTensor": ((X, Y - 1, Y + 1), X.clip(Y - 1, Y + 1)),
    "MaskedFillScalar": ((X, MASK, 5), np.where(MASK, 5, X)),
    "LeakyReLUExt": ((X, 0.1), np.where(X > 0, X, X * np.float32(0.1))),
    "MatrixInverseExt": ((np.eye(2, dtype=np.float32) * 2,), np.eye(2) / 2),
    "IsNegInf": ((np.float32([-np.inf, np.inf]),), [True, False]),
    "LerpScalar": ((X, Y, 0.25), X + np.float32(0.25) * (Y - X)),
    "ArgMaxExt": ((X, 0, False), X.argmax(0)),
    "ArgMinExt": ((X, 0, False), X.argmin(0)),
    "SplitTensor": ((LINE, 3, 0), (LINE[:3], LINE[3:])),
    "SplitTensorView": ((LINE, 3, 0), (LINE[:3], LINE[3:])),
    "SplitWithSize": ((LINE, (1, 3), 0), (LINE[:1], LINE[1:])),
    "SplitWithSizeView": ((LINE, (1, 3), 0), (LINE[:1], LINE[1:])),
    "RepeatInterleaveInt": ((X, 2, 0, None), X.repeat(2, 0)),
    "RepeatInterleaveTensor": ((X, np.array([1, 2, 0]), 0, None), X.repeat([1, 2, 0], 0)),
    "TraceExt": ((S,), np.trace(S)),
    "TransposeView": ((X, (1, 0)), X.T),
    "View": ((X, (2, 3)), X.reshape(2, 3)),
    "LinalgVectorNorm": ((X, 2.0, 1, False, None), np.linalg.norm(X, axis=1)),
    "FFTShift": ((LINE, None), np.fft.fftshift(LINE)),
    "IFFTShift": ((V, None), np.fft.ifftshift(V)),
    **{
        name.upper(): ((LINE, None, -1, None), getattr(np.fft, name)(LINE))
        for name in "fft ifft rfft hfft ihfft irfft".split()
    },
    **{
        name.upper(): ((PLANE, None, (-2, -1), None), getattr(np.fft, name)(PLANE))
        for name in "fft2 ifft2 rfft2 irfft2".split()
    },
    **{
        name.upper(): ((PLANE, None, None, None), getattr(np.fft, name)(PLANE))
        for name in "fftn ifftn rfftn irfftn".split()
    },
    **dict.fromkeys(("HFFT2", "IHFFT2", "HFFTN", "IHFFTN"), ((PLANE, None, (-2, -1), None), None)),
    "InplaceMul": ((X, Y), X * Y),
    "InplaceMuls": ((X, 3), X * 3),
    "InplaceDiv": ((X, Y), X / Y),
    "InplaceDivs": ((X, 3), X / 3),
    "InplaceFloor": ((X,), np.floor(X)),
    "InplaceExp": ((X,), np.exp(X)),
    "InplaceLog": ((np.abs(X),), np.log(np.abs(X))),
    "InplaceTanh": ((X,), np.tanh(X)),
    "InplaceSign": ((X,), np.sign(X)),
    "InplaceZero": ((X,), X * 0),
    "InplaceFillScalar": ((X, 3), X * 0 + 3),
    "InplaceFillTensor": ((X, np.float32(3)), X * 0 + 3),
    "InplaceCopy": ((X, Y, False), Y),
    "InplaceMaskedFillScalar": ((X, MASK, 5), np.where(MASK, 5, X)),
    "InplaceMaskedFillTensor": ((X, MASK, np.float32(5)), np.where(MASK, 5, X)),
    "InplaceClampScalar": ((X, -1, 1), X.clip(-1, 1)),
    "InplaceClampTensor": ((X, Y - 1, Y + 1), X.clip(Y - 1, Y + 1)),
    "InplaceFloorDivide": ((X, Y), np.floor(X / Y)),
    "InplaceFloorDivides": ((X, 2), np.floor(X / 2)),
    "InplaceErfinv": ((f(3),), None),
    "InplaceScatterAdd": ((X, 0, ROW, Y[:1]), added(X, Y)),
}


def given(value):
    if isinstance(value, tuple):
        return tuple(given(v) for v in value)
    return ms.Tensor(value) if isinstance(value, (np.ndarray, np.generic)) else value


@pytest.mark.parametrize("name", CALLS)
def test_the_primitive_does_what_its_function_does(name):
    inputs, wanted = CALLS[name]
    op, tensors = getattr(P, name)(), given(inputs)
    assert isinstance(op, ms.ops.Primitive) and op.name == name
    got = op(*tensors)
    if name.startswith("Inplace"):
        assert got is tensors[0]
    if wanted is None:
        return
    got, wanted = (v if isinstance(v, (tuple, list)) else (v,) for v in (got, wanted))
    if isinstance(wanted, list):
        got, wanted = (got[0],), (wanted,)
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        values = a.asnumpy() if isinstance(a, ms.Tensor) else a
        assert np.shape(values) == np.shape(b) and np.allclose(values, b, rtol=1e-4, atol=1e-5)


def test_all_are_called_here():
    assert {*CALLS} == {*dir(P)}


def test_too_many_inputs_are_refused():
    with pytest.raises(TypeError, match="For 'AddExt', there must be at most 3 inputs, but got 4"):
        P.AddExt()(given(X), given(Y), 1, 1)
    with pytest.raises(AttributeError, match="has no attribute 'Nothing'"):
        P.Nothing()


def test_keywords():
    assert np.allclose(P.SumExt()(given(X), keepdim=True, dim=1).asnumpy(), X.sum(1, keepdims=True), atol=1e-5)
