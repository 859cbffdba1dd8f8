"""Print, Assert, Depend, Identity; MultitypeFuncGraph, HyperMap; the P, F and C modules; Primitive."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, tensor


def test_print(capsys):
    ops.print_("a", tensor([1]), (1, 2))
    ops.Print()(ms.Tensor(1.5))
    assert capsys.readouterr().out == (
        "a\nTensor(shape=[1], dtype=Int64, value= [1])\n(1, 2)\nTensor(shape=[], dtype=Float32, value= 1.5)\n"
    )


def test_assert(capsys):
    ops.Assert()(tensor([True, True]), [])
    ops.Assert()(True, [])
    with pytest.raises(RuntimeError, match="For 'Assert', 'condition' must be true"):
        ops.Assert(2)(tensor([True, False]), [tensor([1, 2, 3])])
    assert "[1 2]" in capsys.readouterr().out
    with pytest.raises(TypeError, match="For 'Assert'"):
        ops.Assert()(1, [])


def test_values_pass():
    x = tensor([1.0, np.inf])
    assert ops.depend(x, 1) is ops.Depend()(x, 1) is ops.identity(x) is x
    equal(ops.Identity()(x), [1, np.inf])
    assert ops.Identity()(x).asnumpy() is not x.asnumpy()
    equal(ops.deepcopy(x), [1, np.inf])
    equal(ops.FloatStatus()(x), [1])
    equal(ops.FloatStatus()(x[:1]), [0])
    equal(ops.CheckNumerics()(x[:1]), [1])
    with pytest.raises(RuntimeError, match="must hold finite numbers"):
        ops.CheckNumerics()(x)


@pytest.mark.parametrize("name", ["NPUAllocFloatStatus", "NPUGetFloatStatus", "NPUClearFloatStatus"])
def test_operations_of_other_hardware_are_refused(name):
    primitive = getattr(ops, name)()
    with pytest.raises(RuntimeError, match=f"For '{name}', the device must be Ascend"):
        primitive()


def test_multitype_func_graph():
    f = ops.MultitypeFuncGraph("f")

    @f.register("Tensor", "Tensor")
    def both(a, b):
        return a + b

    @f.register("Number", "Tensor")
    def scaled(a, b):
        return a * b

    @f.register(ms.int32)
    def of_int32(a):
        return "int32"

    x = tensor([2.0])
    equal(f(x, x), [4])
    equal(f(3, x), [6])
    assert f(tensor([1], "int32")) == "int32"
    assert both(x, x).shape == (1,)
    with pytest.raises(ValueError, match=r"For 'f', no registered function takes the argument types \(str, Tensor\)"):
        f("a", x)
    with pytest.raises(TypeError):
        f.register(3)


def test_maps():
    x, y = tensor([1.0]), tensor([2.0])
    a, (b, c) = ops.HyperMap()(lambda t: t + 1, (x, (y, y)))
    assert (float(a), float(b), float(c)) == (2, 3, 3)
    out = ops.HyperMap(ops.partial(lambda s, g: g * s, 3))([x, y])
    assert [float(t) for t in out] == [3, 6]
    assert isinstance(out, tuple)
    assert ops.Map()(lambda a, b: (a, b), (1, (2,)), (3, (4,))) == ((1, 3), ((2,), (4,)))
    with pytest.raises(ValueError, match="must have one length"):
        ops.HyperMap()(lambda a, b: a, (1, 2), (1,))
    with pytest.raises(TypeError, match="For 'HyperMap', 'ops' must be"):
        ops.HyperMap(3)


def test_other_names_of_the_package():
    from dist_ms.ops import composite as C
    from dist_ms.ops import functional as F
    from dist_ms.ops import operations as P

    assert F.relu is ops.relu
    assert P.MatMul is ops.MatMul
    assert C.MultitypeFuncGraph is ops.MultitypeFuncGraph
    assert C.GradOperation is ops.GradOperation
    assert "MatMul" in P.__all__
    assert "relu" not in P.__all__
    namespace = {}
    exec("from dist_ms.ops.functional import *", namespace)
    assert namespace["matmul"] is ops.matmul
    with pytest.raises(AttributeError):
        P.NoSuchThing  # noqa: B018


def test_keywords_are_the_names_of_forward():
    equal(ops.add(input=tensor([1]), other=2), [3])
    equal(ops.exp(input=tensor([0.0])), [1])
    equal(ops.sum(input=tensor([1, 2])), 3)
    equal(ops.ReduceSum()(x=tensor([[1, 2]]), axis=0), [1, 2])
    with pytest.raises(TypeError, match="For 'Exp', got an unexpected keyword argument 'x'"):
        ops.exp(tensor([0.0]), x=1)


def test_own_primitives():
    class Cube(ops.Primitive):
        def forward(self, x):
            return x**3

        def gradient(self, inputs, output, dout):
            return dout * inputs[0] * inputs[0] * 3

    x = tensor([2.0])
    equal(ms.grad(Cube())(x), [12])
    equal(ms.grad(ms.grad(Cube()))(x), [12])
    assert Cube().name == "Cube"
    assert Cube("other").name == "other"
    assert repr(Cube()) == "Prim[Cube]"
    with pytest.raises(NotImplementedError, match="For 'Primitive', forward is not defined"):
        ops.Primitive()(x)

    class Flat(ops.Primitive):
        def forward(self, x):
            return x

    with pytest.raises(RuntimeError, match="For 'Flat', the gradient is not defined"):
        ms.grad(Flat())(x)


def test_prim_attr_register():
    class Scale(ops.PrimitiveWithInfer):
        @ops.prim_attr_register
        def __init__(self, factor=2, name="s"):
            super().__init__("Scale")

        def forward(self, x):
            return x * self.factor

    assert Scale().factor == 2
    equal(Scale(factor=5)(tensor([1])), [5])
    assert ops.constexpr(len) is len
    assert ops.constexpr(name="f")(len) is len
