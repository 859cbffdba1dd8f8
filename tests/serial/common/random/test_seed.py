"""set_seed, get_seed, keys, and Generator."""

import copy
import random

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.common.random import minimal_standard
from dist_ms.common.random import seed as seeds
from dist_ms.common.random.generator import numpy_generator


def test_set_seed_is_remembered_and_seeds_numpy():
    ms.set_seed(1234)
    assert ms.get_seed() == 1234
    first = np.random.random(3)
    ms.set_seed(1234)
    np.testing.assert_array_equal(np.random.random(3), first)
    np.random.seed(1234)
    np.testing.assert_array_equal(np.random.random(3), first)


@pytest.mark.parametrize("seed", ["a", 1.5, None, True, np.int64(3), [1]])
def test_a_seed_must_be_an_int(seed):
    with pytest.raises(TypeError, match="'seed' must be an int"):
        ms.set_seed(seed)


@pytest.mark.parametrize("seed", [-1, 2**32, 2**70])
def test_a_seed_must_be_in_range(seed):
    ms.set_seed(3)
    with pytest.raises(ValueError, match=r"in \[0, 2\*\*32 - 1\]"):
        ms.set_seed(seed)
    assert ms.get_seed() == 3


def test_keys_and_generators_differ_and_repeat():
    ms.set_seed(0)
    keys = [seeds.next_key() for _ in range(100)]
    assert len(set(keys)) == 100
    assert max(keys) < 2**62
    drawn = [seeds.generator().random() for _ in range(3)]
    assert len(set(drawn)) == 3
    ms.set_seed(0)
    assert [seeds.next_key() for _ in range(100)] == keys
    assert [seeds.generator().random() for _ in range(3)] == drawn


@pytest.mark.parametrize("kind", [np.random.MT19937, np.random.PCG64])
def test_keys_are_numbers_of_the_global_generator(kind):
    before = np.random.get_bit_generator()
    try:
        np.random.set_bit_generator(kind(5))
        keys, after = [seeds.next_key() for _ in range(100)], np.random.random()
        np.random.set_bit_generator(kind(5))
        pairs = [np.random.randint(0, 2**31, size=2).tolist() for _ in range(100)]
        assert keys == [(high << 31) | low for high, low in pairs]
        assert np.random.random() == after
    finally:
        np.random.set_bit_generator(before)


def test_a_seeded_region_depends_on_its_words_alone():
    ms.set_seed(0)
    before = np.random.random()
    with seeds.seeded(1, 2):
        inside = np.random.random()
    after = np.random.random()
    ms.set_seed(0)
    assert np.random.random() == before
    assert np.random.random() == after
    for words, same in (((1, 2), True), ((2, 1), False), ((1, 2, 0, 1), False)):
        with seeds.seeded(*words):
            assert (np.random.random() == inside) is same


def test_the_state_comes_back_after_an_error():
    ms.set_seed(0)
    wanted = np.random.random()
    ms.set_seed(0)
    with pytest.raises(ZeroDivisionError), seeds.seeded(1):
        raise ZeroDivisionError
    assert np.random.random() == wanted


@pytest.mark.parametrize("seed", [0, 5, -5, 2**62, True])
def test_manual_seed_and_state(seed):
    g = ms.Generator()
    assert g.initial_seed() == 0
    assert g.manual_seed(seed) is g
    assert g.initial_seed() == seed
    state = g.get_state()
    assert (state.dtype, state.shape) == (ms.uint8, (16,))
    assert state.asnumpy()[:8].tobytes() == int(seed).to_bytes(8, "little", signed=True)
    first = g.draw().random(3)
    assert g.draw().random(3).tolist() != first.tolist()
    g.set_state(state)
    np.testing.assert_array_equal(g.draw().random(3), first)


def test_a_generators_seed_wraps_at_64_bits():
    assert ms.Generator().manual_seed(2**63).initial_seed() == -(2**63)


def test_seed_picks_a_fresh_one():
    g = ms.Generator()
    drawn = {g.seed() for _ in range(5)}
    assert len(drawn) == 5
    assert g.initial_seed() in drawn


@pytest.mark.parametrize("seed", ["a", 1.5, None])
def test_a_manual_seed_must_be_an_int(seed):
    with pytest.raises(TypeError, match="'seed' must be an int"):
        ms.manual_seed(seed)


@pytest.mark.parametrize("state", [3, None, ms.Tensor([1, 2]), ms.Tensor([1, 2], ms.uint8)])
def test_other_states_are_refused(state):
    with pytest.raises(RuntimeError, match="'state' must"):
        ms.Generator().set_state(state)


def test_the_default_generator():
    assert ms.manual_seed(14) is ms.default_generator
    assert ms.initial_seed() == 14
    state = ms.get_rng_state()
    assert ms.seed() == ms.initial_seed() != 14
    ms.set_rng_state(state)
    assert ms.initial_seed() == 14
    ms.set_seed(3)
    assert ms.initial_seed() == 14


def test_a_deep_copied_generator_goes_its_own_way():
    g = ms.Generator().manual_seed(3)
    g.draw()
    twin = copy.deepcopy(g)
    wanted = g.draw().random()
    assert twin.draw().random() == wanted
    g.manual_seed(4)
    assert twin.initial_seed() == 3


def test_numpy_generators_come_from_a_generator_or_the_global_seed():
    ms.set_seed(5)
    first = numpy_generator().random()
    ms.set_seed(5)
    assert numpy_generator().random() == first
    g = ms.Generator().manual_seed(5)
    own = numpy_generator(g).random()
    assert numpy_generator(ms.Generator().manual_seed(5)).random() == own != first


def test_the_minimal_standard_generator():
    state, want = 1, []
    for _ in range(40):
        low = state = state * 16807 % (2**31 - 1)
        high = state = state * 16807 % (2**31 - 1)
        want.append(((low - 1) + (high - 1) * (2**31 - 2)) / (2**31 - 2) ** 2)
    assert pow(16807, 10000, 2**31 - 1) == 1043618065  # as Park and Miller give it
    np.testing.assert_allclose(minimal_standard.uniform(0, 40), want, rtol=1e-15)
    np.testing.assert_array_equal(minimal_standard.uniform(13, 20), minimal_standard.uniform(0, 40)[13:33])
    assert minimal_standard.uniform(7, 0).shape == (0,)


def test_python_numbers_follow_the_seed():
    ms.set_seed(3)
    drawn = random.random(), np.random.random_sample()
    random.random(), np.random.random_sample()
    ms.set_seed(3)
    assert drawn == (random.random(), np.random.random_sample())
    random.seed(3)
    assert drawn[0] == random.random()
