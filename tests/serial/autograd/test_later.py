"""The contract of arrays that are made later (`_ext/tape/tape_later.pxi`), shown on a use of five lines."""

import copy
import gc
import os
import pickle
import threading
import time
import warnings

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, ops
from dist_ms._ext.tape import Later, lend, make_lent, postponed, source_of, wrap

X = np.array([2.0, -4.0, 6.0], np.float32)


class Negated(Later):
    """-x, made at most once per tensor; ReLU joins."""

    def __init__(self, x):
        super().__init__(x.shape, x.dtype)
        self.x, self.made = x, 0

    def array(self):
        self.made += 1
        return -self.x

    def joined(self, primitive, inputs):
        return np.maximum(-self.x, 0) if primitive.joins == "relu" else None


class Negate(ops.Primitive):
    """-x, made later."""

    keeps = ()

    def forward(self, x):
        return Negated(x)

    def gradient(self, inputs, output, dout):
        return ops.neg(dout)


READS = {
    "asnumpy": lambda t: t.asnumpy(),
    "operation": lambda t: (t + 0.0).asnumpy(),
    "copy": lambda t: copy.deepcopy(t).asnumpy(),
    "pickle": lambda t: pickle.loads(pickle.dumps(t)).asnumpy(),
    "tensor": lambda t: Tensor(t).asnumpy(),
    "parameter": lambda t: ms.Parameter(t, name="p").asnumpy(),
    "in place": lambda t: t.add_(0.0).asnumpy(),
    "text": lambda t: np.array(eval(repr(t).split("value=")[1][:-1])),
    "type": lambda t: (t.set_dtype(ms.float64), t.asnumpy())[1],
}


@pytest.mark.parametrize("lasting", [False, True], ids=["until the next operation", "of a source"])
@pytest.mark.parametrize("read", READS)
def test_who_reads_it_has_it_made(read, lasting):
    x = Tensor(X)
    source = source_of(x) if lasting else None
    later = Negated(source.values if lasting else x._held)
    t = postponed(later, source) if lasting else postponed(later)
    assert (t.shape, t.dtype, t.ndim, t.size, t.has_init) == ((3,), ms.float32, 1, 3, False)
    assert t._later is later and later.made == 0
    np.testing.assert_array_equal(READS[read](t), -X)
    assert t._later is None and later.made == 1


def test_it_waits_until_the_next_operation_or_read():
    for after in (lambda y: ops.add(y, y), Tensor.asnumpy, lambda y: y.add_(1.0), lambda y: Negate()(y)):
        x, y = Tensor(X), Tensor(X)
        t = Negate()(x)
        later = t._later
        after(y)
        assert t._later is None and later.made == 1
        np.testing.assert_array_equal(t.asnumpy(), -X)


def test_of_a_source_it_waits_until_that_is_read():
    x = Tensor(X)
    several = [postponed(Negated(source_of(x).values), source_of(x)) for _ in range(3)]
    ops.add(Tensor(X), 1.0)
    assert all(t._later is not None for t in several)
    first = several.pop()
    del several[0]
    x.add_(1.0)
    assert all(t._later is None for t in (first, *several))
    np.testing.assert_array_equal(first.asnumpy(), -X)
    np.testing.assert_array_equal(x.asnumpy(), X + 1)


def test_writing_a_waiting_tensor_ends_the_wait_alone():
    x = Tensor(X)
    t = postponed(Negated(source_of(x).values), source_of(x))
    later = t._later
    t._data = X.copy()
    x.add_(1.0)
    assert later.made == 0 and t.asnumpy().tolist() == X.tolist()


def test_an_array_that_others_reach_is_no_source():
    x = Tensor(X)
    held = x.asnumpy()
    assert source_of(x) is None and held is x.asnumpy()
    assert source_of(ms.Parameter(X.copy(), name="p")) is None
    whole = np.arange(6, dtype=np.float32)
    assert source_of(wrap(whole[:3])) is None


def test_lent_memory():
    memory = np.arange(6, dtype=np.float32)
    x = lend(wrap(memory[:3]))
    t = postponed(Negated(source_of(x).values), source_of(x))
    make_lent()
    memory[...] = 9
    assert t.asnumpy().tolist() == [0, -1, -2] and x.asnumpy().tolist() == [9, 9, 9]


def test_what_nobody_wants_is_not_made():
    x = Tensor(X)
    t = Negate()(x)
    later = t._later
    del t
    ops.add(x, x)
    x = Tensor(X)
    kept = postponed(Negated(source_of(x).values), source_of(x))
    lasting = kept._later
    del kept
    gc.collect()
    x.add_(1.0)
    assert later.made == lasting.made == 0


def test_an_operation_joins_and_the_tensor_still_waits():
    x = Tensor(X)
    t = Negate()(x)
    later, y = t._later, ops.relu(t)
    assert later.made == 0 and t._later is later
    assert y.asnumpy().tolist() == [0, 4, 0] and later.made == 1 and t.asnumpy().tolist() == (-X).tolist()


def test_gradients_hooks_and_recomputed_calls_see_separate_operations():
    seen = []

    def loss(x):
        t = Negate()(x)
        t.register_hook(lambda g: seen.append(g.asnumpy().tolist()))
        return ops.relu(t).sum()

    assert ms.grad(loss)(Tensor(X)).asnumpy().tolist() == [0, -1, 0] and seen == [[0, 1, 0]]
    twice = ms.grad(lambda x: (ms.grad(lambda x: (Negate()(x) ** 3).sum())(x)).sum())
    np.testing.assert_array_equal(twice(Tensor(X)).asnumpy(), -6 * X)
    again = ms.grad(lambda x: ms.recompute(lambda a: ops.relu(Negate()(a)), x, use_reentrant=False).sum())
    assert again(Tensor(X)).asnumpy().tolist() == [0, -1, 0]


@pytest.mark.parametrize("lasting", [False, True], ids=["until the next operation", "of a source"])
def test_another_thread_waits_until_it_is_made(lasting):
    begun, go_on = threading.Event(), threading.Event()

    class Slow(Negated):
        def array(self):
            begun.set()
            assert go_on.wait(10)
            return super().array()

    x = Tensor(X)
    source = source_of(x) if lasting else None
    t = postponed(Slow(source.values), source) if lasting else postponed(Slow(x._held))
    first = threading.Thread(target=t.asnumpy)
    second = threading.Thread(target=lambda: x.asnumpy().fill(0))
    first.start()
    assert begun.wait(10)
    second.start()
    second.join(0.2)
    assert second.is_alive()
    go_on.set()
    for thread in (first, second):
        thread.join(10)
    assert t.asnumpy().tolist() == (-X).tolist() and x.asnumpy().tolist() == [0, 0, 0]


def test_a_fork_finds_nothing_half_made():
    begun = threading.Event()

    class Slow(Negated):
        def array(self):
            begun.set()
            time.sleep(0.2)
            return super().array()

    x = Tensor(X)
    t = postponed(Slow(x._held))
    maker = threading.Thread(target=t.asnumpy)
    maker.start()
    assert begun.wait(10)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # newer Pythons warn of forks beside threads
        child = os.fork()
    if child == 0:
        os._exit(0 if t._later is None and Negate()(x).asnumpy().tolist() == (-X).tolist() else 1)
    deadline = time.monotonic() + 10
    while (found := os.waitpid(child, os.WNOHANG))[0] == 0 and time.monotonic() < deadline:
        time.sleep(0.01)
    if found[0] == 0:
        os.kill(child, 9)
        os.waitpid(child, 0)
    maker.join(10)
    assert found == (child, 0)
