"""The numbers that weights start with against their twins, and against MindSpore's."""

import numpy as np
import pytest

from dist_ms._ext import initial_numbers
from tests import reference_random
from tests.serial.kernels.calls import assert_close, call

SHAPES = [(), (0,), (1,), (255,), (3, 0, 2), (16, 16), (257,), (70_001,)]
SEEDS = [0, 2**62 + 12345]


def drawn(kernel, shape, *arguments, **options):
    out = np.empty(shape, np.float32)
    return call(lambda: kernel(out, *arguments, **options), (), [out]).reshape(-1)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_uniform(shape, seed):
    words = reference_random.counted_words(300, seed, seed).reshape(-1)[: int(np.prod(shape))]
    wanted = np.minimum(words.astype(np.float32) / np.float32(2**32), np.nextafter(np.float32(1), np.float32(0)))
    np.testing.assert_array_equal(drawn(initial_numbers.uniform, shape, seed), wanted)
    assert_close(drawn(initial_numbers.uniform, shape, seed, -3.0, 1.0), 4 * wanted - 3)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_normal(shape, seed):
    words = reference_random.counted_words(300, seed, seed).reshape(-1, 2)
    u, turn = ((words & 0x7FFFFF) / 2**23).T
    radius, angle = np.sqrt(-2 * np.log(np.maximum(u, 1e-7))), 2 * np.pi * turn
    pairs = np.stack((radius * np.cos(angle), radius * np.sin(angle)), 1).reshape(-1)
    wanted = pairs[: int(np.prod(shape))]
    found = drawn(initial_numbers.normal, shape, seed)
    np.testing.assert_allclose(found, wanted, rtol=0, atol=2e-6)
    np.testing.assert_allclose(drawn(initial_numbers.normal, shape, seed, 2.0, 0.5), 0.5 * found + 2, atol=1e-6)


@pytest.mark.parametrize("kernel", [initial_numbers.uniform, initial_numbers.normal])
def test_a_part_gets_what_it_gets_within_the_whole(kernel):
    np.testing.assert_array_equal(drawn(kernel, (1000,), 5, first=1024), drawn(kernel, (3000,), 5)[1024:2024])


def test_mindspores_numbers():
    # What MindSpore 2.10 makes of the seeds 1 and (3 << 50) + 999, whose upper half counts as well.
    found = drawn(initial_numbers.uniform, (8,), 1)
    wanted = [0.02745223, 0.25980213, 0.22279455, 0.42826447, 0.23174448, 0.9386339, 0.818228, 0.352401]
    np.testing.assert_allclose(found, wanted, rtol=1e-6)
    found = drawn(initial_numbers.normal, (6,), 1)
    wanted = [2.3878284, 0.28183395, -0.3086618, 2.2804048, -0.8071461, -0.44758132]
    np.testing.assert_allclose(found, wanted, rtol=2e-6)
    assert abs(drawn(initial_numbers.normal, (397_944,), (3 << 50) + 999)[-1] - -0.33955508) < 3e-6


def test_refusals():
    out = np.empty(10, np.float32)
    with pytest.raises(ValueError, match=r"'seed' must be in \[0, 2\*\*64\)"):
        initial_numbers.uniform(out, -1)
    with pytest.raises(TypeError, match="'seed' must be an int"):
        initial_numbers.normal(out, 1.5)
    with pytest.raises(ValueError, match="'first' must be a multiple of 256"):
        initial_numbers.normal(out, 1, first=3)
    with pytest.raises(TypeError, match="'out' must be"):
        initial_numbers.uniform(np.empty(3), 1)
