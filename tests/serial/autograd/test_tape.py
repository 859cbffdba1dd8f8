"""What is recorded, what values nodes keep, and which regions record nothing."""

import gc
import sys
import threading

import numpy as np
import pytest

from dist_ms._ext.tape import know
from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.grad import grad
from dist_ms.autograd.jacobian import vjp
from dist_ms.autograd.tape import (
    Tape,
    Watch,
    apply,
    no_grad,
    overwrite,
    paused,
    recording,
    stop_gradient,
    wanted,
)
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops.primitive import Primitive, Undifferentiable


class Square(Primitive):
    def forward(self, x):
        return x * x

    def gradient(self, inputs, output, dout):
        return dout * inputs[0] * 2


def x2():
    return Tensor([1.0, 2.0])


def test_nothing_is_recorded_outside_a_gradient():
    x = x2()
    assert (x * x)._node is None
    assert not recording.on
    assert not wanted([x])


def test_only_traced_operations_are_recorded():
    seen = {}

    def f(x, y):
        seen["traced"] = (x * y)._node is not None
        seen["constant"] = (y * y)._node is not None
        return x

    Graph(f, (x2(), x2()), positions=(0,))
    assert seen == {"traced": True, "constant": False}


def test_keeps_decides_which_data_is_saved():
    class KeepsSecond(Primitive):
        keeps = (1,)

        def forward(self, x, y):
            return x + y

        def gradient(self, inputs, output, dout):
            nodes.append((inputs, output))
            return dout, dout

    nodes = []
    grad(lambda x: KeepsSecond()(x, x))(x2())
    (first, second), output = nodes[0]
    assert first._data is None
    assert first.shape == (2,)
    assert output._data is None
    np.testing.assert_array_equal(second.asnumpy(), [1, 2])
    with pytest.raises(RuntimeError, match="no data"):
        first.asnumpy()


def test_keeps_output_gives_the_output_with_its_history():
    class Exp(Primitive):
        keeps = ()
        keeps_output = True

        def forward(self, x):
            return np.exp(x)

        def gradient(self, inputs, output, dout):
            return dout * output

    f = Exp()
    for nth in (grad(f), grad(grad(f)), grad(grad(grad(f)))):
        np.testing.assert_allclose(nth(x2()).asnumpy(), np.exp([1, 2]), rtol=1e-6)


def test_several_outputs_get_zeros_where_no_gradient_arrives():
    douts = []

    class Both(Primitive):
        keeps = ()

        def forward(self, x):
            return x * 2, x * 3

        def gradient(self, inputs, output, dout):
            douts.append([d.asnumpy().tolist() for d in dout])
            return dout[0] * 2 + dout[1] * 3

    assert grad(lambda x: Both()(x)[1])(x2()).asnumpy().tolist() == [3, 3]
    assert douts == [[[0, 0], [1, 1]]]


def test_an_undifferentiable_operation_ends_the_history():
    class Sign(Undifferentiable):
        def forward(self, x):
            return np.sign(x)

    assert grad(lambda x: x * Sign()(x))(Tensor([-2.0, 3.0])).asnumpy().tolist() == [-1, 1]


def test_too_few_gradients_are_an_error():
    class Wrong(Primitive):
        def forward(self, x, y):
            return x + y

        def gradient(self, inputs, output, dout):
            return (dout,)

    with pytest.raises(RuntimeError, match="For 'Wrong', the gradient must give one value per input, 2"):
        grad(lambda x: Wrong()(x, x))(x2())


def test_rebinding_a_tensor_does_not_reach_saved_values():
    def f(x):
        y = x * 1
        z = y * y
        overwrite(y, y + 100)
        return z

    assert grad(f)(x2()).asnumpy().tolist() == [2, 4]


def test_overwrite_gives_the_new_history():
    def f(x):
        y = x * 2
        overwrite(y, y * x)
        return y

    assert grad(f)(x2()).asnumpy().tolist() == [4, 8]


def test_writing_a_parameter_does_not_reach_saved_values():
    w = Parameter(Tensor([2.0, 3.0]), name="w")
    array = w.asnumpy()

    def f(x):
        y = x * w
        w.set_data(x * x)
        return y * w

    dx, dw = grad(f, 0, weights=w)(x2())
    # y = x w0, result = y w1 with w1 = x^2 a constant in the place of w
    assert dx.asnumpy().tolist() == [2 * 1, 3 * 4]
    assert dw.asnumpy().tolist() == [1 * 1 + 1 * 2, 2 * 4 + 2 * 3]
    assert w.asnumpy() is array
    assert array.tolist() == [1, 4]


def test_writing_a_frozen_parameter_does_not_reach_saved_values():
    w = Parameter(Tensor([2.0, 3.0]), name="w", requires_grad=False)

    def f(x):
        y = x * w
        with no_grad():
            w.set_data(w * 100)
        return y

    assert grad(f)(x2()).asnumpy().tolist() == [2, 3]


def test_writing_a_parameter_does_not_reach_what_another_thread_saved():
    w = Parameter(Tensor([2.0, 3.0]), name="w")
    x, made = x2(), []
    thread = threading.Thread(target=lambda: made.append(vjp(lambda x: x * w * w, x)))
    thread.start()
    thread.join()
    w.assign_value(Tensor([5.0, 5.0]))
    (gradient,) = made[0][1](Tensor([1.0, 1.0]))
    np.testing.assert_array_equal(gradient.asnumpy(), [4.0, 9.0])


def test_tapes_are_told_as_long_as_somebody_has_them():
    gc.collect()
    before = len(recording.tapes)
    random = np.random.default_rng(0)
    tapes = []
    for turn in range(1, 201):
        if tapes and random.random() < 0.5:
            tapes.pop(random.integers(len(tapes)))
        else:
            tapes.append(Watch(Tape()) if random.random() < 0.3 else Tape())
        held = {id(t) for t in tapes} | {id(t.of) for t in tapes if isinstance(t, Watch)}
        assert {id(t) for t in recording.tapes} >= held
        if turn % 50 == 0:
            gc.collect()  # a Watch is its own
            assert len(recording.tapes) == before + len(held)
    tapes.clear()
    gc.collect()
    assert len(recording.tapes) == before


def test_no_grad_records_nothing_and_refuses_gradients():
    def f(x):
        with no_grad():
            y = x * x
        return y * x

    assert grad(f)(x2()).asnumpy().tolist() == [1, 4]
    with no_grad(), pytest.raises(RuntimeError, match="In no_grad context"):
        grad(f)(x2())
    assert grad(f)(x2()).asnumpy().tolist() == [1, 4]


def test_no_grad_decorates_and_nests():
    @no_grad()
    def square(x):
        with no_grad():
            assert not recording.on
        assert not recording.on
        return x * x

    assert square.__name__ == "square"
    assert grad(lambda x: square(x) * x)(x2()).asnumpy().tolist() == [1, 4]


def test_no_grad_restores_after_an_exception():
    region = no_grad()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError), region:
            _ = 1 / 0
    assert not recording.refused


def test_paused_allows_gradients_inside():
    def f(x):
        with paused():
            inner = grad(lambda y: y * y * y)(x)
        return inner * x

    assert grad(f)(x2()).asnumpy().tolist() == [3, 12]


def test_stop_gradient_of_everything():
    x = x2()
    assert stop_gradient(3) == 3
    assert stop_gradient(None) is None
    inside = stop_gradient((x, [x, "s"]))
    assert type(inside) is tuple
    assert type(inside[1]) is list
    assert inside[0] is not x
    assert np.shares_memory(inside[0].asnumpy(), x.asnumpy())
    assert grad(lambda x: x * stop_gradient(x))(x).asnumpy().tolist() == [1, 2]


def test_threads_record_apart():
    seen = []

    def other():
        seen.append(recording.on)
        seen.append(grad(lambda x: x * x)(x2()).asnumpy().tolist())

    def f(x):
        thread = threading.Thread(target=other)
        thread.start()
        thread.join()
        assert recording.on
        return x * 3

    assert grad(f)(x2()).asnumpy().tolist() == [3, 3]
    assert seen == [False, [2, 4]]


def test_plain_values_pass_through_apply():
    class Scale(Primitive):
        def forward(self, x, factor):
            return x * factor

        def gradient(self, inputs, output, dout):
            return dout * inputs[1], None

    assert grad(lambda x: apply(Scale(), x, 5.0))(x2()).asnumpy().tolist() == [5, 5]


def test_square_to_the_fourth_order():
    f = Square()
    first = grad(f)
    second = grad(first)
    assert first(x2()).asnumpy().tolist() == [2, 4]
    assert second(x2()).asnumpy().tolist() == [2, 2]
    assert grad(second)(x2()).asnumpy().tolist() == [0, 0]
    assert grad(grad(second))(x2()).asnumpy().tolist() == [0, 0]


@pytest.mark.parametrize("count", [1, 12, 13, 40])
def test_any_number_of_inputs(count):
    class Total(Primitive):
        keeps = ()

        def forward(self, *arrays):
            if arrays[-1].size != 2:
                raise ValueError("sizes")
            return sum(arrays)

        def gradient(self, inputs, output, dout):
            return (dout,) * len(inputs)

    xs = [Tensor([float(i), 1.0]) for i in range(count)]
    grads = grad(Total(), tuple(range(count)))(*xs)
    assert len(tuple(grads) if count > 1 else (grads,)) == count
    np.testing.assert_array_equal(Total()(*xs).asnumpy(), [sum(range(count)), count])
    array = xs[0].asnumpy()
    held = sys.getrefcount(array)
    for _ in range(3):
        with pytest.raises(ValueError, match="sizes"):
            Total()(*xs[:-1], Tensor([1.0]))
    assert sys.getrefcount(array) == held


def test_know_refuses_other_classes():
    with pytest.raises(TypeError, match="'tensor' must be a subclass of Value, but got int"):
        know(int)
