"""Draws of many rows at once are those of each row's stream."""

import numpy as np

from dist_ms._ext import row_streams
from dist_ms._ext.row_streams import RowStream


def test_keys_and_draws_of_many_rows():
    rng = np.random.default_rng(1)
    epochs, places = rng.integers(0, 9, 50), rng.integers(0, 2**40, 50)
    for seed, depth in ((0, 0), (5489, 3), (2**63 + 5, 1)):
        keys = row_streams.row_keys(seed, epochs, places, depth)
        one_by_one = [row_streams.row_key(seed, (int(e), int(p)), depth) for e, p in zip(epochs, places)]
        assert keys.dtype == np.uint64 and keys.tolist() == one_by_one
        streams = [RowStream(key) for key in one_by_one]
        for drawn in range(6):
            if drawn % 2:
                assert row_streams.units(keys, drawn).tolist() == [s.random() for s in streams]
            else:
                span = [1, 7, 2**31][drawn // 2]
                assert row_streams.whole_numbers(keys, drawn, span).tolist() == [s.integers(span) for s in streams]


def test_no_rows():
    none = np.empty(0, np.int64)
    assert row_streams.row_keys(1, none, none, 0).shape == (0,)
    assert row_streams.whole_numbers(np.empty(0, np.uint64), 0, 3).shape == (0,)
