"""Convolutions of `dist_ms._ext.dnnl` against their NumPy twins."""

import numpy as np
import pytest

from dist_ms._ext import axis_reduction, dnnl, threads
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

GROUPS = ((1, 5, 7), (2, 6, 4), (4, 4, 4), (3, 3, 6), (1, 16, 32), (1, 1, 1))
TOLERANCE = {"rtol": 1e-4, "atol": 1e-4}


@pytest.fixture(params=(1, 2))
def thread_count(request):
    before = threads.get_num_threads()
    threads.set_num_threads(request.param)
    yield request.param
    threads.set_num_threads(before)


def check_all(rng, case, group, out_channels, x_layout, y_layout):
    """Run the three kernels on one case and compare them with the twins."""
    x = x_layout(normal(rng, *case.x_shape))
    w = normal(rng, out_channels, case.x_shape[1] // group, *case.kernel)
    bias = normal(rng, out_channels)
    dy = y_layout(normal(rng, *case.y_shape(out_channels)))
    steps = (*case.steps, group)

    for given in (bias, None):
        out = y_layout(unset(*dy.shape))
        dnnl.conv_forward(x, w, given, out, *steps)
        np.testing.assert_allclose(out, reference.conv_forward(x, w, given, *steps), **TOLERANCE)

    dx = x_layout(unset(*x.shape))
    dnnl.conv_backward_data(dy, w, dx, *steps)
    np.testing.assert_allclose(dx, reference.conv_backward_data(dy, w, x.shape, *steps), **TOLERANCE)

    wanted_dw, wanted_db = reference.conv_backward_weights(x, dy, w.shape, *steps)
    for db in (unset(out_channels), None):
        dw = unset(*w.shape)
        dnnl.conv_backward_weights(x, dy, dw, db, *steps)
        np.testing.assert_allclose(dw, wanted_dw, **TOLERANCE)
        if db is not None:
            np.testing.assert_allclose(db, wanted_db, **TOLERANCE)


@pytest.mark.parametrize("spatial", (1, 2, 3))
@pytest.mark.parametrize("seed", range(12))
def test_random_geometries(seed, spatial, thread_count):
    rng = np.random.default_rng((seed, spatial))
    group, channels, out_channels = GROUPS[seed % len(GROUPS)]
    case = random_windows(rng, spatial, channels)
    x_layout, y_layout = (LAYOUTS[i] for i in rng.integers(0, len(LAYOUTS), 2))
    check_all(rng, case, group, out_channels, x_layout, y_layout)


@pytest.mark.parametrize("x_layout", LAYOUTS)
@pytest.mark.parametrize("y_layout", LAYOUTS)
@pytest.mark.parametrize(
    "case",
    (
        pytest.param(Windows((2, 8, 9, 9), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1)), id="same"),
        pytest.param(Windows((2, 8, 9, 9), (1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1)), id="1x1"),
        pytest.param(Windows((2, 8, 9, 8), (3, 2), (2, 3), ((0, 2), (3, 1)), (2, 1)), id="mixed"),
        pytest.param(Windows((1, 8, 1, 1), (1, 1), (1, 1), ((0, 0), (0, 0)), (1, 1)), id="ones"),
        pytest.param(Windows((1, 8, 2, 2), (2, 2), (5, 5), ((4, 4), (4, 4)), (1, 1)), id="gaps"),
    ),
)
@pytest.mark.parametrize("group", (1, 8))
def test_layouts(case, group, x_layout, y_layout):
    check_all(np.random.default_rng(1), case, group, 8, x_layout, y_layout)


def test_layouts_give_the_same_bits():
    rng = np.random.default_rng(2)
    x, w = normal(rng, 2, 8, 7, 7), normal(rng, 16, 8, 3, 3)
    steps = (1, 1), ((1, 1), (1, 1)), (1, 1), 1
    first = unset(2, 16, 7, 7)
    dnnl.conv_forward(x, w, None, first, *steps)
    for layout in LAYOUTS:
        out = layout(unset(2, 16, 7, 7))
        dnnl.conv_forward(layout(x), w, None, out, *steps)
        np.testing.assert_array_equal(out, first)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(("group", "kernel"), ((1, 3), (1, 1), (4, 3), (16, 3)))
def test_no_layout_gets_slow_code(group, kernel, layout):
    """oneDNN has code for every layout, but the one it calls "ref" is hundreds of times slower."""
    dnnl.clear_cache()
    case = Windows((1, 16, 8, 8), (kernel,) * 2, (1, 1), ((0, 0), (0, 0)), (1, 1))
    check_all(np.random.default_rng(6), case, group, 16, layout, layout)
    codes = [code for _, code in dnnl.cache_contents()]
    assert len(codes) == 5
    assert not [code for code in codes if "ref" in code]


def test_weights_of_any_layout():
    rng = np.random.default_rng(3)
    x, dy = normal(rng, 2, 6, 8, 8), normal(rng, 2, 4, 6, 6)
    w = normal(rng, 4, 3, 3, 3)
    strided = np.zeros((3, 3, 3, 8), np.float32).transpose(3, 2, 1, 0)[::2]
    strided[...] = w
    steps = (1, 1), ((0, 0), (0, 0)), (1, 1), 2
    out = unset(2, 4, 6, 6)
    dnnl.conv_forward(x, strided, None, out, *steps)
    np.testing.assert_allclose(out, reference.conv_forward(x, w, None, *steps), **TOLERANCE)
    db = unset(8)[::2]
    dnnl.conv_backward_weights(x, dy, strided, db, *steps)
    dw, wanted_db = reference.conv_backward_weights(x, dy, w.shape, *steps)
    np.testing.assert_allclose(strided, dw, **TOLERANCE)
    np.testing.assert_allclose(db, wanted_db, **TOLERANCE)


def test_strided_bias():
    rng = np.random.default_rng(4)
    x, w, bias = normal(rng, 1, 3, 5), normal(rng, 4, 3, 2), normal(rng, 8)[1::2]
    out = unset(1, 4, 4)
    dnnl.conv_forward(x, w, bias, out, (1,), ((0, 0),), (1,), 1)
    wanted = reference.conv_forward(x, w, bias, (1,), ((0, 0),), (1,), 1)
    np.testing.assert_allclose(out, wanted, **TOLERANCE)


def test_new_weights_are_seen():
    x, w, out = np.ones((1, 1, 3), np.float32), np.ones((1, 1, 1), np.float32), unset(1, 1, 3)
    for value in (1, 2, 3):
        w[...] = value
        dnnl.conv_forward(x, w, None, out, (1,), ((0, 0),), (1,), 1)
        np.testing.assert_array_equal(out, np.full((1, 1, 3), value))


@pytest.mark.parametrize("layout", (contiguous, channels_last))
def test_same_bits_at_every_run(layout, thread_count):
    rng = np.random.default_rng(5)
    x, dy = layout(normal(rng, 4, 16, 14, 14)), layout(normal(rng, 4, 32, 14, 14))
    steps = (1, 1), ((1, 1), (1, 1)), (1, 1), 1
    results = []
    for _ in range(3):
        dnnl.clear_cache()
        dw, db = unset(32, 16, 3, 3), unset(32)
        dnnl.conv_backward_weights(x, dy, dw, db, *steps)
        results.append((dw.tobytes(), db.tobytes()))
    assert results[0] == results[1] == results[2]


def test_subnormals_count_as_before(thread_count):
    """Without AVX-512 they are zeros while a convolution runs that leaves lanes idle, on all threads, and no longer."""
    small = np.full(1 << 20, 1e-40, np.float32)
    wanted = axis_reduction.reduce_axes(small, (0,), "sum")
    np.testing.assert_allclose(wanted, 1e-40 * small.size, rtol=1e-4)
    x, w = channels_last(np.full((8, 16, 32, 32), 1e-40, np.float32)), np.ones((3, 16, 3, 3), np.float32)
    out = channels_last(unset(8, 3, 32, 32))
    steps = (1, 1), ((1, 1), (1, 1)), (1, 1), 1
    for _ in range(3):
        dnnl.conv_forward(x, w, None, out, *steps)
        np.testing.assert_allclose(out, reference.conv_forward(x, w, None, *steps), rtol=1e-4, atol=144 * 1.2e-38)
        assert axis_reduction.reduce_axes(small, (0,), "sum") == wanted


def test_empty_batch():
    x, dy = unset(0, 2, 5), unset(0, 3, 4)
    w, bias = np.ones((3, 2, 2), np.float32), np.ones(3, np.float32)
    steps = (1,), ((0, 0),), (1,), 1
    dw, db = unset(3, 2, 2), unset(3)
    before = dnnl.cache_size()
    dnnl.conv_forward(x, w, bias, dy, *steps)
    dnnl.conv_backward_data(dy, w, x, *steps)
    dnnl.conv_backward_weights(x, dy, dw, db, *steps)
    assert dnnl.cache_size() == before
    assert not dw.any() and not db.any()


def test_no_input_channels():
    out, dw, db = unset(1, 3, 4), unset(3, 0, 2), unset(3)
    dnnl.conv_forward(
        unset(1, 0, 5), unset(3, 0, 2), np.arange(3, dtype=np.float32), out,
        (1,), ((0, 0),), (1,), 1,
    )  # fmt: skip
    np.testing.assert_array_equal(out, np.broadcast_to(np.arange(3)[:, None], (1, 3, 4)))
    dnnl.conv_backward_weights(unset(1, 0, 5), out, dw, db, (1,), ((0, 0),), (1,), 1)
    np.testing.assert_array_equal(db, 4.0 * np.arange(3))


def forward_arguments(**changes):
    """Return valid arguments of conv_forward with some replaced."""
    arguments = {
        "x": np.zeros((2, 4, 6, 6), np.float32),
        "w": np.zeros((8, 2, 3, 3), np.float32),
        "bias": np.zeros(8, np.float32),
        "out": np.zeros((2, 8, 4, 4), np.float32),
        "stride": (1, 1),
        "padding": ((0, 0), (0, 0)),
        "dilation": (1, 1),
        "group": 2,
    }
    assert changes.keys() <= arguments.keys()
    return arguments | changes


F32 = np.float32


@pytest.mark.parametrize(
    ("changes", "error", "message"),
    (
        ({"x": [1.0]}, TypeError, "'x' must be a numpy array, but got list"),
        ({"w": None}, TypeError, "'w' must be a numpy array, but got NoneType"),
        ({"x": np.zeros((2, 4, 6, 6))}, TypeError, "dtype of 'x' must be float32.*float64"),
        ({"bias": np.zeros(8, ">f4")}, TypeError, "dtype of 'bias' must be float32.*>f4"),
        ({"x": np.zeros((2, 4), F32)}, ValueError, "rank of 'x' must be from 3 to 5, but got 2"),
        ({"w": np.zeros((8, 2, 3), F32)}, ValueError, "rank of 'w' must be 4, but got 3"),
        ({"out": np.zeros((2, 8, 4), F32)}, ValueError, "rank of 'out' must be 4, but got 3"),
        ({"bias": np.zeros((8, 1), F32)}, ValueError, "rank of 'bias' must be 1, but got 2"),
        ({"bias": np.zeros(7, F32)}, ValueError, "size of 'bias' must be 8, but got 7"),
        ({"out": np.zeros((3, 8, 4, 4), F32)}, ValueError, "batch size of 'out' must be 2.*got 3"),
        ({"out": np.zeros((2, 7, 4, 4), F32)}, ValueError, "channels of 'out' must be 8.*got 7"),
        ({"out": np.zeros((2, 8, 4, 5), F32)}, ValueError, "dimension 1 of 'out' must be 4.*got 5"),
        ({"w": np.zeros((8, 3, 3, 3), F32)}, ValueError, "channels of 'x' must be 6 .*but got 4"),
        ({"w": np.zeros((8, 2, 0, 3), F32)}, ValueError, r"kernel of 'w' must be positive.*\(0, 3"),
        ({"w": np.zeros((8, 2, 7, 3), F32)}, ValueError, "must fit into the padded 'x'.*7 of 6"),
        ({"group": 3}, ValueError, "'group' must divide the 8 output channels of 'w', but got 3"),
        ({"group": 0}, ValueError, "'group' must be an int from 1 .*but got 0"),
        ({"group": 1.0}, TypeError, "'group' must be an int, but got 1.0"),
        ({"stride": 1}, TypeError, "'stride' must be a tuple of 2 ints, but got 1"),
        ({"stride": (1,)}, ValueError, "'stride' must be a tuple of 2 ints.*but got"),
        ({"stride": (1, -1)}, ValueError, "'stride' must be an int from 1 .*but got -1"),
        ({"stride": (1, True)}, TypeError, "'stride' must be an int, but got True"),
        ({"stride": (1, 10**30)}, ValueError, "'stride' must be an int from 1 to"),
        ({"dilation": (0, 1)}, ValueError, "'dilation' must be an int from 1 .*but got 0"),
        ({"padding": 0}, TypeError, "'padding' must be a tuple of .*pairs, but got 0"),
        ({"padding": ((0, 0),)}, ValueError, "'padding' must hold 2 .*pairs"),
        ({"padding": (0, 0)}, TypeError, "'padding' must be a tuple of 2 ints, but got 0"),
        ({"padding": ((0, -1), (0, 0))}, ValueError, "'padding' must be an int from 0 .*got -1"),
    ),
)
def test_bad_arguments(changes, error, message):
    with pytest.raises(error, match=f"^For 'conv_forward', .*{message}"):
        dnnl.conv_forward(*forward_arguments(**changes).values())


def test_layouts_that_onednn_cannot_describe():
    x = np.zeros((2, 4, 6, 6), np.float32)
    stretched = np.broadcast_to(np.zeros((1, 4, 6, 6), np.float32), x.shape)
    misaligned = np.zeros(x.nbytes + 1, np.uint8)[1:].view(np.float32).reshape(x.shape)
    within_records = np.zeros(x.shape, [("value", np.float32), ("tag", np.uint8)])["value"]
    for bad in (x[:, :, ::-1], stretched, misaligned, within_records):
        with pytest.raises(ValueError, match="'x' must be aligned .*got strides.*ascontiguousarray.x"):
            dnnl.conv_forward(*forward_arguments(x=bad).values())
    frozen = np.zeros((2, 8, 4, 4), np.float32)
    frozen.flags.writeable = False
    with pytest.raises(ValueError, match="'out' must be writeable, but it is read-only"):
        dnnl.conv_forward(*forward_arguments(out=frozen).values())


def test_backward_kernels_name_their_own_arguments():
    good = forward_arguments()
    steps = tuple(good[name] for name in ("stride", "padding", "dilation", "group"))
    x, w, out = good["x"], good["w"], good["out"]
    with pytest.raises(ValueError, match="^For 'conv_backward_data', .*'dy' must be 4, but got 3"):
        dnnl.conv_backward_data(out[:, :, :3], w, x, *steps)
    with pytest.raises(ValueError, match="^For 'conv_backward_weights', .*'dw' .*got strides"):
        dnnl.conv_backward_weights(x, out, w[:, :, ::-1], None, *steps)
    with pytest.raises(ValueError, match="^For 'conv_backward_weights', .*'db' must be 8"):
        dnnl.conv_backward_weights(x, out, w, np.zeros(9, np.float32), *steps)
