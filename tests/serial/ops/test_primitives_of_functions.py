"""Primitives whose docstrings name their function give what it gives."""

import numpy as np
import pytest

from dist_ms import Tensor, ops

X = Tensor(np.array([[-1.5, 0.25, 2.0], [0.5, -0.75, 3.0]], np.float32))
NEAR = X + 1e-4
PART = Tensor(np.array([[0.1, 0.6], [0.5, 0.9]], np.float32))
SQUARE = Tensor(np.array([[4.0, 1.0], [1.0, 3.0]], np.float32))
PLACES = Tensor(np.array([[1, 0], [0, 2]], np.int32))
WEIGHTS = Tensor(np.array([2.0, 3.0, 4.0], np.float32))
HOLES = Tensor(np.array([np.nan, np.inf, -np.inf, 1.0], np.float32))

CASES = {
    "ApproximateEqual": (lambda: ops.ApproximateEqual(1e-3)(X, NEAR), lambda: ops.approximate_equal(X, NEAR, 1e-3)),
    "BiasAdd": (lambda: ops.BiasAdd()(X, WEIGHTS), lambda: ops.bias_add(X, WEIGHTS)),
    "CeLU": (lambda: ops.CeLU(2.0)(X), lambda: ops.celu(X, 2.0)),
    "Cummin": (lambda: ops.Cummin(1)(X), lambda: ops.cummin(X, 1)),
    "Eig": (lambda: ops.Eig(True)(SQUARE), lambda: ops.eig(SQUARE)),
    "Elu": (lambda: ops.Elu(1.0)(X), lambda: ops.elu(X)),
    "ExpandDims": (lambda: ops.ExpandDims()(X, 1), lambda: ops.expand_dims(X, 1)),
    "FastGeLU": (lambda: ops.FastGeLU()(X), lambda: ops.fast_gelu(X)),
    "GatherD": (lambda: ops.GatherD()(X, 1, PLACES), lambda: ops.gather_d(X, 1, PLACES)),
    "GatherNd": (lambda: ops.GatherNd()(X, PLACES), lambda: ops.gather_nd(X, PLACES)),
    "Geqrf": (lambda: ops.Geqrf()(SQUARE), lambda: ops.geqrf(SQUARE)),
    "IndexAdd": (
        lambda: ops.IndexAdd(0)(X, PLACES[0], 2 * X),
        lambda: ops.index_add(X, PLACES[0], 2 * X, 0),
    ),
    "IsClose": (lambda: ops.IsClose(1e-4, 0.0)(X, NEAR), lambda: ops.isclose(X, NEAR, 1e-4, 0.0)),
    "Logit": (lambda: ops.Logit(0.2)(PART), lambda: ops.logit(PART, 0.2)),
    "MatrixSolve": (lambda: ops.MatrixSolve()(SQUARE, PART), lambda: ops.matrix_solve(SQUARE, PART)),
    "Meshgrid": (lambda: ops.Meshgrid("ij")((WEIGHTS, PART[0])), lambda: ops.meshgrid(WEIGHTS, PART[0], indexing="ij")),
    "NanToNum": (lambda: ops.NanToNum(0.5, 7.0, -7.0)(HOLES), lambda: ops.nan_to_num(HOLES, 0.5, 7.0, -7.0)),
    "Qr": (lambda: ops.Qr(True)(X), lambda: ops.qr(X, "complete")),
    "RmsNorm": (lambda: ops.RmsNorm(1e-3)(X, WEIGHTS), lambda: ops.rms_norm(X, WEIGHTS, 1e-3)),
    "ScatterNd": (lambda: ops.ScatterNd()(PLACES, PART[0], (2, 3)), lambda: ops.scatter_nd(PLACES, PART[0], (2, 3))),
    "Svd": (lambda: ops.Svd(True, True)(X), lambda: ops.svd(X, True, True)),
    "TensorScatterElements": (
        lambda: ops.TensorScatterElements(1, "add")(X, PLACES, PART),
        lambda: ops.tensor_scatter_elements(X, PLACES, PART, 1, "add"),
    ),
    "UniqueConsecutive": (
        lambda: ops.UniqueConsecutive(True, True)(Tensor([1, 1, 2])),
        lambda: ops.unique_consecutive(Tensor([1, 1, 2]), True, True),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_primitive_gives_what_its_function_gives(name):
    primitive, function = CASES[name]
    found, wanted = primitive(), function()
    if not isinstance(wanted, tuple):
        found, wanted = (found,), (wanted,)
    assert len(found) == len(wanted)
    for a, b in zip(found, wanted):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
