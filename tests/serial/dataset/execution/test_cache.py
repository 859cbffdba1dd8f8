"""DatasetCache: rows are made once, on threads and processes alike, and nothing random is kept."""

import gc
import os
import threading

import numpy as np
import pytest

import dist_ms.dataset as ds
from dist_ms.dataset import draws

lock = threading.Lock()
made = []


def double(x):
    with lock:
        made.append(int(x))
    return x * 2.0, np.full((int(x), 2), x), str(x)


def rows_of(data):
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    return [(float(a), b.tolist(), str(c)) for a, b, c in rows]


def cached(function, **options):
    data = ds.NumpySlicesDataset(list(range(8)), ["x"])
    return data.map(function, "x", ["a", "b", "c"], cache=ds.DatasetCache(1, **options), num_parallel_workers=3)


def test_rows_are_made_once():
    made.clear()
    data = cached(double)
    epochs = [rows_of(data) for _ in range(3)]
    assert sorted(made) == list(range(8))
    for epoch in epochs:
        assert sorted(epoch) == [(2.0 * i, [[i, i]] * i, str(i)) for i in range(8)]
    assert epochs[0] != epochs[1]


def test_processes_share_the_rows():
    def told(x):
        return x * 2.0, np.full((int(x), 2), os.getpid()), str(x)

    data = ds.NumpySlicesDataset(list(range(8)), ["x"], shuffle=False)
    data = data.map(
        told, "x", ["a", "b", "c"], cache=ds.DatasetCache(1), num_parallel_workers=2, python_multiprocessing=True
    )
    first = rows_of(data)
    data.close_pool()
    assert rows_of(data) == first


def test_rows_that_do_not_fit_are_made_each_time():
    made.clear()
    data = ds.NumpySlicesDataset([0, 1, 2], shuffle=False)
    data = data.map(lambda x: (made.append(0), np.zeros(400_000, np.uint8))[1], cache=ds.DatasetCache(2, size=1))
    for _ in range(2):
        assert [x.shape for (x,) in data.create_tuple_iterator(output_numpy=True)] == [(400_000,)] * 3
    assert len(made) == 4


def test_random_numbers_are_not_kept():
    data = cached(lambda x: (draws.generator().random(), x, x))
    with pytest.raises(RuntimeError, match="must draw no random numbers"):
        rows_of(data)
    before = ds.NumpySlicesDataset([1, 2]).map(lambda x: draws.generator().random())
    with pytest.raises(RuntimeError, match="must draw no random numbers"):
        list(before.map(lambda x: x, cache=ds.DatasetCache(1)))


def test_kept_rows_are_not_the_consumers():
    data = cached(double)
    first = sorted(rows_of(data))
    for _, b, _ in data.create_tuple_iterator(num_epochs=1, output_numpy=True):
        b[...] = -1
    assert sorted(rows_of(data)) == first


def test_memory_goes_with_the_cache():
    data = cached(double)
    rows_of(data)
    name = f"/memfd:dist_ms cache 1.{ds.cache._made[1] - 1} "
    places = [f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")]
    assert any(os.readlink(p).startswith(name) for p in places if os.path.islink(p))
    del data
    gc.collect()
    places = [f"/proc/self/fd/{n}" for n in os.listdir("/proc/self/fd")]
    assert not any(os.readlink(p).startswith(name) for p in places if os.path.islink(p))


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: ds.DatasetCache(-1), ValueError),
        (lambda: ds.DatasetCache("1"), TypeError),
        (lambda: ds.DatasetCache(1, spilling=True), ValueError),
        (lambda: ds.NumpySlicesDataset([1]).map(abs, cache=3), TypeError),
        (lambda: list(ds.NumpySlicesDataset([1]).batch(1).map(abs, cache=ds.DatasetCache(1))), RuntimeError),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises(error):
        make()


def test_how_full_it_is():
    cache = ds.DatasetCache(9)
    assert cache.get_stat() == (0, 0, 0)
    list(ds.NumpySlicesDataset(np.zeros((3, 1000)), shuffle=False).map(np.negative, cache=cache))
    found = cache.get_stat()
    assert 8000 < found.avg_cache_sz < 9000 and found.num_mem_cached == 3 and found.num_disk_cached == 0
