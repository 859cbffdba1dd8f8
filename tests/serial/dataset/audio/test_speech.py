"""Vad cuts sounds where SoX's detector does; the lengths are torchaudio 2.8's."""

import numpy as np
import pytest

from dist_ms.dataset import audio


def voices(seed, length):
    """Noise with one to three voices, at 8000 samples per second."""
    draw = np.random.RandomState(seed)
    time = np.arange(length) / 8000
    sound = 0.003 * draw.randn(length)
    for _ in range(draw.randint(1, 4)):
        begin = draw.randint(0, length)
        end = begin + draw.randint(400, 8000)
        pitch = draw.uniform(90, 300)
        voice = sum(np.sin(2 * np.pi * pitch * k * time) / k for k in range(1, 12)) * 0.2
        sound[begin:end] += voice[begin:end]
    return sound


OTHER = {
    "trigger_level": 5.0,
    "trigger_time": 0.1,
    "search_time": 0.5,
    "allowed_gap": 0.1,
    "pre_trigger_time": 0.05,
    "boot_time": 0.2,
    "noise_up_time": 0.2,
    "noise_down_time": 0.05,
    "noise_reduction_amount": 1.0,
    "measure_freq": 30.0,
    "measure_duration": 0.05,
    "measure_smooth_time": 0.2,
    "hp_filter_freq": 60.0,
    "lp_filter_freq": 3000.0,
    "hp_lifter_freq": 100.0,
    "lp_lifter_freq": 1500.0,
}


@pytest.mark.parametrize(
    "seed, length, left, other_left",
    [
        (0, 17147, 11947, 16212),
        (1, 20931, 6931, 19996),
        (6, 22822, 8422, 21887),
        (9, 22701, 8701, 21766),
        (11, 15116, 8316, 14181),
        (15, 9930, 7530, 8995),
    ],
)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_voice_begins_the_result(seed, length, left, other_left, dtype):
    sound = voices(seed, length).astype(dtype)
    found = audio.Vad(8000)(sound)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, sound[-left:])
    assert audio.Vad(8000, **OTHER)(sound).shape == (other_left,)


def test_channels_are_cut_together():
    sound = voices(0, 17147)
    both = np.stack([np.zeros_like(sound), sound])[None]
    np.testing.assert_array_equal(audio.Vad(8000)(both), both[..., -11947:])


@pytest.mark.parametrize("length, left", [(9000, 8800), (20, 20)])
def test_without_a_voice_the_end_is_left(length, left):
    assert audio.Vad(8000)(np.zeros(length)).shape == (left,)


@pytest.mark.parametrize(
    "options, error",
    [
        ({"sample_rate": 8000.0}, TypeError),
        ({"sample_rate": 0}, ValueError),
        ({"pre_trigger_time": -1.0}, ValueError),
        ({"noise_up_time": 0.001}, ValueError),
        ({"hp_filter_freq": 5000.0, "lp_filter_freq": 100.0}, ValueError),
        ({"hp_lifter_freq": 3000.0}, ValueError),
        ({"search_time": 0.0}, ValueError),
        ({"trigger_level": "7"}, TypeError),
    ],
)
def test_what_is_refused(options, error):
    with pytest.raises(error, match=next(iter(options))):
        audio.Vad(**({"sample_rate": 8000} | options))
