"""Functions of mint that MindSpore has on Ascend only, against what they stand for."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, mint, nn, ops

RNG = np.random.default_rng(0)


def test_statistics_of_parts_are_those_of_the_whole():
    x = RNG.normal(size=(6, 3, 4)).astype(np.float32)
    parts = [mint.batch_norm_stats(Tensor(x[:2]), 1e-5), mint.batch_norm_stats(Tensor(x[2:]), 1e-5)]
    means, inverses = (ops.stack([p[k] for p in parts]) for k in (0, 1))
    running_mean, running_var = Tensor(np.zeros(3, np.float32)), Tensor(np.ones(3, np.float32))
    mean, invstd = mint.batch_norm_gather_stats_with_counts(
        Tensor(x), means, inverses, running_mean, running_var, 0.1, 1e-5, Tensor([8.0, 16.0])
    )
    assert np.allclose(mean.asnumpy(), x.mean((0, 2)), atol=1e-6)
    assert np.allclose(invstd.asnumpy(), 1 / np.sqrt(x.var((0, 2)) + 1e-5), rtol=1e-5)
    assert np.allclose(running_mean.asnumpy(), 0.1 * x.mean((0, 2)), atol=1e-6)
    assert np.allclose(running_var.asnumpy(), 0.9 + 0.1 * x.var((0, 2), ddof=1), rtol=1e-5)
    w, b = Tensor([1.0, 2.0, 3.0]), Tensor([0.5, 0.0, -0.5])
    found = mint.batch_norm_elemt(Tensor(x), w, b, mean, invstd)
    wanted = ops.batch_norm(Tensor(x), mean, Tensor(x.var((0, 2))), w, b, training=False, eps=1e-5)
    assert np.allclose(found.asnumpy(), wanted.asnumpy(), atol=1e-4)


def test_a_convolution_over_time():
    x, w, b = (RNG.normal(size=s).astype(np.float32) for s in ((5, 2, 3), (2, 3, 4), (4,)))
    wide = np.pad(x, ((1, 1), (0, 0), (0, 0)))
    wanted = sum(wide[k : k + 6] @ w[k] for k in range(2)) + b
    assert np.allclose(mint.conv_tbc(Tensor(x), Tensor(w), Tensor(b), 1).asnumpy(), wanted, atol=1e-5)
    with pytest.raises(ValueError, match="'weight' must be of 3 dimensions"):
        mint.conv_tbc(Tensor(x), Tensor(b), Tensor(b))


@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_a_triangular_system(upper, transposed, unit):
    a, b = RNG.normal(size=(3, 3)) + 3 * np.eye(3), RNG.normal(size=(3, 2))
    matrix = np.triu(a) if upper else np.tril(a)
    if unit:
        np.fill_diagonal(matrix, 1)
    solved, same = mint.triangular_solve(Tensor(b), Tensor(a), upper, transposed, unit)
    assert np.allclose((matrix.T if transposed else matrix) @ solved.asnumpy(), b)
    assert np.array_equal(same.asnumpy(), a)


def test_other_names():
    x = Tensor([[1.0, 1.0, 1.0]])
    assert mint.addr_(x, Tensor([2.0]), Tensor([1.0, 2.0, 3.0]), beta=2, alpha=0.5) is x
    assert x.asnumpy().tolist() == [[3, 4, 5]]
    assert np.allclose(mint.npu_gelu(x, "tanh").asnumpy(), ops.gelu(x, "tanh").asnumpy())
    assert nn.AvgPool2dExt is mint.nn.AvgPool2d and nn.EmbeddingExt is mint.nn.Embedding
    assert nn.LogSoftmaxExt(dim=0)(x).shape == (1, 3)


def test_arguments_by_mindspores_names():
    assert ops.scalar_add(x=1, y=2) == 3 and ops.scalar_usub(x=1) == -1 and ops.shape_mul(input_data=(2, 3)) == 6
    assert ops.scalar_to_array(input_x=2).dtype == ms.int64 and ops.shape_(x=Tensor([1.0])) == (1,)
    assert ops.tensor_slice(input=Tensor([1, 2, 3]), begin=(1,), size=(2,)).asnumpy().tolist() == [2, 3]
    assert ops.zero_(input=Tensor([1.0])).asnumpy().tolist() == [0]
    assert ms.hal.memory_allocated(device_target="CPU") >= 0
    with pytest.raises(ValueError, match="'device_target' must be 'CPU'"):
        ms.hal.memory_stats("GPU")
    triple = ops.Morph(lambda x: 2 * x, lambda *s: s[0], lambda *d: d[0], bprop_fn=lambda x, out, dout: 3 * dout)
    assert ms.grad(triple)(Tensor([1.0])).asnumpy().tolist() == [3]
    found = ops.ResizeNearestNeighbor((2, 2), half_pixel_centers=True)(ops.ones((1, 1, 4, 4)))
    assert found.shape == (1, 1, 2, 2)
