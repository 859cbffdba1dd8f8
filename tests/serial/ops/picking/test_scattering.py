"""scattering.py, scattering_along.py, replacing.py, parameter_scattering.py."""

import subprocess
import sys

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.serial.ops.compare import equal, same, tensor

A = np.arange(1.0, 7).reshape(2, 3)
PLACES = ms.Tensor([[0, 1], [0, 1]])
UPDATES = tensor([5.0, 2.0])


def changed(place, value):
    out = A.copy()
    out[place] = value
    return out


@pytest.mark.parametrize(
    "name, wanted", [("update", 2), ("add", 9), ("sub", -5), ("mul", 20), ("div", 0.2), ("max", 5), ("min", 2)]
)
def test_tensor_scatter(name, wanted):
    x = ms.Tensor(A)
    equal(getattr(ops, f"tensor_scatter_{name}")(x, PLACES, UPDATES), changed((0, 1), wanted))
    primitive = {"update": "Update"}.get(name, name.capitalize())
    equal(getattr(ops, f"TensorScatter{primitive}")()(x, PLACES, UPDATES), changed((0, 1), wanted))
    equal(x, A)


@pytest.mark.parametrize(
    "name, wanted", [("update", 2), ("add", 9), ("sub", -5), ("mul", 20), ("div", 0.2), ("max", 5), ("min", 2)]
)
def test_parameter_scatter(name, wanted):
    p = ms.Parameter(ms.Tensor(A), name="p")
    memory = p.asnumpy()
    out = getattr(ops, f"scatter_nd_{name}")(p, PLACES, UPDATES)
    equal(p, changed((0, 1), wanted))
    equal(out, changed((0, 1), wanted))
    assert p.asnumpy() is memory
    if name != "sub":
        p = ms.Parameter(ms.Tensor(A), name="p")
        rows = tensor([[5.0] * 3, [2.0] * 3])
        getattr(ops, f"scatter_{name}")(p, ms.Tensor([0, 0]), rows)
        assert p.asnumpy()[0, 1] == wanted
        equal(p[1], A[1])


def test_scatter_nd():
    same(
        ops.scatter_nd(ms.Tensor([[0], [2], [0]]), tensor([1, 2, 3], "float32"), (4,)),
        np.array([4, 0, 2, 0], "float32"),
    )
    same(ops.scatter_nd(ms.Tensor([[1]]), tensor([[1, 2]]), (2, 2)), np.array([[0, 0], [1, 2]]))


@pytest.mark.parametrize(
    "fn, error",
    [
        (lambda x: ops.tensor_scatter_add(x, ms.Tensor([[0, 3]]), tensor([1.0])), RuntimeError),
        (lambda x: ops.tensor_scatter_add(x, ms.Tensor([[0, -1]]), tensor([1.0])), RuntimeError),
        (lambda x: ops.tensor_scatter_add(x, ms.Tensor([[0, 1]]), tensor([1.0, 2.0])), ValueError),
        (lambda x: ops.tensor_scatter_add(x, ms.Tensor([[0, 1]]), tensor([1])), TypeError),
        (lambda x: ops.tensor_scatter_add(x, ms.Tensor([[0.0, 1]]), tensor([1.0])), TypeError),
        (lambda x: ops.scatter_nd(ms.Tensor([[9]]), tensor([1.0]), (4,)), RuntimeError),
        (lambda x: ops.scatter_nd(ms.Tensor([0]), [1.0], (4,)), TypeError),
        (lambda x: ops.scatter_update(ms.Parameter(x), ms.Tensor([2]), tensor([[1.0] * 3])), RuntimeError),
        (lambda x: ops.scatter_add(ms.Parameter(x), ms.Tensor([0]), tensor([1.0])), ValueError),
        (lambda x: ops.scatter_add(ms.Parameter(x), ms.Tensor([0]), tensor([[1j] * 3])), TypeError),
        (lambda x: ops.tensor_scatter_elements(x, ms.Tensor([[3]]), tensor([[1.0]]), 1), RuntimeError),
        (lambda x: ops.tensor_scatter_elements(x, ms.Tensor([[0]]), tensor([[1.0, 2.0]]), 1), RuntimeError),
        (lambda x: ops.tensor_scatter_elements(x, ms.Tensor([0]), tensor([1.0]), 1), ValueError),
        (lambda x: ops.tensor_scatter_elements(x, ms.Tensor([[0]]), tensor([[1.0]]), 1, "bad"), ValueError),
        (lambda x: x.index_add(1, ms.Tensor([0]), tensor([[1.0]])), ValueError),
        (lambda x: x.index_add(1, ms.Tensor([3]), tensor([[1.0], [1.0]])), RuntimeError),
        (lambda x: x.index_add(0, ms.Tensor([0]), tensor([[1j] * 3])), TypeError),
        (lambda x: ops.index_fill(x, 2, ms.Tensor([0]), 1.0), RuntimeError),
    ],
)
def test_errors(fn, error):
    with pytest.raises(error, match="For '"):
        fn(ms.Tensor(A))


def test_arrays_are_no_tensors():
    x, i, u = ms.Tensor(A), ms.Tensor([[0, 1]]), tensor([1.0])
    for name, given in (("indices", {"updates": u}), ("updates", {"indices": i})):
        with pytest.raises(TypeError, match=f"For 'TensorScatterAdd', '{name}' must be a Tensor, but got ndarray"):
            ops.tensor_scatter_add(x, **given, **{name: np.ones((1, 2), np.int64)})


def test_along_a_dimension():
    x, i, u = ms.Tensor(A), ms.Tensor([[2], [0]]), tensor([[9.0], [8.0]])
    wanted = A.copy()
    wanted[[0, 1], [2, 0]] = [9, 8]
    equal(ops.scatter(x, 1, i, u), wanted)
    equal(x.scatter(dim=1, index=i, src=u), wanted)
    equal(ops.tensor_scatter_elements(x, i, u, 1), wanted)
    equal(ops.scatter(x, 1, i, 7.0), changed(([0, 1], [2, 0]), 7))
    equal(x.scatter_add(1, ms.Tensor([[2, 2]]), tensor([[1.0, 1.0]])), changed((0, 2), 5))
    equal(x.scatter(1, i, u, reduce="add"), A + (wanted - A != 0) * np.array([[9], [8]]))
    equal(x.scatter(1, i, u, reduce="multiply"), A * np.where(wanted != A, [[9], [8]], 1))
    equal(x.scatter_add(ms.Tensor([[0, 0]]), tensor([9.0])), changed((0, 0), 10))
    equal(ops.index_fill(x, 1, ms.Tensor([0, 2]), 7.0), changed((slice(None), [0, 2]), 7))
    equal(ops.IndexFill()(x, 0, ms.Tensor(1), ms.Tensor(7.0)), changed(1, 7))
    equal(ops.index_put(x, (ms.Tensor([0, 0]), ms.Tensor([1, 1])), UPDATES, True), changed((0, 1), 9))
    equal(ops.index_put(x, (x > 4,), tensor(0.0)), np.where(A > 4, 0, A))
    equal(ops.select_scatter(x, UPDATES, 1, -1), changed((slice(None), -1), [5, 2]))
    equal(ops.slice_scatter(x, tensor([[9.0, 8.0]] * 2), 1, 0, 3, 2), changed((slice(None), slice(0, 3, 2)), [9, 8]))
    equal(ops.inplace_update(x, x[:1] * 2, 1), changed(1, A[0] * 2))
    equal(ops.inplace_add(x, x, (0, 1)), A * 2)
    equal(ops.InplaceSub((0,))(x, x[:1]), changed(0, 0))
    equal(x, A)


def test_index_add_updates_a_parameter():
    p = ms.Parameter(ms.Tensor(A), name="p")
    wanted = A.copy()
    wanted[:, 0] += 3
    out = ops.index_add(p, ms.Tensor([0, 0]), tensor([[1.0, 2.0], [1.0, 2.0]]), 1)
    equal(out, wanted)
    equal(p, wanted)
    equal(ms.Tensor(A).index_add(ms.Tensor([0, 0]), tensor([[1.0, 2.0], [1.0, 2.0]]), 1), wanted)
    equal(ops.inplace_index_add(ms.Tensor(A), ms.Tensor([1]), ms.Tensor(A[:1]), 0), changed(1, A[0] + A[1]))


def test_indices_are_added_in_a_process_that_used_nothing_else():
    script = """
import dist_ms as ms
x = ms.Parameter(ms.Tensor([[1.0, 2.0]]), name="x")
print(ms.ops.index_add(x, ms.Tensor([0], ms.int32), ms.Tensor([[3.0, 4.0]]), 0), x.asnumpy())
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "[[4. 6.]] [[4. 6.]]\n"


def test_places_of_a_tensor():
    x, places, updates = tensor([[1.0, 2], [3, 4]]), ms.Tensor([[0, 1], [1, 0]]), tensor([0.5, 5])
    equal(x.scatter_div(places, updates), [[1, 4], [0.6, 4]])
    equal(x.scatter_mul(places, updates), [[1, 1], [15, 4]])
    equal(x.scatter_max(places, updates), [[1, 2], [5, 4]])
    equal(x.scatter_min(places, updates), [[1, 0.5], [3, 4]])
    equal(x.scatter_sub(places, updates), [[1, 1.5], [-2, 4]])
