"""The parallel optimizer: slices of the states, the weights of plain data parallel."""

from contextlib import nullcontext

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.nn.optim.step import updates
from dist_ms.train import CheckpointConfig, Model, ModelCheckpoint, load_checkpoint, load_param_into_net

OPTIMIZERS = {
    "ASGD": lambda p: nn.ASGD(p, 0.05, t0=1.0),
    "AdaMax": lambda p: nn.AdaMax(p, 1e-2),
    "Adadelta": lambda p: nn.Adadelta(p, 0.5),
    "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.05),
    "Adam": lambda p: nn.Adam(p, 1e-3, weight_decay=1e-3),
    "Adam amsgrad": lambda p: nn.Adam(p, 1e-3, use_amsgrad=True),
    "AdamOffload": lambda p: nn.AdamOffload(p, 1e-3),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 1e-3, weight_decay=1e-2),
    "FTRL": lambda p: nn.FTRL(p, learning_rate=0.05),
    "LazyAdam": lambda p: nn.LazyAdam(p, 1e-3),
    "Momentum": lambda p: nn.Momentum(p, 0.05, 0.9, use_nesterov=True, weight_decay=1e-3),
    "ProximalAdagrad": lambda p: nn.ProximalAdagrad(p, learning_rate=0.05),
    "RMSProp": lambda p: nn.RMSProp(p, 0.01, centered=True),
    "Rprop": lambda p: nn.Rprop(p, 0.01),
    "SGD": lambda p: nn.SGD(p, 0.05, momentum=0.9, weight_decay=1e-3),
    "groups": lambda p: nn.Adam(
        [{"params": p[:2], "lr": 1e-2, "weight_decay": 0.1}, {"params": p[2:], "grad_centralization": True}], 1e-3
    ),
}


class Net(nn.Cell):
    """A convolution (whose weight may lie channels-last), two dense layers and a scalar."""

    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 4, 3, has_bias=True)
        self.tanh, self.flatten = nn.Tanh(), nn.Flatten()
        self.fc1, self.fc2 = nn.Dense(4 * 5 * 5, 17), nn.Dense(17, 3)
        self.scale = ms.Parameter(Tensor(1.5), name="scale")

    def construct(self, x):
        x = self.flatten(self.tanh(self.conv(x)))
        return self.fc2(self.tanh(self.fc1(x))) * self.scale


def batches(comm, steps):
    random = np.random.default_rng(3)
    part = slice(comm.rank * 12 // comm.size, (comm.rank + 1) * 12 // comm.size)
    for _ in range(steps):
        x = random.standard_normal((12, 2, 5, 5)).astype(np.float32)
        y = random.integers(0, 3, 12).astype(np.int32)
        yield Tensor(x[part]), Tensor(y[part])


def make(optimizer, parallel, threshold=0, **context):
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(
        parallel_mode="data_parallel",
        gradients_mean=True,
        enable_parallel_optimizer=parallel,
        parallel_optimizer_config={"parallel_optimizer_threshold": threshold},
        **context,
    )
    ms.set_seed(7)
    net = Net()
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), optimizer(net.trainable_params()))
    ms.reset_auto_parallel_context()
    return net, step


def weights(net):
    return {p.name: p.asnumpy().copy() for p in net.get_parameters()}


def distance(a, b):
    return max(np.abs(a[k] - b[k]).max() / np.abs(a[k]).max() for k in a)


def states(step):
    return [p for p in step.optimizer.get_parameters() if p.name not in {w.name for w in step.weights} and p.size > 1]


@pytest.mark.parametrize("splits", [{}, {"comm_fusion": {"openstate": False}}], ids=["one bucket", "many"])
@pytest.mark.parametrize("name", OPTIMIZERS)
def test_equals_plain_data_parallel(world, name, splits):
    comm, found = world.comm, []
    for parallel in (False, True):
        net, step = make(OPTIMIZERS[name], parallel, **splits)
        for batch in batches(comm, 8):
            step(*batch)
        found.append(weights(net))
        assert [p.shape for p in step.optimizer.parameters] == [p.shape for p in net.trainable_params()]
    assert max(comm.gather_objects(distance(*found))) <= 1e-6
    bits = comm.gather_objects({k: v.tobytes() for k, v in found[1].items()})
    assert all(b == bits[0] for b in bits)


@pytest.mark.parametrize("parallel", [False, True])
def test_a_gradient_is_that_of_the_values_before_the_update(world, parallel):
    net, step = make(lambda p: nn.SGD(p, 0.5), parallel)
    first, *others = batches(world.comm, 3)
    step(*first)
    weight = net.fc1.weight
    before, ones = weight.asnumpy().copy(), Tensor(np.ones(weight.shape, np.float32))
    _, back = ms.vjp(lambda x: x * weight, ones)
    for batch in others:
        step(*batch)
    assert (weight.asnumpy() != before).any()
    found = back(ones)
    found = (found[0] if isinstance(found, tuple) else found).asnumpy()
    assert all(world.comm.gather_objects(np.array_equal(found, before)))


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("splits", [{}, {"comm_fusion": {"openstate": False}}], ids=["one bucket", "many"])
@pytest.mark.parametrize("name", ["Adam", "Rprop", "groups"])
def test_equals_plain_data_parallel_where_slices_are_sent(world, monkeypatch, name, splits):
    monkeypatch.setattr(type(world.comm), "beside", lambda self, buffer: None)
    test_equals_plain_data_parallel(world, name, splits)


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("sent", [False, True])
def test_slices_are_updated_by_compiled_calls(world, monkeypatch, sent):
    if sent:
        monkeypatch.setattr(type(world.comm), "beside", lambda self, buffer: None)
    _, step = make(OPTIMIZERS["Adam"], True, comm_fusion={"openstate": False})
    step(*next(batches(world.comm, 1)))
    calls, run = [], updates.Batch.run
    monkeypatch.setattr(updates.Batch, "run", lambda self, rule: (calls.append(len(self.indices)), run(self, rule))[1])
    step(*next(batches(world.comm, 1)))
    # The scalar stays whole. Where slices are sent, they are on their way bucket by bucket.
    assert calls == ([1] * 7 if sent else [7])


@pytest.mark.parametrize("name", ["Adam", "Momentum", "RMSProp"])
def test_states_take_one_share_of_the_memory(world, name):
    comm, used = world.comm, []
    for parallel in (False, True):
        _, step = make(OPTIMIZERS[name], parallel)
        step(*next(batches(comm, 1)))
        used.append(sum(p.nbytes for p in states(step)))
    every = comm.gather_objects(used[1])
    assert sum(every) == used[0]
    # The padding of the bucket aside, every rank has the same number of elements per state.
    kinds = len({p.name.split(".")[0] for p in states(step)})
    assert max(every) - min(every) <= 4 * kinds * comm.size
    rows = {row.name: row for row in step.grad_reducer.plan.rows}
    want = "all_reduce" if comm.size == 1 else "reduce_scatter"
    assert rows["fc1.weight"].gradient == want and rows["scale"].gradient == "all_reduce"


@pytest.mark.mpi(min_size=2)
def test_small_parameters_stay_whole(world):
    _, step = make(OPTIMIZERS["Adam"], True, threshold=1)
    step(*next(batches(world.comm, 1)))
    gradients = {row.name: row.gradient for row in step.grad_reducer.plan.rows}
    assert {n for n, g in gradients.items() if g == "reduce_scatter"} == {"fc1.weight"}
    assert "under the parallel optimizer's threshold" in str(step.grad_reducer.plan)
    whole = {p.name: p.shape for p in states(step)}
    assert whole["moment1.fc2.weight"] == (3, 17) and len(whole["moment1.fc1.weight"]) == 1


@pytest.mark.mpi(min_size=2)
def test_whole_states_come_together_and_load_anywhere(world):
    comm = world.comm
    plain, plain_step = make(OPTIMIZERS["Adam"], False)
    _, step = make(OPTIMIZERS["Adam"], True)
    for batch in batches(comm, 4):
        plain_step(*batch)
        step(*batch)
    gathered = step.grad_reducer.gathered_states()
    for p in states(plain_step):
        np.testing.assert_allclose(gathered[p.name], p.asnumpy(), rtol=1e-5, atol=1e-8)
    # A new job, with or without the parallel optimizer, goes on from there.
    saved = {p.name: p for p in step.get_parameters()} | {
        name: ms.Parameter(Tensor(array), name=name) for name, array in gathered.items()
    }
    saved = {name: ms.Parameter(Tensor(p.asnumpy()), name=name) for name, p in saved.items()}
    for parallel in (False, True):
        again, again_step = make(OPTIMIZERS["Adam"], parallel)
        load_param_into_net(again_step, saved, strict_load=True)
        for new, old in ((again_step, plain_step),):
            for batch in batches(comm, 3):
                new(*batch)
                if not parallel:
                    old(*batch)
        assert max(comm.gather_objects(distance(weights(plain), weights(again)))) <= 1e-6


@pytest.mark.mpi(min_size=2)
def test_a_checkpoint_of_slices_goes_on_where_it_stopped(world, mpi_tmp_path):
    comm = world.comm
    context = {"parallel_mode": "data_parallel", "gradients_mean": True, "enable_parallel_optimizer": True}
    ms.set_auto_parallel_context(**context, parallel_optimizer_config={"parallel_optimizer_threshold": 0})
    net = Net()
    model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 1e-3))
    config = CheckpointConfig(save_checkpoint_steps=4, saved_network=model.train_network, integrated_save=False)
    model.train(1, list(batches(comm, 4)), callbacks=[ModelCheckpoint("s", str(mpi_tmp_path), config)])
    other = Net()
    resumed = Model(other, nn.CrossEntropyLoss(), nn.Adam(other.trainable_params(), 1e-3))
    resumed.train_network.grad_reducer.start()
    values = load_checkpoint(str(mpi_tmp_path / "s-1_4.ckpt"))
    values |= load_checkpoint(str(mpi_tmp_path / f"rank_{comm.rank}" / "s-1_4.ckpt"))
    assert load_param_into_net(resumed.train_network, values, strict_load=True) == ([], [])
    for one in (model, resumed):
        one.train(1, list(batches(comm, 3)))
    ms.reset_auto_parallel_context()
    assert max(comm.gather_objects(distance(weights(net), weights(other)))) == 0


@pytest.mark.mpi(min_size=2)
@pytest.mark.parametrize("background", [False, True])
def test_a_checkpoint_is_whole_for_any_number_of_ranks(world, mpi_tmp_path, background):
    comm, found = world.comm, []
    for parallel in (False, True):
        ms.reset_auto_parallel_context()
        ms.set_auto_parallel_context(
            parallel_mode="data_parallel", gradients_mean=True, enable_parallel_optimizer=parallel,
            parallel_optimizer_config={"parallel_optimizer_threshold": 0},
        )  # fmt: skip
        ms.set_seed(7)
        net = Net()
        model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 1e-3))
        folder = mpi_tmp_path / str(parallel)
        config = CheckpointConfig(2, keep_checkpoint_max=2, async_save=background)
        model.train(1, list(batches(comm, 6)), callbacks=[ModelCheckpoint("s", str(folder), config)])
        comm.barrier()
        assert sorted(p.name for p in folder.iterdir()) == ["s-1_4.ckpt", "s-1_6.ckpt"]
        found.append(load_checkpoint(str(folder / "s-1_6.ckpt")))
    ms.reset_auto_parallel_context()
    assert found[0].keys() == found[1].keys() and any(name.startswith("moment1") for name in found[0])
    for name, value in found[0].items():
        np.testing.assert_allclose(found[1][name].asnumpy(), value.asnumpy(), rtol=2e-5, atol=1e-7, err_msg=name)


@pytest.mark.mpi(min_size=2)
def test_one_rank_that_saves_alone_is_told_of_slices(world, mpi_tmp_path, caplog):
    comm = world.comm
    ms.set_auto_parallel_context(
        parallel_mode="data_parallel", gradients_mean=True, enable_parallel_optimizer=True,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )  # fmt: skip
    net = Net()
    model = Model(net, nn.CrossEntropyLoss(), nn.Adam(net.trainable_params(), 1e-3))
    callbacks = [ModelCheckpoint("s", str(mpi_tmp_path), CheckpointConfig(2))] if comm.rank == 0 else []
    model.train(1, list(batches(comm, 2)), callbacks=callbacks)
    ms.reset_auto_parallel_context()
    assert [r.message for r in caplog.records if "saved in slices" in r.message] or comm.rank
    comm.barrier()
    assert load_checkpoint(str(mpi_tmp_path / "s-1_2.ckpt"))["moment1.fc1.weight"].size < 17 * 100


@pytest.mark.mpi(min_size=2)
def test_an_overflow_in_one_slice_is_skipped_by_all(world):
    comm = world.comm
    ms.set_auto_parallel_context(
        parallel_mode="data_parallel", gradients_mean=True, enable_parallel_optimizer=True,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )  # fmt: skip
    w = ms.Parameter(np.ones(8, np.float32), name="w")
    net = nn.Cell()
    net.w = w
    net.construct = lambda x: (net.w * x).sum()
    update = nn.DynamicLossScaleUpdateCell(2.0**4, 2, 10)
    step = nn.TrainOneStepWithLossScaleCell(net, nn.Momentum([w], 0.5, 0.9), update)
    ms.reset_auto_parallel_context()
    bad = np.ones(8, np.float32)
    bad[0] = np.inf if comm.rank == comm.size - 1 else 1  # its sum is in rank 0's slice alone
    _, overflow, _ = step(Tensor(bad))
    assert comm.gather_objects((bool(overflow.asnumpy()), w.asnumpy().tolist())) == [(True, [1.0] * 8)] * comm.size
    _, overflow, scale = step(Tensor(np.ones(8, np.float32)))
    found = comm.gather_objects((bool(overflow.asnumpy()), w.asnumpy().tolist(), float(scale.asnumpy())))
    assert found == [(False, [0.5] * 8, 8.0)] * comm.size


@pytest.mark.parametrize("make_optimizer", [lambda p: nn.Lamb(p, 0.1), lambda p: nn.AdaFactor(p)])
def test_rules_that_need_whole_gradients_are_refused(world, make_optimizer):
    with pytest.raises(ValueError, match="needs an optimizer whose rule treats every element by itself"):
        make(make_optimizer, True)
    ms.reset_auto_parallel_context()


@pytest.mark.mpi(min_size=2)
def test_a_rank_without_it_is_an_error(world):
    _, step = make(lambda p: nn.SGD(p, 0.1), parallel=world.comm.rank > 0, threshold=1 << 20)
    x, y = next(batches(world.comm, 1))
    with pytest.raises(ValueError, match="the parallel optimizer must be the same on all ranks, but got rank 0: off"):
        step(x, y)
    ms.reset_auto_parallel_context()


def test_alone_there_is_nothing_to_divide_and_stand_alone_is_refused(world):
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(enable_parallel_optimizer=True)
    net = Net()
    with pytest.raises(RuntimeError, match="needs parallel_mode='data_parallel'"):
        nn.TrainOneStepCell(nn.WithLossCell(net, nn.CrossEntropyLoss()), nn.SGD(net.trainable_params(), 0.1))
    ms.reset_auto_parallel_context()


@pytest.mark.parametrize("parallel", [False, True])
def test_the_global_norm_is_agreed_on(world, parallel):
    comm = world.comm
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(
        parallel_mode="data_parallel", gradients_mean=True, enable_parallel_optimizer=parallel,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )  # fmt: skip
    w = ms.Parameter(np.zeros(11, np.float32), name="w")
    own = ms.Parameter(np.zeros(2, np.float32), name="own", layerwise_parallel=True)
    reducer = nn.DistributedGradReducer([w, own], optimizer=nn.SGD([w, own], 0.1))
    ms.reset_auto_parallel_context()
    grads = reducer((Tensor(np.arange(11, dtype=np.float32)), Tensor(np.full(2, comm.rank + 1, np.float32))))
    want = np.sqrt(sum(i * i for i in range(11)) + 2 * sum((r + 1) ** 2 for r in range(comm.size)))
    np.testing.assert_allclose(comm.gather_objects(reducer.global_norm(grads)), want, rtol=1e-6)
    clipped = reducer.clip_by_global_norm(grads, 1.0)
    np.testing.assert_allclose(comm.gather_objects(reducer.global_norm(clipped)), 1, rtol=1e-6)
    assert reducer.clip_by_global_norm(grads, 100.0) == tuple(grads)
    with pytest.raises(ValueError, match="'max_norm' must be above 0"):
        reducer.clip_by_global_norm(grads, 0)


CHANGED = {
    "as they are": (lambda grads: grads, 1),
    "times a number": (lambda grads: tuple(0.5 * g for g in grads), 0.5),
    "divided by a tensor": (lambda grads: tuple(g / Tensor(4.0) for g in grads), 0.25),
    "cast and back": (lambda grads: tuple(ops.cast(ops.cast(g, ms.float64), ms.float32) for g in grads), 1),
    "by a HyperMap": (lambda grads: ops.HyperMap()(ops.partial(lambda s, g: g * s, 2.0), grads), 2),
    "by a loss scaler": (lambda grads: ms.amp.StaticLossScaler(8.0).unscale(grads), 0.125),
    "by a step's loss scale": (
        lambda grads: [nn.TrainOneStepWithLossScaleCell._unscaled(g, Tensor(np.float32(8))) for g in grads], 0.125,
    ),
    "by a sum": (lambda grads: tuple(g + g for g in grads), 2),
    "as new tensors": (lambda grads: tuple(Tensor(g) for g in grads), 1),
    "in place": (lambda grads: tuple(g.mul_(3.0) for g in grads), 3),
    "clipped before": (lambda grads: ops.clip_by_global_norm(grads, 1e6), 1),
    "by a view": (lambda grads: tuple(g.reshape(-1).reshape(g.shape) for g in grads), 1),
}  # fmt: skip


@pytest.mark.parametrize("change", CHANGED)
@pytest.mark.parametrize("parallel", [False, True])
def test_norms_of_a_ranks_part_are_those_of_all_ranks(world, parallel, change):
    comm = world.comm
    ms.reset_auto_parallel_context()
    ms.set_auto_parallel_context(
        parallel_mode="data_parallel", gradients_mean=True, enable_parallel_optimizer=parallel,
        parallel_optimizer_config={"parallel_optimizer_threshold": 0},
    )  # fmt: skip
    w = ms.Parameter(np.zeros((11, 3), np.float32), name="w")
    own = ms.Parameter(np.zeros(2, np.float32), name="own", layerwise_parallel=True)
    whole = ms.Parameter(Tensor(1.0), name="whole")
    reducer = nn.DistributedGradReducer([w, own, whole], optimizer=nn.SGD([w, own, whole], 0.1))
    ms.reset_auto_parallel_context()
    function, factor = CHANGED[change]

    def grads():
        own_grad = (
            None if comm.rank == comm.size - 1 and comm.size > 1 else Tensor(np.full(2, comm.rank + 1.0, np.float32))
        )
        reduced = reducer((Tensor(np.arange(33, dtype=np.float32).reshape(11, 3)), own_grad, Tensor(2.0)))
        return function(
            reduced if own_grad is not None or comm.size > 1 else (*reduced[:1], Tensor([0.0, 0.0]), reduced[2])
        )

    owns = [2 * (r + 1) ** 2 for r in range(comm.size) if r < comm.size - 1 or comm.size == 1]
    squares = np.array([sum(i * i for i in range(33)), sum(owns), 4.0])
    for chosen in ([0, 1, 2], [1, 2], [0], [2], [1]):
        norm = factor * np.sqrt(squares[chosen].sum())
        if not norm:
            continue
        plain = [g.asnumpy().copy() for g in grads()]
        for clip in (ops.clip_by_global_norm, ops.clip_by_norm):
            given = grads()
            found = clip([given[i] for i in chosen], 0.5)
            for i, t in zip(chosen, found):
                np.testing.assert_allclose(t.asnumpy(), plain[i] * min(0.5 / norm, 1), rtol=3e-6, err_msg=str(chosen))
    largest = factor * max([32.0, *[np.sqrt(s / 2) for s in owns]])
    found = ops.clip_by_norm(list(grads()), 0.5, norm_type=np.inf)[2].asnumpy()
    np.testing.assert_allclose(found, 2 * factor * 0.5 / largest, rtol=1e-5)
    np.testing.assert_allclose(
        ops.clip_by_norm(grads()[0], 0.5).asnumpy(), plain[0] * 0.5 / (factor * squares[0] ** 0.5), rtol=3e-6
    )
    with pytest.raises(ValueError, match="'norm_type' must be above 0") if comm.size > 1 else nullcontext():
        ops.clip_by_norm(list(grads()), 0.5, norm_type=0.0)


def test_a_rank_s_own_tensor_alone_is_clipped_by_its_own_norm(world):
    own = ms.Parameter(np.zeros(2, np.float32), name="own", layerwise_parallel=True)
    grads = nn.DistributedGradReducer([own])((Tensor(np.full(2, world.comm.rank + 1.0, np.float32)),))
    np.testing.assert_allclose(ops.clip_by_norm(grads[0], 1.0).asnumpy(), [0.5**0.5] * 2, rtol=1e-5)


def test_clipped_gradients_outlive_the_memory_they_came_from(world):
    comm = world.comm
    ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
    w = ms.Parameter(np.zeros(4, np.float32), name="w")
    reducer = nn.DistributedGradReducer([w], reuse=True)
    ms.reset_auto_parallel_context()
    first = ops.clip_by_global_norm(reducer((Tensor([3.0, 0.0, 4.0, 0.0]),)), 1.0)[0]
    second = ops.clip_by_global_norm(reducer((Tensor([0.0, 6.0, 0.0, 8.0]),)), 1.0)[0]
    found = comm.gather_objects((first.asnumpy().tolist(), second.asnumpy().tolist()))
    np.testing.assert_allclose(found, [([0.6, 0, 0.8, 0], [0, 0.6, 0, 0.8])] * comm.size, rtol=1e-6)
