"""Cells around networks: gradients, parts of batches, sequences, parameters."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops

X = ms.Tensor(np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5))


class Net(nn.Cell):
    def __init__(self):
        super().__init__()
        self.weight = ms.Parameter(ms.Tensor(np.ones((2, 2), np.float32)), name="weight")
        self.calls = 0

    def construct(self, x):
        self.calls += 1
        return ops.matmul(x, self.weight)


def loss_net():
    net = Net()
    return net, nn.WithLossCell(net, nn.SoftmaxCrossEntropyWithLogits())


ONES, LABELS = (ms.Tensor(np.ones((1, 2), np.float32)) for _ in range(2))


def values(nested):
    return [values(v) for v in nested] if isinstance(nested, tuple) else nested.asnumpy().tolist()


def test_forward_value_and_grad():
    net, with_loss = loss_net()
    weights = ms.ParameterTuple(net.trainable_params())
    loss, dw, dx = [pytest.approx(1.3862944)], [[-0.5, -0.5], [-0.5, -0.5]], [[[-1, -1]], [[0, 0]]]
    for options, expected in (
        ({}, [loss, dx[0]]),
        ({"get_all": True}, [loss, dx]),
        ({"weights": weights, "get_by_list": True}, [loss, [dw]]),
        ({"weights": list(weights), "get_all": True, "get_by_list": True}, [loss, [dx, [dw]]]),
    ):
        net.calls = 0
        assert values(nn.ForwardValueAndGrad(with_loss, **options)(ONES, LABELS)) == expected
        assert net.calls == 1
    twice = nn.ForwardValueAndGrad(with_loss, weights, get_by_list=True, sens_param=True)
    assert values(twice(ONES, LABELS, ms.Tensor([2.0])))[1] == [[[-1, -1], [-1, -1]]]
    assert values(nn.ForwardValueAndGrad(lambda x: x * x)(ms.Tensor([3.0]))) == [[9], [6]]


def test_with_grad_cell():
    net, with_loss = loss_net()
    half = [[[-0.5, -0.5], [-0.5, -0.5]]]
    assert values(nn.WithGradCell(net, nn.SoftmaxCrossEntropyWithLogits())(ONES, LABELS)) == half
    assert values(nn.WithGradCell(with_loss)(ONES, LABELS)) == half
    scaled = nn.WithGradCell(net, nn.SoftmaxCrossEntropyWithLogits(), sens=ms.Tensor([4.0]))
    assert values(scaled(ONES, LABELS)) == [[[-2, -2], [-2, -2]]]


def test_train_step_with_gradients_and_another_start():
    net = nn.Dense(2, 1, weight_init="ones", has_bias=False)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1), 2.0, True)
    loss, grads = step(ms.Tensor([[1.0, 1.0]]), ms.Tensor([[0.0]]))
    assert (float(loss.asnumpy()), {k: values(v) for k, v in grads.items()}) == (4.0, {"weight": [[8, 8]]})
    with pytest.raises(ValueError, match="'sens' must not be 0"):
        nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1), 0)


def test_parameter_update():
    net = Net()
    assert values(nn.ParameterUpdate(net.weight)(net.weight * 3)) == [[3, 3], [3, 3]]
    assert values(net.weight) == [[3, 3], [3, 3]]


@pytest.mark.parametrize("kind", [nn.GradAccumulationCell, nn.PipelineCell, nn.MicroBatchInterleaved])
def test_batches_in_parts(kind):
    x = ms.Tensor([1.0, 2.0, 3.0, 4.0])
    assert values(kind(nn.ReLU(), 2)(x)) == [4, 6]
    assert values(ms.grad(kind(nn.ReLU(), 2))(x)) == [1, 1, 1, 1]
    assert [p.name for p in kind(nn.Dense(1, 1), 2).get_parameters()] == ["weight", "bias"]
    for size, error in ((0, ValueError), (1.0, TypeError), (True, TypeError)):
        with pytest.raises(error):
            kind(nn.ReLU(), size)
    with pytest.raises(TypeError):
        kind(3, 1)
    with pytest.raises(ValueError, match="multiple of 3"):
        kind(nn.ReLU(), 3)(x)


def test_a_pipeline_has_one_stage():
    with pytest.raises(ValueError, match="'stage_config' must be None"):
        nn.PipelineCell(nn.ReLU(), 2, stage_config={"a": 0})


@pytest.mark.parametrize("time", range(-4, 4))
def test_time_distributed_calls_the_layer_per_step(time):
    layer = nn.Dense(5, 2) if time % 4 != 3 else nn.Dense(4, 2)
    out = nn.TimeDistributed(layer, time)(X).asnumpy()
    steps = [layer(ms.Tensor(s)).asnumpy() for s in np.moveaxis(X.asnumpy(), time, 0)]
    np.testing.assert_allclose(out, np.stack(steps, time % 4), rtol=1e-4)


@pytest.mark.parametrize(
    ("time", "axis", "order"),
    [(1, 0, (0, 1, 2, 3)), (0, 1, (0, 1, 2, 3)), (2, 0, (0, 2, 1, 3)), (3, 0, (0, 3, 1, 2)), (-1, -4, (0, 3, 1, 2)),
     (1, 2, (0, 1, 2, 3)), (1, 3, (0, 2, 1, 3))],
)  # fmt: skip
def test_time_distributed_in_one_call_puts_the_time_axis_beside(time, axis, order):
    calls = []

    class Note(nn.Cell):
        def construct(self, x):
            calls.append(x.ndim)
            return x * 2

    out = nn.TimeDistributed(Note(), time, axis)(X)
    np.testing.assert_array_equal(out.asnumpy(), X.asnumpy().transpose(order) * 2)
    assert calls == [3]


def test_time_distributed_dense():
    layer = nn.TimeDistributed(nn.Dense(5, 2, weight_init="ones", bias_init="zeros"), 1, 0)
    out = layer(X[:, :, 0])
    assert out.shape == (2, 3, 2)
    np.testing.assert_allclose(out.asnumpy()[..., 0], X.asnumpy()[:, :, 0].sum(-1))


WRONG = {
    "value layer": (lambda: nn.ForwardValueAndGrad(3), TypeError),
    "value get_all": (lambda: nn.ForwardValueAndGrad(Net(), get_all=1), TypeError),
    "value get_by_list": (lambda: nn.ForwardValueAndGrad(Net(), get_by_list=1), TypeError),
    "value weights": (lambda: nn.ForwardValueAndGrad(Net(), get_by_list=True), TypeError),
    "update": (lambda: nn.ParameterUpdate(3), TypeError),
    "time layer": (lambda: nn.TimeDistributed(3, 1), TypeError),
    "time axis": (lambda: nn.TimeDistributed(nn.ReLU(), 1.0), TypeError),
    "time reshape": (lambda: nn.TimeDistributed(nn.ReLU(), 1, "a"), TypeError),
    "time input": (lambda: nn.TimeDistributed(nn.ReLU(), 1)(3), TypeError),
    "time dimensions": (lambda: nn.TimeDistributed(nn.ReLU(), 1)(X[0, 0]), ValueError),
    "time output": (lambda: nn.TimeDistributed(ops.ReduceSum(), 1, 0)(X), ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    call, kind = WRONG[name]
    with pytest.raises(kind):
        call()
