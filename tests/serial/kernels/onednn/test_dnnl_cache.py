"""The primitive cache of `dist_ms._ext.dnnl`, and calls from threads and forked processes."""

import multiprocessing
import threading

import numpy as np
import pytest

from dist_ms._ext import dnnl, threads
from tests import reference_dnnl as reference
from tests.serial.kernels.onednn.dnnl_cases import channels_last, normal, unset

CONV = (1, 1), ((1, 1), (1, 1)), (1, 1), 1
POOL = (2, 2), (2, 2), ((0, 0), (0, 0)), (1, 1)


@pytest.fixture(autouse=True)
def empty_cache():
    dnnl.clear_cache()
    capacity = dnnl.set_cache_capacity(1024)
    yield
    dnnl.set_cache_capacity(capacity)


def product(rows, out=None):
    """Multiply two matrices whose shapes depend on `rows`; return the result."""
    a = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3)
    b = np.arange(6, dtype=np.float32).reshape(3, 2)
    out = unset(rows, 2) if out is None else out
    dnnl.matmul(a, b, out)
    np.testing.assert_array_equal(out, reference.matmul(a, b))
    return out


def test_one_entry_for_equal_calls_on_other_arrays():
    for _ in range(3):
        product(4)
    assert dnnl.cache_size() == 1


def test_shapes_strides_attributes_and_kinds_have_entries_of_their_own():
    product(4)
    product(5)
    product(4, unset(4, 5)[:, :2])
    assert dnnl.cache_size() == 3
    x, w, out = normal(np.random.default_rng(0), 1, 2, 4, 4), unset(2, 2, 3, 3), unset(1, 2, 4, 4)
    w[...] = 0
    dnnl.conv_forward(x, w, None, out, *CONV)
    dnnl.conv_forward(x, w, unset(2), out, *CONV)
    dnnl.conv_forward(channels_last(x), w, None, out, *CONV)
    dnnl.conv_forward(x, w, None, out, (1, 1), ((0, 2), (1, 1)), (1, 1), 1)
    dnnl.conv_backward_data(out, w, x, *CONV)
    dnnl.conv_backward_weights(x, out, w, None, *CONV)
    assert dnnl.cache_size() == 9
    for kind in ("max", "avg", "avg_padded"):
        dnnl.pool_forward(kind, x, unset(1, 2, 2, 2), *POOL)
    dnnl.pool_backward("avg", unset(1, 2, 2, 2), x, None, *POOL)
    assert dnnl.cache_size() == 13


def test_thread_counts_have_entries_of_their_own():
    before = threads.get_num_threads()
    try:
        for count in (1, 2, 1, 2):
            threads.set_num_threads(count)
            product(4)
    finally:
        threads.set_num_threads(before)
    assert dnnl.cache_size() == 2


def test_strides_of_single_elements_do_not_matter():
    a = np.ones((1, 3), np.float32)
    odd = np.lib.stride_tricks.as_strided(a, (1, 3), (4000, 4))
    b, out = np.ones((3, 2), np.float32), unset(1, 2)
    dnnl.matmul(a, b, out)
    dnnl.matmul(odd, b, out)
    assert dnnl.cache_size() == 1


def test_failed_calls_leave_no_entry():
    with pytest.raises(ValueError):
        dnnl.matmul(np.ones((2, 3), np.float32), np.ones((2, 3), np.float32), unset(2, 3))
    assert dnnl.cache_size() == 0


def test_clear():
    product(4)
    dnnl.clear_cache()
    assert dnnl.cache_size() == 0
    product(4)
    assert dnnl.cache_size() == 1


def entry_was_dropped(rows):
    """Say whether the product of so many rows is not cached, by calling it."""
    size = dnnl.cache_size()
    product(rows)
    return dnnl.cache_size() > size


def test_least_recently_used_goes_first():
    dnnl.set_cache_capacity(3)
    for rows in (1, 2, 3, 1, 4):
        product(rows)
    assert dnnl.cache_size() == 3
    dnnl.set_cache_capacity(4)
    assert not entry_was_dropped(1)
    assert not entry_was_dropped(3)
    assert not entry_was_dropped(4)
    assert entry_was_dropped(2)
    assert dnnl.set_cache_capacity(1) == 4
    assert dnnl.cache_size() == 1
    dnnl.set_cache_capacity(2)
    assert not entry_was_dropped(2)


def test_contents_are_listed_by_age():
    for rows in (1, 2, 3, 1):
        product(rows)
    operations = [operation for operation, _ in dnnl.cache_contents()]
    assert operations == [f"For 'matmul', a ({rows}, 3), b (3, 2), out ({rows}, 2)" for rows in (2, 3, 1)]


@pytest.mark.parametrize(("capacity", "error"), ((0, ValueError), (2.5, TypeError)))
def test_bad_capacity(capacity, error):
    with pytest.raises(error, match="^For 'set_cache_capacity', 'entries' must be an int"):
        dnnl.set_cache_capacity(capacity)


def test_calls_from_many_threads():
    """Threads share entries, scratch memory and the cache while a thread clears it."""
    rng = np.random.default_rng(1)
    x, w = channels_last(normal(rng, 4, 16, 28, 28)), normal(rng, 32, 16, 3, 3)
    inputs = [x * scale for scale in (1, 2, 4, 8)]
    wanted = reference.conv_forward(x, w, None, *CONV)
    failures = []
    start = threading.Barrier(5)

    def convolve(scale, values):
        start.wait()
        for turn in range(25):
            out = unset(4, 32, 28, 28)
            dnnl.conv_forward(values, w, None, out, *CONV)
            product(1 + turn % 5)
            if not np.allclose(out, scale * wanted, rtol=1e-3, atol=1e-3):
                failures.append((scale, turn))

    def clear():
        start.wait()
        for _ in range(25):
            dnnl.clear_cache()

    workers = [
        threading.Thread(target=convolve, args=(scale, values))
        for scale, values in zip((1, 2, 4, 8), inputs, strict=True)
    ]
    workers.append(threading.Thread(target=clear))
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join(60)
        assert not worker.is_alive()
    assert not failures


def large_product(count, connection=None):
    """Multiply with `count` threads and return, or send, what should be 1024 everywhere."""
    threads.set_num_threads(count)
    out = unset(256, 256)
    dnnl.matmul(np.ones((256, 1024), np.float32), np.ones((1024, 256), np.float32), out)
    if connection is not None:
        connection.send((out.min(), out.max(), dnnl.cache_size()))
    return out


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_forked_child_can_compute():
    """libgomp's workers do not survive a fork, and a child that waits for them hangs."""
    before = threads.get_num_threads()
    try:
        large_product(2)
        product(4)
        context = multiprocessing.get_context("fork")
        receiver, sender = context.Pipe(duplex=False)
        child = context.Process(target=large_product, args=(2, sender))
        child.start()
        answered = receiver.poll(30)
        child.kill() if not answered else None
        child.join()
        assert answered, "the child hangs"
        assert receiver.recv() == (1024.0, 1024.0, 1)
        assert child.exitcode == 0
        assert large_product(2).max() == 1024.0
        assert dnnl.cache_size() == 2
    finally:
        threads.set_num_threads(before)


@pytest.mark.filterwarnings("ignore:.*use of fork.*:DeprecationWarning")
def test_fork_while_a_thread_computes():
    """The child must not wait for a lock that only a thread of the parent could give back."""
    stop = threading.Event()

    def work():
        while not stop.is_set():
            large_product(1)

    worker = threading.Thread(target=work)
    worker.start()
    context = multiprocessing.get_context("fork")
    try:
        for _ in range(5):
            receiver, sender = context.Pipe(duplex=False)
            child = context.Process(target=large_product, args=(1, sender))
            child.start()
            answered = receiver.poll(30)
            if not answered:
                child.kill()
            child.join()
            assert answered, "the child hangs"
    finally:
        stop.set()
        worker.join()
