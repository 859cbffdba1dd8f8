"""Dropout against its twin, and Philox against the published answers."""

import numpy as np
import pytest

from dist_ms._ext import dropout
from tests import reference
from tests.serial.kernels.calls import DTYPES, assert_close, call, wide


def drop(x, keep_prob, seed=7, offset=0):
    out, mask = np.empty_like(x), np.empty(x.shape, np.uint8)
    return call(dropout.dropout, (x, out, mask, keep_prob, seed, offset), [out, mask])


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        (
            [0xFFFFFFFF] * 4,
            [0xFFFFFFFF] * 2,
            [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD],
        ),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_the_twin_gives_the_answers_published_with_the_generator(counter, key, words):
    assert reference.philox_words([counter], key).tolist() == [words]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (1,), (3, 0), (5, 7), (4, 8, 8), (33_333,)])
@pytest.mark.parametrize("seed, offset", [(0, 0), (2**63 + 12345, 2**40 + 3)])
def test_dropout(dtype, shape, seed, offset):
    x = np.random.default_rng(1).standard_normal(shape).astype(dtype)
    out, mask = drop(x, 0.7, seed, offset)
    wanted, wanted_mask = reference.dropout(wide(x), 0.7, seed, offset)
    np.testing.assert_array_equal(mask, wanted_mask)
    assert_close(out, wanted)


def test_everything_is_kept_with_probability_one():
    x = np.arange(1000, dtype=np.float32)
    out, mask = drop(x, 1.0)
    assert mask.all()
    np.testing.assert_array_equal(out, x)


def test_the_share_kept_and_the_mean_are_right():
    out, mask = drop(np.ones(400_000, np.float32), 0.3)
    assert abs(mask.mean() - 0.3) < 0.005
    assert abs(out.mean() - 1) < 0.02


def test_another_seed_or_offset_drops_other_elements():
    x = np.ones(4096, np.float32)
    masks = [drop(x, 0.5, *key)[1] for key in [(1, 0), (2, 0), (1, 1), (1 << 32, 0)]]
    for i, one in enumerate(masks):
        for two in masks[:i]:
            assert 0.4 < (one == two).mean() < 0.6


def test_a_nan_that_is_dropped_becomes_zero():
    x = np.full(256, np.nan, np.float32)
    out, mask = drop(x, 0.5)
    np.testing.assert_array_equal(np.isnan(out), mask == 1)


def test_wrong_arguments():
    x = np.ones((4, 4), np.float32)
    out, mask = np.zeros_like(x), np.zeros((4, 4), np.uint8)
    with pytest.raises(ValueError, match=r"'keep_prob' must be in \(0, 1\], but got 0.0"):
        dropout.dropout(x, out, mask, 0.0, 1, 1)
    with pytest.raises(ValueError, match=r"'keep_prob' must be in \(0, 1\], but got nan"):
        dropout.dropout(x, out, mask, float("nan"), 1, 1)
    with pytest.raises(ValueError, match=r"'seed' must be in \[0, 2\*\*64\), but got -1"):
        dropout.dropout(x, out, mask, 0.5, -1, 1)
    with pytest.raises(TypeError, match="'offset' must be an int, but got float"):
        dropout.dropout(x, out, mask, 0.5, 1, 1.0)
    with pytest.raises(TypeError, match="'mask' must be uint8, but got bool"):
        dropout.dropout(x, out, mask.astype(bool), 0.5, 1, 1)
    with pytest.raises(ValueError, match="'mask' must have the shape"):
        dropout.dropout(x, out, mask[:2], 0.5, 1, 1)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        dropout.dropout(x.T[::2], out[::2], mask[::2], 0.5, 1, 1)
    with pytest.raises(ValueError, match="'x' must be C-contiguous"):
        dropout.dropout(x[::-1], out, mask, 0.5, 1, 1)
