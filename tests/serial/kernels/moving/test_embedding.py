"""Embedding kernels against their twins."""

import numpy as np
import pytest

from dist_ms._ext import embedding, threads
from tests import reference
from tests.serial.kernels.calls import DTYPES, NARROW, assert_close, call, wide

# rows, columns, number of ids
SIZES = [(1, 1, 1), (3, 0, 4), (5, 7, 0), (0, 4, 0), (10, 3, 25), (50, 64, 3000), (7, 1, 40_000)]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("id_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("rows, columns, number", SIZES)
def test_gather(dtype, id_dtype, rows, columns, number):
    rng = np.random.default_rng(1)
    table = rng.standard_normal((rows, columns)).astype(dtype)
    ids = rng.integers(0, max(rows, 1), number).astype(id_dtype)
    out = np.empty((number, columns), dtype)
    call(embedding.gather, (table, ids, out), [out])
    np.testing.assert_array_equal(out, reference.gather(table, ids))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("id_dtype", [np.int32, np.int64])
@pytest.mark.parametrize("rows, columns, number", SIZES)
def test_scatter_add(dtype, id_dtype, rows, columns, number):
    rng = np.random.default_rng(2)
    d_out = rng.standard_normal((number, columns)).astype(dtype)
    ids = rng.integers(0, max(rows, 1), number).astype(id_dtype)
    start = rng.standard_normal((rows, columns)).astype(dtype)
    results = []
    before = threads.get_num_threads()
    for count in (1, 2, 5):
        threads.set_num_threads(count)
        d_table = start.copy()
        embedding.scatter_add(d_out, ids, d_table)
        results.append(d_table)
    threads.set_num_threads(before)
    wanted = reference.scatter_add(wide(d_out), ids, wide(start))
    assert_close(results[0], wanted, scale=1 + number / max(rows, 1))
    assert all(result.tobytes() == results[0].tobytes() for result in results)


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("rows, columns, number", [*SIZES, (6, 1025, 40), (2000, 5, 3)])
def test_narrow_rows_are_added_in_float32(dtype, rows, columns, number):
    rng = np.random.default_rng(2)
    d_out = rng.standard_normal((number, columns)).astype(dtype)
    ids = rng.integers(0, max(rows, 1), number)
    start = rng.standard_normal((rows, columns)).astype(dtype)
    wanted = start.astype(np.float32)
    embedding.scatter_add(d_out.astype(np.float32), ids, wanted)
    before = threads.get_num_threads()
    for count in (1, 2, 5):
        threads.set_num_threads(count)
        d_table = start.copy()
        embedding.scatter_add(d_out, ids, d_table)
        assert d_table.tobytes() == wanted.astype(dtype).tobytes()
    threads.set_num_threads(before)


@pytest.mark.parametrize("columns", range(140))
def test_rows_of_any_length(columns):
    rng = np.random.default_rng(columns)
    table, ids = rng.integers(0, 256, (9, columns)).astype(np.uint8), rng.integers(0, 9, 7)
    room = np.full(7 * columns + 2, 99, np.uint8)
    embedding.gather(table, ids, room[1:-1].reshape(7, columns))
    np.testing.assert_array_equal(room[1:-1].reshape(7, columns), table[ids])
    assert room[0] == room[-1] == 99


def test_an_id_out_of_range_is_named_and_nothing_is_written():
    table, out = np.zeros((4, 3), np.float32), np.full((2, 3), 5, np.float32)
    for wrong in (4, -1, 2**40):
        ids = np.array([1, wrong])
        message = rf"'ids' must be in \[0, 4\), the rows of the table, but got {wrong} at position 1"
        with pytest.raises(IndexError, match="For 'gather', " + message):
            embedding.gather(table, ids, out)
        with pytest.raises(IndexError, match="For 'scatter_add', " + message):
            embedding.scatter_add(out, ids, table)
    assert (out == 5).all()
    assert not table.any()


def test_wrong_arguments():
    table, ids, out = np.zeros((4, 3)), np.zeros(2, np.int64), np.zeros((2, 3))
    with pytest.raises(TypeError, match="'ids' must be int32 or int64, but got float64"):
        embedding.gather(table, wide(ids), out)
    with pytest.raises(ValueError, match="'ids' must have length 2, but got 1"):
        embedding.gather(table, ids[:1], out)
    with pytest.raises(ValueError, match="'out' must have the table's 3 columns, but got 2"):
        embedding.gather(table, ids, np.zeros((2, 2)))
    with pytest.raises(ValueError, match="'table' must be C-contiguous"):
        embedding.gather(np.zeros((4, 6))[:, ::2], ids, out)
    with pytest.raises(ValueError, match="'ids' must have 1 dimensions"):
        embedding.gather(table, ids[None], out)
    with pytest.raises(TypeError, match="'d_out' must be float64, but got float32"):
        embedding.scatter_add(out.astype(np.float32), ids, table)
    table.flags.writeable = False
    with pytest.raises(ValueError, match="'d_table' must be writeable"):
        embedding.scatter_add(out, ids, table)
