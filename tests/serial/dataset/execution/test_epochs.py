"""Rows of the next epoch are made while the last of this one are used."""

import time

import numpy as np
import pytest

import dist_ms.dataset as ds


class Recording:
    """Rows 0 to 5; it notes what was read."""

    def __init__(self, fails_at=None):
        self.read, self.fails_at = [], fails_at

    def __len__(self):
        return 6

    def __getitem__(self, i):
        self.read.append(int(i))
        if len(self.read) == self.fails_at:
            raise KeyError("lost")
        return np.int64(i)


def come(condition):
    deadline = time.monotonic() + 20
    while not condition() and time.monotonic() < deadline:
        time.sleep(0.005)
    return condition()


@pytest.mark.parametrize("batch", [1, 2])
def test_the_next_epoch_begins_before_this_one_ends(batch):
    source = Recording()
    data = ds.GeneratorDataset(source, ["x"], shuffle=False)
    rows = (data.batch(batch) if batch > 1 else data).create_tuple_iterator(num_epochs=2, output_numpy=True)
    for _ in range(6 // batch):
        next(rows)
    assert come(lambda: len(source.read) > 6), source.read
    with pytest.raises(StopIteration):
        next(rows)
    assert np.concatenate([x.reshape(-1) for (x,) in rows]).tolist() == list(range(6))
    assert len(source.read) == 12


@pytest.mark.parametrize("epochs", [1, -1])
def test_an_epoch_that_nobody_asked_for_is_not_read(epochs):
    source = Recording()
    rows = ds.GeneratorDataset(source, ["x"], shuffle=False).batch(2).create_tuple_iterator(num_epochs=epochs)
    assert len(list(rows)) == 3
    time.sleep(0.1)
    assert source.read == list(range(6))


@pytest.mark.parametrize("processes", [False, True])
def test_epochs_are_as_one_by_one(processes):
    def pipeline():
        data = ds.NumpySlicesDataset({"x": np.arange(11)}, shuffle=True)
        data = data.map(lambda x: x * 2, "x", num_parallel_workers=2, python_multiprocessing=processes)
        return data.batch(3, num_parallel_workers=2)

    one, many = pipeline(), pipeline()
    rows = many.create_tuple_iterator(num_epochs=4, output_numpy=True)
    for number in range(4):
        alone = [x.tolist() for (x,) in one.create_tuple_iterator(num_epochs=1, output_numpy=True)]
        assert many.state_dict() == {**one.state_dict(), "epoch": number, "given": 0, "rows": 0}
        assert [x.tolist() for (x,) in rows] == alone
    with pytest.raises(RuntimeError, match="num_epochs=4"):
        iter(rows)


def test_an_epoch_set_between_two_is_the_next():
    data = ds.NumpySlicesDataset({"x": np.arange(8)}, shuffle=True).batch(2)
    epochs = [[x.tolist() for (x,) in data.create_tuple_iterator(output_numpy=True)] for _ in range(3)]
    data.reset()
    rows = data.create_tuple_iterator(num_epochs=3, output_numpy=True)
    assert [x.tolist() for (x,) in rows] == epochs[0]
    data.set_epoch(2)
    assert [x.tolist() for (x,) in rows] == epochs[2]
    assert data.state_dict()["epoch"] == 3


def test_an_epoch_left_early_is_followed_by_a_whole_one():
    data = ds.NumpySlicesDataset({"x": np.arange(8)}, shuffle=False).batch(2)
    rows = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    next(rows)
    rows.leave_epoch()
    assert [x.tolist() for (x,) in rows] == [[0, 1], [2, 3], [4, 5], [6, 7]]


def test_after_an_error_the_next_epoch_is_whole():
    source = Recording(fails_at=3)
    data = ds.GeneratorDataset(source, ["x"], shuffle=False).batch(2)
    rows = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    with pytest.raises(RuntimeError, match="KeyError.*lost"):
        list(rows)
    assert np.concatenate([x for (x,) in rows]).tolist() == list(range(6))


def test_a_stage_that_waits_for_the_consumer_is_not_asked_early():
    begun = []
    data = ds.NumpySlicesDataset(list(range(4)), shuffle=False)
    data = data.sync_wait("go", 1, lambda batch: None).map(lambda x: x, num_parallel_workers=2).batch(2)
    stage = data.inputs[0].inputs[0]
    keys = stage.keys
    stage.keys = lambda epoch: (begun.append(epoch), keys(epoch))[1]
    rows = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    for epoch in range(2):
        for _ in range(2):
            next(rows)
            data.sync_update("go", 1)
        time.sleep(0.05)
        assert begun == list(range(epoch + 1))
        with pytest.raises(StopIteration):
            next(rows)
