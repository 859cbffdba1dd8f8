"""Transforms of audio give what MindSpore 2.10 gave: shape, type, the sum of magnitudes and five values of a case."""

import json
from pathlib import Path

import numpy as np
import pytest

from dist_ms.dataset import audio
from tests.serial.dataset.audio.cases import cases

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
CASES = {name: (make, values) for name, make, values in cases(audio) if name in RECORDED}


@pytest.mark.parametrize("name", RECORDED)
def test_a_case(name):
    make, values = CASES[name]
    shape, dtype, total, some = RECORDED[name]
    found = np.asarray(make()(*values))
    assert list(found.shape) == shape and str(found.dtype) == dtype
    flat = found.ravel()
    assert np.abs(flat).sum() == pytest.approx(total, rel=2e-5)
    chosen = flat[np.linspace(0, flat.size - 1, min(5, flat.size)).astype(int)]
    np.testing.assert_allclose(chosen, some, rtol=1e-4, atol=2e-5 * max(np.abs(flat).max(), 1e-12))


def test_all_names_are_there():
    for name in audio.__all__:
        assert getattr(audio, name).__name__ == name


@pytest.mark.parametrize(
    "make, error",
    [
        (lambda: audio.AllpassBiquad(44100.5, 200.0), TypeError),
        (lambda: audio.AllpassBiquad(0, 200.0), ValueError),
        (lambda: audio.Spectrogram(0), ValueError),
        (lambda: audio.Resample(1.0, "16000"), TypeError),
        (lambda: audio.Gain("3"), TypeError),
        (lambda: audio.Gain()(np.array(["a"])), (TypeError, RuntimeError)),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises(error):
        make()
