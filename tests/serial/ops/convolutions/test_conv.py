"""Convolution, its transpose and its weight gradient."""

import numpy as np
import pytest

from dist_ms import ops
from dist_ms.common.tensor import Tensor
from dist_ms.ops.convolutions.conv import Convolution, TransposedConvolution, WeightGradient
from tests.gradcheck import check_gradient
from tests.precisions import check_precisions, normal, tensor

# x shape, weight shape, stride, padding, dilation, group
CASES = [
    ((2, 4, 6, 5), (6, 4, 3, 3), (1, 1), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 4, 7, 6), (6, 2, 3, 2), (2, 1), ((1, 2), (0, 1)), (2, 1), 2),
    ((1, 4, 6, 6), (4, 1, 3, 3), (1, 2), ((1, 1), (1, 1)), (1, 2), 4),
    ((2, 3, 5, 4), (2, 3, 1, 1), (2, 2), ((0, 0), (0, 0)), (1, 1), 1),
    ((2, 3, 7), (4, 3, 3), (2,), ((2, 0),), (2,), 1),
    ((1, 2, 4, 3, 5), (4, 1, 2, 3, 2), (1, 1, 2), ((0, 1), (1, 1), (1, 0)), (1, 1, 2), 2),
]


def direct(x, w, stride, padding, dilation, group):
    """The sum of the definition, one kernel element at a time."""
    x = np.pad(x, ((0, 0), (0, 0), *padding))
    kernel, channels, out = w.shape[2:], w.shape[1], w.shape[0] // group
    sizes = [(n - (k - 1) * d - 1) // s + 1 for n, k, s, d in zip(x.shape[2:], kernel, stride, dilation)]
    y = np.zeros((x.shape[0], w.shape[0], *sizes))
    for place in np.ndindex(*kernel):
        where = tuple(slice(i * d, i * d + (n - 1) * s + 1, s) for i, d, n, s in zip(place, dilation, sizes, stride))
        for g in range(group):
            part = x[(slice(None), slice(g * channels, (g + 1) * channels), *where)]
            matrix = w[(slice(g * out, (g + 1) * out), slice(None), *place)]
            y[:, g * out : (g + 1) * out] += np.einsum("nc...,oc->no...", part, matrix)
    return y


@pytest.mark.parametrize("case", CASES)
class TestConvolution:
    def test_values(self, case):
        x, w = normal(*case[0]), normal(*case[1], seed=1)
        found = Convolution(*case[2:])(Tensor(x), Tensor(w)).asnumpy()
        np.testing.assert_allclose(found, direct(x, w, *case[2:]), atol=1e-12)

    def test_gradient_twice(self, case):
        op = Convolution(*case[2:])
        check_gradient(op, normal(*case[0]), normal(*case[1], seed=1), normal(case[1][0], seed=2), order=2)

    def test_float32(self, case):
        op = Convolution(*case[2:])
        check_precisions(op, normal(*case[0]), normal(*case[1], seed=1), normal(case[1][0], seed=2))

    def test_transposed(self, case):
        x, w = normal(*case[0]), normal(*case[1], seed=1)
        dy = normal(*direct(x, w, *case[2:]).shape, seed=2)

        def op(dy, w):
            return TransposedConvolution(*case[2:])(dy, w, case[0])

        # <transposed(dy), x> = <dy, convolution(x)>
        left = (op(Tensor(dy), Tensor(w)).asnumpy() * x).sum()
        assert left == pytest.approx((dy * direct(x, w, *case[2:])).sum())
        check_gradient(op, dy, w, order=2)
        check_precisions(op, dy, w)

    def test_weight_gradient(self, case):
        x, w = normal(*case[0]), normal(*case[1], seed=1)
        dy = normal(*direct(x, w, *case[2:]).shape, seed=2)

        def op(x, dy):
            return WeightGradient(*case[2:])(x, dy, case[1], True)

        check_gradient(op, x, dy, order=2)
        check_precisions(op, x, dy)


@pytest.mark.parametrize("stride", [1, 2, 3])
@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same_padding_gives_ceil(stride, kernel, dilation):
    x, w = normal(1, 2, 7, 8), normal(3, 2, kernel, kernel, seed=1)
    out = ops.conv2d(tensor(x), tensor(w), stride=stride, pad_mode="same", dilation=dilation)
    assert out.shape == (1, 3, -(-7 // stride), -(-8 // stride))
    check_gradient(lambda x, w: ops.conv2d(x, w, stride=stride, pad_mode="same", dilation=dilation), x, w, order=1)


def test_memory_is_channels_last():
    out = ops.conv2d(tensor(normal(2, 3, 6, 6)), tensor(normal(4, 3, 3, 3)))
    assert np.moveaxis(out.asnumpy(), 1, -1).flags.c_contiguous


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_layouts_of_the_input(dtype):
    x, w = normal(2, 3, 6, 5).astype(dtype), tensor(normal(4, 3, 3, 3), dtype)
    wanted = ops.conv2d(Tensor(x), w).asnumpy()
    last = np.moveaxis(np.ascontiguousarray(np.moveaxis(x, 1, -1)), -1, 1)
    for view in (last, np.flip(np.flip(x, 2).copy(), 2), np.repeat(x, 2, axis=3)[..., ::2]):
        given = tensor(0)
        given._data = view
        np.testing.assert_allclose(
            ops.conv2d(given, w).asnumpy(),
            wanted,
            rtol=2e-3 if dtype == np.float16 else 1e-5,
            atol=1e-2 if dtype == np.float16 else 1e-5,
        )
        assert ops.conv2d(given, w).asnumpy().dtype == dtype


def test_empty_batch_and_size_one():
    assert ops.conv2d(tensor(normal(0, 2, 8, 8)), tensor(normal(4, 2, 3, 3))).shape == (0, 4, 6, 6)
    one = ops.conv2d(tensor([[[[2.0]]]]), tensor([[[[3.0]]]]), tensor([1.0]))
    assert one.asnumpy().item() == 7


class TestErrors:
    x, w = tensor(normal(1, 2, 8, 8)), tensor(normal(4, 2, 3, 3))

    @pytest.mark.parametrize(
        "arguments, error, text",
        [
            ({"stride": 0}, ValueError, "'stride' must be a positive int"),
            ({"stride": (1, 1, 1)}, ValueError, "'stride'"),
            ({"stride": "a"}, TypeError, "'stride'"),
            ({"dilation": 0}, ValueError, "'dilation'"),
            ({"groups": 0}, ValueError, "'groups'"),
            ({"pad_mode": "foo"}, ValueError, "'pad_mode' must be one of"),
            ({"padding": 1}, ValueError, "'padding' must be 0 when 'pad_mode' is 'valid'"),
            ({"pad_mode": "pad", "padding": -1}, ValueError, "'padding'"),
            ({"pad_mode": "pad", "padding": (1, 2, 3, 4)}, ValueError, "'padding'"),
            ({"pad_mode": "pad", "padding": 1.0}, TypeError, "'padding'"),
            ({"bias": tensor([1.0])}, ValueError, "'bias' must have shape"),
            ({"bias": tensor(np.ones(4), np.float64)}, TypeError, "'bias'"),
        ],
    )
    def test_arguments(self, arguments, error, text):
        with pytest.raises(error, match=text):
            ops.conv2d(self.x, self.w, **arguments)

    @pytest.mark.parametrize(
        "x, error",
        [
            (tensor(normal(2, 8, 8)), ValueError),
            (tensor(normal(1, 3, 8, 8)), RuntimeError),
            (tensor(normal(1, 2, 2, 2)), ValueError),
            (tensor(normal(1, 2, 8, 8), np.float64), TypeError),
            (tensor(np.ones((1, 2, 8, 8)), np.int32), TypeError),
            (3, TypeError),
        ],
    )
    def test_inputs(self, x, error):
        with pytest.raises(error, match="For 'conv2d'"):
            ops.conv2d(x, self.w)

    def test_transposed_sizes_must_agree(self):
        with pytest.raises(ValueError, match="must convolve"):
            ops.Conv2DTranspose(2, 3)(tensor(normal(1, 2, 8, 8)), tensor(normal(2, 4, 3, 3)), (1, 4, 11, 10))


class TestPrimitives:
    def test_conv2d_forms_of_its_attributes(self):
        x, w = tensor(normal(1, 2, 8, 8)), tensor(normal(4, 2, 3, 3))
        wanted = ops.conv2d(x, w, stride=2).asnumpy()
        for stride in (2, (2, 2), (1, 1, 2, 2)):
            assert np.array_equal(ops.Conv2D(4, 3, stride=stride)(x, w).asnumpy(), wanted)
        assert ops.Conv2D(4, 3, pad_mode="pad", pad=(1, 1, 2, 2), stride=2, dilation=2)(x, w).shape == (1, 4, 3, 4)

    @pytest.mark.parametrize(
        "arguments, error",
        [
            ({"out_channel": 0}, ValueError),
            ({"mode": 2}, ValueError),
            ({"data_format": "NHWC"}, ValueError),
            ({"pad_mode": "pad", "pad": (1, 2)}, ValueError),
            ({"kernel_size": 3.0}, TypeError),
            ({"kernel_size": (3,)}, TypeError),
        ],
    )
    def test_bad_attributes(self, arguments, error):
        with pytest.raises(error, match="For 'Conv2D'"):
            ops.Conv2D(**{"out_channel": 4, "kernel_size": 3, **arguments})

    def test_weight_must_fit_the_attributes(self):
        x = tensor(normal(1, 2, 8, 8))
        for shape in ((5, 2, 3, 3), (4, 2, 3, 2)):
            with pytest.raises(RuntimeError, match="For 'Conv2D', 'weight'"):
                ops.Conv2D(4, 3)(x, tensor(normal(*shape)))

    def test_backprop_input_is_the_gradient(self):
        x, w = normal(1, 4, 9, 8), normal(2, 4, 3, 3, seed=1)

        def forward(x):
            return ops.conv2d(x, Tensor(w), stride=2, pad_mode="same")

        dy = np.ones(forward(Tensor(x)).shape)
        from dist_ms import grad

        found = ops.Conv2DBackpropInput(2, 3, pad_mode="same", stride=2)(Tensor(dy), Tensor(w), x.shape)
        np.testing.assert_allclose(found.asnumpy(), grad(forward)(Tensor(x)).asnumpy(), atol=1e-12)

    def test_conv3d_transpose_size(self):
        op = ops.Conv3DTranspose(2, 4, 3, pad_mode="pad", pad=1, stride=2, output_padding=1)
        assert op(tensor(normal(1, 2, 4, 4, 4)), tensor(normal(2, 4, 3, 3, 3))).shape == (1, 4, 8, 8, 8)


@pytest.mark.parametrize("rank", [1, 2, 3])
def test_functional_transposes(rank):
    function = getattr(ops, f"conv_transpose{rank}d")
    x, w, b = normal(2, 4, *(3,) * rank), normal(4, 3, *(3,) * rank, seed=1), normal(6, seed=2)

    def op(x, w, b):
        return function(x, w, b, stride=2, padding=1, output_padding=1, groups=2)

    assert op(tensor(x), tensor(w), tensor(b)).shape == (2, 6, *(6,) * rank)
    check_gradient(op, x, w, b, order=1)
