"""Ranks with different numbers of samples train like one process on all of them."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.amp import DynamicLossScaleManager
from dist_ms.communication import LocalComm
from dist_ms.parallel import Fusion, Reducer, make_plan
from dist_ms.train import Accuracy, LambdaCallback, Model

LENGTHS = [5, 2, 4, 1]  # batches per rank and epoch
SIZES = [4, 7, 1, 3, 2]  # samples of a rank's first, second, ... batch, shifted by its rank


def shard(rank):
    """The batches of a rank, all of different sizes."""
    random = np.random.default_rng(rank)
    sizes = [SIZES[(rank + i) % len(SIZES)] for i in range(LENGTHS[rank % len(LENGTHS)])]
    return [
        (random.standard_normal((n, 6)).astype(np.float32), random.integers(0, 3, n).astype(np.int32)) for n in sizes
    ]


def whole(size):
    """What one process trains on: in each step the samples of all ranks that have a batch left."""
    shards = [shard(r) for r in range(size)]
    steps = [[s[i] for s in shards if i < len(s)] for i in range(max(map(len, shards)))]
    return [tuple(np.concatenate(column) for column in zip(*step, strict=True)) for step in steps]


def network():
    ms.set_seed(3)
    return nn.SequentialCell(nn.Dense(6, 16), nn.Tanh(), nn.Dense(16, 3))


def trained(data, make, uneven, epochs=3, **kwargs):
    net = network()
    model = Model(net, nn.CrossEntropyLoss(), make(net.trainable_params()), metrics={"accuracy": Accuracy()}, **kwargs)
    model.train(epochs, data, uneven=uneven)
    return {p.name: p.asnumpy().copy() for p in net.get_parameters()}, model


def distance(a, b):
    return max(np.abs(a[k] - b[k]).max() / max(np.abs(a[k]).max(), 1e-3) for k in a)


OPTIMIZERS = {
    "Momentum": lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=1e-3),
    "Adam": lambda p: nn.Adam(p, 1e-3),
}


@pytest.mark.parametrize("known", [True, False], ids=["lengths known", "lengths unknown"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_equals_one_process(data_parallel, name, known):
    comm = data_parallel
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    alone, _ = trained(whole(comm.size), OPTIMIZERS[name], None)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")

    class Source:
        def __iter__(self):
            return iter(shard(comm.rank))

    together, _ = trained(shard(comm.rank) if known else Source(), OPTIMIZERS[name], "exact")
    found = comm.gather_objects(distance(alone, together))
    assert max(found) <= 1e-6, found


@pytest.mark.mpi(min_size=2)
def test_the_mean_of_means_is_another_one(data_parallel):
    comm = data_parallel
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    steps = min(LENGTHS[: comm.size])
    alone, _ = trained(whole(comm.size)[:steps], OPTIMIZERS["Momentum"], None)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    together, _ = trained(shard(comm.rank)[:steps], OPTIMIZERS["Momentum"], None)
    assert min(comm.gather_objects(distance(alone, together))) > 1e-4


@pytest.mark.mpi(min_size=2)
def test_a_rank_without_any_batch(data_parallel):
    comm = data_parallel
    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    alone, _ = trained(shard(0), OPTIMIZERS["Adam"], None)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    together, _ = trained(shard(0) if comm.rank == 0 else [], OPTIMIZERS["Adam"], "exact")
    found = comm.gather_objects(distance(alone, together))
    assert max(found) <= 1e-6, found


def test_every_rank_takes_every_step_and_the_epoch_ends_together(data_parallel):
    comm = data_parallel
    net, steps, losses = network(), [], []
    seen = LambdaCallback(
        on_train_step_end=lambda run: (
            steps.append(run.original_args().cur_step_num),
            losses.append(float(run.original_args().net_outputs.asnumpy())),
        )
    )
    model = Model(net, nn.CrossEntropyLoss(), nn.SGD(net.trainable_params(), 0.1))
    model.train(2, shard(comm.rank), callbacks=[seen], uneven="exact")
    longest = max(LENGTHS[r % len(LENGTHS)] for r in range(comm.size))
    assert comm.gather_objects(steps) == [list(range(1, 2 * longest + 1))] * comm.size
    own = len(shard(comm.rank))
    assert losses[own:longest] == [losses[own - 1]] * (longest - own)


def test_a_dynamic_loss_scale(data_parallel):
    comm = data_parallel

    def manager():
        return DynamicLossScaleManager(2**10, 2, 3)

    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    alone, one = trained(whole(comm.size), OPTIMIZERS["Adam"], None, loss_scale_manager=manager())
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    together, model = trained(shard(comm.rank), OPTIMIZERS["Adam"], "exact", loss_scale_manager=manager())
    scales = [float(m.train_network.scale_sense.asnumpy()) for m in (one, model)]
    found = comm.gather_objects((distance(alone, together), scales))
    assert max(d for d, _ in found) <= 1e-6, found
    assert len({s for _, pair in found for s in pair}) == 1, found


def test_gradient_accumulation_weighs_the_whole_batch(data_parallel):
    comm = data_parallel
    sizes = [2 * (1 + r) for r in range(comm.size)]
    shards = [np.random.default_rng(r).standard_normal((n, 6)).astype(np.float32) for r, n in enumerate(sizes)]
    labels = [np.random.default_rng(9 + r).integers(0, 3, n).astype(np.int32) for r, n in enumerate(sizes)]

    def run(data, uneven):
        net = network()
        loss = nn.GradAccumulationCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), 2) if uneven else None
        loss = loss or nn.WithLossCell(net, nn.CrossEntropyLoss())
        step = ms.amp.build_train_network(loss, nn.SGD(net.trainable_params(), 0.1))
        step.uneven = uneven
        for _ in range(3):
            step(*map(Tensor, data))
        return {p.name: p.asnumpy().copy() for p in net.get_parameters()}

    ms.set_auto_parallel_context(parallel_mode="stand_alone")
    alone = run((np.concatenate(shards), np.concatenate(labels)), None)
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    together = run((shards[comm.rank], labels[comm.rank]), "exact")
    found = comm.gather_objects(distance(alone, together))
    assert max(found) <= 1e-6, found


def test_the_sum_needs_no_weights(data_parallel):
    comm = data_parallel
    ms.set_auto_parallel_context(gradients_mean=False)
    w = ms.Parameter(Tensor([0.0]), name="w")
    net = nn.Cell()
    net.w = w
    net.construct = lambda x: (net.w * x).sum()
    model = Model(net, None, nn.SGD([w], 1.0))
    data = [(np.ones(comm.rank + 1, np.float32),)] * (comm.rank + 1)
    model.train(1, data, uneven="exact")
    assert (
        comm.gather_objects(float(w.asnumpy()[0])) == [-float(sum((r + 1) ** 2 for r in range(comm.size)))] * comm.size
    )


def test_the_count_must_be_given(world):
    w = ms.Parameter(np.zeros(2, np.float32), name="w")
    reducer = Reducer(make_plan([w]), world.comm, mean=True, weighted=True)
    with pytest.raises(RuntimeError, match="must say how many samples"):
        reducer.reduce([Tensor(np.ones(2, np.float32))])
    out = reducer.reduce([Tensor(np.full(2, world.comm.rank, np.float32))], samples=world.comm.rank + 1)
    size = world.comm.size
    want = sum(r * (r + 1) for r in range(size)) / sum(r + 1 for r in range(size))
    np.testing.assert_allclose(out[0].asnumpy(), want, rtol=1e-6)


def test_no_sample_anywhere_is_an_error_on_every_rank(world):
    w = ms.Parameter(np.zeros(2, np.float32), name="w")
    reducer = Reducer(make_plan([w]), world.comm, mean=True, weighted=True)
    with pytest.raises(ValueError, match="must have a sample on some rank"):
        reducer.reduce([None], samples=0)


@pytest.mark.mpi(min_size=2)
def test_a_step_of_ones_own_must_say_what_an_idle_rank_does(data_parallel):
    class Step(nn.TrainOneStepCell):
        def construct(self, *inputs):
            loss, grads = self._gradients(inputs, 1.0)
            self.optimizer(tuple(grads))
            return loss

    net = network()
    step = Step(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), 0.1))
    with pytest.raises(NotImplementedError, match="'idle_step' must be defined"):
        step.idle_step()


@pytest.mark.mpi(min_size=2)
def test_ranks_that_weigh_differently_are_an_error(world):
    w = ms.Parameter(np.zeros(2, np.float32), name="w")
    reducer = nn.DistributedGradReducer([w], mean=True, uneven="exact" if world.comm.rank else None)
    with pytest.raises(ValueError, match="weights by samples must be the same on all ranks, but got rank 0: False"):
        reducer.start()


def test_evaluation_counts_every_sample_once(data_parallel):
    comm = data_parallel
    net = network()
    model = Model(net, nn.CrossEntropyLoss(), metrics={"accuracy": Accuracy()})
    found = model.eval(shard(comm.rank))["accuracy"]
    data = [batch for r in range(comm.size) for batch in shard(r)]
    hits = sum((net(Tensor(x)).asnumpy().argmax(1) == y).sum() for x, y in data)
    assert comm.gather_objects(found) == [hits / sum(len(y) for _, y in data)] * comm.size


def test_a_world_of_one_sums_samples_too():
    w = ms.Parameter(np.zeros(1, np.float32), name="w")
    reducer = Reducer(make_plan([w]), LocalComm(), mean=True, weighted=True)
    with reducer.no_sync():
        reducer.reduce([Tensor([1.0])], samples=1)
    assert reducer.reduce([Tensor([5.0])], samples=3)[0].asnumpy().tolist() == [4.0]


def test_the_number_of_samples_that_has_travelled_during_the_sweep_counts(world):
    comm = world.comm
    weights = [ms.Parameter(np.zeros(3, np.float32), name=name) for name in ("a", "b")]
    plan = make_plan(weights, fusion=Fusion(first=4, size=12))
    reducer = Reducer(plan, comm, mean=True, weighted=True, overlap=True)
    counts = [r + 1 for r in range(comm.size)]
    for _ in range(3):
        reducer.samples.set(counts[comm.rank])
        reducer.begin()
        for index in (1, 0):
            reducer.ready(index, Tensor(np.full(3, comm.rank, np.float32)))
        for _ in range(20):  # the buckets are through before the sweep ends
            comm.barrier()
            reducer.progress()
        for grad in reducer.finish():
            wanted = sum(r * n for r, n in enumerate(counts)) / sum(counts)
            np.testing.assert_allclose(grad.asnumpy(), np.full(3, wanted), rtol=1e-6)
