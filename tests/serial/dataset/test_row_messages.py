"""Dataset.send and recv on one rank; tests/mpi/dataset/test_datasets.py has several."""

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds


@pytest.fixture
def rows():
    ms.communication.init()
    return ds.NumpySlicesDataset({"x": [1, 2], "y": [3, 4]}, shuffle=False)


def test_own_rows_follow_each_other_into_the_next_epoch(rows):
    found = [[int(column) for column in rows.recv(0)] for _ in range(3)]
    assert found == [[1, 3], [2, 4], [1, 3]]
    assert [int(column) for column in rows.recv([0, 0])] == [2, 4, 1, 3]


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (lambda d: d.send(dst=0), ValueError, "other ranks than this one, 0"),
        (lambda d: d.send(dst=1), ValueError, "'dst' must be among the ranks of the group"),
        (lambda d: d.send(dst="1"), TypeError, "'dst' must be an int"),
        (lambda d: d.recv(True), TypeError, "'src' must be an int"),
        (lambda d: d.recv(0, group=3), TypeError, "'group' must be a string"),
    ],
)
def test_what_is_refused(rows, call, error, text):
    with pytest.raises(error, match=text):
        call(rows)


def test_a_pipeline_without_rows(rows):
    with pytest.raises(RuntimeError, match="must have a row"):
        rows.filter(lambda x, y: False).recv(0)


def test_a_pipeline_that_has_sent_goes_to_workers(rows):
    rows.recv(0)
    doubled = rows.map(lambda x: x * np.int64(2), "x", python_multiprocessing=True, num_parallel_workers=1)
    assert [int(x) for x, _ in doubled.create_tuple_iterator(num_epochs=1, output_numpy=True)] == [2, 4]
