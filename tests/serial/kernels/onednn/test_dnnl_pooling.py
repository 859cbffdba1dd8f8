"""Poolings of `dist_ms._ext.dnnl` against their NumPy twins."""

from dataclasses import replace

import numpy as np
import pytest

from dist_ms._ext import dnnl, threads
from tests import reference_dnnl as reference
from tests.serial.kernels.onednn.dnnl_cases import (
    LAYOUTS,
    Windows,
    channels_last,
    contiguous,
    normal,
    random_windows,
    unset,
)

KINDS = ("max", "avg", "avg_padded")
TOLERANCE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(params=(1, 2))
def thread_count(request):
    before = threads.get_num_threads()
    threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(before)


def check_both(rng, kind, case, x_layout, y_layout):
    """Run both kernels on one case and compare them with the twins."""
    channels = case.x_shape[1]
    x = x_layout(normal(rng, *case.x_shape) - 3)  # Below zero: padding must not win a maximum.
    dy = y_layout(normal(rng, *case.y_shape(channels)))
    out, dx = y_layout(unset(*dy.shape)), x_layout(unset(*x.shape))
    numbers = case.kernel, *case.steps
    workspace = dnnl.pool_forward(kind, x, out, *numbers)
    assert (workspace is None) == (kind != "max")
    np.testing.assert_allclose(out, reference.pool_forward(kind, x, *numbers), **TOLERANCE)
    dnnl.pool_backward(kind, dy, dx, workspace, *numbers)
    np.testing.assert_allclose(dx, reference.pool_backward(kind, dy, x, *numbers), **TOLERANCE)


def has_bare_window(case):
    """Say whether a window has padding only, which "max" and "avg" refuse."""
    return not reference.pool_counts(case.x_shape, case.kernel, *case.steps).all()


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("spatial", (1, 2, 3))
@pytest.mark.parametrize("seed", range(12))
def test_random_geometries(seed, spatial, kind, thread_count):
    rng = np.random.default_rng((seed, spatial))
    case = random_windows(rng, spatial, int(rng.choice((1, 3, 16, 20))))
    x_layout, y_layout = (LAYOUTS[i] for i in rng.integers(0, len(LAYOUTS), 2))
    if kind == "avg":  # With dilation it has limits, tested below.
        case = replace(case, dilation=(1,) * spatial)
    if kind != "avg_padded" and has_bare_window(case):
        out, x = unset(*case.y_shape(case.x_shape[1])), unset(*case.x_shape)
        with pytest.raises(ValueError, match="'padding' must leave an element in each window"):
            dnnl.pool_forward(kind, x, out, case.kernel, *case.steps)
    else:
        check_both(rng, kind, case, x_layout, y_layout)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("x_layout", LAYOUTS)
@pytest.mark.parametrize("y_layout", LAYOUTS)
@pytest.mark.parametrize(
    "case",
    (
        pytest.param(Windows((2, 8, 8, 8), (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)), id="halve"),
        pytest.param(Windows((2, 8, 9, 9), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)), id="resnet"),
        pytest.param(Windows((2, 8, 7, 7), (7, 7), (1, 1), ((0, 0), (0, 0)), (1, 1)), id="global"),
        pytest.param(Windows((2, 8, 7, 7), (2, 2), (2, 2), ((0, 1), (0, 1)), (1, 1)), id="ceil"),
        pytest.param(Windows((1, 8, 1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)), id="ones"),
        pytest.param(Windows((2, 8, 9, 9), (2, 3), (1, 2), ((1, 0), (0, 2)), (3, 2)), id="mixed"),
        pytest.param(Windows((1, 8, 9, 9), (2, 2), (4, 4), ((0, 0), (0, 0)), (1, 1)), id="gaps"),
        pytest.param(Windows((1, 4, 18, 18), (17, 16), (1, 1), ((0, 0),) * 2, (1, 1)), id="large"),
    ),
)
def test_layouts(case, kind, x_layout, y_layout):
    check_both(np.random.default_rng(1), kind, case, x_layout, y_layout)


@pytest.mark.parametrize(
    "case",
    (
        pytest.param(Windows((1, 3, 4), (2,), (1,), ((2, 0),), (3,)), id="before"),
        pytest.param(Windows((1, 3, 4), (2,), (1,), ((0, 2),), (3,)), id="after"),
        pytest.param(Windows((1, 3, 1), (3,), (1,), ((2, 2),), (2,)), id="dilation"),
    ),
)
def test_limits_of_dilated_means(case):
    message = "if 'kind' is 'avg', 'padding' must be less than 'kernel' and 'dilation' at most"
    x, out = unset(*case.x_shape), unset(*case.y_shape(3))
    with pytest.raises(ValueError, match=message):
        dnnl.pool_forward("avg", x, out, case.kernel, *case.steps)


def test_dilation_of_single_elements_is_ignored():
    case = Windows((1, 3, 1), (1,), (1,), ((0, 0),), (2,))
    for kind in KINDS:
        check_both(np.random.default_rng(5), kind, case, contiguous, contiguous)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_no_layout_gets_slow_code(kind, layout):
    dnnl.clear_cache()
    case = Windows((1, 16, 9, 9), (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1))
    check_both(np.random.default_rng(6), kind, case, layout, layout)
    codes = [code for _, code in dnnl.cache_contents()]
    assert len(codes) == 2
    assert all(code.startswith("jit") for code in codes)


def test_workspace_serves_every_layout():
    """Backward may meet other layouts than forward did."""
    rng = np.random.default_rng(2)
    numbers = (3, 3), (2, 2), ((1, 1), (1, 1)), (1, 1)
    x, dy = normal(rng, 2, 8, 9, 9), normal(rng, 2, 8, 5, 5)
    wanted = reference.pool_backward("max", dy, x, *numbers)
    for forward in LAYOUTS:
        workspace = dnnl.pool_forward("max", forward(x), forward(unset(*dy.shape)), *numbers)
        for backward in LAYOUTS:
            dx = backward(unset(*x.shape))
            dnnl.pool_backward("max", backward(dy), dx, workspace, *numbers)
            np.testing.assert_allclose(dx, wanted, **TOLERANCE)


@pytest.mark.parametrize("layout", (contiguous, channels_last))
def test_first_of_equal_maxima_gets_the_gradient(layout):
    numbers = (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)
    x = layout(np.random.default_rng(3).integers(0, 2, (2, 16, 6, 6)).astype(np.float32))
    dy = layout(normal(np.random.default_rng(4), 2, 16, 6, 6))
    out, dx = layout(unset(*x.shape)), layout(unset(*x.shape))
    workspace = dnnl.pool_forward("max", x, out, *numbers)
    dnnl.pool_backward("max", dy, dx, workspace, *numbers)
    np.testing.assert_allclose(dx, reference.pool_backward("max", dy, x, *numbers), **TOLERANCE)


def test_empty():
    numbers = (2,), (2,), ((0, 0),), (1,)
    x, out = unset(0, 3, 4), unset(0, 3, 2)
    for kind in KINDS:
        workspace = dnnl.pool_forward(kind, x, out, *numbers)
        dnnl.pool_backward(kind, out, x, workspace, *numbers)
    numbers = (2,), (1,), ((1, 1),), (1,)
    out = unset(1, 3, 1)
    dnnl.pool_forward("avg_padded", unset(1, 3, 0), out, *numbers)
    assert not out.any()
    with pytest.raises(ValueError, match="window 0 of spatial dimension 0 has none"):
        dnnl.pool_forward("max", unset(1, 3, 0), out, *numbers)


def zeros(*shape, dtype=np.float32):
    return np.zeros(shape, dtype)


GOOD = {
    "kind": "max",
    "x": zeros(2, 3, 6, 6),
    "out": zeros(2, 3, 3, 3),
    "kernel": (2, 2),
    "stride": (2, 2),
    "padding": ((0, 0), (0, 0)),
    "dilation": (1, 1),
}


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    (
        ({"kind": "sum"}, ValueError, "'kind' must be 'max', 'avg' or 'avg_padded', but got 'sum'"),
        ({"x": zeros(2, 3, 6, 6, dtype=np.float64)}, TypeError, "'x' must be float32.*float64"),
        ({"x": zeros(3, 6)}, ValueError, "rank of 'x' must be from 3 to 5, but got 2"),
        ({"out": zeros(2, 3, 3)}, ValueError, "rank of 'out' must be 4, but got 3"),
        ({"out": zeros(2, 4, 3, 3)}, ValueError, "channels of 'out' must be 3, but got 4"),
        ({"out": zeros(1, 3, 3, 3)}, ValueError, "batch size of 'out' must be 2, but got 1"),
        ({"out": zeros(2, 3, 4, 3)}, ValueError, "dimension 0 of 'out' must be 3, but got 4"),
        ({"kernel": (2,)}, ValueError, "'kernel' must be a tuple of 2 ints"),
        ({"kernel": (0, 2)}, ValueError, "'kernel' must be an int from 1 .*but got 0"),
        ({"kernel": (7, 2)}, ValueError, "must fit into the padded 'x'.*7 of 6"),
        ({"stride": (0, 2)}, ValueError, "'stride' must be an int from 1 .*but got 0"),
        ({"padding": ((2, 0), (0, 0)), "out": zeros(2, 3, 4, 3)}, ValueError, "window 0 of"),
        ({"padding": ((0, 2), (0, 0)), "out": zeros(2, 3, 4, 3)}, ValueError, "window 3 of"),
    ),
)
def test_bad_arguments(changes, error, message):
    with pytest.raises(error, match=f"^For 'pool_forward', .*{message}"):
        dnnl.pool_forward(*(GOOD | changes).values())


@pytest.mark.parametrize(
    ("workspace", "error"),
    (
        (None, TypeError),
        (zeros(54), TypeError),
        (zeros(53, dtype=np.uint8), ValueError),
        (zeros(108, dtype=np.uint8)[::2], ValueError),
    ),
)
def test_foreign_workspace(workspace, error):
    kind, x, out, *numbers = GOOD.values()
    assert dnnl.pool_forward(kind, x, out, *numbers).size == 54
    with pytest.raises(error, match="^For 'pool_backward', 'workspace' must be the "):
        dnnl.pool_backward(kind, out, x, workspace, *numbers)


def test_workspace_of_a_mean_is_refused():
    _, x, out, *numbers = GOOD.values()
    with pytest.raises(ValueError, match="'workspace' must be None if 'kind' is 'avg', but got"):
        dnnl.pool_backward("avg", out, x, zeros(54, dtype=np.uint8), *numbers)
