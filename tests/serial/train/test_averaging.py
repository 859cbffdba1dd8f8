"""ExponentialMovingAverage: its numbers, evaluation with it, and resumed runs."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import Callback, ExponentialMovingAverage, RunCheckpoint
from tests.serial.train.model_cases import batches, model, network


class Weights(Callback):
    def __init__(self, net):
        super().__init__()
        self.net, self.seen = net, []

    def on_train_step_end(self, run_context):
        self.seen.append(self.net.weight.asnumpy().copy())


@pytest.mark.parametrize(("warm_up", "every"), [(True, 1), (False, 1), (False, 2)])
def test_the_mean_follows_its_formula(warm_up, every):
    net = network()
    mean, weights, wanted = ExponentialMovingAverage(0.8, every, warm_up), Weights(net), net.weight.asnumpy().copy()
    model(net).train(3, batches(), callbacks=[mean, weights])
    for t, weight in enumerate(weights.seen[every - 1 :: every], 1):
        decay = min(0.8, (1 + t) / (10 + t)) if warm_up else 0.8
        wanted = decay * wanted + (1 - decay) * weight
    np.testing.assert_allclose(mean.means["weight"], wanted, rtol=1e-6)
    assert not np.allclose(wanted, net.weight.asnumpy())


def test_evaluation_sees_the_mean_and_training_does_not():
    seen = []

    class Evaluated(Callback):
        def on_eval_step_end(self, run_context):
            seen.append(net.weight.asnumpy().copy())

    net, mean = network(), ExponentialMovingAverage(0.9)
    trained = model(net, metrics={"mae"})
    trained.fit(1, batches(), batches(1), callbacks=[mean, Evaluated()])
    np.testing.assert_array_equal(seen[0], mean.means["weight"])
    other = network()
    model(other).train(1, batches())
    np.testing.assert_array_equal(net.weight.asnumpy(), other.weight.asnumpy())
    trained.eval(batches(1), callbacks=[mean, Evaluated()])
    np.testing.assert_array_equal(seen[1], seen[0])
    with mean.averaged(), mean.averaged():
        np.testing.assert_array_equal(net.weight.asnumpy(), seen[0])
    np.testing.assert_array_equal(net.weight.asnumpy(), other.weight.asnumpy())


def test_an_evaluation_that_fails_leaves_the_weights():
    class Fails(Callback):
        def on_eval_step_end(self, run_context):
            raise ArithmeticError

    net, mean = network(), ExponentialMovingAverage(0.9)
    trained = model(net, metrics={"mae"})
    trained.train(1, batches(), callbacks=mean)
    before = net.weight.asnumpy().copy()
    with pytest.raises(ArithmeticError):
        trained.eval(batches(1), callbacks=[mean, Fails()])
    np.testing.assert_array_equal(net.weight.asnumpy(), before)


def test_a_resumed_run_has_the_unbroken_one_s_mean(tmp_path):
    whole = ExponentialMovingAverage(0.9)
    model().train(4, batches(), callbacks=whole)
    for epochs in (2, 4):
        mean = ExponentialMovingAverage(0.9)
        folder = str(tmp_path / "run")
        model().train(epochs, batches(), callbacks=[mean, RunCheckpoint(folder)], resume=folder)
    np.testing.assert_array_equal(mean.means["weight"], whole.means["weight"])


def test_half_precision_weights_have_a_mean_of_float32():
    net = network()
    net.to_float(ms.float16)
    net.weight.set_dtype(ms.float16)
    mean = ExponentialMovingAverage(0.9)
    trained = ms.train.Model(net, nn.MSELoss(), nn.SGD([net.bias, net.weight], 0.01))
    trained.train(1, [(x.astype(np.float16), y.astype(np.float16)) for x, y in batches()], callbacks=mean)
    assert mean.means["weight"].dtype == np.float32
    with mean.averaged():
        assert net.weight.dtype == ms.float16


def test_wrong_arguments():
    for arguments in ((1.0,), (-0.1,), (0.9, 0)):
        with pytest.raises(ValueError, match="For 'ExponentialMovingAverage', "):
            ExponentialMovingAverage(*arguments)
    with pytest.raises(TypeError, match="'warm_up'"):
        ExponentialMovingAverage(0.9, 1, 1)
    with pytest.raises(RuntimeError, match="must follow training"), ExponentialMovingAverage().averaged():
        pass


def test_weights_on_servers_are_refused(monkeypatch):
    net, mean = network(), ExponentialMovingAverage()
    trained = model(net)
    monkeypatch.setattr("dist_ms.train.averaging.make_plan", lambda parameters, servers: Plan())
    with pytest.raises(ValueError, match="no weight must be on a parameter server, but 'weight' is"):
        trained.train(1, batches(), callbacks=mean)


class Plan:
    class Row:
        name, gradient = "weight", "server"

    rows = (Row,)
