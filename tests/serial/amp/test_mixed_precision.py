"""auto_mixed_precision and custom_mixed_precision: types, values and errors as MindSpore's."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn, ops
from dist_ms.amp import auto_mixed_precision, custom_mixed_precision, get_black_list, get_white_list
from tests.serial.amp.nets import OUTPUT, Net, batch, is_half

LOW = [ms.float16, ms.bfloat16]


@pytest.mark.parametrize("dtype", LOW)
@pytest.mark.parametrize("level", ["O0", "O1", "O2", "O3", "auto"])
def test_outputs_and_parameters_of_each_level(level, dtype):
    net = Net().set_train()
    names = [p.name for p in net.get_parameters()]
    low = auto_mixed_precision(net, level, dtype)
    out = low(batch()[0])
    assert out.dtype is ms.float32
    np.testing.assert_allclose(out.asnumpy(), OUTPUT, atol=3e-3 if dtype is ms.float16 else 3e-2)
    assert [(p.name, p.dtype) for p in low.get_parameters()] == [(name, ms.float32) for name in names]
    assert (low is net) == (level in ("O0", "auto"))
    assert [type(c).__name__ for c in (low, *low.cells())][:2] == (
        ["_OutputTo32", "Net"] if level in ("O2", "O3") else ["Net", "Conv2d"]
    )


def test_o1_leaves_the_network_as_it_was_and_shares_its_parameters():
    net = Net()
    low = auto_mixed_precision(net, "O1")
    assert all(a is b for a, b in zip(net.get_parameters(), low.get_parameters(), strict=True))
    assert not is_half(net.conv(batch()[0]))
    assert is_half(low.conv(batch()[0]))
    low.fc.weight.set_data(low.fc.weight * 0)
    assert not net.fc.weight.asnumpy().any()


def test_o1_keeps_what_a_cell_holds_besides_cells():
    class Lists(nn.Cell):
        def __init__(self):
            super().__init__()
            self.layers = nn.CellList([nn.Dense(8, 8), nn.Dense(8, 8)])
            self.listed = [self.layers[0], {"last": self.layers[1]}]
            self.register_buffer("scale", ms.Tensor(2.0))
            self.plain = ms.Tensor([1.0])

        def construct(self, x):
            return self.listed[1]["last"](self.listed[0](x)) * self.scale

    net = Lists()
    low = auto_mixed_precision(net, "O1")
    assert low.listed[0] is low.layers[0] is not net.layers[0]
    assert low.scale is net.scale
    np.testing.assert_array_equal(low.plain.asnumpy(), [1])
    assert is_half(low(ops.ones((2, 8))))


class OneOf(nn.Cell):
    """One operation, in one of the ways users write it."""

    def __init__(self, run, **attributes):
        super().__init__()
        self.run = run
        for name, value in attributes.items():
            setattr(self, name, value)

    def construct(self, x):
        return self.run(self, x)


def weight():
    return ms.Parameter(ms.Tensor(np.random.RandomState(1).randn(8, 3).astype(np.float32)), name="w")


class MyDense(nn.Dense):
    """A subclass is not listed."""


# What O1 makes of each, as probed: primitives and listed cells are lowered, functions and operators not.
ONE = {
    "primitive": (lambda: OneOf(lambda s, x: s.mm(x, s.w), mm=ops.MatMul(), w=weight()), True),
    "ReLU primitive": (lambda: OneOf(lambda s, x: s.r(x), r=ops.ReLU()), True),
    "another primitive": (lambda: OneOf(lambda s, x: s.e(x), e=ops.Exp()), False),
    "Dense": (lambda: OneOf(lambda s, x: s.d(x), d=nn.Dense(8, 4)), True),
    "Dense with activation": (lambda: OneOf(lambda s, x: s.d(x), d=nn.Dense(8, 4, activation="tanh")), True),
    "subclass": (lambda: OneOf(lambda s, x: s.d(x), d=MyDense(8, 4)), False),
    "sequence": (lambda: nn.SequentialCell(nn.Tanh(), nn.Dense(8, 4)), True),
    "own type": (lambda: OneOf(lambda s, x: s.d(x), d=nn.Dense(8, 4).to_float(ms.float32)), False),
    "function": (lambda: OneOf(lambda s, x: ops.matmul(x, s.w), w=weight()), False),
    "operator": (lambda: OneOf(lambda s, x: x @ s.w, w=weight()), False),
    "relu function": (lambda: OneOf(lambda s, x: ops.relu(x)), False),
    "ReLU alone": (nn.ReLU, True),
    "PReLU alone": (lambda: nn.PReLU(8), True),
    "Dense alone": (lambda: nn.Dense(8, 4), False),
    "Tanh alone": (nn.Tanh, False),
    "LayerNorm alone": (lambda: nn.LayerNorm((8,)), False),
}


@pytest.mark.parametrize("name", ONE)
def test_what_o1_lowers(name):
    make, lowered = ONE[name]
    x = ms.Tensor(np.random.RandomState(0).randn(4, 8).astype(np.float32))
    out = auto_mixed_precision(make(), "O1")(x)
    assert (out.dtype, is_half(out)) == (ms.float32, lowered)


def test_a_primitive_at_o1_takes_any_floats_and_leaves_integers():
    net = auto_mixed_precision(OneOf(lambda s, x: s.r(x), r=ops.ReLU()), "O1")
    assert net(ms.Tensor([1.0], ms.float64)).dtype is ms.float32
    assert net(ms.Tensor([1, -2])).dtype is ms.int64


def test_o2_wraps_black_listed_cells():
    low = auto_mixed_precision(Net(), "O2", ms.bfloat16)
    inner = low._backbone
    assert [type(c).__name__ for c in inner.cells()] == ["Conv2d", "_OutputTo16", "ReLU", "Flatten", "Dense"]
    seen = {}
    for name in ("conv", "bn", "fc"):
        getattr(inner, name).register_forward_hook(lambda cell, x, y, name=name: seen.update({name: y.dtype}))
    inner.bn._backbone.register_forward_hook(lambda cell, x, y: seen.update(inside=y.dtype))
    low(batch()[0])
    assert seen == {"conv": ms.bfloat16, "inside": ms.float32, "bn": ms.bfloat16, "fc": ms.bfloat16}


def test_o3_has_no_exception():
    low = auto_mixed_precision(Net(), "O3")
    seen = []
    low._backbone.bn.register_forward_hook(lambda cell, x, y: seen.append(y.dtype))
    low(batch()[0])
    assert seen == [ms.float16]


def test_custom_lists():
    white = custom_mixed_precision(Net(), white_list=[nn.Dense])
    assert is_half(white.fc(ops.ones((1, 48)) / 3))
    assert not is_half(white.conv(batch()[0]))
    black = custom_mixed_precision(Net(), black_list=[nn.Conv2d])
    assert [type(c).__name__ for c in black._backbone.cells()][:2] == ["_OutputTo16", "BatchNorm2d"]
    assert black(batch()[0]).dtype is ms.float32


def test_lists_are_copies():
    assert [c.__name__ for c in get_white_list()] == [
        "Conv1d", "Conv2d", "Conv3d", "Conv1dTranspose", "Conv2dTranspose", "Conv3dTranspose", "Dense", "LSTMCell",
        "RNNCell", "GRUCell", "Conv2D", "Conv3D", "Conv2DTranspose", "Conv3DTranspose", "Conv2DBackpropInput",
        "MatMul", "BatchMatMul", "PReLU", "ReLU", "Ger",
    ]  # fmt: skip
    get_white_list().clear()
    get_black_list().clear()
    assert (len(get_white_list()), len(get_black_list())) == (20, 4)


def test_gradients_of_low_networks_are_float32():
    for level in ("O1", "O2", "O3", "auto"):
        net = auto_mixed_precision(Net().set_train(), level)
        grads = ms.grad(lambda x, net=net: net(x).sum(), None, net.trainable_params())(batch()[0])
        assert {g.dtype for g in grads} == {ms.float32}
        assert all(np.isfinite(g.asnumpy()).all() for g in grads)


WRONG = {
    "level": (lambda: auto_mixed_precision(Net(), "x"), ValueError),
    "no cell": (lambda: auto_mixed_precision(3, "O1"), TypeError),
    "function": (lambda: auto_mixed_precision(lambda x: x, "O1"), TypeError),
    "no function": (lambda: auto_mixed_precision(3, "auto"), TypeError),
    "dtype": (lambda: auto_mixed_precision(Net(), "O1", ms.float32), ValueError),
    "dtype O0": (lambda: auto_mixed_precision(Net(), "O0", ms.float32), ValueError),
    "no list": (lambda: custom_mixed_precision(Net()), ValueError),
    "two lists": (lambda: custom_mixed_precision(Net(), white_list=[], black_list=[]), ValueError),
    "custom no cell": (lambda: custom_mixed_precision(3, white_list=[]), TypeError),
    "list type": (lambda: custom_mixed_precision(Net(), white_list=3), TypeError),
    "item": (lambda: custom_mixed_precision(Net(), white_list=[3]), TypeError),
    "item class": (lambda: custom_mixed_precision(Net(), white_list=[int]), TypeError),
    "black primitive": (lambda: custom_mixed_precision(Net(), black_list=[ops.ReLU]), TypeError),
    "custom dtype": (lambda: custom_mixed_precision(Net(), black_list=[], dtype=ms.float64), ValueError),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_arguments(name):
    call, kind = WRONG[name]
    with pytest.raises(kind):
        call()
