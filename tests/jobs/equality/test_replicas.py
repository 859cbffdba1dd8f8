"""Ways in which ranks used to part without a word: each ends in an error on every rank, or in equal weights."""

import numpy as np
import pytest

HEAD = """
import sys
import numpy as np
import dist_ms as ms
from dist_ms import Tensor, nn, ops
from dist_ms.communication import init, get_comm, get_group_size, get_rank

def batches(steps=300, every=8):
    data = np.random.default_rng(3)
    for _ in range(steps):
        x = data.standard_normal((every, 4)).astype(np.float32)
        y = (x @ np.arange(4, dtype=np.float32).reshape(4, 1)).astype(np.float32)
        part = slice(get_rank() * every // get_group_size(), (get_rank() + 1) * every // get_group_size())
        yield Tensor(x[part]), Tensor(y[part])

def model():
    ms.set_seed(1)
    return nn.SequentialCell(nn.Dense(4, 6), nn.Tanh(), nn.Dense(6, 1))

def report(net):
    weights = np.concatenate([p.asnumpy().reshape(-1) for p in net.trainable_params()])
    np.save(f"weights_{get_rank()}.npy", weights)
"""

LOOP = """
init()
ms.set_auto_parallel_context(parallel_mode=sys.argv[1], gradients_mean=True)
net, loss = model(), nn.MSELoss()
optimizer = nn.SGD(net.trainable_params(), 0.05)
step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
for x, y in batches():
    value, grads = step(x, y)
    get_comm().barrier()  # ranks that fail do so at the same time, however busy the machine is
    optimizer(grads)
report(net)
"""

SERVED = """
ms.set_ps_context(enable_ps=True)
init()
net = model()
net.set_param_ps()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.05))
for x, y in batches(40):
    step(x, y)
report(net)
"""

# Too short a job for the detector, with a function's model that is gone when the process ends.
LATE = """
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)

def train():
    net, loss = model(), nn.MSELoss()
    optimizer = nn.SGD(net.trainable_params(), 0.05)
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, optimizer.parameters)
    reduce = nn.DistributedGradReducer(optimizer.parameters)
    for number, (x, y) in enumerate(batches(6)):
        value, grads = step(x, y)
        optimizer(grads if sys.argv[1] == "unreduced" and number == 5 else reduce(grads))
    if sys.argv[1] == "evaluated" and get_rank() == 0:
        net[0].weight.set_data(net[0].weight * 2)

train()
"""

# Updates by hand: by operations on parameters, or by new values.
BY_HAND = """
def train():
    init()
    ms.set_auto_parallel_context(parallel_mode=sys.argv[2], gradients_mean=True)
    net, loss = model(), nn.MSELoss()
    weights = net.trainable_params()
    step = ms.value_and_grad(lambda x, y: loss(net(x), y), None, weights)
    reduce = nn.DistributedGradReducer(weights) if "reduced" in sys.argv else None
    for x, y in batches(20):
        value, grads = step(x, y)
        if "own" in sys.argv:
            grads = [ops.AllReduce()(g) / get_group_size() for g in grads]
        for w, g in zip(weights, grads if reduce is None else reduce(grads)):
            if sys.argv[1] == "assign_sub":
                ops.assign_sub(w, 0.05 * g)
            else:
                w.set_data(w - 0.05 * g)
    report(net)

train()
"""

# A rule that needs the whole gradient of a parameter, on top of one that does not.
NORMED = """
class Normed(nn.SGD):
    def update_one(self, index, param, grad, lr, weight_decay):
        super().update_one(index, param, grad / (ops.norm(grad) + 1.0), lr, weight_decay)

ms.set_ps_context(enable_ps="served" in sys.argv)
init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
if "divided" in sys.argv:
    ms.set_auto_parallel_context(
        enable_parallel_optimizer=True, parallel_optimizer_config={"parallel_optimizer_threshold": 0})
net = model()
if "served" in sys.argv:
    net.set_param_ps()
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), Normed(net.trainable_params(), 0.05))
for x, y in batches(40):
    step(x, y)
report(net)
"""


@pytest.fixture
def weights(tmp_path):
    """The weights that the ranks have left, one array per rank."""

    def load(ranks=2):
        return [np.load(tmp_path / f"weights_{rank}.npy") for rank in range(ranks)]

    return load


@pytest.mark.parametrize("how", ["assign_sub", "set_data"])
def test_updates_by_hand_that_reduce_nothing(run, how):
    done = run(HEAD + BY_HAND, how, "data_parallel")
    assert done.code == 1
    assert (
        "'0.weight' must be the same on all ranks, but when its gradient was computed for the second time" in done.err
    )
    assert "grads = nn.DistributedGradReducer(weights)(grads)" in done.err


@pytest.mark.parametrize("what", ["reduced", "own"])
def test_updates_by_hand_of_reduced_gradients(run, weights, what):
    done = run(HEAD + BY_HAND, "set_data", "data_parallel", what)
    assert done.code == 0, done.err
    first, second = weights()
    assert np.array_equal(first, second)


def test_updates_by_hand_of_models_of_their_own(run, weights):
    done = run(HEAD + BY_HAND, "assign_sub", "stand_alone")
    assert done.code == 0, done.err
    first, second = weights()
    assert not np.array_equal(first, second)


def test_a_loop_of_ones_own_that_reduces_nothing(run):
    done = run(HEAD + LOOP, "data_parallel")
    assert done.code == 1
    for rank in range(2):
        assert f"[rank {rank} of 2] For 'SGD', the gradient of parameter '0.weight' must be the same" in done.err
    assert "grads = nn.DistributedGradReducer(optimizer.parameters)(grads)" in done.err


def test_the_line_that_the_error_names_mends_it(run, weights):
    mended = LOOP.replace("step = ", "reduce = nn.DistributedGradReducer(optimizer.parameters)\nstep = ").replace(
        "optimizer(grads)", "optimizer(reduce(grads))"
    )
    assert run(HEAD + mended, "data_parallel").code == 0
    first, second = weights()
    assert (first == second).all()
    assert run(HEAD + LOOP, "data_parallel", ranks=1).code == 0
    np.testing.assert_allclose(first, weights(1)[0], rtol=1e-5, atol=1e-6)


def test_the_last_update_is_looked_at_too(run):
    done = run(HEAD + LATE, "unreduced")
    assert done.code == 1
    for rank in range(2):
        assert f"[rank {rank} of 2] DesyncError: Parameter '0.weight' must be the same on all ranks" in done.err
    assert "when they ended, after 6 updates, it was not" in done.err


def test_a_loop_of_ones_own_after_a_train_step(run):
    """The reducer that watched in the step does so no more; the optimizer goes on with its detector."""
    begun = LOOP.replace(
        "step = ms", "nn.TrainOneStepCell(nn.WithLossCell(net, loss), optimizer)(*next(batches()))\nstep = ms"
    )
    done = run(HEAD + begun + "print('the end')", "data_parallel")
    assert done.code == 1 and "the end" not in done.out
    for rank in range(2):
        assert f"[rank {rank} of 2] Parameter '0.weight' must be the same on all ranks, but at step 25" in done.err


def test_no_gradient_on_one_rank(run):
    torn = LOOP.replace("optimizer(grads)", "optimizer((None, *grads[1:]) if get_rank() else grads)")
    done = run(HEAD + torn, "data_parallel")
    assert done.code == 1
    for rank in range(2):
        assert f"[rank {rank} of 2] For 'SGD', the gradient of parameter '0.weight' must be the same" in done.err


@pytest.mark.parametrize("how", ["reduced", "evaluated"])
def test_a_job_that_ends_well(run, how):
    done = run(HEAD + LATE, how)
    assert done.code == 0, done.err
    assert "DesyncError" not in done.err


def test_a_word_that_it_is_meant(run, weights):
    meant = LOOP.replace("step = ", "optimizer.local = True\nstep = ")
    done = run(HEAD + meant, "data_parallel")
    assert done.code == 0, done.err
    first, second = weights()
    assert (first != second).any()


@pytest.mark.parametrize("mode", ["semi_auto_parallel", "auto_parallel"])
def test_a_mode_that_is_not_there(run, mode):
    done = run(HEAD + LOOP, mode)
    assert done.code == 1
    assert done.err.count(f"but got '{mode}': dist_ms trains data-parallel only") == 2


def test_servers_that_were_not_started(run, weights):
    done = run(HEAD + SERVED)
    assert done.code == 0, done.err
    assert done.err.count("enable_ps is True, but the job of 2 ranks has no parameter servers") == 1
    first, second = weights()
    assert (first == second).all()
    assert run(HEAD + SERVED, ranks=1).code == 0
    np.testing.assert_allclose(first, weights(1)[0], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("served", ["net", "net[0]"])
def test_what_no_server_holds_is_trained_together(run, weights, served):
    done = run(HEAD + SERVED.replace("net.set_param_ps", f"{served}.set_param_ps"), options=("--servers", "1"))
    assert done.code == 0, done.err
    assert "no parameter servers" not in done.err
    first, second = weights()
    assert (first == second).all()
    assert run(HEAD + SERVED, ranks=1).code == 0
    np.testing.assert_allclose(first, weights(1)[0], rtol=1e-5, atol=1e-6)


def test_a_rule_of_ones_own_is_not_cut_over_ranks(run):
    done = run(HEAD + NORMED, "divided")
    assert done.code == 1
    assert done.err.count("but got Normed, whose rule may need whole gradients") == 2


def test_a_rule_of_ones_own_is_not_cut_over_servers(run, weights):
    done = run(HEAD + NORMED, "served", options=("--servers", "2"))
    assert done.code == 0, done.err
    first, second = weights()
    assert (first == second).all()
    assert run(HEAD + NORMED, ranks=1).code == 0
    np.testing.assert_allclose(first, weights(1)[0], rtol=1e-5, atol=1e-6)
