"""Matrix products of `dist_ms._ext.dnnl` against NumPy."""

import numpy as np
import pytest

from dist_ms._ext import dnnl
from tests import reference_dnnl as reference
from tests.serial.kernels.onednn.dnnl_cases import normal, unset

TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}


@pytest.fixture(autouse=True)
def no_slow_code():
    """oneDNN has code for every layout, but the one it calls "ref" is hundreds of times slower."""
    dnnl.clear_cache()
    yield
    assert not [entry for entry in dnnl.cache_contents() if "ref" in entry[1]]


def as_it_is(array):
    return array


def transposed(array):
    """Return the values in memory in which columns are contiguous."""
    return np.ascontiguousarray(array.swapaxes(-1, -2)).swapaxes(-1, -2)


def part(array):
    """Return the values as a part of larger rows."""
    larger = unset(*array.shape[:-1], array.shape[-1] + 5)
    larger[..., 2:-3] = array
    return larger[..., 2:-3]


def spaced(array):
    """Return the values with a gap after each element."""
    larger = unset(*array.shape[:-1], 2 * array.shape[-1])
    larger[..., ::2] = array
    return larger[..., ::2]


def batch_inside(array):
    """Return the values with leading dimensions and rows exchanged in memory."""
    if array.ndim < 3:
        return array
    return np.ascontiguousarray(array.swapaxes(-2, -3)).swapaxes(-2, -3)


LAYOUTS = (as_it_is, transposed, part, spaced, batch_inside)


def check(a, b, out, bias=None):
    """Compare one product with NumPy's."""
    out[...] = np.nan
    dnnl.matmul(a, b, out, bias)
    np.testing.assert_allclose(out, reference.matmul(a, b, bias), **TOLERANCE)


@pytest.mark.parametrize("a_layout", LAYOUTS)
@pytest.mark.parametrize("b_layout", LAYOUTS)
@pytest.mark.parametrize("out_layout", LAYOUTS)
@pytest.mark.parametrize(
    ("a_shape", "b_shape", "out_shape"),
    (
        ((3, 4), (4, 5), (3, 5)),
        ((2, 3, 4), (4, 5), (2, 3, 5)),
        ((2, 1, 4), (4, 5), (2, 1, 5)),
        ((3, 4), (2, 4, 5), (2, 3, 5)),
        ((2, 6, 3, 4), (2, 6, 4, 5), (2, 6, 3, 5)),
    ),
)
def test_layouts(a_shape, b_shape, out_shape, a_layout, b_layout, out_layout):
    rng = np.random.default_rng(0)
    a, b = a_layout(normal(rng, *a_shape)), b_layout(normal(rng, *b_shape))
    out = out_layout(unset(*out_shape))
    check(a, b, out)
    check(a, b, out, normal(rng, 5))


@pytest.mark.parametrize("seed", range(60))
def test_random_shapes(seed):
    rng = np.random.default_rng(seed)
    sizes = (1, 1, 2, 3, 17, 64)
    rows, inner, columns = (int(rng.choice(sizes)) for _ in range(3))
    lead = rng.integers(1, 4, rng.integers(0, 4))
    shapes = []
    for matrix in ((rows, inner), (inner, columns)):
        own = np.where(rng.random(len(lead)) < 0.3, 1, lead)[rng.integers(0, len(lead) + 1) :]
        shapes.append((*map(int, own), *matrix))
    a, b = (LAYOUTS[rng.integers(len(LAYOUTS))](normal(rng, *shape)) for shape in shapes)
    wanted = np.broadcast_shapes(shapes[0][:-2], shapes[1][:-2])
    out = LAYOUTS[rng.integers(len(LAYOUTS))](unset(*wanted, rows, columns))
    check(a, b, out, normal(rng, columns) if seed % 2 else None)


@pytest.mark.parametrize("rows", (40, 512))
@pytest.mark.parametrize("columns", (32, 512, 1024))
@pytest.mark.parametrize("transposed", (False, True), ids=("rows", "columns"))
@pytest.mark.parametrize("with_bias", (False, True), ids=("", "bias"))
def test_strides_of_whole_pages(rows, columns, transposed, with_bias):
    """Matrices of which oneDNN is given padded copies on some CPUs."""
    rng = np.random.default_rng(5)
    a = normal(rng, 48, rows).T if transposed else normal(rng, rows, 48)
    bias = normal(rng, columns) if with_bias else None
    check(a, normal(rng, 48, columns), unset(rows, columns), bias)
    check(a, normal(rng, 48, columns), unset(columns, rows).T)
    check(a, normal(rng, 48, columns + 512)[:, :columns], unset(rows, columns), bias)


def test_attention_views():
    """Heads split off and joined by views alone, as attention layers do it."""
    rng = np.random.default_rng(1)
    joined = normal(rng, 2, 5, 3, 4, 8)  # batch, time, (query, key, value), head, depth
    query, key, value = (joined[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
    scores = unset(2, 4, 5, 5)
    check(query, key.swapaxes(-1, -2), scores)
    check(scores, value, unset(2, 5, 4, 8).transpose(0, 2, 1, 3))
    check(scores.swapaxes(-1, -2), query, unset(2, 5, 4, 8).transpose(0, 2, 1, 3))


def test_bias_of_any_stride():
    rng = np.random.default_rng(2)
    check(normal(rng, 3, 4), normal(rng, 4, 5), unset(3, 5), normal(rng, 15)[1::3])


def test_rows_of_one_product_cost_one_primitive():
    dnnl.clear_cache()
    rng = np.random.default_rng(3)
    b = normal(rng, 4, 5)
    for shape in ((6, 4), (2, 3, 4), (1, 3, 2, 4), (6, 1, 4)):
        check(normal(rng, *shape), b, unset(*shape[:-1], 5))
    assert dnnl.cache_size() == 1


def test_empty():
    bias = np.arange(3, dtype=np.float32)
    out = unset(2, 3)
    dnnl.matmul(unset(2, 0), unset(0, 3), out)
    np.testing.assert_array_equal(out, np.zeros((2, 3)))
    dnnl.matmul(unset(2, 0), unset(0, 3), out, bias)
    np.testing.assert_array_equal(out, np.stack((bias, bias)))
    dnnl.matmul(unset(0, 2), unset(2, 3), unset(0, 3), bias)
    dnnl.matmul(unset(4, 2), unset(2, 0), unset(4, 0), bias[:0])
    dnnl.matmul(unset(0, 4, 2), unset(1, 2, 3), unset(0, 4, 3))


def test_same_bits_at_every_run():
    rng = np.random.default_rng(4)
    a, b = normal(rng, 65, 300), normal(rng, 300, 70)
    results = set()
    for _ in range(3):
        dnnl.clear_cache()
        out = unset(65, 70)
        dnnl.matmul(a, b, out)
        results.add(out.tobytes())
    assert len(results) == 1


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    (
        ((1.0, zeros(2, 2), zeros(2, 2)), TypeError, "'a' must be a numpy array, but got float"),
        ((zeros(2, 2), zeros(2, 2), None), TypeError, "'out' must be a numpy array, but got None"),
        ((zeros(2, 2), zeros(2, 2, dtype=int), zeros(2, 2)), TypeError, "'b' must be float32.*int"),
        ((zeros(2), zeros(2, 2), zeros(2)), ValueError, "rank of 'a' must be from 2 to 12.*got 1"),
        ((zeros(2, 2), zeros(2), zeros(2)), ValueError, "rank of 'b' must be from 2 to 12.*got 1"),
        ((zeros(*[1] * 13), zeros(1, 1), zeros(1, 1)), ValueError, "'a' must be at most 12.*13"),
        ((zeros(2, 2), zeros(2, 2), zeros(1, 2, 2)), ValueError, "rank of 'out' must be 2.*got 3"),
        ((zeros(2, 3), zeros(2, 3), zeros(2, 3)), ValueError, r"last but one of 'b'.*\(2, 3\)"),
        ((zeros(2, 3), zeros(3, 4), zeros(4, 2)), ValueError, r"'out' must be \(2, 4\).*\(4, 2\)"),
        (
            (zeros(2, 1, 3), zeros(3, 3, 4), zeros(3, 1, 4)),
            ValueError,
            r"leading sizes of 'a' and 'b' must be equal or 1.*\(2, 1, 3\) and \(3, 3, 4\)",
        ),
        (
            (zeros(2, 1, 3), zeros(1, 3, 4), zeros(1, 1, 4)),
            ValueError,
            r"shape of 'out' must be \(2, 1, 4\), but got \(1, 1, 4\)",
        ),
        (
            (zeros(0, 1, 3), zeros(2, 3, 4), zeros(2, 1, 4)),
            ValueError,
            "leading sizes of 'a' and 'b' must be equal or 1",
        ),
        (
            (zeros(2, 2), zeros(2, 2), zeros(2, 2), zeros(1)),
            ValueError,
            "size of 'bias' must be 2, but got 1",
        ),
        (
            (zeros(2, 2), zeros(2, 2), zeros(2, 2), zeros(1, 2)),
            ValueError,
            "rank of 'bias' must be 1, but got 2",
        ),
        (
            (zeros(2, 2)[::-1], zeros(2, 2), zeros(2, 2)),
            ValueError,
            r"'a' must be aligned .*got strides \(-8, 4\).*numpy.ascontiguousarray\(a\)",
        ),
        (
            (zeros(2, 2), zeros(2, 2), np.broadcast_to(zeros(2), (2, 2))),
            ValueError,
            "'out' must be writeable",
        ),
        (
            (np.broadcast_to(zeros(2), (2, 2)), zeros(2, 2), zeros(2, 2)),
            ValueError,
            r"'a' must be aligned and must not overlap.*got strides \(0, 4\)",
        ),
    ),
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=f"^For 'matmul', .*{message}"):
        dnnl.matmul(*arguments)
