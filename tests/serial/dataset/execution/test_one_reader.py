"""A source that asks for one worker is read by one at a time, in order, whatever later stages have."""

import threading
import time

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds


class Source:
    """Remembers who read what."""

    def __init__(self, fails=()):
        self.read, self.inside, self.most, self.fails = [], 0, 0, fails
        self.lock = threading.Lock()

    def __len__(self):
        return 40

    def __getitem__(self, number):
        with self.lock:
            self.inside += 1
            self.most = max(self.most, self.inside)
        time.sleep(0.001)
        self.read.append(number)
        with self.lock:
            self.inside -= 1
        if number in self.fails:
            raise ValueError(f"no item {number}")
        return np.array([number, np.random.randint(1 << 30)])


def slow(x):
    time.sleep(0.001 * (x[0] % 3))
    return x


def read(source, workers=1, epochs=1, **options):
    data = ds.GeneratorDataset(source, ["x"], num_parallel_workers=workers, python_multiprocessing=False, **options)
    data = data.map(slow, num_parallel_workers=4, python_multiprocessing=False)
    rows = data.create_tuple_iterator(num_epochs=epochs, output_numpy=True)
    return [row.tolist() for _ in range(epochs) for (row,) in rows]


def test_one_reads_in_order_and_alone():
    source = Source()
    rows = read(source, shuffle=False, epochs=2)
    assert source.read == 2 * list(range(40)) == [n for n, _ in rows] and source.most == 1


def test_several_read_at_once():
    source = Source()
    assert [n for n, _ in read(source, workers=4, shuffle=False)] == list(range(40)) and source.most > 1


def test_what_a_source_draws_is_repeatable():
    found = []
    for _ in range(2):
        ms.set_seed(5)
        found.append(read(Source(), epochs=2))
    assert found[0] == found[1] and sorted(n for n, _ in found[0]) == sorted(2 * list(range(40)))
    assert len({drawn for _, drawn in found[0]}) == 80


@pytest.mark.parametrize("mode", ["RETURN", "SKIP"])
def test_an_item_that_fails_is_named_in_its_place(mode):
    before = ds.config.get_error_samples_mode()
    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode[mode])
    try:
        if mode == "SKIP":
            assert [n for n, _ in read(Source([7]), shuffle=False)] == [n for n in range(40) if n != 7]
            return
        with pytest.raises(Exception, match="no item 7") as caught:
            read(Source([7]), shuffle=False)
        assert any("row 7 of" in note for note in caught.value.__notes__)
    finally:
        ds.config.set_error_samples_mode(before)


def test_batches_are_read_in_order():
    source = Source()
    data = ds.GeneratorDataset(source, ["x"], shuffle=False)
    data = data.map(slow, num_parallel_workers=3, python_multiprocessing=False).batch(8, num_parallel_workers=3)
    rows = [batch[:, 0].tolist() for (batch,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]
    assert [n for batch in rows for n in batch] == source.read == list(range(40)) and source.most == 1
