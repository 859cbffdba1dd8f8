"""Transforms of audio give what MindSpore 2.10 gave: an error, or shape, type, sum of magnitudes and five values."""

import builtins
import json
from pathlib import Path

import numpy as np
import pytest

from dist_ms.dataset import audio
from tests.serial.dataset.audio.cases import cases

RECORDED = json.loads(Path(__file__).with_name("recorded.json").read_text())
CASES = {name: (make, values or ()) for name, make, values in cases(audio)}
# Options that are not compared: what MindSpore does with them.
NOT_RECORDED = {
    **dict.fromkeys(["GriffinLimRand:a", "InverseMelScale:a", "InverseMelScale:b"], "draws numbers"),
    **dict.fromkeys(["GriffinLim:b", "LFilter:a"], "its calls differ from each other"),
    **dict.fromkeys(["MFCC:a", "MFCC:log", "MFCC:odd", "LFCC:a", "LFCC:log"], "wants all entries of the dict"),
    **dict.fromkeys([f"InverseSpectrogram:{option}" for option in ("n", "two", "odd")], "refuses it"),
    "GriffinLimRand:m1": "refuses it at the call, not before",
    "DetectPitchFrequency:c": "takes another of two lags that are nearly equal",
    **dict.fromkeys([f"Vad:{option}" for option in "abcd"], "cuts elsewhere than SoX, which test_speech.py follows"),
}


def options(names):
    """The names without what tells the inputs."""
    return {":".join(name.split(":")[:2]) for name in names}


@pytest.mark.parametrize("name", RECORDED)
def test_a_case(name):
    make, values = CASES[name]
    if isinstance(RECORDED[name], str):
        with pytest.raises(getattr(builtins, RECORDED[name])):
            make()(*values)
        return
    shape, dtype, total, some = RECORDED[name]
    found = np.asarray(make()(*values) if values else make())
    assert list(found.shape) == shape and str(found.dtype) == dtype
    flat = found.ravel()
    assert np.abs(flat).sum() == pytest.approx(total, rel=2e-5)
    chosen = flat[np.linspace(0, flat.size - 1, min(5, flat.size)).astype(int)]
    np.testing.assert_allclose(chosen, some, rtol=1e-4, atol=2e-5 * max(np.abs(flat).max(), 1e-12))


def test_all_options_are_recorded():
    assert not set(RECORDED) - set(CASES)
    assert options(CASES) - options(RECORDED) == set(NOT_RECORDED)


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
        (lambda: audio.SpectralCentroid(0, 8)(np.ones(40)), RuntimeError),
    ],
)
def test_what_is_refused(make, error):
    with pytest.raises(error):
        make()


@pytest.mark.parametrize("masking", [audio.TimeMasking, audio.FrequencyMasking])
def test_a_mask_of_no_width_may_start_anywhere(masking):
    given = np.random.default_rng(0).random((2, 6, 9))
    np.testing.assert_array_equal(masking(False, 0, 50)(given), given)
    with pytest.raises(RuntimeError, match="mask_start"):
        masking(False, 1, 50)(given)
