"""Pooling layers. Numbers not derived here are MindSpore 2.10's."""

import numpy as np
import pytest

from dist_ms import nn
from tests.precisions import normal, tensor


def ramp(*shape):
    return tensor(np.arange(np.prod(shape)).reshape(shape))


@pytest.mark.parametrize(
    "layer, shape, wanted",
    [
        (nn.MaxPool2d(2, 2), (1, 1, 5, 5), [6, 8, 16, 18]),
        (nn.MaxPool2d(2, 2, "same"), (1, 1, 3, 3), [4, 5, 7, 8]),
        (nn.MaxPool2d(3, 2, "pad", 1), (1, 1, 4, 4), [5, 7, 13, 15]),
        (nn.MaxPool2d(3, 2, "pad", 0, 2), (1, 1, 6, 6), [28]),
        (nn.MaxPool2d(2, 2, "pad", ceil_mode=True), (1, 1, 5, 5), [6, 8, 9, 16, 18, 19, 21, 23, 24]),
        (nn.MaxPool2d(2, 2), (1, 5, 5), [6, 8, 16, 18]),
        (nn.MaxPool1d(2, 2), (1, 1, 5), [1, 3]),
        (nn.MaxPool1d(2, 2, "same"), (1, 5), [1, 3, 4]),
        (nn.MaxPool1d(2, 2, "pad", 1), (1, 1, 5), [0, 2, 4]),
        (nn.MaxPool3d(2, 2), (1, 1, 4, 4, 4), [21, 23, 29, 31, 53, 55, 61, 63]),
        (nn.MaxPool3d(2, 2, "same"), (1, 1, 3, 3, 3), [13, 14, 16, 17, 22, 23, 25, 26]),
        (nn.AvgPool2d(2, 2), (1, 1, 5, 5), [3, 5, 13, 15]),
        (nn.AvgPool2d(2, 2, "same"), (1, 1, 5, 5), [3, 5, 6.5, 13, 15, 16.5, 20.5, 22.5, 24]),
        (nn.AvgPool2d(3, 2, "pad", 1), (1, 1, 4, 4), [10 / 9, 8 / 3, 17 / 3, 10]),
        (nn.AvgPool2d(3, 2, "pad", 1, count_include_pad=False), (1, 1, 4, 4), [2.5, 4, 8.5, 10]),
        (nn.AvgPool2d(2, 2, "pad", 0, divisor_override=3), (1, 1, 4, 4), [10 / 3, 6, 14, 50 / 3]),
        (nn.AvgPool1d(2, 2), (1, 1, 5), [0.5, 2.5]),
        (nn.AvgPool1d(2, 2, "same"), (1, 1, 5), [0.5, 2.5, 4]),
        (nn.AvgPool1d(2, 2, "pad", 1), (1, 1, 5), [0, 1.5, 3.5]),
        (nn.AvgPool3d(2, 2, "same"), (1, 1, 3, 3, 3), [6.5, 4, 5.5, 3.125, 10, 5.375, 6.125, 3.25]),
        (nn.AdaptiveAvgPool1d(3), (1, 1, 6), [0.5, 2.5, 4.5]),
        (nn.AdaptiveAvgPool2d((2, None)), (1, 1, 3, 2), [1, 2, 3, 4]),
        (nn.AdaptiveMaxPool1d(3), (1, 1, 6), [1, 3, 5]),
        (nn.AdaptiveMaxPool2d(2), (1, 1, 4, 4), [5, 7, 13, 15]),
        (nn.LPPool1d(2, 3), (1, 1, 7), [5**0.5, 50**0.5]),
    ],
)
def test_values(layer, shape, wanted):
    np.testing.assert_allclose(layer(ramp(*shape)).asnumpy().ravel(), wanted, rtol=1e-6)


@pytest.mark.parametrize(
    "layer, shape",
    [
        (nn.MaxPool2d(3, 2, "pad", 1, return_indices=True), (1, 1, 4, 4)),
        (nn.AdaptiveMaxPool2d((None, 2), True), (1, 1, 4, 4)),
        (nn.AdaptiveMaxPool3d(2, True), (1, 1, 4, 4, 4)),
        (nn.MaxPool1d(2, 2, "pad", 1, return_indices=True), (1, 1, 5)),
    ],
)
def test_indices(layer, shape):
    out, index = layer(ramp(*shape))
    assert np.array_equal(out.asnumpy(), index.asnumpy())


@pytest.mark.parametrize(
    "layer, shape",
    [
        (nn.AdaptiveAvgPool3d(2), (1, 2, 4, 4, 5)),
        (nn.AdaptiveMaxPool3d(2), (1, 2, 4, 4, 5)),
        (nn.MaxPool3d(2, 2), (1, 2, 4, 4, 5)),
        (nn.AvgPool3d(2, 2), (1, 2, 4, 4, 5)),
        (nn.LPPool2d(2, 2), (1, 2, 4, 5)),
    ],
)
def test_halves(layer, shape):
    assert layer(tensor(normal(*shape))).shape == (*shape[:2], *(2,) * (len(shape) - 2))


def test_text():
    assert repr(nn.MaxPool2d(2, 2)) == "MaxPool2d(kernel_size=2, stride=2, pad_mode=VALID)"
    assert repr(nn.MaxPool1d(2, 2)) == "MaxPool1d(kernel_size=(1, 2), stride=(1, 2), pad_mode=VALID)"
    assert repr(nn.AvgPool3d(2, 2, "pad")) == "AvgPool3d(kernel_size=2, stride=2, pad_mode=PAD)"
    assert repr(nn.AdaptiveAvgPool2d(1)) == "AdaptiveAvgPool2d()"


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda: nn.MaxPool2d(0), ValueError),
        (lambda: nn.MaxPool2d(2, 0), ValueError),
        (lambda: nn.MaxPool2d(2.0), TypeError),
        (lambda: nn.MaxPool2d((2, 2, 2)), ValueError),
        (lambda: nn.MaxPool2d(2, 2, "foo"), ValueError),
        (lambda: nn.MaxPool2d(3, 2, "valid", 1), ValueError),
        (lambda: nn.MaxPool2d(3, 2, "same", return_indices=True), ValueError),
        (lambda: nn.MaxPool2d(3, 2, ceil_mode=True), ValueError),
        (lambda: nn.MaxPool2d(2, pad_mode="pad", ceil_mode=1), TypeError),
        (lambda: nn.MaxPool2d(3, 2, "pad", 2), ValueError),
        (lambda: nn.MaxPool2d(2, data_format="NHWC"), ValueError),
        (lambda: nn.MaxPool2d(2, pad_mode="pad", padding="a"), TypeError),
        (lambda: nn.MaxPool1d((2,), 2), TypeError),
        (lambda: nn.MaxPool3d((2, 2), 2), ValueError),
        (lambda: nn.MaxPool2d(2)(ramp(5, 5)), ValueError),
        (lambda: nn.MaxPool2d(6)(ramp(1, 1, 5, 5)), ValueError),
        (lambda: nn.MaxPool1d(2)(ramp(4)), ValueError),
        (lambda: nn.AvgPool2d("a"), TypeError),
        (lambda: nn.AvgPool2d(2, 2, "valid", 1), ValueError),
        (lambda: nn.AvgPool2d(2, divisor_override=0), ValueError),
        (lambda: nn.AvgPool2d(2, pad_mode="pad", count_include_pad=1), TypeError),
        (lambda: nn.AvgPool2d(6)(ramp(1, 1, 5, 5)), RuntimeError),
        (lambda: nn.AdaptiveAvgPool1d(0), ValueError),
        (lambda: nn.AdaptiveAvgPool1d((3,)), TypeError),
        (lambda: nn.AdaptiveAvgPool2d("a"), TypeError),
        (lambda: nn.AdaptiveMaxPool2d(2, 1), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="For '"):
        call()
