"""Resampling against the sum that defines it, where a period of both rates is short and where it is long."""

import math

import numpy as np
import pytest

from dist_ms.dataset.audio import resampling


def by_definition(x, source, target, width, rolloff):
    """Each result from all samples: a sinc under a squared cosine."""
    edge = min(source, target) * rolloff / source
    results = np.arange(math.ceil(target * x.shape[-1] / source))
    times = (np.arange(x.shape[-1]) - results[:, None] * source / target) * edge
    weights = np.sinc(times) * np.cos(times * np.pi / width / 2) ** 2 * (abs(times) < width) * edge
    return x @ weights.T


@pytest.mark.parametrize("most", [1 << 18, 0], ids=["all weights", "the near ones"])
@pytest.mark.parametrize("source, target", [(2, 1), (1, 2), (441, 160), (160, 441), (97, 89), (50, 1)])
@pytest.mark.parametrize("shape", [(1,), (2, 3, 700)])
def test_against_the_definition(source, target, shape, most, monkeypatch):
    monkeypatch.setattr(resampling, "_MOST_WEIGHTS", most)
    monkeypatch.setattr(resampling, "_RESULTS_AT_ONCE", 64)
    x = np.random.default_rng(0).standard_normal(shape)
    found = resampling.resampled(x, 3 * source, 3 * target, 6, 0.9, None)
    np.testing.assert_allclose(found, by_definition(x, source, target, 6, 0.9), rtol=0, atol=1e-12)


def test_both_ways_give_kaiser_s_window(monkeypatch):
    x = np.random.default_rng(1).standard_normal((2, 300))
    whole = resampling.resampled(x, 7, 5, 4, 0.8, 14.0)
    monkeypatch.setattr(resampling, "_MOST_WEIGHTS", 0)
    np.testing.assert_allclose(resampling.resampled(x, 7, 5, 4, 0.8, 14.0), whole, rtol=0, atol=1e-12)
