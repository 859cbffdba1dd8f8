"""AdjustHue and AdjustSaturation."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.ops.images.image_colors import AdjustHue, AdjustSaturation

X = np.random.RandomState(2).rand(2, 3, 3).astype(np.float32)


def test_a_third_of_a_turn_moves_the_colors_on():
    out = AdjustHue()(ms.Tensor(X), ms.Tensor(1 / 3)).asnumpy()
    np.testing.assert_allclose(out, np.roll(X, 1, -1), atol=1e-5)


def test_saturation_keeps_the_largest_color():
    out = AdjustSaturation()(ms.Tensor(X), ms.Tensor(0.5)).asnumpy()
    top = X.max(-1, keepdims=True)
    np.testing.assert_allclose(out, top - 0.5 * (top - X), atol=1e-6)
    assert AdjustSaturation()(ms.Tensor(X), ms.Tensor(9.0)).asnumpy().min() >= 0


def test_arguments_are_checked():
    with pytest.raises(ValueError, match="'image'"):
        AdjustHue()(ms.Tensor(X[..., :2]), ms.Tensor(0.1))
    with pytest.raises(ValueError, match="'scale'"):
        AdjustSaturation()(ms.Tensor(X), ms.Tensor([0.1, 0.2]))
