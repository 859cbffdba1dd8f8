"""Primitives whose docstrings name their function give what it gives."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops

X = Tensor(np.array([[-1.5, 0.25, 2.0], [0.5, -0.75, 3.0]], np.float32))
NEAR = X + 1e-4
PART = Tensor(np.array([[0.1, 0.6], [0.5, 0.9]], np.float32))
SQUARE = Tensor(np.array([[4.0, 1.0], [1.0, 3.0]], np.float32))
PLACES = Tensor(np.array([[1, 0], [0, 2]], np.int32))
WEIGHTS = Tensor(np.array([2.0, 3.0, 4.0], np.float32))
HALF = Tensor(0.5)
IMAGES = Tensor(np.arange(48, dtype=np.float32).reshape(4, 2, 2, 3))
BOXES = Tensor(np.array([[0.0, 0.0, 3.0, 3.0]], np.float32))
COLUMNS = Tensor(np.array([[[[1.0, 2.0], [2.0, 3.0]]]], np.float32))
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
    "Addcdiv": (lambda: ops.Addcdiv()(X, X, NEAR, HALF), lambda: ops.addcdiv(X, X, NEAR, HALF)),
    "Addcmul": (lambda: ops.Addcmul()(X, X, NEAR, HALF), lambda: ops.addcmul(X, X, NEAR, HALF)),
    "BartlettWindow": (lambda: ops.BartlettWindow(False)(Tensor(5)), lambda: ops.bartlett_window(5, False)),
    "BlackmanWindow": (lambda: ops.BlackmanWindow(False)(Tensor(5)), lambda: ops.blackman_window(Tensor(5), False)),
    "BatchToSpaceND": (
        lambda: ops.BatchToSpaceND([2, 1], [[0, 1], [0, 0]])(IMAGES),
        lambda: ops.batch_to_space_nd(IMAGES, [2, 1], [[0, 1], [0, 0]]),
    ),
    "SpaceToBatchND": (
        lambda: ops.SpaceToBatchND([2, 1], [[0, 0], [1, 0]])(IMAGES),
        lambda: ops.space_to_batch_nd(IMAGES, [2, 1], [[0, 0], [1, 0]]),
    ),
    "BoundingBoxEncode": (
        lambda: ops.BoundingBoxEncode((0.1, 0.1, 0.1, 0.1))(BOXES, BOXES + 2),
        lambda: ops.bounding_box_encode(BOXES, BOXES + 2, (0.1, 0.1, 0.1, 0.1)),
    ),
    "Cdist": (lambda: ops.Cdist(1.0)(X, NEAR), lambda: ops.cdist(X, NEAR, 1.0)),
    "Pdist": (lambda: ops.Pdist(1.0)(X), lambda: ops.pdist(X, 1.0)),
    "Col2Im": (
        lambda: ops.Col2Im([1, 2])(COLUMNS, Tensor([1, 3], ms.int32)),
        lambda: ops.col2im(COLUMNS, Tensor([1, 3], ms.int32), [1, 2], 1, 0, 1),
    ),
    "Eps": (lambda: ops.Eps()(X), lambda: ops.eps(X)),
    "InplaceAdd": (lambda: ops.InplaceAdd(1)(X, X[:1]), lambda: ops.inplace_add(X, X[:1], 1)),
    "InplaceUpdate": (lambda: ops.InplaceUpdate(1)(X, X[:1]), lambda: ops.inplace_update(X, X[:1], 1)),
    "Lerp": (lambda: ops.Lerp()(X, NEAR, 0.25), lambda: ops.lerp(X, NEAR, 0.25)),
    "LinSpace": (lambda: ops.LinSpace()(HALF, Tensor(2.0), 4), lambda: ops.linspace(0.5, 2.0, 4)),
    "MaskedScatter": (
        lambda: ops.MaskedScatter()(X, X > 0, 2 * X),
        lambda: ops.masked_scatter(X, X > 0, 2 * X),
    ),
    "MatrixDiagPartV3": (
        lambda: ops.MatrixDiagPartV3("LEFT_LEFT")(X, Tensor([0, 1], ms.int32), Tensor(9.0)),
        lambda: ops.matrix_diag_part(X, Tensor([0, 1], ms.int32), 9.0, "LEFT_LEFT"),
    ),
    "MatrixDiagV3": (
        lambda: ops.MatrixDiagV3()(X, *(Tensor(n, ms.int32) for n in (0, 3, 3)), Tensor(9.0)),
        lambda: ops.matrix_diag(X, 0, 3, 3, 9.0),
    ),
    "OnesLike": (lambda: ops.OnesLike()(X), lambda: ops.ones_like(X)),
    "ZerosLike": (lambda: ops.ZerosLike()(X), lambda: ops.zeros_like(X)),
    "Polygamma": (lambda: ops.Polygamma()(Tensor(1), NEAR + 3), lambda: ops.polygamma(Tensor(1), NEAR + 3)),
    "Renorm": (lambda: ops.Renorm(2, 0, 1.0)(X), lambda: ops.renorm(X, 2, 0, 1.0)),
    "ScalarToArray": (lambda: ops.ScalarToArray()(1.5), lambda: ops.scalar_to_array(1.5)),
    "ScalarToTensor": (lambda: ops.ScalarToTensor()(2, ms.int32), lambda: ops.scalar_to_tensor(2, ms.int32)),
    "TupleToArray": (lambda: ops.TupleToArray()((1, 2)), lambda: ops.tuple_to_array((1, 2))),
    "TrilIndices": (lambda: ops.TrilIndices(2, 3, 1)(), lambda: ops.tril_indices(2, 3, 1, dtype=ms.int32)),
    "TriuIndices": (lambda: ops.TriuIndices(2, 3, 1)(), lambda: ops.triu_indices(2, 3, 1, dtype=ms.int32)),
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


def test_a_function_with_its_first_arguments():
    assert ops.Partial()(max, 3)(5) == 5
    assert ops.Partial()(max, 3)(1) == 3


@pytest.mark.parametrize(
    ("name", "primitive"),
    [
        ("scatter_nd_add", ops.ScatterNdAdd),
        ("scatter_nd_sub", ops.ScatterNdSub),
        ("scatter_nd_mul", ops.ScatterNdMul),
        ("scatter_nd_div", ops.ScatterNdDiv),
        ("scatter_nd_max", ops.ScatterNdMax),
        ("scatter_nd_min", ops.ScatterNdMin),
    ],
)
def test_primitives_that_update_a_parameter(name, primitive):
    updates, before = Tensor(np.array([0.75, 1.5], np.float32)), X.asnumpy().copy()
    written = [ms.Parameter(Tensor(before.copy()), name="x") for _ in range(2)]
    results = [primitive()(written[0], PLACES, updates), getattr(ops, name)(written[1], PLACES, updates)]
    for a, b in (results, written):
        np.testing.assert_array_equal(a.asnumpy(), b.asnumpy())
    assert (written[0].asnumpy() != before).any()
