"""bfloat16 convolutions made in float32, some images at a time, against those in float64."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.ops.capabilities import Capabilities
from dist_ms.ops.convolutions import conv_arrays, conv_float32, plan
from dist_ms.ops.convolutions.conv_geometry import Geometry
from dist_ms.ops.convolutions.plan import Algorithm
from tests.serial.kernels.calls import channels_last

BF16, F32 = np.dtype(ml_dtypes.bfloat16), np.dtype(np.float32)
CPUS = Capabilities(bfloat16=True), Capabilities(bfloat16=True, amx=True)
# x, w, stride, padding, dilation, groups
FORWARD = [
    ((9, 1, 32, 30), (8, 1, 3, 3), (1, 1), ((1, 1), (1, 1)), (1, 1), 1),
    ((7, 4, 33, 31), (15, 4, 2, 5), (2, 1), ((0, 1), (2, 0)), (1, 2), 1),
    ((5, 2, 900), (9, 2, 7), (1,), ((3, 1),), (2,), 1),
    ((2, 3, 9, 10, 30), (14, 3, 3, 2, 3), (1, 1, 1), ((1, 1), (0, 0), (1, 2)), (1, 1, 1), 1),
    ((3, 18, 20, 21), (18, 1, 7, 7), (1, 1), ((3, 3), (3, 3)), (1, 1), 18),
]
GRADIENT = [
    ((3, 18, 20, 21), (18, 1, 3, 5), (1, 1), ((1, 1), (2, 2)), (1, 1), 18),
    ((5, 32, 14, 15), (32, 1, 3, 3), (2, 2), ((1, 1), (0, 1)), (1, 1), 32),
    ((4, 7, 17, 11), (7, 1, 2, 3), (1, 3), ((0, 0), (1, 1)), (1, 2), 7),
]
LAYOUTS = pytest.mark.parametrize("layout", (channels_last, np.ascontiguousarray, np.asfortranarray))


@pytest.fixture(params=(1 << 18, 5000, 1), ids=("all at once", "some at a time", "one at a time"))
def in_cache(request, monkeypatch):
    monkeypatch.setattr(conv_float32, "_IN_CACHE", request.param)


def made(layout, *shapes):
    rng = np.random.default_rng(0)
    return [layout(rng.standard_normal(shape)).astype(BF16) for shape in shapes]


def compare(found, wanted):
    rounding = 2.0**-8 if found.dtype == BF16 else 1e-5
    np.testing.assert_allclose(found.astype(np.float64), wanted, rtol=rounding, atol=1e-5 * abs(wanted).max())


@LAYOUTS
@pytest.mark.parametrize("result", (BF16, F32), ids=str)
@pytest.mark.parametrize("with_bias", (False, True))
@pytest.mark.parametrize("numbers", FORWARD, ids=str)
def test_forward(numbers, with_bias, result, layout, in_cache):
    at = Geometry(*numbers)
    assert any(plan.forward(at, BF16, cpu).algorithm is Algorithm.IN_FLOAT32 for cpu in CPUS)
    x, w = made(layout, at.x, at.w)
    (bias,) = made(np.asarray, at.w[:1])
    out = channels_last(np.full(at.y, np.nan)).astype(result)
    conv_float32.convolve(x, w, bias if with_bias else None, at, out)
    wide = [a.astype(np.float64) for a in (x, w, bias)]
    compare(out, conv_arrays.convolve(*wide[:2], wide[2] if with_bias else None, at))


@LAYOUTS
@pytest.mark.parametrize("result", (BF16, F32), ids=str)
@pytest.mark.parametrize("numbers", GRADIENT, ids=str)
def test_gradient_of_the_input(numbers, result, layout, in_cache):
    at = Geometry(*numbers)
    assert any(plan.input_gradient(at, BF16, cpu).algorithm is Algorithm.IN_FLOAT32 for cpu in CPUS)
    dy, w = made(layout, at.y, at.w)
    dx = channels_last(np.full(at.x, np.nan)).astype(result)
    conv_float32.convolve_transposed(dy, w, at, dx)
    compare(dx, conv_arrays.convolve_transposed(dy.astype(np.float64), w.astype(np.float64), at))


def test_no_images():
    at = Geometry((0, 18, 9, 9), (18, 1, 7, 7), (1, 1), ((3, 3), (3, 3)), (1, 1), 18)
    x, w, out = made(channels_last, at.x, at.w, at.y)
    conv_float32.convolve(x, w, None, at, out)
    conv_float32.convolve_transposed(out, w, at, x)
