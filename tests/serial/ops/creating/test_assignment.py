"""Assign, AssignAdd, AssignSub, and Tensor's methods that change the tensor itself."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import equal, same, tensor


def parameter(values=(1.0, 2.0), dtype="float32"):
    return ms.Parameter(tensor(values, dtype), name="p")


@pytest.mark.parametrize("name, wanted", [("assign", [5, 6]), ("assign_add", [6, 8]), ("assign_sub", [-4, -4])])
def test_in_place(name, wanted):
    for variable in (parameter(), tensor([1.0, 2.0], "float32")):
        memory, view = variable.asnumpy(), variable.reshape(2, 1)
        out = getattr(ops, name)(variable, tensor([5.0, 6.0], "float32"))
        equal(out, wanted)
        equal(variable, wanted)
        equal(view, np.array(wanted)[:, None])
        assert variable.asnumpy() is memory
        assert type(out) is ms.Tensor
    primitive = "".join(part.capitalize() for part in name.split("_"))
    equal(getattr(ops, primitive)()(parameter(), tensor([5, 6])), wanted)


def test_the_dtype_is_the_variables():
    p = parameter()
    ops.assign(p, tensor([5, 6], "int32"))
    same(p, np.array([5, 6], "float32"))
    with pytest.raises(TypeError, match="must fit the dtype Int32 of 'variable', but got Float32"):
        ops.assign(parameter((1, 2), "int32"), tensor([1.5, 2], "float32"))
    with pytest.raises(ValueError, match=r"must have the shape of 'variable', \(2,\), but got \(3,\)"):
        ops.assign(p, tensor([1.0, 2, 3], "float32"))
    with pytest.raises(TypeError, match="'value' must be a Tensor or a number"):
        ops.assign(p, "a")
    with pytest.raises(TypeError, match="'variable' must be a Tensor"):
        ops.assign(1, p)


def test_gradients_meet_the_value_of_their_time():
    p = parameter()
    dv, dp = ms.grad(lambda v: ops.sum(ops.assign(p, v) * 3), 0, p)(tensor([3.0, 4.0], "float32"))
    equal(dv, [0, 0])
    equal(dp, [3, 3])
    equal(p, [3, 4])
    dv = ms.grad(lambda v: (ops.sum(p * v), ops.assign_add(p, v))[0])(tensor([1.0, 1.0], "float32"))
    equal(dv, [3, 4])
    equal(p, [4, 5])


IN_PLACE = {
    "add_": (lambda x: x.add_(x * 0 + 2.0, alpha=3), lambda a: a + 6),
    "sub_": (lambda x: x.sub_(2), lambda a: a - 2),
    "mul_": (lambda x: x.mul_(x), lambda a: a * a),
    "div_": (lambda x: x.div_(2), lambda a: a / 2),
    "exp_": (lambda x: x.exp_(), np.exp),
    "log_": (lambda x: x.log_(), np.log),
    "clamp_": (lambda x: x.clamp_(1.5), lambda a: a.clip(1.5)),
    "copy_": (lambda x: x.copy_(x * 2), lambda a: a * 2),
    "fill_": (lambda x: x.fill_(3) + x, lambda a: a * 0 + 6),
    "zero_": (lambda x: x.zero_(), lambda a: a * 0),
    "tanh_": (lambda x: x.tanh_(), np.tanh),
    "masked_fill_": (lambda x: x.masked_fill_(x > 1.5, 0.0), lambda a: np.where(a > 1.5, 0, a)),
    "index_add_": (lambda x: x.index_add_(0, ms.Tensor([0]), x[:1]), lambda a: a * np.array([[2], [1]])),
    "scatter_": (lambda x: x.scatter_(0, ms.Tensor([[0, 0]]), x[1:] * 2), lambda a: np.stack([a[1] * 2, a[1]])),
    "floor_divide_": (lambda x: x.floor_divide_(2), lambda a: a // 2),
    "remainder_": (lambda x: x.remainder_(2), lambda a: a % 2),
    "index_copy_": (lambda x: x.index_copy_(1, ms.Tensor([0]), x[:, 1:]), lambda a: a[:, [1, 1]]),
}


@pytest.mark.parametrize("name", IN_PLACE)
def test_methods_change_the_tensor(name):
    call, wanted = IN_PLACE[name]
    a = np.array([[1.1, 2.3], [3.1, 4.5]])
    x = ms.Tensor(a)
    memory = x.asnumpy()
    same(call(x), wanted(a))
    assert x.asnumpy() is memory
    if name != "fill_":
        same(x, wanted(a))

    def traced(t):
        y = t * 1
        kept = y * t
        call(y)
        return kept + y * t

    check_gradient(traced, a)


def test_methods_keep_shape_and_kind():
    with pytest.raises(TypeError, match="For 'Tensor.add_', the result must fit the dtype Int64"):
        tensor([1]).add_(1.5)
    with pytest.raises(ValueError, match="For 'Tensor.add_', the result must keep the shape"):
        tensor([1.0]).add_(tensor([1.0, 2.0]))
    for dtype in (ms.float32, ms.int32):
        with pytest.raises(TypeError, match="For 'Tensor.mul_', the result must fit the dtype"):  # an imaginary part
            ms.Tensor([1], dtype).mul_(ms.Tensor([1j]))
    x = tensor([1, 2], "float16")
    assert x.add_(tensor([1.0, 1.0])).dtype == ms.float16


def test_augmented_assignment_makes_new_tensors():
    for variable in (tensor([1.0, 2.0]), parameter()):
        x = variable
        x += 1
        assert x is not variable
        equal(variable, [1, 2])
        equal(x, [2, 3])
