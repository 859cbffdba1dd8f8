"""bfloat16 and float16 through `dist_ms._ext.dnnl`, against the float32 twins of the same values."""

import os
import subprocess
import sys

import ml_dtypes
import numpy as np
import pytest

from dist_ms import _ext
from dist_ms._ext import cpu, dnnl
from tests import reference_dnnl as reference
from tests.serial.kernels.onednn.dnnl_cases import channels_last, contiguous, normal, random_windows

BF16, F16 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float16)
WIDE = np.dtype(np.float32)
GROUPS = ((1, 5, 7), (2, 6, 4), (4, 4, 4), (1, 16, 32), (1, 1, 1))
TYPES = pytest.mark.parametrize("dtype", (BF16, F16), ids=str)
RESULTS = pytest.mark.parametrize("wide_result", (False, True))


def wide(array):
    """Return the values in float32."""
    return None if array is None else array.astype(WIDE)


def unset(like, dtype):
    """Return an output array in which a forgotten element shows."""
    return np.full_like(like, np.nan, dtype)


def compare(found, wanted):
    """Compare with the float32 result, as exactly as the type of `found` can hold it."""
    rtol = 1e-4 if found.dtype == WIDE else float(ml_dtypes.finfo(found.dtype).eps)
    np.testing.assert_allclose(wide(found), wanted, rtol=rtol, atol=1e-4 * np.abs(wanted).max(initial=1))


@TYPES
@RESULTS
@pytest.mark.parametrize("bias", (None, "narrow", "wide"))
@pytest.mark.parametrize("shapes", (((5, 7), (7, 3)), ((64, 96), (96, 48)), ((3, 9, 8), (3, 8, 4)), ((2, 0), (0, 4))))
def test_products(shapes, bias, wide_result, dtype):
    rng = np.random.default_rng(0)
    result = WIDE if wide_result else dtype
    a, b = (normal(rng, *shape).astype(dtype) for shape in shapes)
    added = None if bias is None else normal(rng, b.shape[-1]).astype(dtype if bias == "narrow" else WIDE)
    for left, right in ((a, b), (np.ascontiguousarray(a.swapaxes(-1, -2)).swapaxes(-1, -2), b)):
        out = np.full((*a.shape[:-1], b.shape[-1]), np.nan, result)
        dnnl.matmul(left, right, out, added)
        compare(out, reference.matmul(wide(a), wide(b), wide(added)))


@TYPES
@RESULTS
@pytest.mark.parametrize("spatial", (1, 2, 3))
@pytest.mark.parametrize("seed", range(6))
def test_convolutions(seed, spatial, wide_result, dtype):
    rng = np.random.default_rng((seed, spatial))
    result = WIDE if wide_result else dtype
    group, channels, out_channels = GROUPS[seed % len(GROUPS)]
    case = random_windows(rng, spatial, channels)
    layout = (channels_last, contiguous)[seed % 2]
    steps = (*case.steps, group)
    x = layout(normal(rng, *case.x_shape).astype(dtype))
    w = normal(rng, out_channels, channels // group, *case.kernel).astype(dtype)
    dy = layout(normal(rng, *case.y_shape(out_channels)).astype(dtype))
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


@TYPES
@pytest.mark.parametrize("kind", ("max", "avg", "avg_padded"))
@pytest.mark.parametrize("layout", (channels_last, contiguous))
def test_poolings(kind, layout, dtype):
    rng = np.random.default_rng(0)
    x = layout(normal(rng, 2, 5, 9, 8).astype(dtype))
    numbers = ((3, 2), (2, 2), ((1, 1), (0, 1)), (1, 1))
    wanted = reference.pool_forward(kind, wide(x), *numbers)
    out = layout(np.full(wanted.shape, np.nan, dtype))
    workspace = dnnl.pool_forward(kind, x, out, *numbers)
    compare(out, wanted)
    dy = layout(normal(rng, *wanted.shape).astype(dtype))
    dx = unset(x, dtype)
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
    with pytest.raises(TypeError, match="dtype of 'b' must be bfloat16 like that of 'a', but got float16"):
        dnnl.matmul(a, np.ones((2, 2), F16), np.empty((2, 2), WIDE))
    with pytest.raises(TypeError, match="dtype of 'out' must be float16 like that of 'a', but got bfloat16"):
        dnnl.matmul(np.ones((2, 2), F16), np.ones((2, 2), F16), np.empty((2, 2), BF16))
    x, w = np.ones((1, 1, 4), WIDE), np.ones((1, 1, 2), BF16)
    steps = ((1,), ((0, 0),), (1,), 1)
    with pytest.raises(TypeError, match="dtype of 'w' must be float32 like that of 'x', but got bfloat16"):
        dnnl.conv_forward(x, w, None, np.empty((1, 1, 3), WIDE), *steps)
    with pytest.raises(TypeError, match="dtype of 'out' must be bfloat16 like that of 'x', but got float32"):
        dnnl.pool_forward("avg", x.astype(BF16), np.empty((1, 1, 3), WIDE), (2,), (1,), ((0, 0),), (1,))


def test_float16_is_added_up_in_float32():
    """One in float16 and many of its half units: each of them alone would be lost; too large is infinite."""
    a = np.full((64, 2048), 2.0**-11, F16)
    a[:, 0] = 1
    b = np.ones((2048, 64), F16)
    out = np.empty((64, 64), F16)
    dnnl.matmul(a, b, out)
    assert (out == F16.type(1 + 2047 * 2.0**-11)).all()
    x = np.ascontiguousarray(a.T)[None, :, :, None]
    out = np.empty((1, 64, 64, 1), F16)
    dnnl.conv_forward(x, np.ascontiguousarray(b.T)[:, :, None, None], None, out, (1, 1), ((0, 0),) * 2, (1, 1), 1)
    assert (out == F16.type(1 + 2047 * 2.0**-11)).all()
    a[:] = 256
    out = np.empty((64, 64), F16)
    dnnl.matmul(a, b, out)
    assert np.isinf(out).all()
    smallest = np.full((64, 64), 2.0**-24, F16)
    dnnl.matmul(smallest, b[:64], out)
    assert (out == F16.type(2.0**-18)).all()


@pytest.mark.parametrize(
    "limit",
    [
        pytest.param({"ONEDNN_MAX_CPU_ISA": "AVX2"}, id="onednn"),
        pytest.param({"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_AMX"}, id="onednn_amx"),
        pytest.param({"ONEDNN_MAX_CPU_ISA": "AVX512_CORE_FP16"}, id="onednn_fp16"),
        pytest.param({"DIST_MS_MAX_ISA": "v3"}, id="dist_ms"),
    ],
)
@pytest.mark.skipif(cpu.level() < "v3", reason="a CPU without AVX2")
def test_without_its_instructions(limit):
    """The other tests of this file hold on a CPU that lacks bfloat16, or float16 alone."""
    if limit.get("DIST_MS_MAX_ISA", "v4") < min(_ext.BUILT):
        pytest.skip("kernels for older CPUs are not compiled here")
    lacking = "has_float16" if "AVX512" in limit.get("ONEDNN_MAX_CPU_ISA", "") else "has_bfloat16"
    if not getattr(dnnl, lacking)():
        pytest.skip("this process runs without those instructions itself")
    code = (
        f"import sys, pytest; from dist_ms._ext import dnnl; assert not dnnl.{lacking}();"
        "sys.exit(pytest.main(['-q', '-p', 'no:cacheprovider', '-x', '-k', 'not without', *sys.argv[1:]]))"
    )
    unlimited = {name: value for name, value in os.environ.items() if not name.endswith("_ISA")}
    result = subprocess.run(
        [sys.executable, "-c", code, __file__],
        env={**unlimited, **limit},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stdout + result.stderr
