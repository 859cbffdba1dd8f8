"""Small layers: shapes, norms, padding, images."""

import numpy as np
import pytest

from dist_ms import nn, ops
from dist_ms.common.tensor import Tensor
from tests.precisions import normal, tensor


def ramp(*shape):
    return tensor(np.arange(np.prod(shape)).reshape(shape))


class TestShapes:
    def test_flatten(self):
        assert nn.Flatten()(ramp(2, 3, 4)).shape == (2, 12)
        assert nn.Flatten(0, 1)(ramp(2, 3, 4)).shape == (6, 4)
        assert nn.Flatten(0)(ramp(2, 3, 4)).shape == (24,)

    def test_flatten_puts_channels_last_memory_in_order(self):
        image = ops.conv2d(ramp(1, 2, 4, 4), ramp(3, 2, 3, 3))
        found = nn.Flatten()(image).asnumpy()
        assert found.tolist() == image.asnumpy().copy(order="C").reshape(1, -1).tolist()

    @pytest.mark.parametrize(
        "layer, shape",
        [(nn.Flatten(), (2,)), (nn.Flatten(), ()), (nn.Flatten(5), (2, 3)), (nn.Flatten(2, 1), (2, 3, 4))],
    )
    def test_flatten_errors(self, layer, shape):
        with pytest.raises(ValueError):
            layer(ramp(*shape))

    def test_others(self):
        assert nn.Unflatten(1, (2, 3))(ramp(2, 6, 4)).shape == (2, 2, 3, 4)
        x = ramp(2)
        assert nn.Identity(1, a=2)(x) is x
        assert nn.Roll(1, 0)(ramp(3)).asnumpy().tolist() == [2, 0, 1]
        assert nn.Tril()(ramp(2, 2)).asnumpy().tolist() == [[0, 0], [2, 3]]
        assert nn.Triu()(ramp(2, 2), 1).asnumpy().tolist() == [[0, 1], [0, 0]]
        assert nn.OneHot(depth=3)(Tensor([0, 2])).asnumpy().tolist() == [[1, 0, 0], [0, 0, 1]]


class TestNorms:
    x = normal(2, 3)

    def test_values(self):
        assert nn.Norm()(tensor([3, 4])).asnumpy() == 5
        np.testing.assert_allclose(
            nn.Norm(1, True)(tensor(self.x)).asnumpy(), np.linalg.norm(self.x, axis=1, keepdims=True), rtol=1e-6
        )
        assert nn.L1Regularizer(0.5)(tensor(self.x)).asnumpy() == pytest.approx(0.5 * abs(self.x).sum())
        mean, variance = nn.Moments(axis=0)(tensor(self.x))
        np.testing.assert_allclose(mean.asnumpy(), self.x.mean(0), rtol=1e-5)
        np.testing.assert_allclose(variance.asnumpy(), self.x.var(0), rtol=1e-5)
        assert nn.Moments(axis=0, keep_dims=True)(tensor(self.x))[0].shape == (1, 3)

    def test_clip_by_norm(self):
        found = nn.ClipByNorm()(tensor([3, 4]), tensor(1)).asnumpy()
        np.testing.assert_allclose(found, [0.6, 0.8], rtol=1e-6)
        np.testing.assert_allclose(nn.ClipByNorm()(tensor([0.3, 0.4]), tensor(1)).asnumpy(), [0.3, 0.4], rtol=1e-6)

    def test_texts_and_errors(self):
        assert repr(nn.Norm()) == "Norm(axis=(), keep_dims=False)"
        with pytest.raises(ValueError, match="'scale' must be"):
            nn.L1Regularizer(-1)
        with pytest.raises(TypeError, match="'keep_dims' must be a bool"):
            nn.Norm(keep_dims=1)


class TestPadding:
    @pytest.mark.parametrize(
        "layer, pads, mode, options",
        [
            (nn.Pad(((0, 0), (1, 1), (2, 0))), ((0, 0), (1, 1), (2, 0)), "constant", {}),
            (nn.Pad(((0, 0), (1, 1), (2, 0)), "REFLECT"), ((0, 0), (1, 1), (2, 0)), "reflect", {}),
            (nn.Pad(((0, 0), (1, 1), (2, 0)), "SYMMETRIC"), ((0, 0), (1, 1), (2, 0)), "symmetric", {}),
            (nn.ConstantPad1d((1, 2), 0.5), ((0, 0), (0, 0), (1, 2)), "constant", {"constant_values": 0.5}),
            (nn.ConstantPad2d((1, 2, 0, 1), 0.5), ((0, 0), (0, 1), (1, 2)), "constant", {"constant_values": 0.5}),
            (nn.ZeroPad2d(1), ((0, 0), (1, 1), (1, 1)), "constant", {}),
            (nn.ReflectionPad1d(1), ((0, 0), (0, 0), (1, 1)), "reflect", {}),
            (nn.ReflectionPad2d((1, 0, 2, 1)), ((0, 0), (2, 1), (1, 0)), "reflect", {}),
            (nn.ReplicationPad1d((1, 2)), ((0, 0), (0, 0), (1, 2)), "edge", {}),
            (nn.ReplicationPad2d(1), ((0, 0), (1, 1), (1, 1)), "edge", {}),
        ],
    )
    def test_values(self, layer, pads, mode, options):
        x = np.arange(18.0).reshape(2, 3, 3)
        assert np.array_equal(layer(tensor(x)).asnumpy(), np.pad(x, pads, mode, **options))

    def test_three_dimensions(self):
        for layer in (nn.ConstantPad3d(1, 2.0), nn.ReflectionPad3d(1), nn.ReplicationPad3d(1)):
            assert layer(ramp(1, 3, 3, 3)).shape == (1, 5, 5, 5)

    def test_negative_numbers_cut(self):
        assert nn.ConstantPad1d((1, -1), 0.5)(ramp(2, 3)).asnumpy().tolist() == [[0.5, 0, 1], [0.5, 3, 4]]

    @pytest.mark.parametrize(
        "call, error",
        [
            (lambda: nn.Pad([1, 2]), TypeError),
            (lambda: nn.Pad(((1, 1), (2, 2)), "foo"), ValueError),
            (lambda: nn.Pad(((1, 1),))(ramp(2, 3)), ValueError),
            (lambda: nn.ConstantPad2d((1, 1, 0), 0.5), ValueError),
            (lambda: nn.ConstantPad1d("a", 0.5), TypeError),
            (lambda: nn.ReflectionPad1d((1, 2, 3, 4)), ValueError),
        ],
    )
    def test_errors(self, call, error):
        with pytest.raises(error, match="'"):
            call()


class TestImages:
    def test_values(self):
        x = ramp(1, 8, 2, 2)
        assert np.array_equal(nn.PixelShuffle(2)(x).asnumpy(), ops.pixel_shuffle(x, 2).asnumpy())
        assert np.array_equal(nn.PixelUnshuffle(2)(x).asnumpy(), ops.pixel_unshuffle(x, 2).asnumpy())
        assert np.array_equal(nn.ChannelShuffle(2)(x).asnumpy(), ops.channel_shuffle(x, 2).asnumpy())
        up = nn.Upsample(size=(3, 5), mode="bilinear")(x)
        assert np.array_equal(up.asnumpy(), ops.interpolate(x, (3, 5), mode="bilinear").asnumpy())

    @pytest.mark.parametrize("layer", [nn.PixelShuffle, nn.PixelUnshuffle, nn.ChannelShuffle])
    def test_errors(self, layer):
        with pytest.raises(ValueError, match="must be a positive int"):
            layer(0)


@pytest.mark.parametrize(
    ("layer", "name", "shape"),
    [
        (lambda: nn.Unflatten(1, (2, 3)), "input_x", (2, 6)),
        (lambda: nn.BatchNorm3d(2), "x", (1, 2, 2, 2, 2)),
        (lambda: nn.AdaptiveMaxPool1d(2), "x", (1, 2, 4)),
    ],
)
def test_inputs_by_name(layer, name, shape):
    x = ramp(*shape)
    assert (layer()(**{name: x}).asnumpy() == layer()(x).asnumpy()).all()
