"""Cell.to_float: the type that operations inside a cell run in."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn, ops
from dist_ms.autograd.tape import recording
from tests.serial.nn.cell.cells import Double, Outer, Scale, numbers, tensor


class Types(nn.Cell):
    """Returns what `compute(self, x)` makes of its input."""

    def __init__(self, compute):
        super().__init__()
        self.w = Parameter(tensor(3), name="w")
        self.constant = tensor(2)
        self.compute = compute

    def construct(self, x):
        return self.compute(self, x)


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.float32])
@pytest.mark.parametrize(
    "compute",
    [
        lambda c, x: x * c.w,
        lambda c, x: x * c.constant,
        lambda c, x: c.constant + c.constant,
        lambda c, x: tensor(1) + tensor(2),
        lambda c, x: x * 2.5,
        lambda c, x: -x,
        lambda c, x: x.sum(),
        lambda c, x: ops.exp(x),
        lambda c, x: ops.concat((x, c.constant)),
        lambda c, x: ops.cast(x, ms.float32) + ops.cast(x, ms.float32),
        lambda c, x: Double()(x),
    ],
)
def test_operations_run_in_the_type(compute, dtype):
    for given in (ms.float32, ms.float16, ms.float64):
        net = Types(compute)
        assert net.to_float(dtype) is net
        assert net(Tensor([1.5], given)).dtype is dtype
        assert net.w.dtype is ms.float32


def test_inputs_and_parameters_stay_what_they_are():
    seen = []
    net = Types(lambda c, x: seen.extend([x.dtype, c.w.dtype, c.constant.dtype]) or x)
    assert net.to_float(ms.float16)(tensor(1)).dtype is ms.float32
    assert seen == [ms.float32] * 3


@pytest.mark.parametrize(
    "compute",
    [
        lambda c, x: x[0],
        lambda c, x: x.reshape(1, 1),
        lambda c, x: ops.transpose(x.reshape(1, 1), (1, 0)),
        lambda c, x: ops.cast(x, ms.float32),
        lambda c, x: ops.cast(x * 1, ms.float32),
        lambda c, x: ops.zeros((2,), ms.float32),
        lambda c, x: ops.zeros_like(x),
        lambda c, x: ops.expand_dims(x, 0),
    ],
)
def test_views_and_casts_keep_their_type(compute):
    assert Types(compute).to_float(ms.float16)(tensor(1)).dtype is ms.float32


def test_integers_stay_integers():
    net = Types(lambda c, x: x + 1).to_float(ms.float16)
    assert net(Tensor([1], ms.int32)).dtype is ms.int32
    assert Types(lambda c, x: x > 0).to_float(ms.float16)(tensor(1)).dtype is ms.bool_


def test_the_children_follow_and_may_differ():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a, self.b = Scale(2), Scale(3)

        def construct(self, x):
            y = self.a(x)
            z = self.b(y)
            return y.dtype, z.dtype, (x * 1).dtype

    net = Net()
    assert net(tensor(1)) == (ms.float32,) * 3
    net.a.to_float(ms.float16)
    assert net(tensor(1)) == (ms.float16, ms.float32, ms.float32)
    net.to_float(ms.float16)
    assert net(tensor(1)) == (ms.float16,) * 3
    net.b.to_float(ms.float32)
    assert net(tensor(1)) == (ms.float16, ms.float32, ms.float16)
    assert net.a.get_flags() == {"fp16": True, "fp32": False, "bf16": False}


def test_flags_set_the_type_too():
    class Net(nn.Cell):
        def __init__(self):
            super().__init__()
            self.a = Scale(2)

        def construct(self, x):
            return self.a(x)

    net = Net().add_flags(fp16=True)
    assert net(tensor(1)).dtype is ms.float16 and net.a(tensor(1)).dtype is ms.float32
    net.add_flags(fp16=False)
    assert net(tensor(1)).dtype is ms.float16
    net.add_flags_recursive(fp32=True)
    assert net(Tensor([1.0], ms.float16)).dtype is ms.float32


def test_gradients_have_the_types_of_what_they_belong_to():
    net = Outer().to_float(ms.float16)
    x = tensor(2)
    grads = ms.grad(net, 0, net.trainable_params())(x)
    assert grads[0].dtype is ms.float32 and [g.dtype for g in grads[1]] == [ms.float32] * 3
    assert numbers(grads) == ([3.0], ([2.0], [6.0], [6.0]))
    inside = Types(lambda c, x: ms.grad(lambda y: y * y)(x)).to_float(ms.float16)
    assert inside(tensor(3)).dtype is ms.float32


def test_rounding_is_that_of_the_type():
    net = Scale(1).to_float(ms.float16)
    value = np.float32(1.2345678)
    assert net(Tensor([value])).asnumpy()[0] == np.float16(value)
    assert ms.grad(net, None, net.trainable_params())(Tensor([value]))[0].asnumpy()[0] == np.float32(np.float16(value))


def test_hooks_see_the_low_type():
    net, seen = Scale(3).to_float(ms.float16), []
    net.register_forward_pre_hook(lambda cell, args: seen.append(args[0].dtype))
    net.register_forward_hook(lambda cell, args, out: seen.append(out.dtype))
    net.register_backward_pre_hook(lambda cell, grads: seen.append(grads[0].dtype))
    net.register_backward_hook(lambda cell, into, out: seen.append(into[0].dtype))
    grads = ms.grad(net, 0, net.trainable_params())(tensor(2))
    assert seen == [ms.float32, ms.float16, ms.float16, ms.float32] and numbers(grads) == ([3.0], ([2.0],))


def test_bprop_sees_the_low_type():
    class Own(nn.Cell):
        def construct(self, x):
            return x * 2

        def bprop(self, x, out, dout):
            assert (out.dtype, dout.dtype) == (ms.float16, ms.float16)
            return (dout * 100,)

    assert numbers(ms.grad(Own().to_float(ms.float16))(tensor(1))) == [100.0]


def test_errors_leave_the_region():
    net = Types(lambda c, x: 1 / 0).to_float(ms.float16)
    with pytest.raises(ZeroDivisionError):
        net(tensor(1))
    assert recording.policy is None and (tensor(1) * 2).dtype is ms.float32


def test_assignments_write_the_parameters_type():
    def assign(c, x):
        c.w = c.w + x
        ops.assign(c.w, c.w * 2)
        return c.w * 1

    net = Types(assign).to_float(ms.float16)
    out = net(tensor(1))
    assert out.dtype is ms.float16 and net.w.dtype is ms.float32 and numbers(net.w) == [8.0]


def test_layers():
    x = Tensor(np.array([[1.0, 2.0], [3.0, 5.0]], np.float32))
    norm = nn.BatchNorm1d(2).set_train().to_float(ms.float16)
    assert norm(x).dtype is ms.float16 and norm.moving_mean.dtype is ms.float32
    np.testing.assert_allclose(norm.moving_mean.asnumpy(), [0.2, 0.35], rtol=1e-6)
    for layer in (nn.Dense(2, 1), nn.LayerNorm((2,)), nn.ReLU(), nn.Dropout(p=0.5).set_train()):
        assert layer.to_float(ms.float16)(x).dtype is ms.float16
    image = Tensor(np.ones((1, 1, 3, 3), np.float32))
    assert nn.Conv2d(1, 1, 2).to_float(ms.bfloat16)(image).dtype is ms.bfloat16
    assert nn.MSELoss().to_float(ms.float16)(x, x).dtype is ms.float16


def test_training_a_network_in_low_precision():
    net = nn.SequentialCell(nn.Dense(2, 3, weight_init="ones"), nn.ReLU(), nn.Dense(3, 1, weight_init="ones"))
    net.to_float(ms.bfloat16)
    step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.01))
    x, label = Tensor(np.array([[1.0, 2.0]], np.float32)), Tensor(np.array([[3.0]], np.float32))
    losses = [float(step(x, label).asnumpy()) for _ in range(5)]
    assert losses[-1] < losses[0] * 0.5 and {p.dtype for p in net.get_parameters()} == {ms.float32}


@pytest.mark.parametrize("wrong", [ms.int32, ms.float64, "float16", 3, None])
def test_other_types_are_refused(wrong):
    with pytest.raises(ValueError, match="'dst_type' must be float16, bfloat16 or float32"):
        Scale().to_float(wrong)


def test_cast_inputs():
    out = Scale().cast_inputs((tensor(1), (tensor(2), 3), Tensor([1])), ms.float16)
    assert [out[0].dtype, out[1][0].dtype, out[1][1], out[2].dtype] == [ms.float16, ms.float16, 3, ms.int64]
