"""DataLoader: batches as PyTorch's users expect them, from this process and from workers."""

import os
import time
from itertools import chain

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.dataset import config, dataloader
from dist_ms.dataset.dataloader import DataLoader, Dataset, IterableDataset, TensorDataset


class Items(Dataset):
    def __init__(self, count=7):
        self.count = count

    def __getitem__(self, i):
        return np.full((2, 3), i, np.float32), {"label": i, "name": f"n{i}", "pid": os.getpid()}, (i, [0.5])

    def __len__(self):
        return self.count


class Stream(IterableDataset):
    def __iter__(self):
        return iter(range(5))

    def __len__(self):
        return 5


def numbers(loader):
    return [batch.asnumpy().tolist() for batch in loader]


@pytest.mark.parametrize("workers", [0, 2])
def test_nested_items(workers):
    batches = list(DataLoader(Items(), batch_size=3, num_workers=workers))
    assert len(batches) == len(DataLoader(Items(), batch_size=3)) == 3
    image, about, (number, (half,)) = batches[1]
    assert image.shape == (3, 2, 3) and image.dtype is ms.float32 and image.asnumpy()[:, 0, 0].tolist() == [3, 4, 5]
    assert about["label"].asnumpy().tolist() == [3, 4, 5] and about["name"] == ["n3", "n4", "n5"]
    assert number.asnumpy().tolist() == [3, 4, 5] and half.dtype is ms.float64
    assert (os.getpid() in about["pid"].asnumpy()) == (workers == 0)


@pytest.mark.parametrize("workers", [0, 2])
def test_orders(workers):
    items = list(range(10))
    assert numbers(DataLoader(items, 4, num_workers=workers)) == [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9]]
    assert numbers(DataLoader(items, 4, drop_last=True, num_workers=workers)) == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert numbers(DataLoader(items, sampler=[3, 1], num_workers=workers)) == [[3], [1]]
    assert numbers(DataLoader(items, batch_sampler=[[3, 1], [0]], num_workers=workers)) == [[3, 1], [0]]
    assert [int(x) for x in DataLoader(items, None, num_workers=workers)] == items
    shuffled = DataLoader(items, 5, shuffle=True, num_workers=workers)
    first, second = numbers(shuffled), numbers(shuffled)
    assert first != second and sorted(chain(*first)) == sorted(chain(*second)) == items
    drawn = [numbers(DataLoader(items, 5, shuffle=True, generator=np.random.default_rng(3))) for _ in range(2)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("workers", [0, 2])
def test_iterables_give_each_item_once(workers):
    assert numbers(DataLoader(Stream(), 2, num_workers=workers)) == [[0, 1], [2, 3], [4]]
    assert numbers(DataLoader(Stream(), 2, drop_last=True, num_workers=workers)) == [[0, 1], [2, 3]]
    assert list(DataLoader(Stream(), None, num_workers=workers)) == list(range(5))
    assert len(DataLoader(Stream(), 2)) == 3


def test_tensors():
    data = TensorDataset(ms.Tensor([[1, 2], [3, 4]]), ms.Tensor([5, 6]))
    (pairs, ones) = next(iter(DataLoader(data, 2)))
    assert pairs.asnumpy().tolist() == [[1, 2], [3, 4]] and ones.asnumpy().tolist() == [5, 6]
    with pytest.raises(ValueError, match="of one length"):
        TensorDataset(ms.Tensor([1]), ms.Tensor([1, 2]))
    with pytest.raises(TypeError, match="must be Tensors"):
        TensorDataset(np.ones(1))


def test_workers_know_what_they_are(monkeypatch):
    class Who(Dataset):
        def __getitem__(self, i):
            info = dataloader.get_worker_info()
            time.sleep(0.02)
            return info.id, info.num_workers, info.seed, len(info.dataset), begun[0]

        def __len__(self):
            return 8

    begun = []
    monkeypatch.setitem(config._settings, "seed", 77)
    loader = DataLoader(Who(), 1, num_workers=2, worker_init_fn=begun.append)
    rows = [tuple(int(x) for x in row) for row in loader]
    assert {row[0] for row in rows} == {0, 1} and all(row[0] == row[4] for row in rows)
    assert {row[1:4] for row in rows} == {(2, 77, 8)} and dataloader.get_worker_info() is None


def test_workers_stay_if_they_shall():
    def pids(loader):
        return {int(p) for _, about, _ in loader for p in about["pid"].asnumpy()}

    loader = DataLoader(Items(), 1, num_workers=2, persistent_workers=True)
    assert pids(loader) == pids(loader)
    loader = DataLoader(Items(), 1, num_workers=2)
    assert not pids(loader) & pids(loader)


def test_an_error_of_a_worker_and_a_late_one():
    class Bad(Dataset):
        def __getitem__(self, i):
            if i == 3:
                raise KeyError("three")
            if i == 1:
                time.sleep(30)
            return i

        def __len__(self):
            return 4

    with pytest.raises(KeyError) as error:
        list(DataLoader(Bad(), sampler=[0, 3], num_workers=1))
    assert "In a worker process" in "".join(error.value.__notes__)
    with pytest.raises(RuntimeError, match=r"made no row within 2.0 s"):
        list(DataLoader(Bad(), sampler=[1], num_workers=1, timeout=2.0))


def test_collating():
    batch = dataloader.default_collate([{"a": 1.5, "b": (True, "x")}, {"a": 2, "b": (False, "y")}])
    assert batch["a"].asnumpy().tolist() == [1.5, 2.0] and batch["b"][1] == ["x", "y"]
    with pytest.raises(ValueError, match=r"of one length, but got \[1, 2\]"):
        dataloader.default_collate([[1], [1, 2]])
    with pytest.raises(ValueError, match="same shape"):
        dataloader.default_collate([np.ones(1), np.ones(2)])
    with pytest.raises(TypeError, match="'collate_fn'"):
        dataloader.default_collate([object()])
    own = DataLoader([1, 2, 3], 2, collate_fn=sum, num_workers=1)
    assert list(own) == [3, 3]
    assert dataloader.default_convert(("a", np.float32(2)))[1].dtype is ms.float32


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: DataLoader(Stream(), shuffle=True), ValueError),
        (lambda: DataLoader([1], batch_size=0), ValueError),
        (lambda: DataLoader([1], shuffle=True, sampler=[0]), ValueError),
        (lambda: DataLoader([1], batch_size=2, batch_sampler=[[0]]), ValueError),
        (lambda: DataLoader([1], None, drop_last=True), ValueError),
        (lambda: DataLoader([1], num_workers=-1), ValueError),
        (lambda: DataLoader([1], num_workers=1.5), TypeError),
        (lambda: DataLoader([1], timeout=-1), ValueError),
        (lambda: DataLoader([1], prefetch_factor=2), ValueError),
        (lambda: DataLoader([1], persistent_workers=True), ValueError),
        (lambda: DataLoader([1], num_workers=1, prefetch_factor=0), ValueError),
        (lambda: DataLoader([1], collate_fn=3), TypeError),
        (lambda: DataLoader(3), NotImplementedError),
        (lambda: dataloader.DistributedSampler([1], 2, 2), ValueError),
        (lambda: dataloader.BatchSampler([1], 0, False), ValueError),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises(error):
        make()


def test_samplers_of_parts():
    parts = [list(dataloader.DistributedSampler(range(7), 3, r)) for r in range(3)]
    assert {len(p) for p in parts} == {3} and set(chain(*parts)) == set(range(7))
    sampler = dataloader.DistributedSampler(range(100), 2, 0)
    first = list(sampler)
    sampler.set_epoch(1)
    assert list(sampler) != first and len(sampler) == 50
    short = dataloader.DistributedSampler(range(7), 3, 2, shuffle=False, drop_last=True)
    assert list(short) == [2, 5]
    assert len(list(dataloader.RandomSampler(range(3), True, 10))) == 10
    assert sorted(dataloader.RandomSampler(range(3), num_samples=6)) == [0, 0, 1, 1, 2, 2]
