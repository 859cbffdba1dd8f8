"""find_learning_rate: what it suggests, and what it leaves."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import Model, find_learning_rate
from tests.serial.train.model_cases import batches, model


def curved(rate=0.01):
    """A network whose loss falls fastest below a rate of about 1 and grows above it."""
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(2, 8), nn.Tanh(), nn.Dense(8, 1))
    return net, Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), rate, 0.9))


def test_a_rate_that_trains_and_a_network_as_it_was(tmp_path):
    net, trained = curved()
    optimizer = trained.train_network.optimizer
    state = {p.name: p.asnumpy().copy() for p in [*net.get_parameters(), *optimizer.get_parameters()]}
    found = find_learning_rate(trained, batches(8), 1e-5, 100.0, 80)
    for parameter in [*net.get_parameters(), *optimizer.get_parameters()]:
        np.testing.assert_array_equal(parameter.asnumpy(), state[parameter.name])
    assert found.rates[0] == pytest.approx(1e-5) and len(found.rates) == len(found.losses) < 80  # it ended early
    assert 1e-3 < found.suggestion < 10

    def after(rate):
        net, trained = curved(rate)
        trained.train(2, batches(8))
        x, y = batches(1)[0]
        return float(((net(ms.Tensor(x)) - ms.Tensor(y)) ** 2).mean().asnumpy())

    assert after(found.suggestion / 3) < after(1e-5)
    assert "LearningRates(" in repr(found)
    found.plot(str(tmp_path / "rates.png"))
    assert (tmp_path / "rates.png").stat().st_size > 5000


def test_what_is_refused():
    _, trained = curved()
    with pytest.raises(TypeError, match="'model'"):
        find_learning_rate(3, batches())
    for arguments in ((0.0, 1.0), (1.0, 0.5), (1e-5, 1.0, 7)):
        with pytest.raises(ValueError, match="For 'find_learning_rate', "):
            find_learning_rate(trained, batches(), *arguments)
    net = nn.Dense(2, 1)
    for rate in (nn.ExponentialDecayLR(0.1, 0.9, 4), [0.1, 0.2, 0.3]):
        scheduled = Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), rate))
        with pytest.raises(ValueError, match="must have one number for its learning rate"):
            find_learning_rate(scheduled, batches())
    groups = [{"params": [net.weight], "lr": 0.1}, {"params": [net.bias]}]
    with pytest.raises(ValueError, match="must have one number for its learning rate"):
        find_learning_rate(Model(net, nn.MSELoss(), nn.SGD(groups, 0.2)), batches())
    with pytest.raises(ValueError, match="a Model with an optimizer"):
        find_learning_rate(Model(net, nn.MSELoss()), batches())


def test_a_loss_that_is_no_number():
    with pytest.raises(RuntimeError, match="must be a number for 3 steps or more"):
        find_learning_rate(model(), batches(scale=np.nan))
