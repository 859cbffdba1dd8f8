"""Ranks of one machine share weights, states and the update of both, and nobody can tell."""

import copy

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import RowTensor, Tensor, nn
from dist_ms.communication import get_group_size, get_rank
from dist_ms.parallel import DesyncError, shared_update
from dist_ms.parallel.errors import UnreducedGradientError

pytestmark = [pytest.mark.mpi(min_size=2), pytest.mark.usefixtures("data_parallel")]
OPTIMIZERS = {
    "Momentum": lambda p: nn.Momentum(p, 0.05, 0.9),
    "Adam": lambda p: nn.Adam(p, 1e-2),
    "AdamWeightDecay": lambda p: nn.AdamWeightDecay(p, 1e-2, weight_decay=0.1),
    "RMSProp centered": lambda p: nn.RMSProp(p, 1e-3, centered=True),
    "Adagrad": lambda p: nn.Adagrad(p, learning_rate=0.05),
    "SGD": lambda p: nn.SGD(p, 0.05),
    "groups": lambda p: nn.Adam([{"params": p[:2], "lr": 0.01, "weight_decay": 0.01}, {"params": p[2:]}], 0.02),
}


@pytest.fixture
def small(monkeypatch):
    """Share the update of small models, too."""
    monkeypatch.setattr(shared_update, "LEAST", 0)


class Net(nn.Cell):
    """Two layers of 3,000 weights and odd numbers, so that ranks' parts are cut within weights."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Dense(31, 97), nn.Dense(97, 1)

    def construct(self, x):
        return self.second(ms.ops.tanh(self.first(x)))


def made(optimizer, amp=False):
    ms.set_seed(3)
    net = Net()
    opt = OPTIMIZERS[optimizer](net.trainable_params())
    loss = nn.WithLossCell(ms.amp.auto_mixed_precision(net, "auto", ms.bfloat16) if amp else net, nn.MSELoss())
    return net, opt, nn.TrainOneStepCell(loss, opt)


def batch(step):
    x = np.random.default_rng([step, get_rank()]).standard_normal((8, 31)).astype(np.float32)
    return Tensor(x), Tensor(x[:, :1] * 2)


def trained(optimizer, between=lambda step, net, opt: None, amp=False, steps=6):
    """All parameters after some steps; `between` is called before each."""
    net, opt, train = made(optimizer, amp)
    losses = []
    for step in range(steps):
        between(step, net, opt)
        losses.append(train(*batch(step)).asnumpy())
    found = {p.name: p.asnumpy().copy() for p in [*net.get_parameters(), *opt.get_parameters()]}
    return opt, found | {"losses": np.stack(losses)}


def assert_same_bits(left, right):
    assert left.keys() == right.keys()
    for name in left:
        np.testing.assert_array_equal(left[name], right[name], name)


def both(monkeypatch, *args, **kwargs):
    """What the same training gives when every rank updates all, and when they share it."""
    monkeypatch.setenv("DIST_MS_SHARED_UPDATE", "0")
    alone, whole = trained(*args, **kwargs)
    assert alone.shared_update is None
    monkeypatch.setenv("DIST_MS_SHARED_UPDATE", "1")
    opt, shared = trained(*args, **kwargs)
    assert opt.shared_update is not None and opt.shared_update.memory is not None
    return whole, shared


@pytest.mark.parametrize("optimizer", OPTIMIZERS)
def test_the_bits_are_those_of_whole_updates(monkeypatch, small, optimizer):
    assert_same_bits(*both(monkeypatch, optimizer))


def test_with_mixed_precision_too(monkeypatch, small):
    assert_same_bits(*both(monkeypatch, "Adam", amp=True))


def test_what_all_ranks_set_between_steps_counts(monkeypatch, small):
    def between(step, net, opt):
        if step == 2:
            net.first.weight.set_data(net.first.weight * 0.5)
            opt.moment1[0].set_data(Tensor(np.full((97, 31), 0.25, np.float32)))
        if step == 3:
            net.second.weight.asnumpy()[0, 5:50] = 1.0
            opt.moment2[2].asnumpy()[...] *= 3.0
        if step == 4:
            ms.ops.assign_add(net.first.bias, Tensor(np.ones(97, np.float32)))
            ms.load_param_into_net(net, {"second.weight": ms.Parameter(np.ones((1, 97), np.float32).T.copy().T)})

    assert_same_bits(*both(monkeypatch, "Adam", between))


def test_an_array_that_was_taken_sees_updates(small):
    net, opt, train = made("Momentum")
    train(*batch(0))
    weight, moment = net.first.weight.asnumpy(), opt.moments[0].asnumpy()
    before = weight.copy(), moment.copy()
    train(*batch(1))
    assert weight is net.first.weight.asnumpy()
    assert (weight != before[0]).mean() > 0.9
    assert (moment != before[1]).mean() > 0.9


def test_a_rank_s_own_values_are_its_own(small):
    net, opt, train = made("Momentum")
    train(*batch(0))
    weight = net.first.weight.asnumpy()
    kept = weight.copy()
    if get_rank() == 0:
        weight[3, 4] = 77.0
    opt.shared_update._comm.barrier()
    assert weight[3, 4] == (77.0 if get_rank() == 0 else kept[3, 4])
    opt.shared_update._comm.barrier()
    weight[3, 4] = kept[3, 4]  # as who evaluates with other weights and takes the former ones again
    train(*batch(1))


def test_values_of_one_rank_alone_are_an_error_in_the_next_step(small):
    net, _, train = made("Momentum")
    train(*batch(0))
    if get_rank() == 1:
        net.first.weight.asnumpy()[3, 4] += 1.0
    with pytest.raises(DesyncError, match=r"rank 1: update\(.*after the program has set 'first.weight'"):
        train(*batch(1))


def test_another_array_of_one_rank_alone_is_an_error_in_the_next_step(small):
    net, _, train = made("Momentum")
    train(*batch(0))
    if get_rank() == 1:
        net.second.bias.set_data(Tensor(np.float32([5.0])))
    with pytest.raises(DesyncError, match=r"rank 1: update\(.*after the program has set 'second.bias'"):
        train(*batch(1))


@pytest.mark.parametrize("steps", [1, 2, 7])
def test_gradients_that_are_reduced_no_more_are_an_error(small, steps):
    net, opt, train = made("Momentum")
    for step in range(steps):
        train(*batch(step))
    loss = nn.WithLossCell(net, nn.MSELoss())
    grads = ms.ops.grad(loss, None, opt.parameters)(*batch(steps))
    with pytest.raises(
        UnreducedGradientError, match=r"(?s)rank 1: update\(.*gradient of '(first|second).*DistributedGradReducer"
    ):
        opt(grads)


def test_a_weight_whose_gradient_comes_by_rows_later_is_updated_whole(monkeypatch, small):
    def between(step, net, opt):
        if step == 3:  # from here on, every rank updates with the same rows
            values = Tensor(np.full((2, 31), 0.5, np.float32))
            grads = [Tensor(np.ones(p.shape, np.float32)) for p in opt.parameters]
            opt((RowTensor(Tensor([1, 5]), values, (97, 31)), *grads[1:]))

    whole, shared = both(monkeypatch, "Adam", between)
    assert_same_bits(whole, shared)


def test_other_rates_of_one_rank_are_an_error_in_that_step(small):
    _, opt, train = made("Momentum")
    train(*batch(0))
    opt.learning_rate.set_data(Tensor(np.float32(0.05 if get_rank() else 0.01)))
    with pytest.raises(RuntimeError, match=r"rank 0: update\(learning rate 0\.01.*\n.*rank 1: .*0\.05"):
        train(*batch(1))


def test_there_is_one_copy_on_the_machine(small):
    net, opt, train = made("Adam")
    train(*batch(0))
    shared = opt.shared_update
    assert shared._memory.own_pages() == []
    held = {p.asnumpy().base is shared.memory for p in (*net.trainable_params(), *opt.moment1, *opt.moment2)}
    assert held == {True}
    assert {p.asnumpy().ctypes.data % 64 for p in (*net.trainable_params(), *opt.moment2)} == {0}
    # Each rank adds one to its element of the one copy, where no weight lies, and reads those of all.
    free = slice(shared._size * 4 - 64, shared._size * 4 - 64 + get_group_size())
    shared._memory.shared[free][get_rank()] += 1
    shared._comm.barrier()
    assert shared.memory[free].tolist() == [1] * get_group_size()


def test_small_models_are_updated_whole():
    _, opt, train = made("Adam")
    train(*batch(0))
    assert opt.shared_update.memory is None


def test_a_copied_optimizer_updates_alone(small):
    _, opt, train = made("Adam")
    train(*batch(0))
    copied = copy.deepcopy(opt)
    assert copied.shared_update is None
    copied.moment1[0].asnumpy()[...] = 9.0
    assert not (opt.moment1[0].asnumpy() == 9.0).any()
    train(*batch(1))


def test_undone_it_leaves_whole_states(small):
    net, opt, train = made("Adam")
    train(*batch(0))
    before = [p.asnumpy().copy() for p in (*net.trainable_params(), *opt.moment2)]
    opt.shared_update.undo()
    after = [p.asnumpy() for p in (*net.trainable_params(), *opt.moment2)]
    for left, right in zip(before, after, strict=True):
        np.testing.assert_array_equal(left, right)
        assert right.base is None
    train(*batch(1))


def test_without_enough_memory_every_rank_updates_all(monkeypatch, small):
    monkeypatch.setenv("DIST_MS_SHARED_UPDATE", "0")
    _, whole = trained("Adam")
    monkeypatch.setenv("DIST_MS_SHARED_UPDATE", "1")
    if get_rank() == get_group_size() - 1:
        monkeypatch.setattr("dist_ms.communication.shared.common_memory.room", lambda: 0)
    opt, found = trained("Adam")
    assert opt.shared_update.memory is None
    assert_same_bits(whole, found)


def test_another_value_of_the_variable_is_refused(monkeypatch):
    monkeypatch.setenv("DIST_MS_SHARED_UPDATE", "yes")
    with pytest.raises(ValueError, match="DIST_MS_SHARED_UPDATE must be 0 or 1, but got 'yes'"):
        made("Adam")
