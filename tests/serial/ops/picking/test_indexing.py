"""x[index] and x[index] = value: NumPy is the reference for every form of an index."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import ops
from tests.gradcheck import check_gradient
from tests.serial.ops.compare import equal, same, tensor

C = np.arange(24.0).reshape(2, 3, 4)
T = np.array
INDICES = [
    0,
    -1,
    (0, 1),
    (0, 1, 2),
    slice(1, None),
    (slice(None), slice(1, 3)),
    (..., 0),
    (..., slice(0, 2)),
    (0, ..., 1),
    None,
    (slice(None), None),
    (..., None),
    (None, ..., None),
    slice(None, None, 2),
    slice(None, None, -1),
    (0, 0, slice(3, 0, -1)),
    (0, 0, slice(-2, None)),
    (0, 0, slice(10, None)),
    (),
    ...,
    True,
    [0, 1],
    ([0, 1], [0, 2]),
    ([0, 1], slice(None), [0, 2]),
    (slice(None), [0, 1]),
    (slice(None), [0, 1], [0, 2]),
    (0, slice(None), [0, 2]),
    T([[0, 1], [1, 0]]),
    (T([0, 1]), 1),
    (T([0, -1]), slice(None), T([0, 1])),
    C > 5,
    C[:, :, 0] > 5,
    C[:, 0, 0] > 5,
    [True, False],
    (slice(None), [True, False, True]),
    (0, [True, False, True]),
    (None, 0),
    slice(0, 0),
    T([], np.int64),
    (T([[0], [1]]), T([[0, 2]])),
    np.int64(1),
    T([1, 1, 0]),
    (slice(None), T([2, 0]), None),
    ([0, 1], None, [1, 1]),
    (slice(1, None, -1), -1),
    range(2),
]


def for_tensor(index):
    """The index with tensors for arrays."""
    if isinstance(index, tuple):
        return tuple(for_tensor(i) for i in index)
    return ms.Tensor(index) if isinstance(index, np.ndarray) else index


def for_numpy(index):
    return list(index) if isinstance(index, range) else index


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_reading(index):
    same(ms.Tensor(C)[for_tensor(index)], C[for_numpy(index)])
    same(ms.Tensor(C)[index], C[for_numpy(index)])
    check_gradient(lambda x: x[for_tensor(index)], C)


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_writing(index):
    shape = C[for_numpy(index)].shape
    many = np.arange(100.0, 100 + np.prod(shape)).reshape(shape)
    for value in (7, 7.5, many, many[..., :1] if many.ndim else many):
        wanted, x = C.copy(), ms.Tensor(C)
        memory = x.asnumpy()
        wanted[for_numpy(index)] = value
        x[for_tensor(index)] = ms.Tensor(value) if isinstance(value, np.ndarray) else value
        equal(x, wanted)
        assert x.asnumpy() is memory


@pytest.mark.parametrize("index", INDICES, ids=str)
def test_gradients_of_writing(index):
    value = np.arange(100.0, 100 + C[for_numpy(index)].size).reshape(C[for_numpy(index)].shape)

    def write(x, v):
        y = x * 2
        kept = y * x  # the graph keeps the old values of y
        y[for_tensor(index)] = v * v
        return kept + y * y

    check_gradient(write, C, value / 50)
    if value.size:
        check_gradient(write, C, value.reshape(-1)[:1] / 50)


@pytest.mark.parametrize("dtype", [ms.float32, ms.bfloat16, ms.float64, ms.complex64])
@pytest.mark.parametrize(
    "index",
    [
        slice(5, 500),
        (slice(None), slice(3, -2)),
        (slice(1, 99), slice(7)),
        (slice(40, 90), ..., slice(1, 2)),
        slice(100, 100),
        slice(None, None, 2),
        slice(1, None, 4),
        (slice(3, 100, 4),),
        slice(0, 98, 4),
        slice(0, 96, 4),
        slice(4, None, 4),
        slice(1, None, 3),
        slice(None, None, -2),
        (slice(None), slice(None, None, 2)),
    ],
)
def test_gradients_of_slices_of_large_tensors(index, dtype):
    """Zeros around what was read, or between its rows; in memory of any order."""
    rng = np.random.default_rng(1)
    whole = np.arange(100 * 60 * 3).reshape(100, 60, 3)
    dy = rng.integers(-9, 9, whole[index].shape).astype(np.float32)
    wanted = np.zeros(whole.shape, np.float32)
    wanted[index] = dy
    for given in (dy, np.asfortranarray(dy)):
        x, seed = ms.ops.zeros(whole.shape, dtype), ms.Tensor(given).astype(dtype)
        (found,) = ms.vjp(lambda x: x[index], x)[1](seed)
        assert found.dtype == dtype
        np.testing.assert_array_equal(found.asnumpy().astype(np.complex64), wanted)


def test_lists_of_lists_are_a_tuple_as_in_mindspore():
    equal(ms.Tensor(C)[[[0, 1], [1, 0]]], C[[0, 1], [1, 0]])
    equal(ms.Tensor(C)[ms.Tensor(0) : ms.Tensor(1)], C[0:1])
    equal(ms.Tensor(C)[ms.Tensor(1)], C[1])
    equal(ms.Tensor(C)[[ms.Tensor(0), ms.Tensor(1)]], C[0, 1])
    equal(ms.Tensor(C)[ms.Tensor(True)], C[None])


@pytest.mark.parametrize(
    "index",
    [2, -3, (0, 3), (0, 0, 0, 0), 1.0, "a", T([2]), T([0.5]), [True, False, True], {}, (slice(1.5, 2),)],
    ids=str,
)
def test_index_errors(index):
    x = ms.Tensor(C)
    with pytest.raises(IndexError):
        x[for_tensor(index)]
    with pytest.raises(IndexError):
        x[for_tensor(index)] = 1.0
    with pytest.raises(IndexError):
        ms.Tensor(1.0)[0]


def test_value_errors():
    x = ms.Tensor(C)
    with pytest.raises(ValueError, match=r"For 'Tensor.__setitem__', the shape of the value must broadcast"):
        x[0] = tensor([1.0, 2.0])
    for bad in (None, {}):
        with pytest.raises(TypeError, match="For 'Tensor.__setitem__'"):
            x[0] = bad
    with pytest.raises(IndexError):
        x[0] = "a"


def test_values_take_the_dtype():
    x = tensor([1, 2, 3], "int32")
    x[0] = 1.7
    x[1:] = tensor([2.9, -2.9])
    same(x, np.array([1, 2, -2], "int32"))
    b = tensor([True, False])
    b[0] = 0
    equal(b, [False, False])
    x[:2] = [7, 8]
    x[2] = tensor([9])
    equal(x, [7, 8, 9])


def test_writing_into_what_was_read():
    x = tensor([[1.0, 2], [3, 4]])
    x[0][1] = 7
    x[1][0] += 10
    equal(x, [[1, 7], [13, 4]])

    def chained(t):
        y = t * 1
        y[0][1] = t[1, 0] * 5
        row = y[1]
        row[0] = 2.0
        return ops.sum(y * y)

    check_gradient(chained, np.array([[1.0, 2], [3, 4]]))


def test_writing_to_a_parameter_under_a_gradient():
    p = ms.Parameter(tensor([1.0, 2.0]), name="p")
    memory = p.asnumpy()

    def fn(v):
        before = p * v
        p[0] = v[0] * 3
        return ops.sum(before + p * v)

    dv, dp = ms.grad(fn, 0, p)(tensor([5.0, 6.0]))
    equal(dv, [31, 4])
    equal(dp, [5, 12])
    equal(p, [15, 2])
    assert p.asnumpy() is memory


def test_a_constant_written_under_a_gradient():
    c = tensor([1.0, 2.0])

    def fn(x):
        y = x * c
        c[0] = 100
        return ops.sum(y)

    equal(ms.grad(fn)(tensor([3.0, 4.0])), [1, 2])
    equal(c, [100, 2])


def test_broadcast_tensors_get_memory_of_their_own():
    x = tensor([1.0, 2.0])
    y = x.broadcast_to((2, 2))
    y[0, 0] = 9
    equal(y, [[9, 2], [1, 2]])
    equal(x, [1, 2])


def test_iteration_and_containment():
    x = ms.Tensor(C)
    assert [t.shape for t in x] == [(3, 4)] * 2
    assert len(x) == 2
    assert 5.0 in x
    assert tensor(99) not in x
    for bad in (len, list):
        with pytest.raises(TypeError, match="0-dimensional tensor"):
            bad(ms.Tensor(1.0))


def test_writing_where_recording_pauses():
    """What the graph saved stays, also when the write itself is not recorded."""

    def fn(x):
        y = x * 2
        z = y * y
        with ms._no_grad():
            y[0] = 100.0
        return ops.sum(z) + y[0] * 0

    equal(ms.grad(fn)(tensor([1.0, 2.0])), [8, 16])


def test_copies_forget_what_they_were_read_from():
    import copy

    held = []
    ms.grad(lambda x: (held.append((x * 1)[0]), x)[1])(tensor([[1.0, 2.0]]))
    assert "_viewed" in held[0].__dict__
    assert "_viewed" not in copy.deepcopy(held[0]).__dict__
