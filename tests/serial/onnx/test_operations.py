"""Single operations, exported with an open batch, give the same in onnxruntime."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from tests.serial.onnx.exported import check

DRAWS = np.random.RandomState(3)
FIXED = ms.Tensor(DRAWS.randn(4, 8, 8).astype(np.float32))
PLACES = ms.Tensor([3, 0, 1], ms.int32)


class Of(nn.Cell):
    """A function as a network."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def construct(self, *inputs):
        return self.function(*inputs)


def floats(*shape):
    return ms.Tensor(DRAWS.randn(*shape).astype(np.float32))


def written(x):
    z = x * 1
    z[:, 0] = 0
    z[:, 1:3, 2] = x[:, 1:3, 3]
    z[0] = 7
    return z


def repeated_class(x):
    token = ops.broadcast_to(FIXED[:1, :1], (x.shape[0], 1, 8))
    return ops.concat((token, x[:, 0]), 1)


OPERATIONS = {
    "add": lambda x: (x + 1) * 2.5 - x / 3,
    "of a constant": lambda x: 1 - FIXED * x,
    "whole parts": lambda x: (x // 0.5, x % 0.7),
    "powers": lambda x: ops.sqrt(x**2 + 1) * ops.rsqrt(x * x + 1) + ops.square(x) + ops.reciprocal(x * x + 1),
    "exponentials": lambda x: ops.exp(x) + ops.log(ops.abs(x) + 1) + ops.log1p(x * x) + ops.expm1(x) + ops.erf(x),
    "rounding": lambda x: (ops.floor(x), ops.ceil(x), ops.round(x), ops.sign(x), ops.trunc(x)),
    "waves": lambda x: ops.sin(x) + ops.cos(x) + ops.tanh(x) + ops.atan(x),
    "comparisons": lambda x: (x > 0, x < 1, x >= FIXED, x <= 0, ops.equal(x, x), ops.not_equal(x, FIXED)),
    "logic": lambda x: (ops.logical_and(x > 0, x < 1), ops.logical_not(x > 0), ops.logical_or(x > 0, x < -1)),
    "choices": lambda x: (ops.where(x > 0, x, x * 2), ops.masked_fill(x, x > 0, -1e9), ops.select(x > 0, x, -x)),
    "limits": lambda x: (ops.clip_by_value(x, -1, 1), ops.clamp(x, 0, 6), ops.maximum(x, 0), ops.minimum(x, FIXED)),
    "types": lambda x: (x.astype(ms.int32), (x > 0).astype(ms.float32), ops.cast(x, ms.bool_), x.to(ms.float16)),
    "softmax": lambda x: (ops.softmax(x, 1), ops.log_softmax(x, -1), ops.softplus(x), ops.hardswish(x)),
    "joined": lambda x: (ops.concat((x, x * 2), 1), ops.stack((x, -x), 1), ops.concat([x, x], axis=-1)),
    "parts": lambda x: (*ops.split(x, 2, axis=1), *ops.chunk(x, 4, axis=2), *ops.unstack(x, axis=1)),
    "orders": lambda x: (x.transpose(0, 2, 3, 1), ops.permute(x, (1, 0, 3, 2)), x.swapaxes(1, 2)),
    "shapes": lambda x: (x.reshape(x.shape[0], -1), x.view(x.shape[0] * 4, 64), x.reshape(-1, 2, 8), x.flatten()),
    "two open": lambda x: x.reshape(x.shape[0] * 2, 2, x.shape[0] * 0 + 64),
    "dimensions": lambda x: (ops.unsqueeze(x, 1), ops.expand_dims(x, -1), x[:, :1].squeeze(1)),
    "slices": lambda x: (x[:, 1:3, ::2, -1], x[..., 1:], x[:, None, 0], x[:, :, ::-1] if False else x[1:], x[:, -2:]),
    "strided": lambda x: ops.strided_slice(x, (0, 0, 0, 0), (x.shape[0], 4, 8, 8), (1, 1, 2, 2)),
    "at places": lambda x: (x[:, [0, 2]], ops.gather(x, PLACES, 1), ops.narrow(x, 1, 1, 2)),
    "along": lambda x: ops.gather_elements(x, 1, ops.argmax(x, 1, True).astype(ms.int32)),
    "written": written,
    "repeated": lambda x: (ops.tile(x, (1, 2, 1, 1)), ops.repeat_interleave(x, 2, 1), ops.roll(x, 1, 2)),
    "repeated batch": lambda x: (ops.repeat_interleave(x, 2, 0), ops.flip(x, (1,)), ops.tile(x, (2, 1, 1, 1))),
    "a token": repeated_class,
    "means": lambda x: (x.mean((2, 3)), ops.mean(x, (2, 3), keep_dims=True), x.sum(1), ops.prod(x, 1), x.sum()),
    "extremes": lambda x: (x.max(axis=1), ops.amax(x, 1), *ops.max(x, 1), *ops.min(x, 1), x.argmax(1)),
    "spread": lambda x: (x.var(1), ops.std(x, 1), ops.norm(x, dim=1), ops.logsumexp(x, 1)),
    "unit": lambda x: ops.L2Normalize(1)(x),
    "truths": lambda x: ((x > 0).all(1), (x > 0).any(axis=(1, 2))),
    "in order": lambda x: (*ops.topk(x, 2), *ops.sort(x), ops.cumsum(x, 1)),
    "products": lambda x: (ops.matmul(x, x), ops.BatchMatMul(transpose_b=True)(x, x), ops.bmm(x[:, 0], x[:, 1])),
    "a vector": lambda x: ops.mv(x.reshape(-1, 8), x[0, 0, 0]),
    "einsum": lambda x: ops.einsum("bchw,bdhw->bcd", x, x),
    "dense": lambda x: ops.dense(x, FIXED[0], FIXED[0, 0]),
    "resized": lambda x: (ops.interpolate(x, size=(16, 13), mode="nearest"), ops.ResizeNearestNeighbor((16, 16))(x)),
    "bilinear": lambda x: ops.interpolate(x, size=(16, 5), mode="bilinear", align_corners=False),
    "corners": lambda x: ops.interpolate(x, size=(16, 16), mode="bilinear", align_corners=True),
    "padded": lambda x: (ops.pad(x, (1, 1, 2, 2)), ops.pad(x, (1, 1, 2, 2), mode="reflect")),
    "made": lambda x: (ops.zeros((x.shape[0], 2)) + x[:, 0, 0, :2], ops.zeros_like(x), ops.full((x.shape[0],), 3.0)),
    "counted": lambda x: ops.arange(x.shape[0]) * 2 + x.shape[0],
    "classes": lambda x: ops.one_hot(x.argmax(1), 8, ms.Tensor(1.0), ms.Tensor(0.0)),
    "triangles": lambda x: (ops.tril(x), ops.triu(x, 1)),
    "sampled": lambda x: ops.grid_sample(x, ops.tanh(x[:, :2]).transpose(0, 2, 3, 1)),
    "pooled": lambda x: (ops.adaptive_avg_pool2d(x, 2), ops.max_pool2d(x, 2), ops.avg_pool2d(x, 2)),
    "unfolded": lambda x: ops.unfold(x, (2, 2)),
    "blocks": lambda x: ops.SpaceToDepth(2)(x),
    "sums": lambda x: (ops.addn([x, x]), ops.bias_add(x, FIXED[:, 0, 0]), ops.lerp(x, FIXED, 0.5)),
    "without nan": lambda x: (
        ops.nan_to_num(x / 0),
        ops.DivNoNan()(x, FIXED),
        ops.isfinite(x / 0),
        ops.xlogy(x, x * x),
    ),
    "toward zero": lambda x: (ops.div(x, 0.3, rounding_mode="trunc"), ops.fmod(x, 2)),
    "logarithms": lambda x: (ops.logaddexp(x, FIXED), ops.erfc(x)),
    "gates": lambda x: ops.glu(x),
    "scattered": lambda x: (
        ops.tensor_scatter_elements(x, ops.argmax(x, 1, True), x[:, :1], 1),
        ops.TensorScatterAdd()(x.swapaxes(0, 1), ms.Tensor([[1], [3], [1]]), x.swapaxes(0, 1)[:3]),
    ),
    "maxima and places": lambda x: ops.max_pool2d(x, 2, return_indices=True)[0],
    "in numpy's form": lambda x: (ms.numpy.add(x, x), ms.numpy.sum(x, 1), ms.mint.nn.functional.softmax(x, 1)),
    "nothing": lambda x: (ops.dropout(x, 0.5, training=False), ops.stop_gradient(x)),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation(name, tmp_path):
    check(Of(OPERATIONS[name]), [floats(2, 4, 8, 8)], tmp_path, tolerance=2e-5)


def test_integers(tmp_path):
    given = ms.Tensor(DRAWS.randint(-9, 9, (4, 5)), ms.int64)
    check(Of(lambda x: (x // 4, x % 4, x // -4, x * 2 - 1, x.max(axis=1), ops.abs(x))), [given], tmp_path)
