"""Steps that train some of the parameters: the sets, the order, and the numbers are MindSpore's."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import boost, nn
from tests.serial.boost.recorded import FREEZE, INTERVAL, SPLIT


def deep():
    net = nn.SequentialCell(*[nn.SequentialCell(nn.Dense(2, 2), nn.BatchNorm1d(2)) for _ in range(4)])
    net.update_parameters_name()
    return net


def linear():
    cells = [nn.Dense(w.shape[1], w.shape[0], weight_init=ms.Tensor(w), has_bias=False) for w in WEIGHTS]
    net = nn.SequentialCell(*cells)
    net.update_parameters_name()
    return net


WEIGHTS = [np.array(w, np.float32) for w in FREEZE["W"]]
BATCH = ms.Tensor(np.array(FREEZE["X"], np.float32)), ms.Tensor(np.array(FREEZE["Y"], np.float32))


def test_sets_of_parameters():
    freeze = boost.GradientFreeze(3, 1, 0.7, 20)
    sets = freeze.split_parameters_groups(deep(), 3)
    assert [len(s) for s in sets] == SPLIT
    everything = sets[0]
    assert all([id(p) for p in s] == [id(p) for p in everything[-len(s) :]] for s in sets)


def test_the_order_of_steps():
    freeze = boost.GradientFreeze(4, 0, 0.5, 20)
    assert freeze.generate_freeze_index_sequence(4, 0, 0.5, 20) == [0, 0, 0, 1, 2, 3] * 4
    assert freeze.generate_freeze_index_sequence(1, 0, 0.5, 5) == [0] * 5
    np.random.seed(3)
    assert freeze.generate_freeze_index_sequence(4, 1, 0.7, 30) == INTERVAL
    with pytest.raises(ValueError, match="'freeze_strategy' must be 0 or 1, but got 2"):
        freeze.generate_freeze_index_sequence(4, 2, 0.7, 30)


def test_training_gives_mindspores_losses():
    net = linear()
    weights = net.trainable_params()
    opt = boost.FreezeOpt(nn.Momentum(weights, 0.05, 0.9), [weights, weights[1:], weights[2:]], [0, 2, 1, 0, 1])
    step = boost.BoostTrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), opt)
    losses = [float(step(*BATCH)) for _ in range(4)]
    np.testing.assert_allclose(losses, FREEZE["losses"], rtol=1e-5)
    for p, wanted in zip(weights, FREEZE["end"]):
        np.testing.assert_allclose(p.asnumpy(), wanted, rtol=1e-4, atol=1e-6)
    names = [p.name for p in opt.opts[2].get_parameters()]
    assert "boost_2global_step" in names and "2.weight" in names


def test_frozen_parameters_stay_and_turns_come_again():
    net = linear()
    weights = net.trainable_params()
    step = boost.BoostTrainOneStepCell(
        nn.WithLossCell(net, nn.MSELoss()), boost.FreezeOpt(nn.SGD(weights, 0.1), [weights, weights[2:]], [1, 0])
    )
    moved = []
    for _ in range(3):
        before = [p.asnumpy().copy() for p in weights]
        step(*BATCH)
        moved.append([not np.array_equal(b, p.asnumpy()) for b, p in zip(before, weights)])
    assert moved == [[False, False, True], [True, True, True], [False, False, True]]


def test_rates_of_each_set():
    weights = linear().trainable_params()
    opt = boost.FreezeOpt(nn.SGD(weights, [0.1, 0.2, 0.3]), [weights, weights[2:]], [1, 0, 1])
    rates = [o.init_learning_rate for o in opt.opts]
    assert rates == [[0.2], [0.1, 0.3]]
    assert boost.FreezeOpt(nn.SGD(weights, 0.5)).opts[0].init_learning_rate == 0.5


def test_gradients_add_up_over_steps():
    net = linear()
    weights = net.trainable_params()
    grad = ms.ops.GradOperation(get_by_list=True, sens_param=True)
    loss = nn.WithLossCell(net, nn.MSELoss())
    cell = boost.freeze_cell(False, loss, boost.FreezeOpt(nn.SGD(weights, 0.1)), 1.0, grad, True, None, None, 2)[0]
    first = ms.grad(loss, None, weights)(*BATCH)
    cell(*BATCH)
    np.testing.assert_array_equal(weights[0].asnumpy(), WEIGHTS[0])
    cell(*BATCH)
    for p, w, g in zip(weights, WEIGHTS, first):
        np.testing.assert_allclose(p.asnumpy(), w - 0.1 * g.asnumpy(), rtol=1e-5, atol=1e-7)


@pytest.mark.parametrize(
    "arguments, error, match",
    [
        (lambda o, w: (3,), TypeError, "'opt' .*Optimizer"),
        (lambda o, w: (o, None, [0]), ValueError, "'train_parameter_groups' must be given"),
        (lambda o, w: (o, [w], [1]), ValueError, "'train_strategy' must hold ints from 0 to 0"),
        (lambda o, w: (o, [w], "a"), TypeError, "'train_strategy'"),
        (lambda o, w: (o, [w], ms.Tensor([0.5])), ValueError, "one dimension and the type int32"),
        (lambda o, w: (o, 3), TypeError, "'train_parameter_groups'"),
    ],
)
def test_wrong_arguments(arguments, error, match):
    weights = linear().trainable_params()
    with pytest.raises(error, match=match):
        boost.FreezeOpt(*arguments(nn.SGD(weights, 0.1), weights))


def test_other_gradients_are_refused():
    net = linear()
    opt = boost.FreezeOpt(nn.SGD(net.trainable_params(), 0.1))
    with pytest.raises(TypeError, match="'grad' must be a GradOperation"):
        boost.freeze_cell(False, net, opt, 1.0, ms.grad(net), False)
    with pytest.raises(RuntimeError, match="'no_sync' must not be used with a FreezeOpt"):
        step = boost.BoostTrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), opt)
        with step.no_sync():
            step(*BATCH)
    with pytest.raises(NotImplementedError, match="'uneven' must not be 'exact'"):
        step.idle_step()
