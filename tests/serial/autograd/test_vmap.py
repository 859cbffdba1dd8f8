"""vmap: axes in and out, nesting, gradients, errors."""

import numpy as np
import pytest

from dist_ms import nn
from dist_ms.autograd.grad import grad
from dist_ms.autograd.vmap import vmap
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from tests.serial.autograd.shapes import plain

A = Tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
B = Tensor([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0]])
X = Tensor([1.0, 2.0])


def twice(a):
    return a * 2


def add3(a, b, c):
    return a + b + c


@pytest.mark.parametrize(
    "fn, in_axes, out_axes, args, expected",
    [
        (twice, 0, 0, (A,), [[2, 4], [6, 8], [10, 12]]),
        (twice, 0, 1, (A,), [[2, 6, 10], [4, 8, 12]]),
        (twice, 1, 1, (A,), [[2, 4], [6, 8], [10, 12]]),
        (twice, -1, -1, (A,), [[2, 4], [6, 8], [10, 12]]),
        (add3, (0, 1, None), 1, (A, B, X), [[12, 24, 36], [44, 56, 68]]),
        (add3, [0, 1, None], 0, (A, B, X), [[12, 44], [24, 56], [36, 68]]),
        (lambda a, k: a * k, (0, None), 0, (A, 2.0), [[2, 4], [6, 8], [10, 12]]),
        (lambda a: Tensor([7.0, 8.0]), 0, 0, (A,), [[7, 8]] * 3),
        (lambda a: 3, 0, 0, (A,), [3, 3, 3]),
        (lambda p: p[0] + p[1], 0, 0, ((A, A),), [[2, 4], [6, 8], [10, 12]]),
        (lambda p: p[0] + p[1], ((0, None),), 0, ((A, X),), [[2, 4], [4, 6], [6, 8]]),
    ],
)
def test_axes(fn, in_axes, out_axes, args, expected):
    assert plain(vmap(fn, in_axes, out_axes)(*args)) == expected


def test_several_outputs():
    def two(a):
        return a * 2, a * a

    assert plain(vmap(two, 0, (1, 0))(A)) == (
        [[2, 6, 10], [4, 8, 12]],
        [[1, 4], [9, 16], [25, 36]],
    )
    assert type(vmap(lambda a: [a, a])(A)) is tuple
    shared = vmap(lambda a: (a, X), 0, (0, None))(A)
    assert plain(shared) == (plain(A), [1, 2])
    with pytest.raises(RuntimeError, match="differs between the slices"):
        vmap(two, 0, (0, None))(A)


def test_nested():
    outer = vmap(vmap(lambda a, b: a * b, (0, None)), (None, 0))
    x, y = Tensor([1.0, 2.0, 3.0]), Tensor([10.0, 20.0])
    assert plain(outer(x, y)) == [[10, 20, 30], [20, 40, 60]]


def test_with_gradients():
    cube = lambda a: a * a * a  # noqa: E731
    expected = (3 * np.asarray(plain(A)) ** 2).tolist()
    assert plain(vmap(grad(cube))(A)) == expected
    assert plain(grad(vmap(cube))(A)) == expected
    assert plain(grad(vmap(cube, 1, 1))(A)) == expected
    assert plain(grad(grad(vmap(cube)))(A)) == (6 * np.asarray(plain(A))).tolist()


def test_with_weights():
    w = Parameter(Tensor([5.0, 6.0]), name="w")
    f = vmap(lambda a: a * w)
    assert plain(f(A)) == [[5, 12], [15, 24], [25, 36]]
    assert plain(grad(f, None, w)(A)) == [9, 12]


def test_a_list_of_cells_has_one_for_each_slice():
    class Scale(nn.Cell):
        def __init__(self, factor):
            super().__init__()
            self.factor = factor

        def construct(self, a):
            return a * self.factor

    cells = nn.CellList([Scale(1.0), Scale(10.0), Scale(100.0)])
    assert plain(vmap(cells)(A)) == [[1, 2], [30, 40], [500, 600]]
    assert plain(vmap(cells, None)(X)) == [[1, 2], [10, 20], [100, 200]]
    with pytest.raises(RuntimeError, match="'axis_size' .* should be equal, but got 2 and 3"):
        vmap(cells)(X)


def test_all_slices_see_the_same_random_numbers():
    f = vmap(lambda a: a * 0 + Tensor(np.random.rand(2)))
    rows = f(A).asnumpy()
    assert (rows == rows[0]).all()
    assert (f(A).asnumpy() != rows).any()


@pytest.mark.parametrize(
    "fn, in_axes, out_axes, args, match",
    [
        (twice, 2, 0, (A,), r"axis: 2 in 'in_axes' is out of bounds .* \[-2,2\)"),
        (twice, 0, 2, (A,), r"axis: 2 in 'out_axes' is out of bounds .* \[-2,2\)"),
        (add3, (0, 0), 0, (A, A, A), "equal to the number of arguments of 'fn': 3, but got size: 2"),
        (lambda a: (a, a), 0, (0,), (A,), "number of results of 'fn': 2, but got size: 1"),
        (twice, 0, (0, 0), (A,), "number of results of 'fn': 1, but got size: 2"),
        (lambda a, b: a, 0, 0, (A, B), "'axis_size' .* should be equal, but got 3 and 2"),
        (twice, 0, 0, (), "must map at least one argument"),
        (twice, 0, 0, (3.0,), "must be a Tensor, but got float"),
        (twice, 0, 0, (Tensor(np.zeros((0, 2))),), "must have a length of at least 1"),
    ],
)
def test_errors_of_a_call(fn, in_axes, out_axes, args, match):
    with pytest.raises(RuntimeError, match=match):
        vmap(fn, in_axes, out_axes)(*args)


@pytest.mark.parametrize(
    "args, match",
    [
        ((3,), "'fn' must be a Cell, a CellList or a function, but got int"),
        ((twice, "a"), "can only be of type Int or None, but got 'a' of type str"),
        ((twice, 1.0), "can only be of type Int or None"),
        ((twice, True), "can only be of type Int or None"),
        ((twice, (0, "a")), "can only be of type Int or None"),
        ((twice, None), "'in_axes' of 'vmap' cannot be a single None"),
        ((twice, (None, None)), "'in_axes' of 'vmap' cannot be all None"),
        ((twice, 0, None), "'out_axes' of 'vmap' cannot be a single None"),
    ],
)
def test_errors_of_the_axes(args, match):
    with pytest.raises(RuntimeError, match=match):
        vmap(*args)
