"""Normalisation layers: parameters, modes, statistics, values."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import grad, nn
from tests.precisions import normal, tensor

NAMES = ["moving_mean", "moving_variance", "gamma", "beta"]


class Wrapped(nn.Cell):
    """A cell around another: gives its parameters the names users see."""

    def __init__(self, layer):
        super().__init__()
        self.bn = layer

    def construct(self, x):
        return self.bn(x)


class TestBatchNorm:
    def test_parameters(self):
        net = Wrapped(nn.BatchNorm2d(3))
        assert [p.name for p in net.get_parameters()] == ["bn." + n for n in NAMES]
        assert [p.requires_grad for p in net.get_parameters()] == [False, False, True, True]
        assert [p.asnumpy()[0] for p in net.get_parameters()] == [0, 1, 1, 0]
        assert [p.name for p in nn.BatchNorm2d(3).get_parameters()] == ["mean", "variance", "gamma", "beta"]
        assert not any(p.requires_grad for p in nn.BatchNorm2d(3, affine=False).get_parameters())
        assert [p.name for p in nn.BatchNorm3d(3).get_parameters()] == ["bn2d." + n for n in NAMES]

    def test_text(self):
        text = "Parameter (name={}, shape=(3,), dtype=Float32, requires_grad={})"
        wanted = (
            f"num_features=3, eps=1e-05, momentum=0.9, gamma={text.format('gamma', True)}, "
            f"beta={text.format('beta', True)}, moving_mean={text.format('mean', False)}, "
            f"moving_variance={text.format('variance', False)}"
        )
        assert repr(nn.BatchNorm2d(3)) == f"BatchNorm2d({wanted})"
        assert nn.BatchNorm2d(3, momentum=0.9).momentum == 1 - 0.9

    @pytest.mark.parametrize(
        "layer, shape",
        [
            (nn.BatchNorm1d, (6, 3)),
            (nn.BatchNorm1d, (4, 3, 5)),
            (nn.BatchNorm2d, (2, 3, 4, 2)),
            (nn.BatchNorm3d, (2, 3, 2, 4, 2)),
        ],
    )
    def test_training(self, layer, shape):
        x, axes = normal(*shape), (0, *range(2, len(shape)))
        made = layer(3, momentum=0.7).set_train()
        column = (-1, *(1,) * (len(shape) - 2))
        wanted = (x - x.mean(axes).reshape(column)) / np.sqrt(x.var(axes) + 1e-5).reshape(column)
        np.testing.assert_allclose(made(tensor(x)).asnumpy(), wanted, atol=1e-5)
        mean, variance = [p.asnumpy() for p in made.get_parameters()][:2]
        np.testing.assert_allclose(mean, 0.3 * x.mean(axes), atol=1e-6)
        np.testing.assert_allclose(variance, 0.7 + 0.3 * x.var(axes, ddof=1), atol=1e-5)

    @pytest.mark.parametrize(
        "use, training, follows", [(None, True, True), (None, False, False), (True, False, True), (False, True, False)]
    )
    def test_modes(self, use, training, follows):
        layer, x = nn.BatchNorm2d(2, use_batch_statistics=use).set_train(training), tensor(normal(3, 2, 2, 2))
        out = layer(x).asnumpy()
        assert (layer.moving_mean.asnumpy() != 0).any() == follows
        assert np.allclose(out, x.asnumpy(), atol=1e-4) == (not follows)

    def test_statistics_move_once_per_call_also_under_a_gradient(self):
        layers = [nn.BatchNorm1d(2).set_train() for _ in range(2)]
        x = tensor(normal(5, 2))
        layers[0](x)
        grad(lambda x: layers[1](x).sum(), None, layers[1].trainable_params())(x)
        for a, b in zip(layers[0].get_parameters(), layers[1].get_parameters()):
            assert np.array_equal(a.asnumpy(), b.asnumpy())

    def test_float16_input(self):
        layer = nn.BatchNorm2d(2).set_train()
        out = layer(tensor(normal(3, 2, 2, 2), np.float16)).asnumpy()
        assert out.dtype == np.float16 and layer.moving_mean.asnumpy().dtype == np.float32

    @pytest.mark.parametrize(
        "call, error",
        [
            (lambda: nn.BatchNorm2d(0), ValueError),
            (lambda: nn.BatchNorm2d(2.0), TypeError),
            (lambda: nn.BatchNorm2d(2, momentum=1.5), ValueError),
            (lambda: nn.BatchNorm2d(2, momentum=None), TypeError),
            (lambda: nn.BatchNorm2d(2, affine=1), TypeError),
            (lambda: nn.BatchNorm2d(2, use_batch_statistics=1), ValueError),
            (lambda: nn.BatchNorm2d(2, gamma_init="foo"), ValueError),
            (lambda: nn.BatchNorm2d(2, data_format="NHWC"), ValueError),
            (lambda: nn.BatchNorm2d(2)(tensor(normal(3, 2, 2))), ValueError),
            (lambda: nn.BatchNorm2d(2)(tensor(normal(3, 3, 2, 2))), ValueError),
            (lambda: nn.BatchNorm1d(2)(tensor(normal(2, 2, 2, 2))), ValueError),
            (lambda: nn.BatchNorm3d(2)(tensor(normal(2, 2, 2, 2))), ValueError),
            (lambda: nn.BatchNorm2d(2)(tensor(np.ones((1, 2, 1, 1)), np.int32)), TypeError),
            (lambda: nn.BatchNorm2d(2)(3), TypeError),
        ],
    )
    def test_errors(self, call, error):
        with pytest.raises(error):
            call()


class TestLayerNorm:
    def test_values(self):
        x = normal(2, 3, 4)
        wanted = (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-7)
        np.testing.assert_allclose(nn.LayerNorm((4,))(tensor(x)).asnumpy(), wanted, atol=1e-5)
        layer = nn.LayerNorm((3, 4), 1, 1, gamma_init=2.0, beta_init="ones", epsilon=0.1)
        wanted = 1 + 2 * (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 0.1)
        np.testing.assert_allclose(layer(tensor(x)).asnumpy(), wanted, atol=1e-5)

    def test_text_is_mindspores(self):
        text = "Parameter (name={}, shape=(3,), dtype=Float32, requires_grad=True)"
        assert repr(nn.LayerNorm((3,))) == (
            "LayerNorm(normalized_shape=(3,), begin_norm_axis=-1, begin_params_axis=-1, "
            f"gamma{text.format('gamma')}, beta={text.format('beta')})"
        )

    @pytest.mark.parametrize(
        "call, error",
        [
            (lambda: nn.LayerNorm(3), TypeError),
            (lambda: nn.LayerNorm(()), ValueError),
            (lambda: nn.LayerNorm((3, 0)), ValueError),
            (lambda: nn.LayerNorm((4,))(tensor(normal(2, 3))), ValueError),
            (lambda: nn.LayerNorm((2, 3), 1, -1)(tensor(normal(2, 2, 3))), ValueError),
            (lambda: nn.LayerNorm((3,))(tensor([[1, 2, 3]], np.int32)), TypeError),
        ],
    )
    def test_errors(self, call, error):
        with pytest.raises(error):
            call()


class TestGroupNorm:
    def test_values(self):
        x = normal(2, 4, 3)
        groups = x.reshape(2, 2, 6)
        wanted = (groups - groups.mean(-1, keepdims=True)) / np.sqrt(groups.var(-1, keepdims=True) + 1e-5)
        np.testing.assert_allclose(nn.GroupNorm(2, 4)(tensor(x)).asnumpy(), wanted.reshape(x.shape), atol=1e-5)
        assert repr(nn.GroupNorm(2, 4)) == "GroupNorm(num_groups=2, num_channels=4)"

    @pytest.mark.parametrize(
        "arguments, error",
        [
            ((3, 4), ValueError),
            ((0, 4), ValueError),
            ((2.0, 4), TypeError),
            ((2, 4, "a"), TypeError),
            ((2, 4, 1e-5, 1), TypeError),
        ],
    )
    def test_errors(self, arguments, error):
        with pytest.raises(error, match="For 'GroupNorm'"):
            nn.GroupNorm(*arguments)


class TestInstanceNorm:
    @pytest.mark.parametrize(
        "layer, shape",
        [(nn.InstanceNorm1d, (2, 3, 5)), (nn.InstanceNorm2d, (2, 3, 4, 2)), (nn.InstanceNorm3d, (2, 3, 2, 4, 2))],
    )
    def test_values_and_statistics(self, layer, shape):
        x, axes = normal(*shape), tuple(range(2, len(shape)))
        made = layer(3)
        wanted = (x - x.mean(axes, keepdims=True)) / np.sqrt(x.var(axes, keepdims=True) + 1e-5)
        np.testing.assert_allclose(made(tensor(x)).asnumpy(), wanted, atol=1e-5)
        assert made.moving_mean.asnumpy().tolist() == [0, 0, 0]
        made.set_train()(tensor(x))
        np.testing.assert_allclose(made.moving_mean.asnumpy(), 0.1 * x.mean((0, *axes)), atol=1e-6)
        np.testing.assert_allclose(made.moving_variance.asnumpy(), 0.9 + 0.1 * x.var(axes, ddof=1).mean(0), atol=1e-6)

    @pytest.mark.parametrize(
        "call, error",
        [
            (lambda: nn.InstanceNorm2d(0), ValueError),
            (lambda: nn.InstanceNorm2d(2, affine=1), TypeError),
            (lambda: nn.InstanceNorm2d(2, momentum=2.0), ValueError),
            (lambda: nn.InstanceNorm2d(2)(tensor(normal(2, 2, 2))), ValueError),
        ],
    )
    def test_errors(self, call, error):
        with pytest.raises(error, match="For 'InstanceNorm2d'"):
            call()


@pytest.mark.parametrize("make", [lambda: nn.GroupNorm(2, 4), lambda: nn.InstanceNorm2d(4)])
def test_in_bfloat16_weights_of_float32_round_only_the_result(make):
    x = np.random.default_rng(0).standard_normal((3, 4, 5, 6)).astype(np.float32)
    x = ms.Tensor(x).astype(ms.bfloat16)
    factors, shifts = np.array([1, 3, -0.5, 2], np.float32), np.array([0.25, -1, 0, 4], np.float32)
    layer, wide = make(), make()
    for each in (layer, wide):
        each.gamma.set_data(ms.Tensor(factors))
        each.beta.set_data(ms.Tensor(shifts))
    layer.to_float(ms.bfloat16)
    found, wanted = layer(x), wide(x.astype(ms.float32)).astype(ms.bfloat16)
    assert found.dtype == ms.bfloat16
    np.testing.assert_array_equal(found.float().asnumpy(), wanted.float().asnumpy())
    gradients = ms.grad(lambda x: layer(x).sum(), None, layer.trainable_params())(x)
    assert [g.dtype for g in gradients] == [ms.float32, ms.float32]
    np.testing.assert_allclose(gradients[1].asnumpy(), np.full(4, 90.0), rtol=1e-6)
