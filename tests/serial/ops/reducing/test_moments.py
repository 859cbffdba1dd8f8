"""Variance, standard deviation, median, quantiles and sums that skip NaN."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.random.default_rng(0).standard_normal((3, 4))
N = A.copy()
N[0, 1] = N[2, :] = np.nan


@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), [1]])
@pytest.mark.parametrize("ddof", [0, 1])
def test_spread(axis, ddof):
    a, numpy_axis = ms.Tensor(A), tuple(axis) if isinstance(axis, list) else axis
    same(ops.var(a, axis, ddof, True), A.var(numpy_axis, ddof=ddof, keepdims=True))
    same(ops.std(a, axis, ddof), A.std(numpy_axis, ddof=ddof))
    for fn, numpy_fn in ((ops.var_mean, np.var), (ops.std_mean, np.std)):
        spread, mean = fn(a, axis, ddof)
        same(spread, numpy_fn(A, numpy_axis, ddof=ddof))
        same(mean, A.mean(numpy_axis))


def test_spread_methods():
    same(ms.Tensor(A).std(dim=0, correction=1, keepdim=True), A.std(0, ddof=1, keepdims=True))
    same(ms.Tensor(A).var(0, 1), A.var(0, ddof=1))
    deviation, mean = ops.ReduceStd(1, False, True)(ms.Tensor(A))
    same(deviation, A.std(1, keepdims=True))
    same(mean, A.mean(1, keepdims=True))
    with pytest.raises(TypeError, match="For 'var', .* but got Int64"):
        ops.var(tensor([1, 2]))


def test_logsumexp():
    same(ops.logsumexp(ms.Tensor(A), (0, 1), True), np.log(np.exp(A).sum(keepdims=True)))
    equal(ops.logsumexp(tensor([1000.0, -1000.0]), 0), 1000)
    equal(ops.logsumexp(tensor([-np.inf, -np.inf]), 0), -np.inf)
    equal(ops.logsumexp(tensor([np.inf, 1.0]), 0), np.inf)
    equal(ms.grad(lambda x: ops.logsumexp(x, 0))(tensor([1000.0, -1000.0])), [1, 0])


def test_median():
    value, place = ops.median(ms.Tensor(A), 1)
    equal(value, np.sort(A, 1)[:, 1])
    np.testing.assert_array_equal(np.take_along_axis(A, place.asnumpy()[:, None], 1)[:, 0], value.asnumpy())
    equal(ops.median(ms.Tensor(A), 0, True)[0], np.sort(A, 0)[1:2])
    equal(ops.median(tensor([1.0, np.nan, 2.0]))[0], np.nan)
    equal(ops.nanmedian(tensor([1.0, np.nan, 2.0]))[0], 1)
    equal(ops.Median(True)(ms.Tensor(A))[0], np.sort(A.reshape(-1))[5])
    with pytest.raises(ValueError, match="must not be empty"):
        ops.median(tensor([]))


@pytest.mark.parametrize("q", [0, 0.3, 1, [0.25, 0.5]])
@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("keep", [False, True])
def test_quantile(q, axis, keep):
    parts = ms.Tensor(np.array(q)) if isinstance(q, list) else q
    same(ops.quantile(ms.Tensor(A), parts, axis, keep), np.quantile(A, q, axis, keepdims=keep))
    same(ops.nanquantile(ms.Tensor(N[:2]), parts, axis, keep), np.nanquantile(N[:2], q, axis, keepdims=keep))


def test_quantile_errors_and_nan():
    assert np.isnan(ops.quantile(tensor([1.0, np.nan]), 0.5).asnumpy())
    with pytest.raises(ValueError, match="'q' must be"):
        ops.quantile(ms.Tensor(A), 1.5)


def test_nan_sums():
    equal(ops.nansum(ms.Tensor(N), 1), np.nansum(N, 1))
    same(ops.nanmean(ms.Tensor(N[:2]), 1), np.nanmean(N[:2], 1))
    equal(ms.grad(ops.nansum)(tensor([1.0, np.nan])), [1, 0])


def test_cov():
    same(ops.cov(ms.Tensor(A)), np.cov(A))
    same(ops.cov(ms.Tensor(A), correction=0), np.cov(A, ddof=0))
    f, w = np.array([1, 2, 1, 3]), np.array([0.5, 1, 2, 1])
    same(ops.cov(ms.Tensor(A), fweights=ms.Tensor(f)), np.cov(A, fweights=f))
    same(ops.cov(ms.Tensor(A), fweights=ms.Tensor(f), aweights=ms.Tensor(w)), np.cov(A, fweights=f, aweights=w))
    same(ops.cov(ms.Tensor(A[0])), np.cov(A[0]))
