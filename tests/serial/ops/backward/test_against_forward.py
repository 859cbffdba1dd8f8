"""Gradients as operations that MindSpore has no CPU kernel for: they are those of their forward functions."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from dist_ms.ops import backward
from tests.serial.ops.backward.cases import CASES

rng = np.random.default_rng(3)


def t(*shape, low=-2.0, high=2.0):
    return ms.Tensor(rng.uniform(low, high, shape))


X, D, W = t(3, 4), t(3, 4), t(4, low=0.5, high=1.5)
POSITIVE = t(3, 4, low=0.2, high=0.8)
SIGNS = ms.Tensor(np.where(rng.random((3, 4)) > 0.5, 1.0, -1.0))
ONE = ms.Tensor(np.float64(1.5))
LABELS = ms.Tensor([1, 0, 3])
IMAGE, IMAGE_D = t(2, 3, 4, 5), t(2, 3, 4, 5)
MEAN, VAR = IMAGE.mean((0, 2, 3)), IMAGE.var((0, 2, 3))
VOLUME = t(1, 2, 4, 4, 4)
PLACES = ms.Tensor(np.array([[[[0, 2], [11, 13]]]]), ms.int32)


def norm(x, axes, eps):
    apart = x - x.mean(axes, keep_dims=True)
    return apart / ops.sqrt((apart * apart).mean(axes, keep_dims=True) + eps)


def rms(x, g):
    return x / ops.sqrt((x * x).mean(1, keep_dims=True) + 1e-6) * g


def instance(x, g, b):
    return norm(x, (2, 3), 0.0) * g.reshape((1, 3, 1, 1)) + b.reshape((1, 3, 1, 1))


def layer(x, g, b):
    return norm(x, (1,), 1e-5) * g + b


def batch(x, g, b):
    return norm(x, (0, 2, 3), 1e-5) * g.reshape((1, 3, 1, 1)) + b.reshape((1, 3, 1, 1))


def centre(x):
    return x.mean(1, keep_dims=True), 1 / ops.sqrt(x.var(1, keepdims=True) + 1e-5)


def up(size, mode, corners=None):
    return lambda x: ops.interpolate(x, size=size, mode=mode, align_corners=corners)


def padded(mode, widths):
    return lambda x: ops.pad(x, widths, mode=mode)


G3, B3, LINE, LINE_D = t(3), t(3), t(1, 2, 4), t(1, 2, 8)
SMALL, LARGE = t(1, 2, 3, 4), t(1, 2, 6, 8)
CONV_X, CONV_W, CONV_D = t(2, 3, 5, 5), t(4, 3, 3, 3), t(2, 4, 3, 3)
TURNED_W, TURNED_D = t(3, 4, 3, 3), t(2, 4, 7, 7)
SPREAD = np.linalg.cholesky(np.eye(3) * 3 + 1)
SQUARE = ms.Tensor(SPREAD @ SPREAD.T)
MANY, TARGETS = t(3, 4), ms.Tensor([[1, 2, -1, 0], [3, -1, 0, 1], [0, 1, 2, 3]], ms.int32)
PRODUCT, WINDOWS, VOLUME_W, CORNER = t(3, 3), t(1, 2, 4, 2), t(2, 2, 3, 3, 3), IMAGE_D[:, :, :2, :2]
EACH_W, EACH_D = t(2, 3, 3, 3), t(2, 6, 3, 3)
PIXELS, KINDS = t(1, 2, 2, 2), ms.Tensor([[[0, 1], [1, 1]]])
B = backward


def each(x, w):
    """A convolution of each channel with each of its two weights."""
    return ops.Conv2D(6, 3, group=3)(x, w.transpose((1, 0, 2, 3)).reshape((6, 1, 3, 3)))


# name: (what the primitive returns, the forward function, its inputs, the gradient of its output)
AGAINST = {
    "SeluGrad": (lambda: B.SeluGrad()(D, ops.selu(X)), ops.selu, [X], D),
    "SoftmaxGrad": (lambda: B.SoftmaxGrad()(ops.softmax(X), D), ops.softmax, [X], D),
    "SoftMarginLossGrad": (
        lambda: B.SoftMarginLossGrad()(X, SIGNS, ONE),
        lambda x: ops.soft_margin_loss(x, SIGNS),
        [X],
        ONE,
    ),
    "MultilabelMarginLossGrad": (
        lambda: B.MultilabelMarginLossGrad()(ONE, MANY, TARGETS, TARGETS),
        lambda x: ops.multilabel_margin_loss(x, TARGETS),
        [MANY],
        ONE,
    ),
    "RmsNormGrad": (
        lambda: B.RmsNormGrad()(D, X, 1 / ops.sqrt((X * X).mean(1, keep_dims=True) + 1e-6), W),
        rms,
        [X, W],
        D,
    ),
    "InstanceNormGrad": (
        lambda: B.InstanceNormGrad()(IMAGE_D, IMAGE, G3, IMAGE.mean((2, 3)), IMAGE.var((2, 3))),
        instance,
        [IMAGE, G3, B3],
        IMAGE_D,
    ),
    "LayerNormGradExt": (lambda: B.LayerNormGradExt()(D, X, (4,), *centre(X), W, W), layer, [X, W, W + 0], D),
    "LayerNormGradV3": (
        lambda: B.LayerNormGradV3()(X, D, centre(X)[1], centre(X)[0], W),
        layer,
        [X, W, W + 0],
        D,
    ),
    "BatchNormGradExt": (
        lambda: B.BatchNormGradExt(True)(IMAGE_D, IMAGE, G3, None, None, MEAN, 1 / ops.sqrt(VAR + 1e-5)),
        batch,
        [IMAGE, G3, B3],
        IMAGE_D,
    ),
    "EinsumGrad": (
        lambda: B.EinsumGrad("ij,kj->ik")((X, D), PRODUCT),
        lambda a, b: ops.einsum("ij,kj->ik", a, b),
        [X, D],
        PRODUCT,
    ),
    "CholeskyGrad": (lambda: B.CholeskyGrad()(ms.Tensor(SPREAD), PRODUCT), ops.cholesky, [SQUARE], PRODUCT),
    "UniqueGrad": (
        lambda: B.UniqueGrad()((W[:3], None), (None, ms.Tensor([0, 1, 1, 2]))),
        lambda x: ms.Tensor([[1.0, 0, 0, 0], [0, 1.0, 1.0, 0], [0, 0, 0, 1.0]], ms.float64) @ x,
        [W],
        W[:3],
    ),
    "AvgPoolGradV1": (
        lambda: B.AvgPoolGradV1((1, 1, 2, 2), (1, 1, 2, 2))(IMAGE.shape, CORNER),
        ops.AvgPool(2, 2),
        [IMAGE],
        CORNER,
    ),
    "AvgPoolGradGe": (
        lambda: B.AvgPoolGradGe(2, 2)(IMAGE, IMAGE_D, CORNER),
        ops.AvgPool(2, 2),
        [IMAGE],
        CORNER,
    ),
    "MaxPoolGradV1": (
        lambda: B.MaxPoolGradV1((1, 1, 2, 2), (1, 1, 2, 2))(IMAGE, IMAGE_D, CORNER),
        ops.MaxPool(2, 2),
        [IMAGE],
        CORNER,
    ),
    "MaxPoolGradWithIndices": (
        lambda: B.MaxPoolGradWithIndices(2, 2)(IMAGE, CORNER, ops.max_pool2d(IMAGE, 2, 2, return_indices=True)[1]),
        ops.MaxPool(2, 2),
        [IMAGE],
        CORNER,
    ),
    "FractionalMaxPoolGradWithFixedKsize": (
        lambda: B.FractionalMaxPoolGradWithFixedKsize()(SMALL[:, :1], SMALL[:, 1:, :2, :2], PLACES % 12),
        lambda x: ops.gather_elements(x.reshape((1, 1, 12)), -1, (PLACES % 12).reshape((1, 1, 4))).reshape(
            (1, 1, 2, 2)
        ),
        [SMALL[:, :1]],
        SMALL[:, 1:, :2, :2],
    ),
    "AdaptiveAvgPool2DGradExt": (
        lambda: B.AdaptiveAvgPool2DGradExt()(CORNER, IMAGE),
        ops.AdaptiveAvgPool2D((2, 2)),
        [IMAGE],
        CORNER,
    ),
    "AdaptiveAvgPool3DGradExt": (
        lambda: B.AdaptiveAvgPool3DGradExt()(VOLUME[:, :, :2, :2, :2], VOLUME),
        ops.AdaptiveAvgPool3D((2, 2, 2)),
        [VOLUME],
        VOLUME[:, :, :2, :2, :2],
    ),
    "AvgPool2DGrad": (
        lambda: B.AvgPool2DGrad()(CORNER, IMAGE, 2),
        ops.AvgPool(2, 2),
        [IMAGE],
        CORNER,
    ),
    "AvgPool3DGradExt": (
        lambda: B.AvgPool3DGradExt()(VOLUME[:, :, :2, :2, :2], VOLUME, 2),
        ops.AvgPool3D(2, 2),
        [VOLUME],
        VOLUME[:, :, :2, :2, :2],
    ),
    "Col2ImGrad": (
        lambda: B.Col2ImGrad()(SMALL[..., :2, :], 2, stride=2),
        lambda x: ops.fold(x.reshape((1, 8, 2)), (2, 4), (2, 2), stride=2),
        [WINDOWS],
        SMALL[..., :2, :],
    ),
    "ConvolutionGrad": (
        lambda: B.ConvolutionGrad()(CONV_D, CONV_X, CONV_W),
        lambda x, w, b: ops.conv2d(x, w) + b.reshape((1, 4, 1, 1)),
        [CONV_X, CONV_W, W],
        CONV_D,
    ),
    "ConvolutionStrGrad": (
        lambda: B.ConvolutionStrGrad()(CONV_D, CONV_X, CONV_W, padding="valid", output_mask=(1, 1, 0))[:2],
        ops.conv2d,
        [CONV_X, CONV_W],
        CONV_D,
    ),
    "ConvolutionGrad transposed": (
        lambda: B.ConvolutionGrad()(TURNED_D, CONV_X, TURNED_W, transposed=True)[:2],
        lambda x, w: ms.mint.nn.functional.conv_transpose2d(x, w),
        [CONV_X, TURNED_W],
        TURNED_D,
    ),
    "Conv3DBackpropInput": (
        lambda: B.Conv3DBackpropInput(2, 3)(VOLUME_W, VOLUME[..., :2, :2, :2], VOLUME.shape),
        lambda x: ops.Conv3D(2, 3)(x, VOLUME_W),
        [VOLUME],
        VOLUME[..., :2, :2, :2],
    ),
    "DepthwiseConv2dNativeBackpropInput": (
        lambda: B.DepthwiseConv2dNativeBackpropInput(2, 3)(CONV_X.shape, EACH_W, EACH_D),
        lambda x: each(x, EACH_W),
        [CONV_X],
        EACH_D,
    ),
    "DepthwiseConv2dNativeBackpropFilter": (
        lambda: B.DepthwiseConv2dNativeBackpropFilter(2, 3)(CONV_X, (2, 3, 3, 3), EACH_D),
        lambda w: each(CONV_X, w),
        [EACH_W],
        EACH_D,
    ),
    "EluGradExt": (lambda: B.EluGradExt()(D, X, 0.5), lambda x: ops.elu(x) * 0.5 + ops.relu(x) * 0.5, [X], D),
    "EluGradExt of the output": (
        lambda: B.EluGradExt()(D, ops.elu(X) * 0.5 + ops.relu(X) * 0.5, 0.5, True),
        lambda x: ops.elu(x) * 0.5 + ops.relu(x) * 0.5,
        [X],
        D,
    ),
    "GeluGradExt": (lambda: B.GeluGradExt()(D, X), lambda x: ops.gelu(x, "none"), [X], D),
    "GeluGradExt tanh": (lambda: B.GeluGradExt()(D, X, "tanh"), lambda x: ops.gelu(x, "tanh"), [X], D),
    "HardtanhGrad": (lambda: B.HardtanhGrad()(D, X), ops.hardtanh, [X], D),
    "KLDivGrad": (lambda: B.KLDivGrad()(ONE, X, POSITIVE), lambda x: ops.kl_div(x, POSITIVE), [X], ONE),
    "KLDivGrad of logarithms": (
        lambda: B.KLDivGrad()(ONE, X, ops.log(POSITIVE), "sum", True),
        lambda x: ops.kl_div(x, POSITIVE, "sum"),
        [X],
        ONE,
    ),
    "LeakyReLUGradExt": (lambda: B.LeakyReLUGradExt()(D, X, 0.1), lambda x: ops.leaky_relu(x, 0.1), [X], D),
    "LogSigmoidGrad": (lambda: B.LogSigmoidGrad()(D, X, X), ops.logsigmoid, [X], D),
    "MSELossGradExt": (lambda: B.MSELossGradExt()(ONE, X, D), lambda x: ops.mse_loss(x, D), [X], ONE),
    "MishGradExt": (lambda: B.MishGradExt()(D, X), ops.mish, [X], D),
    "SoftplusGradExt": (
        lambda: B.SoftplusGradExt()(D, X, 2, 1),
        lambda x: ops.select(x * 2 > 1, x, ops.softplus(x * 2) / 2),
        [X],
        D,
    ),
    "SwigluGrad": (
        lambda: B.SwigluGrad()(D[:, :2], X),
        lambda x: ops.silu(x[:, :2]) * x[:, 2:],
        [X],
        D[:, :2],
    ),
    "ThresholdGrad": (lambda: B.ThresholdGrad()(D, X, 0.5), lambda x: ops.threshold(x, 0.5, 9.0), [X], D),
    "RepeatInterleaveGrad": (
        lambda: B.RepeatInterleaveGrad()(IMAGE[0, :, :, 0].reshape((6, 2)), ms.Tensor([1, 2, 3]), 0),
        lambda x: ops.concat([x[:1], x[1:2], x[1:2], x[2:], x[2:], x[2:]]),
        [X[:, :2]],
        IMAGE[0, :, :, 0].reshape((6, 2)),
    ),
    "RepeatInterleaveGrad alike": (
        lambda: B.RepeatInterleaveGrad()(D, 2, -1),
        lambda x: ops.repeat_elements(x, 2, 1),
        [X[:, :2]],
        D,
    ),
    "ReflectionPad1DGrad": (
        lambda: B.ReflectionPad1DGrad()(LINE_D[0], LINE_D[0, :, :5], (1, 2)),
        padded("reflect", (1, 2)),
        [LINE_D[0, :, :5]],
        LINE_D[0],
    ),
    "ReflectionPad2DGrad": (
        lambda: B.ReflectionPad2DGrad()(LARGE, LARGE[..., :4, :6], (1, 1, 2, 0)),
        padded("reflect", (1, 1, 2, 0)),
        [LARGE[..., :4, :6]],
        LARGE,
    ),
    "ReflectionPad3DGrad": (
        lambda: B.ReflectionPad3DGrad()(VOLUME, VOLUME[..., :3, :3, :3], (1, 0) * 3),
        padded("reflect", (1, 0) * 3),
        [VOLUME[..., :3, :3, :3]],
        VOLUME,
    ),
    "ReplicationPad1DGrad": (
        lambda: B.ReplicationPad1DGrad()(LINE_D[0], LINE_D[0, :, :5], (1, 2)),
        padded("replicate", (1, 2)),
        [LINE_D[0, :, :5]],
        LINE_D[0],
    ),
    "ReplicationPad2DGrad": (
        lambda: B.ReplicationPad2DGrad()(LARGE, LARGE[..., :4, :6], ms.Tensor([1, 1, 2, 0])),
        padded("replicate", (1, 1, 2, 0)),
        [LARGE[..., :4, :6]],
        LARGE,
    ),
    "ReplicationPad3DGrad": (
        lambda: B.ReplicationPad3DGrad()(VOLUME, VOLUME[..., :3, :3, :3], (1, 0) * 3),
        padded("replicate", (1, 0) * 3),
        [VOLUME[..., :3, :3, :3]],
        VOLUME,
    ),
    "UpsampleNearest1DGrad": (
        lambda: B.UpsampleNearest1DGrad()(LINE_D, LINE.shape, (8,)),
        up((8,), "nearest"),
        [LINE],
        LINE_D,
    ),
    "UpsampleLinear1DGrad": (
        lambda: B.UpsampleLinear1DGrad()(LINE_D, LINE.shape, None, (2.0,)),
        up((8,), "linear", False),
        [LINE],
        LINE_D,
    ),
    "UpsampleBilinear2DGrad": (
        lambda: B.UpsampleBilinear2DGrad()(LARGE, SMALL.shape, (6, 8), None, True),
        up((6, 8), "bilinear", True),
        [SMALL],
        LARGE,
    ),
    "UpsampleBicubic2DGrad": (
        lambda: B.UpsampleBicubic2DGrad()(LARGE, SMALL.shape, (6, 8)),
        up((6, 8), "bicubic", False),
        [SMALL],
        LARGE,
    ),
    "DropoutGradExt": (
        lambda: B.DropoutGradExt()(D, ms.Tensor((X.asnumpy() > 0).astype(np.uint8)), 0.2),
        lambda x: x * ops.cast(X > 0, ms.float64) / 0.8,
        [X],
        D,
    ),
    "NLLLoss2dGrad": (
        lambda: B.NLLLoss2dGrad()(ONE, PIXELS, KINDS, W[:2], "mean", -100, W[:2][KINDS].sum()),
        lambda x: ops.nll_loss(x.transpose((0, 2, 3, 1)).reshape((4, 2)), KINDS.reshape((4,)), W[:2]),
        [PIXELS],
        ONE,
    ),
    "SparseSegmentSumGrad": (
        lambda: B.SparseSegmentSumGrad()(D[:2], ms.Tensor([0, 2, 1]), ms.Tensor([0, 0, 1]), 3),
        lambda x: ops.stack([x[0] + x[2], x[1]]),
        [X],
        D[:2],
    ),
    "CrossEntropyLossGrad": (
        lambda: B.CrossEntropyLossGrad()(ONE, ops.log_softmax(X), LABELS, W, label_smoothing=0.1),
        lambda x: ops.cross_entropy(x, LABELS, W, label_smoothing=0.1),
        [X],
        ONE,
    ),
}


@pytest.mark.parametrize("name", AGAINST)
def test_it_is_the_gradient_of_the_forward_function(name):
    call, forward, inputs, dout = AGAINST[name]
    got = call()
    got = got if isinstance(got, tuple) else (got,)
    wanted = ms.grad(lambda *values: (forward(*values) * dout).sum(), tuple(range(len(inputs))))(*inputs)
    wanted = wanted if isinstance(wanted, tuple) else (wanted,)
    assert len(got) == len(wanted)
    for a, b in zip(got, wanted):
        assert a.shape == b.shape and np.allclose(a.asnumpy(), b.asnumpy(), rtol=1e-5, atol=1e-6)


def test_a_sample_of_the_gamma_distribution_moves_with_its_shape():
    special = pytest.importorskip("scipy.special")
    alpha, sample, step = np.array([0.7, 2.0]), np.array([0.5, 3.0]), 1e-6
    place = special.gammainc(alpha, sample)
    wanted = (special.gammaincinv(alpha + step, place) - special.gammaincinv(alpha - step, place)) / (2 * step)
    got = backward.RandomGammaGrad()(ms.Tensor(alpha), ms.Tensor(sample)).asnumpy()
    assert np.allclose(got, wanted, rtol=1e-4)


def test_options_that_change_nothing_known_are_refused():
    with pytest.raises(ValueError, match="'lse_square_scale_for_zloss' must be 0, but got 0.1"):
        B.CrossEntropyLossGrad()(ONE, X, LABELS, lse_square_scale_for_zloss=0.1)
    with pytest.raises(ValueError, match="'grad_zloss' must be None, as the loss has no z part"):
        B.CrossEntropyLossGrad()(ONE, X, LABELS, grad_zloss=ONE)
    with pytest.raises(ValueError, match="'output_size' must be given, or else 'scales', but got neither"):
        B.UpsampleNearest1DGrad()(LINE_D, LINE.shape)
    with pytest.raises(ValueError, match="'original_size' must be of the height 1"):
        B.ResizeV2Grad()(LARGE, W, W, (1, 2, 3, 4))
    with pytest.raises(ValueError, match="'coordinate_transformation_mode' must be 'align_corners' or 'half_pixel'"):
        B.ResizeV2Grad("asymmetric")(LARGE, W, W, (1, 2, 3, 4))


def test_every_gradient_is_called_or_refused_here():
    from dist_ms.ops.backward import refused

    called = {name for name, _, _ in CASES} | {name.partition(" ")[0] for name in AGAINST} | {"RandomGammaGrad"}
    names = {name for name in dir(backward) if name[0].isupper() and name != "Backward"}
    assert names - called - {*refused.__all__} == set()
    for name in refused.__all__:
        with pytest.raises(NotImplementedError, match=f"'{name}' is not available: dist_ms "):
            getattr(backward, name)()
