"""Rows kept on a worker: what was put is found, within the size, the oldest given up first."""

import numpy as np

from dist_ms.parallel.servers.cache import RowCache


def put(cache, ids, version, now):
    ids = np.asarray(ids, np.int64)
    cache.put(ids, np.stack([ids * 10 + version] * 2, 1).astype(np.float32), version, now)


def held(cache, limit=40):
    return np.flatnonzero(cache.find(np.arange(limit)) >= 0).tolist()


def test_what_was_put_is_found():
    cache = RowCache(4, 2, np.float32)
    assert (cache.find(np.array([1, 2])) == -1).all()
    put(cache, [3, 8], 1, 1)
    put(cache, [1, 8], 2, 2)
    assert held(cache) == [1, 3, 8]
    slots = cache.find(np.array([1, 3, 8]))
    np.testing.assert_array_equal(cache.rows[slots, 0], [12, 31, 82])
    np.testing.assert_array_equal(cache.version[slots], [2, 1, 2])


def test_the_oldest_rows_go_first():
    cache = RowCache(3, 2, np.float32)
    put(cache, [1, 2, 3], 0, 1)
    cache.touch(cache.find(np.array([1])), 2)
    put(cache, [4], 0, 3)
    assert 1 in held(cache) and 4 in held(cache) and len(held(cache)) == 3


def test_rows_in_use_stay_when_new_ones_come():
    cache = RowCache(3, 2, np.float32)
    put(cache, [5, 6, 7], 0, 1)
    put(cache, [5, 9], 1, 2)
    found = held(cache)
    assert 5 in found and 9 in found and len(found) == 3


def test_more_rows_than_places():
    cache = RowCache(2, 2, np.float32)
    put(cache, range(10), 0, 1)
    assert len(held(cache)) == 2


def test_any_order_of_uses_keeps_the_promise():
    random = np.random.default_rng(0)
    cache, newest = RowCache(8, 2, np.float32), {}
    for now in range(1, 300):
        ids = np.sort(random.choice(40, random.integers(0, 12), replace=False))
        put(cache, ids, now, now)
        newest.update(dict.fromkeys(ids.tolist(), now))
        found = held(cache)
        assert len(found) <= 8
        slots = cache.find(np.array(found))
        assert len(set(slots.tolist())) == len(found)
        for row, slot in zip(found, slots, strict=True):
            # A row that is here shows the last values that were put for it.
            assert cache.version[slot] == newest[row]
            assert cache.rows[slot, 0] == row * 10 + newest[row]
