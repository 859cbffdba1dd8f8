"""Training on N ranks, each on its shard of the batch, equals training alone on the whole batch."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.communication import get_group_size, get_rank
from dist_ms.experimental import optim
from dist_ms.mint import optim as mint_optim

STEPS = 50
# With momentum a rate of 0.05 lets rounding grow to 3e-6 from some initial weights in 50 steps, 0.01 to 3e-7.
OPTIMIZERS = {
    "SGD": lambda p: nn.SGD(p, 0.05),
    "SGD momentum": lambda p: nn.SGD(p, 0.01, momentum=0.9, weight_decay=1e-3),
    "Momentum": lambda p: nn.Momentum(p, 0.01, 0.9),
    "Momentum nesterov": lambda p: nn.Momentum(p, 0.01, 0.9, use_nesterov=True, weight_decay=1e-3),
    "Adam": lambda p: nn.Adam(p, 1e-3),
    "Adam amsgrad": lambda p: nn.Adam(p, 1e-3, use_amsgrad=True),
    "AdamOffload": lambda p: nn.AdamOffload(p, 1e-3),
    "LazyAdam": lambda p: nn.LazyAdam(p, 1e-3),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 1e-3, weight_decay=1e-2),
    "AdaMax": lambda p: nn.AdaMax(p, 1e-3),
    "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.01, weight_decay=1e-3),
    "ProximalAdagrad": lambda p: nn.ProximalAdagrad(p, learning_rate=0.01, l1=1e-4, l2=1e-3),
    "Adadelta": lambda p: nn.Adadelta(p, 0.05, weight_decay=1e-3),
    "RMSProp": lambda p: nn.RMSProp(p, 1e-3, momentum=0.5),
    "RMSProp centered": lambda p: nn.RMSProp(p, 1e-3, centered=True),
    # FTRL first shrinks all weights to nearly 0; a lower rate leaves them there so long that rounding grows.
    "FTRL": lambda p: nn.FTRL(p, learning_rate=0.3),
    "Lamb": lambda p: nn.Lamb(p, 1e-3, weight_decay=1e-2),
    "ASGD": lambda p: nn.ASGD(p, 0.05, t0=10.0),
    "Rprop": lambda p: nn.Rprop(p, 1e-3),
    "AdaFactor": lambda p: nn.AdaFactor(p, 1e-3, scale_parameter=False, relative_step=False),
    "experimental ASGD": lambda p: optim.ASGD(p, lr=0.05, t0=10.0),
    "experimental Adadelta": lambda p: optim.Adadelta(p, lr=0.05, weight_decay=1e-3),
    "experimental Adagrad": lambda p: optim.Adagrad(p, lr=0.01),
    "experimental Adam": lambda p: optim.Adam(p, lr=1e-3, weight_decay=1e-3),
    "experimental AdamW": lambda p: optim.AdamW(p, lr=1e-3),
    "experimental Adamax": lambda p: optim.Adamax(p, lr=1e-3),
    "experimental NAdam": lambda p: optim.NAdam(p, lr=1e-3),
    "experimental RAdam": lambda p: optim.RAdam(p, lr=1e-3),
    "experimental RMSprop": lambda p: optim.RMSprop(p, lr=1e-3),
    "experimental Rprop": lambda p: optim.Rprop(p, lr=1e-3),
    "experimental SGD": lambda p: optim.SGD(p, lr=0.01, momentum=0.9),
    "mint Adam": lambda p: mint_optim.Adam(p, lr=1e-3),
    "mint AdamW": lambda p: mint_optim.AdamW(p, lr=1e-3),
    "mint FusedAdamW": lambda p: mint_optim.FusedAdamW(p, lr=1e-3),
    "mint SGD": lambda p: mint_optim.SGD(p, lr=0.01, momentum=0.9),
}
# Its rates are ratios of norms, so that the rounding of one float32 reaches every weight: 1.03e-6 after 50 steps.
OPTIMIZERS_IN_FLOAT64 = {**OPTIMIZERS, "LARS": lambda p: nn.LARS(nn.Momentum(p, 0.05, 0.9), epsilon=1e-8)}


class Net(nn.Cell):
    """A convolution, two dense layers and a scale, all trained."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, has_bias=True)
        self.tanh, self.flatten = nn.Tanh(), nn.Flatten()
        self.fc1, self.fc2 = nn.Dense(4 * 5 * 5, 16), nn.Dense(16, 3)
        self.scale = Parameter(Tensor([1.5]), name="scale")

    def construct(self, x):
        x = self.flatten(self.tanh(self.conv(x)))
        return self.fc2(self.tanh(self.fc1(x))) * self.scale


def train(make_optimizer, parallel, dtype=np.float32, steps=STEPS, overlap=None):
    """The weights after `steps` steps; in parallel each rank starts differently and sees its shard."""
    ms.reset_auto_parallel_context()
    rank, size = (get_rank(), get_group_size()) if parallel else (0, 1)
    ms.set_seed(20 + rank)
    net = Net()
    if dtype == np.float64:
        for p in net.get_parameters():
            p.set_dtype(ms.float64)
    if parallel:
        ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), make_optimizer(net.trainable_params()))
    if parallel and overlap is not None:
        step.grad_reducer.overlap = overlap
    data = np.random.default_rng(3)
    for _ in range(steps):
        x, y = (
            data.standard_normal((12, 2, 5, 5)).astype(dtype),
            data.integers(0, 3, 12).astype(np.int32),
        )
        part = slice(rank * 12 // size, (rank + 1) * 12 // size)
        step(Tensor(x[part]), Tensor(y[part]))
    ms.reset_auto_parallel_context()
    return {p.name: p.asnumpy().copy() for p in net.get_parameters()}


@pytest.fixture
def comm(world):
    """All ranks, joined."""
    return world.comm


def distance(a, b):
    """The largest difference over all weights, relative to the largest weight of each parameter."""
    return max(np.abs(a[k] - b[k]).max() / np.abs(a[k]).max() for k in a)


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_ranks_on_shards_equal_one_process(name, comm):
    alone = train(OPTIMIZERS[name], parallel=False)
    together = train(OPTIMIZERS[name], parallel=True)
    distances = comm.gather_objects(distance(alone, together))
    assert max(distances) <= 1e-6, distances


@pytest.mark.parametrize("name", OPTIMIZERS_IN_FLOAT64)
def test_equal_in_float64_to_rounding(name, comm):
    alone = train(OPTIMIZERS_IN_FLOAT64[name], parallel=False, dtype=np.float64, steps=10)
    together = train(OPTIMIZERS_IN_FLOAT64[name], parallel=True, dtype=np.float64, steps=10)
    distances = comm.gather_objects(distance(alone, together))
    assert max(distances) <= 1e-12, distances


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_equal_with_and_without_overlap(name, overlap, comm):
    alone = train(OPTIMIZERS[name], parallel=False, steps=10)
    together = train(OPTIMIZERS[name], parallel=True, steps=10, overlap=overlap)
    distances = comm.gather_objects(distance(alone, together))
    assert max(distances) <= 1e-6, distances


def test_every_optimizer_is_here():
    made = {
        name.split()[-1] if name.startswith(("experimental", "mint")) else name.split()[0]
        for name in OPTIMIZERS_IN_FLOAT64
    }
    for module in (nn, optim, mint_optim):
        kinds = {n for n in dir(module) if isinstance(c := getattr(module, n), type) and is_rule(c)}
        assert len(kinds) > 3
        assert kinds <= made, kinds - made


def is_rule(kind):
    """Whether a class is an optimizer with a rule of its own."""
    bases = (nn.Optimizer, optim.Optimizer)
    return issubclass(kind, bases) and kind not in bases and kind.__name__ != "OptTFTWrapper"


def test_replicas_have_the_same_bits(comm):
    weights = train(OPTIMIZERS["Adam"], parallel=True, steps=5)
    everyone = comm.gather_objects({k: v.tobytes() for k, v in weights.items()})
    assert all(w == everyone[0] for w in everyone)


def test_layerwise_parameters_stay_different(comm):
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    rank = get_rank()

    class Two(nn.Cell):
        def __init__(self):
            super().__init__()
            self.shared = Parameter(Tensor([1.0 + rank]), name="shared")
            self.own = Parameter(Tensor([1.0 + rank]), name="own", layerwise_parallel=True)

        def construct(self, x):
            return (self.shared * x).sum() + (self.own * x).sum()

    net = Two()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.1))
    for _ in range(3):
        step(Tensor([1.0 + rank]))
    size = get_group_size()
    mean = sum(range(1, size + 1)) / size
    found = comm.gather_objects((float(net.shared.asnumpy()[0]), float(net.own.asnumpy()[0])))
    np.testing.assert_allclose([f[0] for f in found], 1.0 - 0.3 * mean, rtol=1e-6)
    np.testing.assert_allclose([f[1] for f in found], [1 + r - 0.3 * (1 + r) for r in range(size)], rtol=1e-6)
    ms.reset_auto_parallel_context()


@pytest.mark.parametrize("mean", [False, True])
def test_gradients_are_added_or_averaged(mean, comm):
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=mean)
    w = Parameter(Tensor([5.0]), name="w")
    net = nn.Cell()
    net.w = w
    net.construct = lambda x: net.w * x
    nn.TrainOneStepCell(net, nn.SGD([w], 1.0))(Tensor([1.0 + get_rank()]))
    size = get_group_size()
    total = size * (size + 1) / 2
    found = comm.gather_objects(float(w.asnumpy()[0]))
    np.testing.assert_allclose(found, 5.0 - (total / size if mean else total), rtol=1e-6)
    ms.reset_auto_parallel_context()


def test_a_reducer_by_hand(comm):
    ms.reset_auto_parallel_context()
    a, b = (
        Parameter(Tensor([1.0]), name="a"),
        Parameter(Tensor([1.0]), name="b", layerwise_parallel=True),
    )
    net = nn.Cell()
    net.a, net.b = a, b
    reducer = nn.DistributedGradReducer([a, b], mean=True)
    step = ms.value_and_grad(lambda x: net.a * x + net.b * x, None, [a, b])
    _, grads = step(Tensor([1.0 + get_rank()]))
    kept = reducer(grads)
    reducer(grads)
    size = get_group_size()
    found = comm.gather_objects([float(g.asnumpy()[0]) for g in kept])
    np.testing.assert_allclose(found, [[(size + 1) / 2, 1.0 + r] for r in range(size)], rtol=1e-6)


def test_model_train_and_eval_are_exact_over_ranks(comm):
    from dist_ms import dataset as ds

    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(parallel_mode=ms.ParallelMode.DATA_PARALLEL, gradients_mean=True)
    x = np.random.default_rng(0).standard_normal((37, 4)).astype(np.float32)
    y = (x[:, 0] > 0).astype(np.int32)
    data = ds.NumpySlicesDataset((x, y), ["x", "y"], shuffle=False, num_shards=get_group_size(), shard_id=get_rank())
    net = nn.Dense(4, 2)
    model = ms.train.Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.5), metrics={"accuracy"})
    model.train(3, data.batch(6))
    accuracy = model.eval(data.batch(6))["accuracy"]
    scores = net(Tensor(x)).asnumpy()
    found = comm.gather_objects((accuracy, float((scores.argmax(1) == y).mean())))
    assert len({f for pair in found for f in pair}) == 1, found
    ms.reset_auto_parallel_context()
