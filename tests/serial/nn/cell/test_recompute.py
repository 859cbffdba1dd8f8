"""Cell.recompute: the same values and gradients, with `construct` run a second time."""

import contextlib
import copy

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn, ops
from tests.gradcheck import check_gradient
from tests.serial.nn.cell.cells import Scale, numbers, tensor


class Counted(nn.Cell):
    """x * x * w; counts its runs."""

    def __init__(self):
        super().__init__()
        self.w = Parameter(tensor(3), name="w")
        self.runs = 0

    def construct(self, x):
        self.runs += 1
        return x * x * self.w


class Chain(nn.Cell):
    """Two counted cells one after the other."""

    def __init__(self):
        super().__init__()
        self.first, self.second = Counted(), Counted()

    def construct(self, x):
        return self.second(self.first(x))


def gradients(net, *inputs):
    return numbers(ms.grad(net, 0, net.trainable_params())(*inputs))


def test_gradients_are_those_of_the_plain_cell():
    plain, net = Counted(), Counted()
    net.recompute()
    assert gradients(net, tensor(2)) == gradients(plain, tensor(2)) == ([12.0], ([4.0],))
    assert (plain.runs, net.runs) == (1, 2)
    net(tensor(1))
    assert net.runs == 3


def test_a_network_against_finite_differences():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.weight = Tensor(np.linspace(-1, 1, 12).reshape(3, 4))

        def construct(self, x):
            return ops.tanh(ops.matmul(x, self.weight)) * ops.exp(x.sum())

    net = Net()
    net.recompute()
    check_gradient(net, np.linspace(-0.5, 0.5, 6).reshape(2, 3), order=2)


def test_the_outermost_mark_counts():
    net = Chain()
    net.recompute()
    net.first.recompute()
    assert gradients(net, tensor(2)) == gradients(Chain(), tensor(2))
    assert (net.first.runs, net.second.runs) == (2, 2)
    net = Chain()
    net.first.recompute()
    assert gradients(net, tensor(2)) == gradients(Chain(), tensor(2))
    assert (net.first.runs, net.second.runs) == (2, 1)


def test_inside_containers():
    net = nn.SequentialCell(Scale(2), Scale(3))
    net.recompute()
    assert gradients(net, tensor(2)) == ([6.0], ([6.0], [4.0]))
    net = nn.SequentialCell(Scale(2), Scale(3))
    net[0].recompute()
    assert len(net) == 2 and gradients(net, tensor(2)) == ([6.0], ([6.0], [4.0]))


@pytest.mark.parametrize("options", [{}, {"use_reentrant": False}, {"output_recompute": True}])
def test_all_kinds_of_arguments_and_results(options):
    class Many(nn.Cell):
        def construct(self, x, k, pair, other=None, **kwargs):
            y = x * k + pair[0] * pair[1]
            return y if other is None else y + other, {"a": y * 2}, [x, 5, None]

    net = Many()
    net.recompute(**options)
    assert numbers(ms.grad(lambda x: net(x, 2, (x, 3))[0])(tensor(2))) == [5.0]
    assert numbers(ms.grad(lambda x: net(x, 2, (x, x), other=x)[0])(tensor(2))) == [7.0]
    assert numbers(ms.grad(lambda x: net(x, 2, (x, 1), None, z=x)[1]["a"])(tensor(2))) == [6.0]
    assert numbers(net(tensor(1), 2, (tensor(1), 3))) == ([5.0], {"a": [10.0]}, [[1.0], 5, None])


def test_hooks_of_the_cell_run_once_and_those_inside_twice():
    net, seen = Chain(), []
    net.recompute()
    net.register_forward_pre_hook(lambda cell, args: seen.append("outer pre"))
    net.register_forward_hook(lambda cell, args, out: seen.append("outer"))
    net.register_backward_hook(lambda cell, into, out: (seen.append("outer back"), into[0] * 10)[1])
    net.first.register_forward_hook(lambda cell, args, out: seen.append("inner"))
    net.first.register_backward_hook(lambda cell, into, out: (seen.append("inner back"), into[0] * 100)[1])
    plain = gradients(Chain(), tensor(2))
    (x,), weights = gradients(net, tensor(2))
    assert x == plain[0][0] * 1000 and weights == plain[1]
    assert seen == ["outer pre", "inner", "outer", "inner", "inner back", "outer back"]


def test_bprop_inside_and_on_the_cell():
    class Own(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            return (dout * 100,)

    class Around(nn.Cell):
        def __init__(self):
            super().__init__()
            self.own = Own()

        def construct(self, x):
            return self.own(x) * x

    net = Around()
    net.recompute()
    assert numbers(ms.grad(net)(tensor(3))) == [306.0]
    net = Own()
    net.recompute()
    assert numbers(ms.grad(net)(tensor(3))) == [100.0]


def test_lower_precision_holds_in_the_second_run():
    net = Counted().to_float(ms.float16)
    net.recompute()
    seen = []
    net.register_forward_hook(lambda cell, args, out: seen.append(out.dtype))
    x = tensor(1.1)
    grads = ms.grad(net, 0, net.trainable_params())(x)
    plain = Counted().to_float(ms.float16)
    expected = ms.grad(plain, 0, plain.trainable_params())(x)
    assert numbers(grads) == numbers(expected) and grads[0].dtype is ms.float32 and seen == [ms.float16]


def test_dropout_draws_the_same_numbers_again():
    net = nn.SequentialCell(nn.Dropout(p=0.5), Scale(1)).set_train()
    net.recompute()
    kept = []

    def forward(x):
        kept.append(net(x))
        return kept[0]

    grads = ms.grad(forward)(Tensor(np.ones(200, np.float32)))
    np.testing.assert_array_equal(grads.asnumpy(), kept[0].asnumpy())
    assert set(np.unique(grads.asnumpy())) == {0.0, 2.0}


def test_running_statistics_are_updated_once():
    layers = [nn.BatchNorm1d(2).set_train() for _ in range(2)]
    layers[0].recompute()
    x = Tensor(np.array([[1.0, 2.0], [3.0, 5.0]], np.float32))
    for layer in layers:
        ms.grad(layer, 0, layer.trainable_params())(x)
    np.testing.assert_array_equal(layers[0].moving_mean.asnumpy(), layers[1].moving_mean.asnumpy())
    np.testing.assert_allclose(layers[0].moving_mean.asnumpy(), [0.2, 0.35], rtol=1e-6)


def test_contexts_of_the_two_runs():
    seen = []

    @contextlib.contextmanager
    def note(run):
        seen.append(f"{run} begins")
        yield
        seen.append(f"{run} ends")

    net = Counted()
    net.recompute(use_reentrant=False, context_fn=lambda: (note("first"), note("second")))
    net(tensor(1))
    assert seen == []
    assert gradients(net, tensor(2)) == ([12.0], ([4.0],))
    assert seen == ["first begins", "first ends", "second begins", "second ends"]


def test_a_copy_recomputes_too():
    net = Counted()
    net.recompute()
    twin = copy.deepcopy(net)
    assert gradients(twin, tensor(2)) == ([12.0], ([4.0],)) and (twin.runs, net.runs) == (2, 0)


def test_training():
    steps = []
    for recompute in (False, True):
        first, second = (nn.Dense(*shape, weight_init="ones", bias_init="ones") for shape in ((2, 3), (3, 1)))
        net = nn.SequentialCell(first, nn.ReLU(), second)
        if recompute:
            net.recompute()
        step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01))
        x, label = Tensor(np.array([[1.0, 2.0]], np.float32)), Tensor(np.array([[3.0]], np.float32))
        steps.append([numbers(step(x, label)) for _ in range(3)])
    assert steps[0] == steps[1] and steps[0][2] < steps[0][0]


@pytest.mark.parametrize(
    "options, error, match",
    [
        ({"zz": True}, ValueError, "keyword 'zz' is not recognized!"),
        ({"mode": True}, ValueError, "keyword 'mode' is not recognized!"),
        ({"mp_comm_recompute": 3}, TypeError, "'mp_comm_recompute' must be a bool, but got int"),
        ({"output_recompute": 3}, TypeError, "'output_recompute' must be a bool, but got int"),
        ({"context_fn": 3}, TypeError, "'context_fn' must be callable, but got int"),
    ],
)
def test_wrong_options(options, error, match):
    with pytest.raises(error, match=match):
        Counted().recompute(**options)


def test_options_of_model_parallelism_are_accepted():
    net = Counted()
    net.recompute(mp_comm_recompute=False, parallel_optimizer_comm_recompute=True, recompute_slice_activation=True)
    assert gradients(net, tensor(2)) == ([12.0], ([4.0],))
    with pytest.raises(TypeError):
        net.recompute(True)
