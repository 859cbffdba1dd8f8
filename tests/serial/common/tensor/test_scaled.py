"""Products that are made when they are read: nobody can tell them from products made at once."""

import copy
import gc
import pickle

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms._ext.tape import lend, make_lent
from dist_ms.common.tensor import wrap
from dist_ms.common.tensor.scaled import apart, pending, readable, scaled

X = np.array([2.0, -4.0, 6.0], np.float32)
READS = {
    "asnumpy": lambda t: t.asnumpy(),
    "an operation": lambda t: (t + 0.0).asnumpy(),
    "text": lambda t: np.array(eval(repr(t).split("value=")[1][:-1])),
    "copy": lambda t: copy.deepcopy(t).asnumpy(),
    "pickle": lambda t: pickle.loads(pickle.dumps(t)).asnumpy(),
    "a tensor of it": lambda t: Tensor(t).asnumpy(),
    "a parameter of it": lambda t: ms.Parameter(t, name="p").asnumpy(),
    "set_data": lambda t: ms.Parameter(np.zeros(3, np.float32), name="p").set_data(t).asnumpy(),
    "an index": lambda t: np.array([float(t[i]) for i in range(3)]),
    "numpy": lambda t: np.asarray(t),
    "a dtype": lambda t: (t.set_dtype(ms.float64), t.asnumpy())[1],
    "in place": lambda t: ops.zeros_like(t).add_(t).asnumpy(),
    "init_data": lambda t: t.init_data().asnumpy() if t.has_init else t.asnumpy(),
    "a gradient": lambda t: ms.grad(lambda x: x * 1.0, sens_param=True)(Tensor(X), t).asnumpy(),
}


@pytest.mark.parametrize("read", READS)
def test_reading_gives_the_product(read):
    half = scaled(Tensor(X), 0.5)
    assert pending(half) is not None
    assert (half.shape, half.dtype, half.ndim, half.size, half.has_init) == ((3,), ms.float32, 1, 3, False)
    np.testing.assert_array_equal(READS[read](half), X / 2)


def test_neither_source_nor_product_sees_what_is_written_to_the_other():
    for write in (lambda t: t.add_(1), lambda t: t.asnumpy().fill(9), lambda t: t.__setitem__(0, 5.0)):
        x = Tensor(X)
        half, third = scaled(x, 0.5), scaled(x, 3)
        write(x)
        assert x.asnumpy()[0] != 2
        np.testing.assert_array_equal(half.asnumpy(), X / 2)
        np.testing.assert_array_equal(third.asnumpy(), X * 3)
        x = Tensor(X)
        half = scaled(x, 0.5)
        write(half)
        np.testing.assert_array_equal(x.asnumpy(), X)


def test_an_array_that_somebody_holds_is_multiplied_at_once():
    x = Tensor(X)
    held = x.asnumpy()
    half = scaled(x, 0.5)
    assert pending(half) is None
    held[...] = 7
    np.testing.assert_array_equal(half.asnumpy(), X / 2)
    whole = Tensor(np.arange(6, dtype=np.float32)).asnumpy()
    for view in (whole[:3], whole.reshape(2, 3)[0]):
        assert pending(scaled(wrap(view), 0.5)) is None
    twin = Tensor(x)
    assert pending(scaled(twin, 0.5)) is None
    assert pending(scaled(ms.Parameter(X.copy(), name="p"), 0.5)) is None


def test_lent_memory_is_read_before_it_is_written():
    memory = np.arange(6, dtype=np.float32)
    x = lend(wrap(memory[:3]))
    half = scaled(x, 0.5)
    quarter = scaled(half, 0.5)
    assert pending(half) is not None and pending(quarter) is not None
    make_lent()
    memory[...] = 0
    assert half.asnumpy().tolist() == [0, 0.5, 1] and quarter.asnumpy().tolist() == [0, 0.25, 0.5]


def test_factors_are_joined_only_where_that_changes_no_bit():
    x = np.random.default_rng(0).standard_normal(1000).astype(np.float32)
    for first, second in ((1 / 1024, 0.3), (0.3, 0.25), (0.3, 0.7)):
        found = scaled(scaled(Tensor(x), first), second)
        assert (pending(found) is None) == ((first, second) == (0.3, 0.7))
        np.testing.assert_array_equal(found.asnumpy(), x * np.float32(first) * np.float32(second))


def test_the_source_goes_on():
    x = Tensor(X)
    half = scaled(x, 0.5)
    assert readable(x).tolist() == X.tolist() and pending(half) is not None
    del half
    gc.collect()
    assert x.asnumpy().tolist() == X.tolist() and repr(x) == repr(Tensor(X))


@pytest.mark.parametrize("dtype", [ms.float16, ms.bfloat16, ms.int32])
def test_other_types_are_multiplied_at_once(dtype):
    found = scaled(Tensor([1.5, 3.0], dtype), 2.0)
    assert pending(found) is None and found.dtype == dtype


def test_a_scalar_stays_a_tensor():
    for x in (Tensor(3.0), Tensor(3.0, ms.float16)):
        assert type(scaled(x, 2.0).asnumpy()) is np.ndarray and float(ops.sqrt(scaled(x, 3.0))) == 3


def test_gradients_that_are_one_array_are_copied_when_they_are_read():
    dy = Tensor(X)
    first, second = ms.vjp(lambda x, y: x + y, Tensor(X), Tensor(X))[1](dy)
    assert pending(first)[0] is pending(second)[0] and pending(first)[1] == 1
    for write in (lambda t: t.add_(1), lambda t: t.asnumpy().fill(9), lambda t: t.__setitem__(0, 5.0)):
        for changed in range(3):
            dy = Tensor(X)
            found = [dy, *ms.vjp(lambda x, y: x + y, Tensor(X), Tensor(X))[1](dy)]
            write(found[changed])
            for i, t in enumerate(found):
                assert (t.asnumpy() == X).all() == (i != changed)


def test_gradients_do_not_wait_for_an_array_that_somebody_holds():
    dy = Tensor(X)
    held = dy.asnumpy()
    (gradient,) = ms.vjp(lambda x: x + 1, Tensor(X))[1](dy)
    assert pending(gradient) is None
    held[0] = 77
    assert gradient.asnumpy()[0] == 2


@pytest.mark.parametrize("dtype", [ms.float32, ms.float64, ms.float16, ms.bfloat16, ms.int32])
@pytest.mark.parametrize("read", READS)
def test_reading_gives_the_same_values(read, dtype):
    if dtype != ms.float32 and read not in ("asnumpy", "an operation", "copy", "numpy"):
        return
    twin = apart(Tensor(X).astype(dtype))
    assert pending(twin)[1] == 1
    np.testing.assert_array_equal(READS[read](twin).astype(np.float64), X)


def test_an_optimizer_reads_a_shared_gradient_where_it_lies():
    weights = [ms.Parameter(Tensor(X), name=name) for name in "ab"]
    optimizer = ms.nn.SGD(weights, 1.0)
    dy = Tensor(X)
    gradients = ms.vjp(lambda x, y: x + y, Tensor(X), Tensor(X))[1](dy)
    optimizer(gradients)
    assert all(pending(g) is not None for g in gradients)
    for weight in weights:
        np.testing.assert_array_equal(weight.asnumpy(), np.zeros(3))
