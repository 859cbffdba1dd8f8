"""bfloat16 through `dist_ms._ext.dnnl`, against the float32 twins of the same values."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from dist_ms._ext import cpu, dnnl
from tests import reference_dnnl as reference
from tests.serial.kernels.dnnl_cases import channels_last, contiguous, normal, random_windows

BF16 = np.dtype(ml_dtypes.bfloat16)
WIDE = np.dtype(np.float32)
GROUPS = ((1, 5, 7), (2, 6, 4), (4, 4, 4), (1, 16, 32), (1, 1, 1))
RESULTS = pytest.mark.parametrize("result", (BF16, WIDE), ids=str)


def narrow(array):
    """Return the values rounded to bfloat16, in the array's layout."""
    return array.astype(BF16)


def wide(array):
    """Return the values in float32."""
    return None if array is None else array.astype(WIDE)


def unset(like, dtype):
    """Return an output array in which a forgotten element shows."""
    return np.full_like(like, np.nan, dtype)


def compare(found, wanted):
    """Compare with the float32 result, as exactly as the type of `found` can hold it."""
    rtol = 1e-4 if found.dtype == WIDE else 2**-8
    np.testing.assert_allclose(wide(found), wanted, rtol=rtol, atol=1e-4 * np.abs(wanted).max(initial=1))


@RESULTS
@pytest.mark.parametrize("bias", (None, BF16, WIDE), ids=str)
@pytest.mark.parametrize("shapes", (((5, 7), (7, 3)), ((64, 96), (96, 48)), ((3, 9, 8), (3, 8, 4)), ((2, 0), (0, 4))))
def test_products(shapes, bias, result):
    rng = np.random.default_rng(0)
    a, b = (narrow(normal(rng, *shape)) for shape in shapes)
    added = None if bias is None else normal(rng, b.shape[-1]).astype(bias)
    for left, right in ((a, b), (np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2), b)):
        out = np.full((*a.shape[:-1], b.shape[-1]), np.nan, result)
        dnnl.matmul(left, right, out, added)
        compare(out, reference.matmul(wide(a), wide(b), wide(added)))


@RESULTS
@pytest.mark.parametrize("spatial", (1, 2, 3))
@pytest.mark.parametrize("seed", range(6))
def test_convolutions(seed, spatial, result):
    rng = np.random.default_rng((seed, spatial))
    group, channels, out_channels = GROUPS[seed % len(GROUPS)]
    case = random_windows(rng, spatial, channels)
    layout = (channels_last, contiguous)[seed % 2]
    steps = (*case.steps, group)
    x = layout(narrow(normal(rng, *case.x_shape)))
    w = narrow(normal(rng, out_channels, channels // group, *case.kernel))
    dy = layout(narrow(normal(rng, *case.y_shape(out_channels))))
    bias = normal(rng, out_channels).astype(result)

    out = unset(dy, result)
    dnnl.conv_forward(x, w, bias, out, *steps)
    compare(out, reference.conv_forward(wide(x), wide(w), wide(bias), *steps))
    dx = unset(x, result)
    dnnl.conv_backward_data(dy, w, dx, *steps)
    compare(dx, reference.conv_backward_data(wide(dy), wide(w), x.shape, *steps))
    dw, db = unset(w, result), unset(bias, result)
    dnnl.conv_backward_weights(x, dy, dw, db, *steps)
    for found, wanted in zip((dw, db), reference.conv_backward_weights(wide(x), wide(dy), w.shape, *steps)):
        compare(found, wanted)


@pytest.mark.parametrize("kind", ("max", "avg", "avg_padded"))
@pytest.mark.parametrize("layout", (channels_last, contiguous))
def test_poolings(kind, layout):
    rng = np.random.default_rng(0)
    x = layout(narrow(normal(rng, 2, 5, 9, 8)))
    numbers = ((3, 2), (2, 2), ((1, 1), (0, 1)), (1, 1))
    wanted = reference.pool_forward(kind, wide(x), *numbers)
    out = layout(np.full(wanted.shape, np.nan, BF16))
    workspace = dnnl.pool_forward(kind, x, out, *numbers)
    compare(out, wanted)
    dy = layout(narrow(normal(rng, *wanted.shape)))
    dx = unset(x, BF16)
    dnnl.pool_backward(kind, dy, dx, workspace, *numbers)
    wanted = reference.pool_backward(kind, wide(dy), wide(x), *numbers)
    # Windows overlap, and oneDNN may round after each.
    np.testing.assert_allclose(wide(dx), wanted, rtol=2**-7, atol=2**-6)


def test_mixed_inputs_are_refused():
    a, b = np.ones((2, 2), BF16), np.ones((2, 2), WIDE)
    with pytest.raises(TypeError, match="dtype of 'b' must be bfloat16 like that of 'a', but got float32"):
        dnnl.matmul(a, b, np.empty((2, 2), WIDE))
    with pytest.raises(TypeError, match="dtype of 'out' must be float32 like that of 'a', but got bfloat16"):
        dnnl.matmul(b, b, np.empty((2, 2), BF16))
    x, w = np.ones((1, 1, 4), WIDE), np.ones((1, 1, 2), BF16)
    steps = ((1,), ((0, 0),), (1,), 1)
    with pytest.raises(TypeError, match="dtype of 'w' must be float32 like that of 'x', but got bfloat16"):
        dnnl.conv_forward(x, w, None, np.empty((1, 1, 3), WIDE), *steps)
    with pytest.raises(TypeError, match="dtype of 'out' must be bfloat16 like that of 'x', but got float32"):
        dnnl.pool_forward("avg", x.astype(BF16), np.empty((1, 1, 3), WIDE), (2,), (1,), ((0, 0),), (1,))


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param({"ONEDNN_MAX_CPU_ISA": "AVX2"}, id="onednn"),
        pytest.param({"DIST_MS_MAX_ISA": "v3"}, id="dist_ms"),
    ],
)
@pytest.mark.skipif(cpu.level() < "v3", reason="a CPU without AVX2")
def test_without_its_instructions(limit):
    """The other tests of this file hold on a CPU that has no bfloat16."""
    if not dnnl.has_bfloat16():
        pytest.skip("this process runs without bfloat16 instructions itself")
    code = (
        "import sys, pytest; from dist_ms._ext import dnnl; assert not dnnl.has_bfloat16();"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-x', *sys.argv[1:]]))"
    )
    result = subprocess.run(
        [sys.executable, "-c", code, __file__],
        env={**os.environ, **limit},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
