"""Convolutions and their gradients in which each channel has kernels of its own, against those in float64."""

import ml_dtypes
import numpy as np
import pytest

from dist_ms.ops.convolutions import conv_arrays
from dist_ms.ops.convolutions.conv_geometry import Geometry

# Sizes, kernel, stride, padding, dilation.
GEOMETRIES = [
    ((40,), (9,), (1,), ((4, 4),), (1,)),
    ((9, 12), (5, 3), (2, 1), ((2, 1), (0, 1)), (1, 1)),
    ((9, 12), (3, 3), (1, 1), ((1, 1), (1, 1)), (1, 2)),
    ((4, 6, 7), (3, 2, 3), (1, 1, 1), ((1, 2), (1, 0), (3, 2)), (1, 1, 2)),
    ((4, 6, 7), (3, 2, 3), (1, 2, 1), ((1, 1), (0, 0), (1, 2)), (1, 1, 2)),
]


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.float16], ids=str)
@pytest.mark.parametrize("geometry", GEOMETRIES, ids=str)
@pytest.mark.parametrize("is_last", [False, True], ids=["channels first", "channels last"])
@pytest.mark.parametrize("outputs", [18, 54])
def test_against_float64(dtype, geometry, is_last, outputs):
    sizes, kernel, *numbers = geometry
    rng = np.random.default_rng(0)
    shapes = (3, 18, *sizes), (outputs, 1, *kernel), (outputs,)
    x, w, bias = (rng.standard_normal(s).astype(dtype) for s in shapes)
    at = Geometry(x.shape, w.shape, *numbers, 18)
    dy = rng.standard_normal(at.y).astype(dtype)
    if is_last:
        x, dy = (np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 1, -1)), -1, 1) for a in (x, dy))
    found = conv_arrays.convolve(x, w, bias, at)
    found_dx = conv_arrays.convolve_transposed(dy, w, at)
    found_dw, found_db = conv_arrays.convolution_weights(x, dy, at, True)
    wide_x, wide_w, wide_bias, wide_dy = (a.astype(np.float64) for a in (x, w, bias, dy))
    wanted = conv_arrays.convolve(wide_x, wide_w, wide_bias, at)
    wanted_dx = conv_arrays.convolve_transposed(wide_dy, wide_w, at)
    wanted_dw, wanted_db = conv_arrays.convolution_weights(wide_x, wide_dy, at, True)
    tolerance = 1e-5 if dtype == np.float32 else 2.0 ** (-8 if dtype != np.float16 else -11)
    for one, other in ((found, wanted), (found_dx, wanted_dx), (found_dw, wanted_dw), (found_db, wanted_db)):
        assert one.dtype == dtype
        np.testing.assert_allclose(one.astype(np.float64), other, rtol=tolerance, atol=tolerance * abs(other).max())
