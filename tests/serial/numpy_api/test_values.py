"""Every function against real NumPy, by name and arguments."""

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.numpy as mnp

A = np.arange(6, dtype=np.float32).reshape(2, 3) - 1.5
B = np.array([[0.5, 2.0, 1.0], [3.0, 0.25, 4.0]], np.float32)
V = np.array([3, 1, 2, 1], np.int32)
W = np.array([0.5, 2.0, -1.0, 4.0], np.float32)
N = np.array([[1, np.nan, 2], [4, 5, np.nan]], np.float32)

CASES = [
    *[
        (n, (A,), {})
        for n in ("sin", "cos", "tan", "arctan", "sinh", "cosh", "tanh", "arcsinh", "exp", "expm1", "exp2")
    ],
    *[(n, (A,), {}) for n in ("floor", "ceil", "trunc", "fix", "rint", "sign", "square", "negative", "fabs", "cbrt")],
    *[
        (n, (A,), {})
        for n in ("rad2deg", "deg2rad", "isfinite", "signbit", "flip", "fliplr", "flipud", "rot90", "ravel")
    ],
    *[
        (n, (B,), {})
        for n in ("log", "log2", "log10", "log1p", "sqrt", "reciprocal", "std", "var", "mean", "sum", "ptp")
    ],
    *[(n, (A, B), {}) for n in ("add", "subtract", "multiply", "divide", "floor_divide", "mod", "fmod", "maximum")],
    *[(n, (A, B), {}) for n in ("minimum", "arctan2", "hypot", "copysign", "heaviside", "logaddexp", "logaddexp2")],
    *[(n, (A, B), {}) for n in ("less", "greater_equal", "not_equal", "kron", "inner", "outer", "isclose")],
    *[(n, (N,), {"axis": 0}) for n in ("nansum", "nanmean", "nanmax", "nanmin", "nanstd", "nanvar", "nancumsum")],
    *[(n, (B,), {"axis": a}) for n in ("argmax", "argmin", "cumsum", "cumprod", "amax", "amin") for a in (None, 0, -1)],
    *[(n, (V, np.int32(4)), {}) for n in ("gcd", "lcm", "bitwise_and", "bitwise_xor", "power")],
    *[
        (n, (V,), {})
        for n in ("bincount", "diff", "ediff1d", "diag", "diagflat", "vander", "trapz", "gradient", "unwrap")
    ],
    *[("pad", (V, w), {"mode": m}) for m in ("edge", "reflect", "symmetric", "wrap", "maximum") for w in (2, (1, 5))],
    ("pad", (B, ((1, 2), (0, 3))), {"constant_values": ((1, 2), (3, 4))}),
    ("pad", (W, (2, 3)), {"mode": "linear_ramp", "end_values": (1, -2)}),
    ("pad", (W, 2), {"mode": "mean", "stat_length": 2}),
    ("pad", (W, 5), {"mode": "reflect", "reflect_type": "odd"}),
    ("pad", (W, 6), {"mode": "symmetric", "reflect_type": "odd"}),
    ("matmul", (A, B.T), {}),
    ("dot", (A, B.T), {}),
    ("tensordot", (A, B), {"axes": ([0, 1], [0, 1])}),
    ("cross", (A, B), {}),
    ("cross", (A, B), {"axisc": 0}),
    ("cov", (A, B), {}),
    ("corrcoef", (B,), {}),
    *[("convolve", (W, V[:3].astype(np.float32)), {"mode": m}) for m in ("full", "same", "valid")],
    *[("correlate", (W, V[:3].astype(np.float32)), {"mode": m}) for m in ("full", "same", "valid")],
    ("interp", (W, np.arange(3.0, dtype=np.float32), B[0]), {"left": -9.0}),
    ("average", (B,), {"axis": 1, "weights": np.array([1, 2, 3], np.float32)}),
    ("take_along_axis", (A, np.array([[2], [0]])), {"axis": 1}),
    ("roll", (A, (1, -2)), {"axis": (0, 1)}),
    ("rot90", (A, 3), {}),
    ("repeat", (A, [1, 2]), {"axis": 0}),
    ("tile", (A, (2, 1, 2)), {}),
    ("moveaxis", (np.ones((2, 3, 4), np.float32), [0, 1], [-1, -2]), {}),
    ("rollaxis", (np.ones((2, 3, 4), np.float32), 2, 1), {}),
    ("diagonal", (A, 1), {}),
    ("trace", (A,), {"offset": -1}),
    ("tril", (A, -1), {}),
    ("triu", (A,), {}),
    ("clip", (A, 0.0, 2.0), {}),
    ("digitize", (W, np.array([0.0, 1.0, 3.0], np.float32)), {"right": True}),
    ("searchsorted", (np.arange(4, dtype=np.float32), W), {}),
    ("isin", (V, np.array([1, 2], np.int32)), {"invert": True}),
    ("setdiff1d", (V, np.array([1], np.int32)), {}),
    ("polyval", (W, A), {}),
    ("polyint", (W,), {"m": 2}),
    ("polyder", (W,), {"m": 2}),
    ("polymul", (W, B[0]), {}),
    ("histogram_bin_edges", (W,), {"bins": 4}),
    ("count_nonzero", (V,), {}),
    ("where", (A > 0, A, B), {}),
    ("column_stack", ((V, W),), {}),
    ("linspace", (A[0], B[0], 4), {"axis": 1, "endpoint": False}),
    ("geomspace", (1.0, 256.0, 9), {}),
    ("logspace", (0, 3, 4), {"base": 2.0}),
    ("bartlett", (7,), {}),
    ("blackman", (7,), {}),
    ("tri", (3, 4, 1), {}),
    ("radians", (A,), {}),
    ("true_divide", (A, B), {}),
    ("polysub", (W, B[0]), {}),
    ("ravel_multi_index", ((V[:2], V[1:3]), (4, 5)), {}),
]


def tensors(x):
    if isinstance(x, np.ndarray):
        return ms.Tensor(x)
    return tuple(map(tensors, x)) if isinstance(x, tuple) else x


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("name", "args", "kwargs"), CASES, ids=lambda v: v if isinstance(v, str) else "")
def test_as_numpy(name, args, kwargs):
    named = name if hasattr(np, name) else "trapezoid"  # as NumPy calls trapz from 2.0 on
    wanted = np.asarray(getattr(np, named)(*args, **kwargs))
    found = getattr(mnp, name)(*map(tensors, args), **{k: tensors(v) for k, v in kwargs.items()})
    assert found.shape == wanted.shape
    np.testing.assert_allclose(found.asnumpy(), wanted, rtol=3e-5, atol=1e-5)


@pytest.mark.parametrize("weights", [None, np.array([1, 2, 3, 4], np.float32)])
@pytest.mark.parametrize("density", [False, True])
def test_histograms(weights, density):
    given = None if weights is None else ms.Tensor(weights)
    counts, edges = mnp.histogram(ms.Tensor(W), 3, weights=given, density=density)
    wanted, borders = np.histogram(W, 3, weights=weights, density=density)
    np.testing.assert_allclose(counts.asnumpy(), wanted, rtol=1e-5)
    np.testing.assert_allclose(edges.asnumpy(), borders, rtol=1e-5)
    counts, *_ = mnp.histogram2d(ms.Tensor(W), ms.Tensor(V), [2, 3], weights=given, density=density)
    np.testing.assert_allclose(
        counts.asnumpy(), np.histogram2d(W, V, [2, 3], weights=weights, density=density)[0], rtol=1e-5
    )


def test_functions_along_axes():
    x = ms.Tensor(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    wanted = np.apply_along_axis(np.diag, 1, x.asnumpy())
    assert (mnp.apply_along_axis(mnp.diag, 1, x).asnumpy() == wanted).all()
    assert mnp.apply_over_axes(mnp.sum, x, [0, 2]).shape == (1, 3, 1)


def test_norms():
    for order, axis in [(None, None), (1, None), (np.inf, 0), (3, 1), ("fro", (0, 1)), (-1, None), (0, 1)]:
        wanted = np.linalg.norm(A, order, axis)
        np.testing.assert_allclose(mnp.norm(ms.Tensor(A), order, axis).asnumpy(), wanted, rtol=1e-5)


def test_split_and_grids():
    x = mnp.arange(9)
    assert [p.size for p in mnp.array_split(x, 4)] == [3, 2, 2, 2]
    assert isinstance(mnp.split(x, [2, 5]), list)
    with pytest.raises(ValueError, match="'indices_or_sections' must be a positive divisor of 9"):
        mnp.split(x, 2)
    assert (mnp.mgrid[0:2, 0:3].asnumpy() == np.mgrid[0:2, 0:3]).all()
    assert (mnp.ogrid[-1:1:5j].asnumpy() == np.ogrid[-1:1:5j]).all()


def test_names_that_newer_numpy_lacks():
    assert (mnp.NINF, mnp.PINF) == (-np.inf, np.inf)
    found = mnp.in1d(ms.Tensor(A), ms.Tensor([0.5, 2.5])).asnumpy()
    assert found.tolist() == np.isin(A, [0.5, 2.5]).ravel().tolist()
    assert mnp.sometrue(ms.Tensor(A), 0).asnumpy().tolist() == [True] * 3
    product = mnp.multi_dot([ms.Tensor(A), ms.Tensor(B.T), ms.Tensor(A)])
    np.testing.assert_allclose(product.asnumpy(), A @ B.T @ A, rtol=1e-5)


def test_an_open_mesh_and_text():
    rows, columns = mnp.ix_(ms.Tensor([0, 1]), ms.Tensor([2]))
    assert (rows.asnumpy().tolist(), columns.asnumpy().tolist()) == ([[0], [1]], [[2]])
    assert mnp.array_str(ms.Tensor(A)) == np.array_str(A)
    assert ms.int32 in mnp.numeric_types and ms.string not in mnp.numeric_types


def test_places_in_matrices():
    for function, args in ((mnp.diag_indices, (3,)), (mnp.tril_indices_from, (A, -1)), (mnp.triu_indices_from, (A, 1))):
        found = function(*map(tensors, args))
        assert [x.asnumpy().tolist() for x in found] == [x.tolist() for x in getattr(np, function.__name__)(*args)]
