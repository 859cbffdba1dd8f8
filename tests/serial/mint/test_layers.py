"""dist_ms.mint.nn: layers and their functions against NumPy and against `dist_ms.nn`."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import mint, nn, ops

F = mint.nn.functional
RNG = np.random.default_rng(0)
IMAGE = ms.Tensor(RNG.standard_normal((2, 4, 6, 6)).astype(np.float32))
LINE = ms.Tensor(RNG.standard_normal((2, 4, 8)).astype(np.float32))


def close(got, want):
    np.testing.assert_allclose(got.asnumpy(), want.asnumpy() if isinstance(want, ms.Tensor) else want, 1e-5, 1e-5)


def test_linear():
    layer = mint.nn.Linear(3, 2)
    x = RNG.standard_normal((4, 3)).astype(np.float32)
    close(layer(ms.Tensor(x)), x @ layer.weight.asnumpy().T + layer.bias.asnumpy())
    assert [p.name for p in layer.get_parameters()] == ["weight", "bias"]
    assert repr(layer) == "Linear(input_features=3, output_features=2, has_bias=True)"
    assert abs(layer.weight.asnumpy()).max() <= 1 / np.sqrt(3)
    assert mint.nn.Linear(3, 2, bias=False).bias is None


@pytest.mark.parametrize("momentum", [0.1, None])
def test_batch_norm_follows_the_batch_in_training(momentum):
    layer = mint.nn.BatchNorm2d(4, momentum=momentum)
    layer.set_train(True)
    x = IMAGE.asnumpy()
    mean, var = x.mean((0, 2, 3)), x.var((0, 2, 3))
    close(layer(IMAGE), (x - mean[:, None, None]) / np.sqrt(var + 1e-5)[:, None, None])
    weight = 1.0 if momentum is None else momentum
    close(layer.running_mean, weight * mean)
    close(layer.running_var, 1 - weight + weight * x.var((0, 2, 3), ddof=1))
    assert layer.num_batches_tracked.item() == 1
    layer.set_train(False)
    r_mean, r_var = layer.running_mean.asnumpy(), layer.running_var.asnumpy()
    close(layer(IMAGE), (x - r_mean[:, None, None]) / np.sqrt(r_var + 1e-5)[:, None, None])
    names = {p.name: p.requires_grad for p in layer.get_parameters()}
    assert names == {
        "weight": True,
        "bias": True,
        "running_mean": False,
        "running_var": False,
        "num_batches_tracked": False,
    }


def test_batch_norm_without_statistics_uses_the_batch():
    layer = mint.nn.BatchNorm1d(4, affine=False, track_running_stats=False)
    x = LINE.asnumpy()
    close(layer(LINE), (x - x.mean((0, 2))[:, None]) / np.sqrt(x.var((0, 2)) + 1e-5)[:, None])
    assert not list(layer.get_parameters())
    with pytest.raises(ValueError, match="'BatchNorm1d', 'input' must have 2 or 3 dimensions"):
        layer(IMAGE)


def test_other_norms():
    close(mint.nn.GroupNorm(2, 4)(IMAGE), nn.GroupNorm(2, 4)(IMAGE))
    close(mint.nn.LayerNorm(8, bias=False)(LINE), nn.LayerNorm((8,), epsilon=1e-5)(LINE))
    close(F.normalize(LINE, dim=2), LINE.asnumpy() / np.linalg.norm(LINE.asnumpy(), axis=2, keepdims=True))
    with pytest.raises(ValueError, match="'num_channels' must be a multiple"):
        mint.nn.GroupNorm(3, 4)


def test_group_norm_takes_tensors_of_its_dtype():
    layer = mint.nn.GroupNorm(2, 2)
    for wrong in ([1.0], None, ops.ones((1, 2, 2), ms.float16)):
        with pytest.raises(TypeError, match="'input'"):
            layer(wrong)
    with pytest.raises(RuntimeError, match="at least 2 dimensions"):
        layer(ops.ones(()))


@pytest.mark.parametrize("size", [True, (1.5, 5), ("a", 5)])
def test_sizes_of_a_kernel_are_ints(size):
    with pytest.raises(TypeError, match="'kernel_size' must be an int"):
        mint.nn.ConvTranspose2d(2, 3, size)


def test_options_of_interpolation():
    x = ms.Tensor([[[1.0, 3.0]]])
    for nothing in (None, False, 0, {}):
        close(F.interpolate(x, (4,), recompute_scale_factor=nothing), [[[1, 1, 3, 3]]])
    with pytest.raises(TypeError, match="'mode' must be hashable"):
        F.interpolate(x, (4,), mode={})


@pytest.mark.parametrize("padding", [0, 1, "same", "valid"])
@pytest.mark.parametrize("mode", ["zeros", "reflect"])
def test_convolution(padding, mode):
    layer = mint.nn.Conv2d(4, 6, 3, padding=padding, groups=2, padding_mode=mode)
    width = {"same": 1, "valid": 0}.get(padding, padding)
    x = np.pad(
        IMAGE.asnumpy(), ((0, 0), (0, 0), (width, width), (width, width)), "constant" if mode == "zeros" else mode
    )
    close(layer(IMAGE), ops.conv2d(ms.Tensor(x), layer.weight, layer.bias, groups=2))


def test_convolution_shapes():
    assert mint.nn.Conv1d(4, 3, 3, 2)(LINE).shape == (2, 3, 3)
    assert mint.nn.ConvTranspose2d(4, 2, 3, 2, 1, 1)(IMAGE).shape == (2, 2, 12, 12)
    assert F.conv1d(LINE, ops.ones((3, 4, 4)), padding="same").shape == (2, 3, 8)
    with pytest.raises(ValueError, match="stride of 1"):
        F.conv1d(LINE, ops.ones((3, 4, 4)), stride=2, padding="same")


def test_pooling_strides_by_its_kernel():
    x = IMAGE.asnumpy().reshape(2, 4, 3, 2, 3, 2)
    close(mint.nn.MaxPool2d(2)(IMAGE), x.max((3, 5)))
    close(mint.nn.AvgPool2d(2)(IMAGE), x.mean((3, 5)))
    close(F.avg_pool2d(IMAGE, 2, divisor_override=3), x.sum((3, 5)) / 3)
    values, places = F.max_pool2d(IMAGE, 2, return_indices=True)
    back = F.max_unpool2d(values, places, 2)
    close(ops.sum(back), x.max((3, 5)).sum())
    values, places = F.adaptive_max_pool1d(LINE, 2, True)
    close(values, LINE.asnumpy().reshape(2, 4, 2, 4).max(3))
    close(mint.gather(LINE, 2, places), values)


@pytest.mark.parametrize(
    "layer, function",
    [
        (mint.nn.ReLU(), lambda x: np.maximum(x, 0)),
        (mint.nn.Tanh(), np.tanh),
        (mint.nn.Sigmoid(), lambda x: 1 / (1 + np.exp(-x))),
        (mint.nn.SiLU(), lambda x: x / (1 + np.exp(-x))),
        (mint.nn.ELU(2.0), lambda x: np.where(x > 0, x, 2 * np.expm1(x))),
        (mint.nn.Hardtanh(-0.5, 0.5), lambda x: np.clip(x, -0.5, 0.5)),
        (mint.nn.Threshold(0.1, 7.0), lambda x: np.where(x > 0.1, x, 7)),
        (mint.nn.Softmax(), lambda x: np.exp(x) / np.exp(x).sum(0)),
        (mint.nn.Softmax(-1), lambda x: np.exp(x) / np.exp(x).sum(-1, keepdims=True)),
        (mint.nn.PReLU(), lambda x: np.where(x > 0, x, x / 4)),
        (mint.nn.SELU(), lambda x: 1.05070098 * np.where(x > 0, x, 1.67326324 * np.expm1(x))),
        (mint.nn.Hardshrink(0.7), lambda x: np.where(np.abs(x) > 0.7, x, 0)),
        (mint.nn.Softshrink(0.7), lambda x: np.sign(x) * np.maximum(np.abs(x) - 0.7, 0)),
        (mint.nn.Hardsigmoid(), lambda x: np.clip(x / 6 + 0.5, 0, 1)),
        (mint.nn.Hardswish(), lambda x: x * np.clip(x / 6 + 0.5, 0, 1)),
    ],
)
def test_activations(layer, function):
    close(layer(LINE), function(LINE.asnumpy()))


@pytest.mark.parametrize(
    ("name", "settings"),
    [("relu_", ()), ("elu_", ()), ("sigmoid_", ()), ("hardtanh_", ()), ("threshold_", (0.1, 7.0))],
)
def test_inplace_forms_write_into_their_input(name, settings):
    x = ms.Tensor(LINE.asnumpy())
    assert getattr(F, name)(x, *settings) is x
    close(x, getattr(F, name.rstrip("_"))(LINE, *settings))


def test_losses():
    p, t = ms.Tensor([[0.2, 0.7], [0.4, 0.9]]), ms.Tensor([[0.0, 1.0], [1.0, 1.0]])
    w = ms.Tensor([2.0, 3.0])
    a, b = p.asnumpy(), t.asnumpy()
    bce = -(b * np.log(a) + (1 - b) * np.log(1 - a))
    close(mint.nn.BCELoss(w, "none")(p, t), bce * [2, 3])
    s = 1 / (1 + np.exp(-a))
    close(mint.nn.BCEWithLogitsLoss(pos_weight=w)(p, t), -(b * [2, 3] * np.log(s) + (1 - b) * np.log(1 - s)).mean())
    close(mint.nn.KLDivLoss("batchmean", True)(p, t), (np.exp(b) * (b - a)).sum() / 2)
    close(mint.nn.SmoothL1Loss("sum", 0.5)(p, t), np.where(abs(a - b) < 0.5, (a - b) ** 2, abs(a - b) - 0.25).sum())
    close(F.nll_loss(p, ms.Tensor([1, 0], ms.int32)), -(a[0, 1] + a[1, 0]) / 2)


def test_embedding_and_dropout():
    table = mint.nn.Embedding(4, 2, padding_idx=1)
    close(table(ms.Tensor([[1, 3]])), table.weight.asnumpy()[[[1, 3]]])
    assert not table.weight.asnumpy()[1].any()
    with pytest.raises(ValueError, match="'_weight' must have the shape"):
        mint.nn.Embedding(4, 2, _weight=ops.ones((2, 4)))
    layer = mint.nn.Dropout(0.5)
    close(layer(LINE), LINE)
    layer.set_train(True)
    out, x = layer(LINE).asnumpy(), LINE.asnumpy()
    assert ((out == 0) | np.isclose(out, 2 * x)).all() and (out == 0).any()
    assert F.one_hot(ms.Tensor([0, 2])).asnumpy().tolist() == [[1, 0, 0], [0, 0, 1]]


def test_sampling():
    close(mint.nn.UpsamplingNearest2d(scale_factor=2.0)(IMAGE), IMAGE.asnumpy().repeat(2, 2).repeat(2, 3))
    close(mint.nn.UpsamplingBilinear2d((6, 6))(IMAGE), IMAGE)
    counts = mint.nn.Fold((6, 6), 2)(mint.nn.Unfold(2)(ops.ones_like(IMAGE)))
    assert counts.asnumpy()[0, 0, 0].tolist() == [1, 2, 2, 2, 2, 1]


def test_loss_layers_take_their_inputs_by_name():
    x, t = ms.Tensor([[1.0, 3.0]]), ms.Tensor([[2.0, 5.0]])
    close(mint.nn.MSELoss("sum")(input=x, target=t), 5.0)
    close(mint.nn.L1Loss()(logits=x, labels=t), 1.5)
    close(mint.nn.SoftMarginLoss()(logits=x, labels=t), np.log1p(np.exp([-2.0, -15.0])).mean())
    log = F.log_softmax(x, 1)
    label = ms.Tensor([1], ms.int32)
    close(mint.nn.NLLLoss()(input=log, target=label), np.log1p(np.exp(-2.0)))
    close(mint.nn.CrossEntropyLoss()(input=x, target=label), np.log1p(np.exp(-2.0)))
    close(mint.nn.CosineEmbeddingLoss(0.5)(input1=x, input2=x, target=ms.Tensor([-1])), 0.5)
    close(mint.nn.SiLU()(x=x), F.silu(x))
    with pytest.raises(TypeError, match="'x'"):
        mint.nn.SiLU()(input=x)
    with pytest.raises(TypeError, match="'target'"):
        mint.nn.MSELoss()(x)


@pytest.mark.parametrize("axis", [0, 1])
def test_half_precision_softmax_rounds_each_step(axis):
    x = np.linspace(-2, 2, 12).reshape(3, 4).astype(np.float16)
    powers = np.exp(x - x.max(axis, keepdims=True))
    total = powers.astype(np.float32).sum(axis, keepdims=True).astype(np.float16)
    np.testing.assert_array_equal(F.softmax(ms.Tensor(x), axis).asnumpy(), powers / total)


def test_layers_that_nn_has_in_this_form_are_its_own():
    for name, own in {
        "Dropout": nn.DropoutExt,
        "Dropout2d": nn.Dropout2dExt,
        "Hardshrink": nn.HShrink,
        "Hardsigmoid": nn.HSigmoid,
        "Hardswish": nn.HSwish,
        "LayerNorm": nn.LayerNormExt,
        "Linear": nn.Linear,
        "PReLU": nn.PReLUExt,
        "ReLU": nn.ReLU,
        "Softshrink": nn.SoftShrink,
    }.items():
        assert getattr(mint.nn, name) is own
    close(mint.nn.ReLU()(input=LINE), nn.ReLU()(LINE))


def test_padding():
    close(mint.nn.ZeroPad1d([1, 0])(LINE), np.pad(LINE.asnumpy(), ((0, 0), (0, 0), (1, 0))))
    close(mint.nn.ConstantPad1d((1, -1), 0.5)(input=LINE)[..., 0], 0.5)
    around = ((0, 0), (0, 0), (1, 1), (2, 0))
    close(mint.nn.ReflectionPad2d((2, 0, 1, 1))(IMAGE), np.pad(IMAGE.asnumpy(), around, "reflect"))
    close(mint.nn.ReplicationPad2d((2, 0, 1, 1))(IMAGE), np.pad(IMAGE.asnumpy(), around, "edge"))
    for make, error in (
        (lambda: mint.nn.ReplicationPad2d((0, 1)), ValueError),
        (lambda: mint.nn.ReflectionPad1d(0), ValueError),
        (lambda: mint.nn.ReflectionPad1d("a"), ValueError),
        (lambda: mint.nn.ConstantPad1d((1.0, 1), 0.5), TypeError),
    ):
        with pytest.raises(error, match="'padding"):
            make()


def test_the_size_of_a_transposed_convolution():
    layer = mint.nn.ConvTranspose2d(4, 3, 3, stride=2, padding=1)
    out = layer(IMAGE)
    assert out.shape == (2, 3, 11, 11)
    larger = layer(IMAGE, output_size=(12, 11))
    close(larger[:, :, :11], out)
    assert layer(IMAGE, output_size=(2, 3, 12, 12)).shape == (2, 3, 12, 12)
    for size in ((13, 11), (10, 11), (11,)):
        with pytest.raises(ValueError, match="'output_size' must be"):
            layer(IMAGE, output_size=size)


def test_softmax_outside_functional_wants_its_dimension():
    close(mint.softmax(LINE, dim=1), F.softmax(LINE, 1))
    with pytest.raises(TypeError, match="'dim'"):
        mint.softmax(LINE)


def test_zeros_around_three_dimensions():
    out = mint.nn.ZeroPad3d((1, 0, 0, 2, 0, 0))(ms.ops.ones((1, 2, 2, 2)))
    assert out.shape == (1, 2, 4, 3)
    assert out.sum() == 8
