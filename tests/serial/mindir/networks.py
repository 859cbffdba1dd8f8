"""Small networks that dist_ms and MindSpore both build from the same lines."""

import importlib

import numpy as np

IMAGES, ROWS, STEPS = (1, 4, 6, 6), (3, 4), (2, 3, 4)
IDS = np.array([[1, 2, 0], [3, 1, 1]], np.int32)


def values(form):
    """An input: ids as they are, or numbers of a shape."""
    if isinstance(form, np.ndarray):
        return form
    return np.random.RandomState(0).uniform(-1, 1, form).astype(np.float32)


def layers(nn):
    """Single layers, and the forms of their inputs."""
    return {
        "relu": (nn.ReLU, ROWS),
        "dense": (lambda: nn.Dense(4, 3, activation="relu"), STEPS),
        "conv": (lambda: nn.Conv2d(4, 6, 3, has_bias=True), IMAGES),
        "conv_strides": (lambda: nn.Conv2d(4, 6, 3, stride=2, pad_mode="pad", padding=(1, 2, 0, 1)), IMAGES),
        "conv_groups": (lambda: nn.Conv2d(4, 4, 3, group=4, pad_mode="valid", dilation=2), IMAGES),
        "conv1d": (lambda: nn.Conv1d(4, 6, 3, has_bias=True), (2, 4, 9)),
        "conv3d": (lambda: nn.Conv3d(2, 3, 3, has_bias=True), (1, 2, 4, 4, 4)),
        "transposed": (lambda: nn.Conv2dTranspose(4, 3, 3, stride=2, has_bias=True), IMAGES),
        "transposed_pad": (
            lambda: nn.Conv2dTranspose(4, 3, 3, stride=2, pad_mode="pad", padding=1, output_padding=1),
            IMAGES,
        ),
        "batch_norm": (lambda: nn.BatchNorm2d(4), IMAGES),
        "batch_norm1d": (lambda: nn.BatchNorm1d(4), ROWS),
        "layer_norm": (lambda: nn.LayerNorm((4,)), ROWS),
        "layer_norm2": (lambda: nn.LayerNorm((3, 4), begin_norm_axis=1, begin_params_axis=1), STEPS),
        "group_norm": (lambda: nn.GroupNorm(2, 4), IMAGES),
        "max_pool": (lambda: nn.MaxPool2d(3, 2, pad_mode="same"), IMAGES),
        "max_pool_pad": (lambda: nn.MaxPool2d(3, 2, pad_mode="pad", padding=1), IMAGES),
        "max_pool1d": (lambda: nn.MaxPool1d(2, 2), (2, 4, 8)),
        "avg_pool": (lambda: nn.AvgPool2d(3, 2, pad_mode="same"), IMAGES),
        "avg_pool_pad": (lambda: nn.AvgPool2d(3, 2, pad_mode="pad", padding=1), IMAGES),
        "adaptive": (lambda: nn.AdaptiveAvgPool2d((3, 2)), IMAGES),
        "pad": (lambda: nn.Pad(((1, 1), (0, 2))), ROWS),
        "embedding": (lambda: nn.Embedding(5, 4), IDS),
        "dropout": (lambda: nn.Dropout(p=0.5), ROWS),
        "lstm": (lambda: nn.LSTM(4, 5, batch_first=True), STEPS),
        "gru": (lambda: nn.GRU(4, 5, batch_first=True, bidirectional=True), STEPS),
        "rnn": (lambda: nn.RNN(4, 5), STEPS),
        "attention": (lambda: nn.MultiheadAttention(8, 2, batch_first=True), (2, 3, 8), (2, 3, 8), (2, 3, 8)),
        "encoder": (lambda: nn.TransformerEncoderLayer(8, 2, 16, batch_first=True), (2, 3, 8)),
        "prelu": (lambda: nn.PReLU(), IMAGES),
    }


def functions(ms, nn, ops):
    """Cells of many functions each."""

    class Arithmetic(nn.Cell):
        def construct(self, x, y):
            a = (x * 2 + 1 - 0.5) / 3 - (1 - x) + 2 / (y + 3)
            b = ops.maximum(x, y) * ops.minimum(x, y) - x // 0.3 + x % 0.3 + (-x) ** 2
            c = ops.where(x > y, x, y) + ops.masked_fill(x, x > 0, 0.5) + ops.select(x < 0, x, y)
            d = ops.logical_and(x > 0, y > 0).astype(ms.int32), ops.cast(x == y, ms.float32)
            return a, b, c, d[0], d[1]

    class Elementwise(nn.Cell):
        def construct(self, x, y):
            a = ops.exp(x) + ops.log(x * x + 1) + ops.sqrt(ops.abs(x)) + ops.rsqrt(ops.square(x) + 1)
            b = ops.sin(x) + ops.cos(y) + ops.erf(x) + ops.floor(x * 3) + ops.clamp(x, -0.5, 0.5)
            return a, b, ops.addn([x, y]), ops.zeros_like(x) + ops.ones_like(y) + ops.clip_by_value(y, -0.2, 0.2)

    class Special(nn.Cell):
        def construct(self, x, y):
            a = ops.div(x, y), ops.DivNoNan()(x, y), ops.xlogy(x, y * y), ops.lerp(x, y, 0.5), ops.glu(x, 1)
            b = (
                ops.Rint()(x * 3),
                ops.round(x * 3),
                ops.trunc(y * 3),
                ops.sign(x),
                ops.erfc(x),
                ops.Inv()(y),
                ops.neg(x),
            )
            c = ops.sinh(x), ops.cosh(y), ops.tan(x), ops.asin(x), ops.acos(y), ops.atan(x), ops.atanh(x * 0.5)
            d = ops.softplus(x), ops.hardtanh(x * 3), ops.leaky_relu(y, 0.3), ops.elu(x), ops.hardshrink(x, 0.2)
            return a + b + c + d

    class Rarer(nn.Cell):
        def construct(self, x, y):
            a = (
                ops.log2(ops.abs(x) + 1),
                ops.log10(ops.abs(y) + 1),
                ops.threshold(x, 0.1, 20.0),
                ops.softplus(x * 4, 2, 3),
            )
            b = ops.Mod()(x, y), ops.TruncateDiv()(x * 9, y), ops.TruncateMod()(x, y)
            return (*a, *b, ops.nan_to_num(x / ops.zeros_like(x), 0.5, 1.0, -1.0))

    class Scattering(nn.Cell):
        def construct(self, x, y):
            rows, column = ms.Tensor([[0], [2]]), ms.Tensor([[0, 1, 2, 0]])
            a = ops.tensor_scatter_mul(x, rows, y[:2]), ops.tensor_scatter_elements(x, column, y[:1], 0)
            b = ops.tensor_scatter_elements(x, column, y[:1], 0, "add")
            return (*a, b, ops.reverse_sequence(x, ms.Tensor([1, 2, 3]), 1, 0))

    class Truths(nn.Cell):
        def construct(self, x, y):
            a = x > y, x >= y, x < y, x <= y, x == y, x != y, ops.logical_xor(x > 0, y > 0), ops.logical_not(x > 0)
            return (*a, (x > 0).all(1), (x > 0).any(1), ops.isfinite(x), ops.isnan(x))

    class Shapes(nn.Cell):
        def construct(self, x, y):
            a = ops.concat((x, y), 1), ops.stack((x, y), 1), ops.split(x, 2, 1)[1], ops.unstack(x, 0)[1]
            b = x.reshape(2, -1), x.transpose(1, 0), x.expand_dims(1).squeeze(1), ops.tile(x, (2, 1))
            c = ops.broadcast_to(x.reshape(1, 3, 4), (2, 3, 4)), ops.flip(x, (0,)), ops.repeat_interleave(x, 2, 0)
            return a + b + c

    class Picking(nn.Cell):
        def construct(self, x, y):
            a = x[1:, :2], x[1], x[:, 1], x[..., None, 2], x[:, -3:-1], x[::2]
            b = ops.gather(x, ms.Tensor([2, 0]), 0), ops.gather_elements(x, 1, ms.Tensor([[0], [1], [2]]))
            z = x * 1
            z[1:, 1] = y[0, 2:]
            z[0] = 3
            c = ops.TensorScatterAdd()(x, ms.Tensor([[1], [0], [1]]), y), ops.gather_nd(x, ms.Tensor([[0, 1], [2, 2]]))
            return (
                *a,
                *b,
                *c,
                ops.tril(y),
                ops.triu(y, 1),
                ops.bias_add(x, y[0]),
                z,
                x[[0, 2], [1, 3]],
            )

    class Reductions(nn.Cell):
        def construct(self, x, y):
            a = x.mean(1), x.mean(), x.sum(0), ops.max(x, 1)[0], x.argmax(1), ops.amin(x, 1), ops.prod(x, 1)
            b = ops.cumsum(x, 1), ops.logsumexp(x, 1), ops.norm(y), x.std(0), ops.softmax(x, 0)
            return (*a, *b, ops.topk(x, 2)[0], ops.sort(x)[0])

    class Products(nn.Cell):
        def construct(self, x, y):
            a, b = x.reshape(1, 3, 4), y.reshape(1, 4, 3)
            return ops.matmul(x, y.T), ops.bmm(a, b), ops.matmul(a, y.T)

    class Images(nn.Cell):
        def construct(self, x):
            a = ops.interpolate(x, size=(8, 9), mode="bilinear"), ops.interpolate(x, size=(12, 6), mode="nearest")
            b = ops.pad(x, (1, 1, 2, 0)), ops.pixel_shuffle(x, 2), ops.unfold(x, 3), ops.max_pool2d(x, 2, 2)
            c = ops.pad(x, (1, 1, 2, 2), mode="reflect"), ops.pad(x, (1, 0, 2, 1), mode="replicate")
            return (*a, *b, *c, ops.grid_sample(x, ops.tanh(x[:, :2]).transpose(0, 2, 3, 1)))

    class Volumes(nn.Cell):
        def __init__(self):
            super().__init__()
            self.pool, self.means, self.uneven = nn.MaxPool3d(2, 2), nn.AvgPool3d(2, 2), nn.AdaptiveMaxPool2d((2, 4))

        def construct(self, x, points):
            return self.pool(x), self.means(x), self.uneven(x[:, 0]), ops.grid_sample(x, points, align_corners=True)

    class Activations(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b, self.c, self.d = nn.ReLU6(), nn.Sigmoid(), nn.Tanh(), nn.LogSoftmax()
            self.e, self.f, self.g, self.h = nn.GELU(), nn.SiLU(), nn.HSwish(), nn.HSigmoid()
            self.i, self.j, self.k, self.m = nn.ELU(), nn.LeakyReLU(), nn.Mish(), nn.Softsign()
            self.n, self.o, self.p, self.q = nn.LogSigmoid(), nn.SoftShrink(), nn.HShrink(), nn.CELU()
            self.r, self.s, self.t = nn.SeLU(), nn.FastGelu(), nn.GELU(approximate=False)

        def construct(self, x, y):
            a = self.a(x), self.b(x), self.c(x), self.d(x), self.e(x), self.f(x), self.g(x), self.h(x), self.i(x)
            b = self.j(y), self.k(y), self.m(y), self.n(y), self.o(y), self.p(y), self.q(y), self.r(y), self.s(y)
            return (*a, *b, self.t(x))

    class OneHot(nn.Cell):
        def construct(self, ids):
            return ops.one_hot(ids, 5, ms.Tensor(1.0), ms.Tensor(0.0))

    pairs = (Activations, Arithmetic, Elementwise, Special, Rarer, Truths)
    pairs += (Shapes, Picking, Scattering, Reductions, Products)
    made = {kind.__name__: (kind, ROWS, ROWS) for kind in pairs}
    volumes = Volumes, (1, 2, 4, 5, 6), (1, 3, 2, 2, 3)
    return made | {"Images": (Images, IMAGES), "Volumes": volumes, "OneHot": (OneHot, IDS)}


def networks(ms):
    """Each network's maker, followed by the forms of its inputs, by name.

    Args:
        ms: dist_ms or MindSpore.
    """
    nn, ops = (importlib.import_module(f"{ms.__name__}.{name}") for name in ("nn", "ops"))

    class LeNet(nn.Cell):
        def __init__(self):
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 4, 3, pad_mode="valid"), nn.Conv2d(4, 6, 3, pad_mode="valid")
            self.fc1, self.fc2 = nn.Dense(24, 12), nn.Dense(12, 5)
            self.relu, self.pool, self.flatten = nn.ReLU(), nn.MaxPool2d(2, 2), nn.Flatten()

        def construct(self, x):
            x = self.pool(self.relu(self.conv1(x)))
            x = self.flatten(self.pool(self.relu(self.conv2(x))))
            return self.fc2(self.relu(self.fc1(x)))

    return {"LeNet": (LeNet, (2, 1, 14, 14))} | layers(nn) | functions(ms, nn, ops)


def flat(results):
    """The tensors of what a network returns, in tuples too, in order."""
    return [t for r in results for t in flat(r)] if isinstance(results, (tuple, list)) else [results]


def built(ms, make):
    """A network as for inference, whose parameters are numbers drawn from a seed of their own."""
    net = make()
    net.set_train(False)
    draws = np.random.RandomState(3)
    for parameter in net.get_parameters():
        low = 0.5 if parameter.name.endswith(("variance", "gamma")) else -0.5
        drawn = draws.uniform(low, low + 1, parameter.shape).astype(np.float32)
        parameter.set_data(ms.Tensor(drawn))
    return net
