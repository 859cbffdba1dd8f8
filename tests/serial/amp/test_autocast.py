"""The level "auto": each operation's type, as MindSpore 2.10 has it on its CPU."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.amp import auto_mixed_precision
from dist_ms.autograd.tape import recording
from dist_ms.common.dtype import from_numpy
from dist_ms.ops.layers.attention import LayerAttention

RANDOM = np.random.RandomState(0)


def t(*shape, dtype=ms.float32):
    return ms.Tensor((RANDOM.rand(*shape) * 0.8 + 0.1).astype(np.float32)).astype(dtype)


# (operation of its inputs' type, the types of its result for inputs of float32, float16, float64 and bfloat16)
ALL_LOW = ("f16",) * 4
ALL_32 = ("f32",) * 4
AS_IT_IS = ("f32", "f16", "f64", "bf16")
WITH_FLOAT32 = ("f32", "f32", "f64", "f32")
OPERATIONS = {
    "matmul": (lambda d: ops.matmul(t(2, 3, dtype=d), t(3, 2, dtype=d)), ALL_LOW),
    "@": (lambda d: t(2, 3, dtype=d) @ t(3, 2, dtype=d), ALL_LOW),
    "BatchMatMul": (lambda d: ops.BatchMatMul()(t(2, 2, 3, dtype=d), t(2, 3, 2, dtype=d)), ALL_LOW),
    "matmul of two types": (lambda d: ops.matmul(t(2, 3, dtype=d), t(3, 2)), ALL_LOW),
    "mv": (lambda d: ops.mv(t(2, 3, dtype=d), t(3, dtype=d)), ALL_LOW),
    "dense": (lambda d: ops.dense(t(2, 3, dtype=d), t(4, 3, dtype=d)), ALL_LOW),
    "Dense without bias": (lambda d: nn.Dense(3, 2, has_bias=False)(t(2, 3, dtype=d)), ALL_LOW),
    "Conv2d": (lambda d: nn.Conv2d(2, 3, 3)(t(1, 2, 4, 4, dtype=d)), ALL_LOW),
    "Conv1d": (lambda d: nn.Conv1d(2, 3, 3)(t(1, 2, 4, dtype=d)), ALL_LOW),
    "Conv2dTranspose": (lambda d: nn.Conv2dTranspose(2, 3, 3)(t(1, 2, 4, 4, dtype=d)), ALL_LOW),
    "Dense": (lambda d: nn.Dense(3, 2)(t(2, 3, dtype=d)), ALL_32),
    "Conv2d with bias": (lambda d: nn.Conv2d(2, 3, 3, has_bias=True)(t(1, 2, 4, 4, dtype=d)), ALL_32),
    "pow": (lambda d: t(3, dtype=d) ** 2, ALL_32),
    "exp": (lambda d: ops.exp(t(3, dtype=d)), ALL_32),
    "exp2": (lambda d: ops.exp2(t(3, dtype=d)), ALL_32),
    "log": (lambda d: ops.log(t(3, dtype=d)), ALL_32),
    "logdet": (lambda d: ops.logdet(t(2, 2, dtype=d)), ALL_32),
    "log1p": (lambda d: ops.log1p(t(3, dtype=d)), ALL_32),
    "acos": (lambda d: ops.acos(t(3, dtype=d)), ALL_32),
    "tan": (lambda d: ops.tan(t(3, dtype=d)), ALL_32),
    "rsqrt": (lambda d: ops.rsqrt(t(3, dtype=d)), ALL_32),
    "reciprocal": (lambda d: ops.reciprocal(t(3, dtype=d)), ALL_32),
    "softmax": (lambda d: ops.softmax(t(2, 3, dtype=d)), ALL_32),
    "log_softmax": (lambda d: ops.log_softmax(t(2, 3, dtype=d)), ALL_32),
    "LayerNorm": (lambda d: nn.LayerNorm((3,))(t(2, 3, dtype=d)), ALL_32),
    "BatchNorm2d": (lambda d: nn.BatchNorm2d(2)(t(1, 2, 3, 3, dtype=d)), ALL_32),
    "sum": (lambda d: t(2, 3, dtype=d).sum(), ALL_32),
    "prod": (lambda d: t(2, 3, dtype=d).prod(), ALL_32),
    "cumsum": (lambda d: ops.cumsum(t(3, dtype=d), 0), ALL_32),
    "concat": (lambda d: ops.cat((t(3, dtype=d), t(3))), WITH_FLOAT32),
    "addn": (lambda d: ops.addn((t(3, dtype=d), t(3))), WITH_FLOAT32),
    "bias_add": (lambda d: ops.bias_add(t(2, 3, dtype=d), t(3)), WITH_FLOAT32),
    "add": (lambda d: t(3, dtype=d) + t(3, dtype=d), AS_IT_IS),
    "relu": (lambda d: ops.relu(t(3, dtype=d)), AS_IT_IS),
    "tanh": (lambda d: ops.tanh(t(3, dtype=d)), AS_IT_IS),
    "sqrt": (lambda d: ops.sqrt(t(3, dtype=d)), AS_IT_IS),
    "mean": (lambda d: t(2, 3, dtype=d).mean(), AS_IT_IS),
    "reshape": (lambda d: t(4, dtype=d).reshape(2, 2), AS_IT_IS),
    "MaxPool2d": (lambda d: nn.MaxPool2d(2, 2)(t(1, 1, 4, 4, dtype=d)), AS_IT_IS),
}
TYPES = {"f32": ms.float32, "f16": ms.float16, "f64": ms.float64, "bf16": ms.bfloat16}


@pytest.mark.parametrize("name", OPERATIONS)
def test_the_type_of_each_operation(name):
    run, expected = OPERATIONS[name]
    for low in (ms.float16, ms.bfloat16):
        wanted = [low if kind == "f16" and expected is ALL_LOW else TYPES[kind] for kind in expected]
        found = [auto_mixed_precision(lambda d=d: run(d), "auto", low)().dtype for d in TYPES.values()]
        assert found == wanted


def test_products_with_bias_are_rounded_at_most_once():
    """Where the CPU computes in float16 the bias meets the product before it is rounded."""
    x, layer = t(5, 8), nn.Dense(8, 4)
    first, second = (a.astype(ms.float16).astype(ms.float32) for a in (x, layer.weight))
    product = ops.matmul(first, second.T).asnumpy()
    low = auto_mixed_precision(lambda: layer(x), "auto")()
    difference = np.abs(low.asnumpy() - (product + layer.bias.asnumpy()))
    assert low.dtype == ms.float32 and (difference <= 2**-11 * np.abs(product) + 1e-6).all()
    conv = nn.Conv2d(2, 3, 3, has_bias=True, bias_init="ones")
    x = t(1, 2, 4, 4)
    low = auto_mixed_precision(lambda: conv(x), "auto")()
    np.testing.assert_allclose(low.asnumpy(), conv(x).asnumpy(), atol=2e-3)


@pytest.mark.parametrize("low, tolerance", [(ms.float16, 2e-3), (ms.bfloat16, 2e-2)], ids=str)
def test_attention_of_layers_is_low_with_its_mask_as_it_is(low, tolerance, monkeypatch):
    net = nn.MultiheadAttention(8, 2, batch_first=True)
    x, mask = t(2, 5, 8), ms.Tensor(np.triu(np.full((5, 5), -1e9, np.float32), 1))
    forward, types = LayerAttention.forward, []

    def watched(attention, *operands):
        types.extend(from_numpy(x.dtype) for x in operands[:4])
        return forward(attention, *operands)

    def run(inputs):
        return net(inputs, inputs, inputs, need_weights=False, attn_mask=mask)[0].sum()

    value, wanted = ms.value_and_grad(run)(x)
    monkeypatch.setattr(LayerAttention, "forward", watched)
    found, grad = ms.value_and_grad(auto_mixed_precision(run, "auto", low))(x)
    assert types == [low] * 3 + [ms.float32]
    np.testing.assert_allclose(found.asnumpy(), value.asnumpy(), atol=20 * tolerance)
    np.testing.assert_allclose(grad.asnumpy(), wanted.asnumpy(), atol=5 * tolerance)


def test_integers_keep_their_type():
    f = auto_mixed_precision(lambda: ops.cat((ms.Tensor([1]), ms.Tensor([2]))), "auto")
    assert f().dtype is ms.int64


def test_a_cells_own_type_wins():
    layer = nn.SequentialCell(nn.Dense(2, 2, has_bias=False).to_float(ms.float32))
    assert auto_mixed_precision(layer, "auto")(ops.ones((1, 2))).dtype is ms.float32
    layer = nn.SequentialCell(nn.Dense(2, 2, has_bias=False))
    assert auto_mixed_precision(layer, "auto")(ops.ones((1, 2))).dtype is ms.float16


def test_regions_nest_and_end_with_an_exception():
    inner = auto_mixed_precision(lambda x: ops.matmul(x, x), "auto", ms.bfloat16)
    outer = auto_mixed_precision(lambda x: (ops.matmul(x, x).dtype, inner(x).dtype, ops.matmul(x, x).dtype), "auto")
    assert outer(ops.ones((2, 2))) == (ms.float16, ms.bfloat16, ms.float16)

    def fails(x):
        raise RuntimeError("within")

    with pytest.raises(RuntimeError, match="within"):
        auto_mixed_precision(fails, "auto")(1)
    assert recording.policy is None
    assert ops.matmul(ops.ones((2, 2)), ops.ones((2, 2))).dtype is ms.float32


def test_a_changed_network_can_be_copied():
    import copy

    net = auto_mixed_precision(nn.SequentialCell(nn.Dense(2, 2, weight_init="ones", has_bias=False)), "auto")
    twin = copy.deepcopy(net)
    net[0].weight.set_data(net[0].weight * 0)
    out = twin(ops.ones((1, 2)))
    assert (out.dtype, out.asnumpy().tolist()) == (ms.float16, [[2, 2]])


def test_gradients_have_the_types_of_what_was_cast():
    f = auto_mixed_precision(lambda x, y: ops.exp(ops.matmul(x, y)).sum(), "auto")
    x, y = t(2, 3), t(3, 2)
    value, grads = ms.value_and_grad(f, (0, 1))(x, y)
    assert (value.dtype, [g.dtype for g in grads]) == (ms.float32, [ms.float32] * 2)
    exact = ms.grad(lambda x, y: ops.exp(ops.matmul(x, y)).sum(), (0, 1))(x, y)
    for found, wanted in zip(grads, exact, strict=True):
        np.testing.assert_allclose(found.asnumpy(), wanted.asnumpy(), rtol=5e-3)


def test_a_gradient_taken_within_a_region_runs_as_the_forward_did():
    seen = []

    def loss(x):
        y = ops.matmul(x, x)
        y.register_hook(lambda g: seen.append(g.dtype))
        return y.astype(ms.float32).sum()

    auto_mixed_precision(lambda x: ms.grad(loss)(x), "auto")(t(2, 2))
    assert seen == [ms.float16]
