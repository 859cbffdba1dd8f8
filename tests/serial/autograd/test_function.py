"""_Function: user-defined operations."""

import gc
import weakref

import pytest

import dist_ms as ms
from dist_ms.autograd.function import _Function
from dist_ms.autograd.grad import grad
from dist_ms.autograd.tape import overwrite, recording
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from tests.gradcheck import check_gradient
from tests.serial.autograd.shapes import plain

X, Y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0])


class Scaled(_Function):
    """a * b * k."""

    @staticmethod
    def forward(ctx, a, b, k=2.0):
        ctx.save_for_backward(a, b)
        ctx.k = k
        return a * b * k

    @staticmethod
    def backward(ctx, d):
        a, b = ctx.saved_tensors
        return d * b * ctx.k, d * a * ctx.k, None


def function(forward, backward):
    namespace = {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    return type("Made", (_Function,), namespace).apply


def test_values_and_gradients():
    assert plain(Scaled.apply(X, Y, 3.0)) == [9, 24]
    f = lambda a, b: Scaled.apply(a, b, 3.0)  # noqa: E731
    assert plain(grad(f, (0, 1))(X, Y)) == ([9, 12], [3, 6])
    assert plain(grad(lambda a: Scaled.apply(a, Y))(X)) == [6, 8]
    w = Parameter(Tensor([5.0, 6.0]), name="w")
    assert plain(grad(lambda a: Scaled.apply(a, w, 3.0), 0, w)(X)) == ([15, 18], [3, 6])


def test_higher_orders():
    check_gradient(lambda a, b: Scaled.apply(a, b * a, 3.0), [1.0, 2.0], [3.0, -1.0], order=3)


def test_the_functions_need_not_be_marked_static():
    class Plain(_Function):
        def forward(ctx, a):
            return a * 2

        def backward(ctx, d):
            return d * 5

    assert plain(grad(Plain.apply)(X)) == [5, 5]


def test_forward_is_not_recorded():
    def forward(ctx, a):
        assert not recording.on
        return a * a

    assert plain(grad(function(forward, lambda ctx, d: d * 7))(X)) == [7, 7]


def test_backward_runs_only_where_needed():
    f = function(lambda ctx, a: a * 2, lambda ctx, d: 1 / 0)
    assert plain(grad(lambda a: f(Y) * a)(X)) == [6, 8]


def test_needs_input_grad():
    seen = []
    frozen = Parameter(X, name="f", requires_grad=False)
    integers = Tensor([1, 2], ms.int32)

    def forward(ctx, *args):
        seen.append(ctx.needs_input_grad)
        return args[0] * 2

    function(forward, None)(X, frozen, integers, 3.0, None)
    assert seen == [(True, False, False, False, False)]


def test_several_outputs():
    seen = []

    def backward(ctx, *grads):
        seen.append(plain(grads))
        return sum((g * 10 for g in grads[1:] if g is not None), grads[0])

    f = function(lambda ctx, a: (a * 2, a * 3), backward)
    assert plain(grad(f)(X)) == [11, 11]
    assert plain(grad(lambda a: f(a)[0])(X)) == [1, 1]
    assert seen == [([1, 1], [1, 1]), ([1, 1], [0, 0])]
    mixed = function(lambda ctx, a: (a * 2, 3, None), backward)
    assert plain(grad(lambda a: mixed(a)[0])(X)) == [1, 1]
    assert seen[2] == ([1, 1], None, None)


def test_missing_gradients_may_stay_none():
    def forward(ctx, a):
        ctx.set_materialize_grads(False)
        return a * 2, a * 3

    def backward(ctx, first, second):
        assert second is None
        return first * 10

    assert plain(grad(lambda a: function(forward, backward)(a)[0])(X)) == [10, 10]


def test_outputs_without_gradient():
    def forward(ctx, a):
        first, second = a * 2, a * 3
        ctx.mark_non_differentiable(second)
        return first, second

    def backward(ctx, first, second):
        assert plain(second) == [0, 0]
        return first * 10

    f = function(forward, backward)
    assert plain(grad(lambda a: f(a)[0] * f(a)[1])(X)) == [30, 60]


def test_saved_outputs_have_their_history():
    def forward(ctx, a):
        out = a * a
        ctx.save_for_backward(out, None, a)
        return out

    def backward(ctx, d):
        out, nothing, _ = ctx.saved_tensors
        assert nothing is None
        return d * out * 2

    # f' = 2 f, so f'' = 2 f' = 4 f
    f = function(forward, backward)
    assert plain(grad(f)(X)) == [2, 8]
    assert plain(grad(grad(f))(X)) == [4, 16]


def test_saved_values_are_freed():
    gc.collect()
    gc.disable()
    try:
        contexts = []

        def forward(ctx, a):
            ctx.save_for_backward(a, a * 2)
            contexts.append(weakref.ref(ctx))
            return a * 3

        f = function(forward, lambda ctx, d: d * 3)
        value = f(X)
        grad(f)(X)
        assert [c() for c in contexts] == [None, None]
        del value
    finally:
        gc.enable()


def test_an_output_that_is_an_input():
    f = function(lambda ctx, a: a, lambda ctx, d: d * 10)
    assert plain(grad(f)(X)) == [10, 10]
    assert plain(grad(lambda a: f(a * 2) + a)(X)) == [21, 21]


def test_dirty_inputs_take_the_new_history():
    def forward(ctx, a):
        ctx.mark_dirty(a)
        return overwrite(a, a + 1)

    f = function(forward, lambda ctx, d: d * 10)

    def use(a):
        b = a * 1
        result = f(b)
        assert result is b
        return b

    assert plain(grad(use)(X)) == [10, 10]
    assert plain(f(Tensor([1.0]))) == [2]
    for leaf in (Tensor([1.0, 2.0]), Parameter(Tensor([1.0, 2.0]), name="w")):
        with pytest.raises(RuntimeError, match="A leaf tensor that need grad is being used in an"):
            grad(f)(leaf)


def test_gradients_are_fitted_to_their_inputs():
    f = function(lambda ctx, a: a * 2, lambda ctx, d: Tensor([[1.0, 2.0], [1.0, 1.0]]))
    assert plain(grad(f)(X)) == [2, 3]
    f = function(lambda ctx, a: a * 2, lambda ctx, d: Tensor([1, 2], ms.int32))
    assert grad(f)(X).dtype == ms.float32
    assert plain(grad(function(lambda ctx, a: a * 2, lambda ctx, d: None))(X)) == [0, 0]
    assert plain(grad(function(lambda ctx, a: a * 2, lambda ctx, d: (d, None, 3)))(X)) == [1, 1]


@pytest.mark.parametrize(
    "backward, match",
    [
        (lambda ctx, d: d, "return a wrong number of gradients, expect: 2 but: 1"),
        (lambda ctx, d: (d, d), "Input is not tensor, but gradient is not none, position: 1"),
        (lambda ctx, d: (3, None), "Gradient should be none or tensor, position: 0 type: .*int"),
        (lambda ctx, d: ([d], None), "Gradient should be none or tensor, position: 0 type: .*list"),
        (lambda ctx, d: (Tensor([1.0, 2.0, 3.0]), None), r"expected shape, but got \[3\] vs \[2\]"),
    ],
)
def test_wrong_gradients(backward, match):
    f = function(lambda ctx, a, k: a * k, backward)
    with pytest.raises(RuntimeError, match=match):
        grad(lambda a: f(a, 2.0))(X)


def test_wrong_functions():
    class Empty(_Function):
        pass

    class NoBackward(_Function):
        @staticmethod
        def forward(ctx, a):
            return a * 2

    with pytest.raises(NotImplementedError, match="forward function should be customized"):
        Empty.apply(X)
    with pytest.raises(NotImplementedError, match="backward function should be customized"):
        grad(NoBackward.apply)(X)
    with pytest.raises(RuntimeError, match="save_for_backward.. only support None and tensor, .*int"):
        function(lambda ctx, a: ctx.save_for_backward(3), None)(X)

    def forward(ctx, a):
        ctx.mark_dirty(a)
        return a * 2

    with pytest.raises(RuntimeError, match="dirty tensors must all be outputs"):
        function(forward, None)(X)
    with pytest.raises(ZeroDivisionError):
        grad(function(lambda ctx, a: a * 2, lambda ctx, d: 1 / 0))(X)
