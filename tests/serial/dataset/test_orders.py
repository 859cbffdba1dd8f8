"""Orders of rows against MindSpore 2.10's, seed for seed."""

import random
from copy import copy

import numpy as np
import pytest

import dist_ms.dataset as ds
from dist_ms.dataset import config
from dist_ms.dataset.orders import WideMersenneTwister, reshuffled

SHUFFLED = [[0, 2, 1, 5, 9, 8, 4, 7, 6, 3], [3, 0, 1, 8, 7, 9, 4, 5, 2, 6], [9, 3, 8, 0, 2, 7, 4, 1, 5, 6]]


@pytest.fixture(autouse=True)
def seed(monkeypatch):
    """Seed 0 for the pipelines of a test."""
    monkeypatch.setitem(config._settings, "seed", 0)


def epochs_of(data, count):
    """The rows of some epochs."""
    iterator = data.create_tuple_iterator(num_epochs=count, output_numpy=True)
    return [[int(x) for (x,) in iterator] for _ in range(count)]


def ten(**how):
    """The numbers 0 to 9."""
    return ds.NumpySlicesDataset(np.arange(10), ["a"], **how)


def test_each_epoch_shuffles_the_order_of_the_one_before():
    assert epochs_of(ten(shuffle=True), 3) == SHUFFLED
    assert epochs_of(ten(sampler=ds.RandomSampler(num_samples=4)), 3) == [order[:4] for order in SHUFFLED]
    assert epochs_of(ten(shuffle=True).repeat(2), 1) == [SHUFFLED[0] + SHUFFLED[1]]


def test_the_shards_of_an_order_make_it_up():
    shards = [epochs_of(ten(shuffle=True, num_shards=2, shard_id=rank), 2) for rank in (0, 1)]
    for epoch in range(2):
        both = [x for pair in zip(shards[0][epoch], shards[1][epoch], strict=True) for x in pair]
        assert both == SHUFFLED[epoch]


def test_an_epoch_is_the_same_whichever_came_before():
    wanted = [reshuffled(3, epoch, 50).tolist() for epoch in range(4)]
    assert [reshuffled(3, epoch, 50).tolist() for epoch in (3, 1, 2, 0)] == [wanted[epoch] for epoch in (3, 1, 2, 0)]
    assert wanted[0] != wanted[1]


def test_with_replacement():
    data = ten(sampler=ds.RandomSampler(replacement=True))
    assert epochs_of(data, 2) == [[5, 5, 7, 8, 6, 8, 5, 8, 4, 6], [4, 9, 7, 9, 0, 1, 3, 9, 1, 2]]


def test_a_subset_is_shuffled_the_same_way_over_and_over():
    data = ten(sampler=ds.SubsetRandomSampler([1, 3, 5, 7, 9]))
    assert epochs_of(data, 3) == [[5, 9, 7, 1, 3], [7, 3, 1, 5, 9], [1, 9, 5, 7, 3]]


def test_parts_of_a_split():
    first, second = ten(shuffle=False).split([8, 2])
    assert epochs_of(first, 2) == [SHUFFLED[0][:8]] * 2
    assert epochs_of(second, 1) == [SHUFFLED[0][8:]]


@pytest.mark.parametrize(
    ("size", "orders"),
    [
        (4, [[2, 4, 1, 3, 0, 6, 9, 7, 8, 5]]),
        (5, [[4, 2, 3, 6, 1, 7, 9, 0, 5, 8], [2, 5, 4, 0, 7, 9, 3, 6, 1, 8], [0, 3, 6, 7, 2, 8, 9, 4, 1, 5]]),
        (10, [[4, 5, 1, 6, 9, 3, 8, 0, 2, 7], [7, 0, 6, 3, 4, 5, 9, 2, 1, 8]]),
    ],
)
def test_a_buffer(size, orders):
    assert epochs_of(ten(shuffle=False).shuffle(size), len(orders)) == orders


def test_an_epoch_of_a_buffer_is_the_same_whichever_came_before():
    data = ten(shuffle=False).shuffle(5)
    wanted = [list(data.keys(epoch)) for epoch in range(4)]
    assert [list(data.keys(epoch)) for epoch in (3, 1, 1, 2)] == [wanted[epoch] for epoch in (3, 1, 1, 2)]


def test_another_seed():
    config.set_seed(7)
    assert epochs_of(ten(shuffle=True), 1) == [[2, 7, 6, 8, 1, 5, 3, 0, 4, 9]]
    assert epochs_of(ten(shuffle=False).shuffle(10), 1) == [[5, 6, 8, 2, 1, 3, 9, 4, 7, 0]]


def test_the_seed_is_that_of_numpy_and_of_python_too():
    drawn = []
    for seed in (7, 7, 8):
        config.set_seed(seed)
        drawn.append((np.random.rand(), random.random()))
    assert drawn[0] == drawn[1] == (np.random.RandomState(7).rand(), random.Random(7).random())
    assert drawn[0][0] != drawn[2][0] and drawn[0][1] != drawn[2][1]


def test_the_words_of_64_bits():
    """The 10,000th word of the default seed is the one that the C++ standard names."""
    words = WideMersenneTwister(5489)
    words.skip(5)
    other = copy(words)
    assert [next(words) for _ in range(400)] == [next(other) for _ in range(400)]
    words.skip(10_000 - 406)
    assert next(words) == 9981545732273789042
