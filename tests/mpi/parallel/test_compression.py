"""Hooks and compressions over real ranks."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.communication.comm import Done
from dist_ms.parallel import Fusion, Reducer, make_plan
from dist_ms.parallel.compression import BFloat16Wire, Float16Wire, PowerSGD, TopK

SHAPES = {"a": (40, 30), "b": (30,), "c": (7, 3, 2, 2), "d": ()}


def weights(dtype=np.float32):
    return [ms.Parameter(np.zeros(s, dtype), name=n) for n, s in SHAPES.items()]


def gradients(rank, seed=0):
    random = np.random.default_rng([rank, seed])
    return [np.asarray(random.standard_normal(s), np.float32) for s in SHAPES.values()]


def total(size, seed=0):
    return [sum(parts) for parts in zip(*(gradients(r, seed) for r in range(size)), strict=True)]


def reducer(comm, hook, fusion=None, **options):
    made = Reducer(make_plan(weights(), fusion=fusion or Fusion(first=200, size=400)), comm, **options)
    made.hook = hook
    return made


def run(made, rank, seed=0):
    return [g.asnumpy().copy() for g in made.reduce([Tensor(g) for g in gradients(rank, seed)])]


def in_place(bucket):
    bucket.comm.all_reduce(bucket.array)


def with_handle(bucket):
    bucket.comm.all_reduce(bucket.array)
    return Done()


def by_gathering(bucket):
    return bucket.comm.all_gather(bucket.array).sum(0)


@pytest.mark.parametrize("mean", [False, True])
@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize("hook", [in_place, with_handle, by_gathering])
def test_a_hook_of_ones_own(world, hook, overlap, mean):
    comm = world.comm
    found = run(reducer(comm, hook, overlap=overlap, mean=mean), comm.rank)
    for got, want in zip(found, total(comm.size), strict=True):
        np.testing.assert_allclose(got, want / (comm.size if mean else 1), rtol=1e-5, atol=1e-6)


def test_a_hook_sees_the_buckets_in_order(world):
    seen = []

    def hook(bucket):
        seen.append((bucket.index, bucket.names, [p.shape for _, p in bucket.parts()]))
        return bucket.comm.all_reduce(bucket.array)

    run(reducer(world.comm, hook, fusion=Fusion(single=True), mean=True, degree=2), world.comm.rank)
    assert seen == [(i, (n,), [SHAPES[n]]) for i, n in enumerate(reversed(SHAPES))]


@pytest.mark.parametrize(("result", "error"), [(np.zeros(3), ValueError), ("x", TypeError)])
def test_a_hook_must_return_a_sum(world, result, error):
    with pytest.raises(error, match="'register_comm_hook', the hook must return"):
        run(reducer(world.comm, lambda bucket: result, degree=2, mean=True), world.comm.rank)


@pytest.mark.parametrize("overlap", [False, True])
@pytest.mark.parametrize(("hook", "precision"), [(Float16Wire, 2.0**-11), (BFloat16Wire, 2.0**-8)])
def test_sixteen_bit_wires(world, hook, precision, overlap):
    comm = world.comm
    made = reducer(comm, hook(measure=True), overlap=overlap, mean=True)
    for step in range(3):
        found = run(made, comm.rank, step)
        parts = zip(*(gradients(r, step) for r in range(comm.size)), strict=True)
        for got, want, mine in zip(found, total(comm.size, step), parts, strict=True):
            if comm.size == 1:
                np.testing.assert_array_equal(got, want)
            else:
                bound = 2 * precision * max(np.abs(part).max() for part in mine) + 1e-7
                np.testing.assert_allclose(got, want / comm.size, rtol=0, atol=bound)
    bits = comm.gather_objects([g.tobytes() for g in found])
    assert all(b == bits[0] for b in bits)
    if comm.size > 1:
        loss = made.hook.losses["a"]
        assert loss.dense == 2 * loss.sent == 4800 and loss.steps == 3 and precision / 10 < loss.error < precision


def test_everything_is_sent_by_topk_1(world):
    comm = world.comm
    for got, want in zip(run(reducer(comm, TopK(1.0)), comm.rank), total(comm.size), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(
    "make", [lambda: TopK(0.2, measure=True), lambda: PowerSGD(3, measure=True)], ids=["topk", "powersgd"]
)
def test_what_was_left_out_comes_later(world, make):
    """What was sent in all steps, and what is still held back, is all that was to be sent."""
    comm = world.comm
    made = reducer(comm, make(), mean=True, degree=1)
    if comm.size == 1:
        made = reducer(comm, make(), mean=True, degree=2)
    scale = 1 if comm.size > 1 else 0.5
    sums = [np.zeros(s) for s in SHAPES.values()]
    for step in range(6):
        found = run(made, comm.rank, step)
        sums = [a + b for a, b in zip(sums, found, strict=True)]
    if isinstance(made.hook, TopK):
        held = [np.zeros(s) for s in SHAPES.values()]
        for b, bucket in enumerate(made.plan.buckets):
            for slot in bucket.slots:
                part = made.hook._errors[b][slot.start : slot.stop].reshape(slot.shape)
                held[slot.weight] = comm.all_reduce(np.ascontiguousarray(part))
    else:
        held = []
        for n, s in SHAPES.items():
            mine = made.hook._errors.get(n, np.zeros(s, np.float32))
            held.append(comm.all_reduce(np.array(mine).reshape(-1)).reshape(s))
    for i, got in enumerate(sums):
        want = scale * sum(total(comm.size, step)[i] for step in range(6))
        np.testing.assert_allclose(got + held[i], want, rtol=1e-4, atol=1e-4)
    loss = made.hook.losses["a"]
    assert loss.sent < loss.dense / 2 and 0.05 < loss.error < 1
    assert comm.gather_objects([g.tobytes() for g in found]) == [[g.tobytes() for g in found]] * comm.size
    assert "a          4,800" in made.hook.report() and made.hook.report().splitlines()[-1].startswith("all")


def test_powersgd_is_exact_for_a_matrix_of_its_rank(world):
    comm = world.comm
    w = ms.Parameter(np.zeros((50, 40), np.float32), name="w")
    random = np.random.default_rng(1)
    grad = (random.standard_normal((50, 2)) @ random.standard_normal((2, 40))).astype(np.float32)
    made = Reducer(make_plan([w]), comm, mean=True, degree=2)
    made.hook = PowerSGD(2)
    (found,) = made.reduce([Tensor(grad * (comm.rank + 1))])
    want = grad * comm.size * (comm.size + 1) / 4
    np.testing.assert_allclose(found.asnumpy(), want, atol=1e-5 * np.abs(want).max())


@pytest.mark.parametrize(
    ("make", "text"), [(lambda: TopK(0), "in \\(0, 1\\]"), (lambda: PowerSGD(0), "a positive int")]
)
def test_wrong_settings(world, make, text):
    with pytest.raises(ValueError, match=text):
        make()


@pytest.mark.parametrize("make", [Float16Wire, BFloat16Wire, lambda: TopK(0.3), lambda: PowerSGD(4)])
def test_training_with_it_comes_to_the_same_loss(data_parallel, make):
    comm = data_parallel
    random = np.random.default_rng(0)
    x = random.standard_normal((48, 20)).astype(np.float32)
    y = (x @ random.standard_normal((20, 10))).astype(np.float32)
    part = slice(comm.rank * 48 // comm.size, (comm.rank + 1) * 48 // comm.size)
    losses = []
    for hook in (None, make()):
        ms.set_seed(1)
        net = nn.Dense(20, 10)
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
        if hook is not None:
            step.grad_reducer.register_comm_hook(hook)
        for _ in range(300):
            loss = step(Tensor(x[part]), Tensor(y[part]))
        losses.append(float(loss.asnumpy()))
        first = net(Tensor(x)).asnumpy()
        assert comm.gather_objects(first.tobytes()) == [first.tobytes()] * comm.size
    assert losses[1] < 1e-3, losses


@pytest.mark.mpi(min_size=2)
def test_hooks_must_agree_and_come_in_time(data_parallel):
    comm = data_parallel
    w = ms.Parameter(np.zeros(2, np.float32), name="w")
    one = nn.DistributedGradReducer([w])
    if comm.rank:
        one.register_comm_hook(TopK(0.5))
    with pytest.raises(ValueError, match="a hook must be the same on all ranks, but got rank 0: None, rank 1: TopK"):
        one.start()
    two = nn.DistributedGradReducer([w])
    two.start()
    with pytest.raises(RuntimeError, match="before the first step"):
        two.register_comm_hook(in_place)
    with pytest.raises(TypeError, match="must be callable"):
        nn.DistributedGradReducer([w]).register_comm_hook(3)
