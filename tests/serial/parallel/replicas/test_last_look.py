"""Weights that ranks compare as they leave."""

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, nn, ops
from dist_ms.common.progress import progress
from dist_ms.communication import LocalComm
from dist_ms.communication.end import last_words
from dist_ms.parallel.errors import DesyncError
from dist_ms.parallel.replicas import last_look


@pytest.fixture
def watched(monkeypatch):
    last_look.forget()
    monkeypatch.setattr(progress, "updates", progress.updates + 1)
    w = Parameter(np.arange(6, dtype=np.float32).reshape(2, 3), name="w")
    b = Parameter(np.array([1.0, np.nan], np.float32), name="b")
    yield last_look.Watched([w, b], LocalComm())
    last_look.forget()


def said():
    return last_words.words()["weights"]


def test_equal_weights_say_nothing_wrong(watched):
    assert len(said()) == 1
    last_words.hear({0: last_words.words(), 1: last_words.words()})


def test_the_weight_and_the_ranks_are_named(watched):
    before = last_words.words()
    watched._parameters[0]._data[1, 2] += 1
    with pytest.raises(DesyncError, match=r"'w'(.|\n)*  ranks 0, 2\n  rank 1\n"):
        last_words.hear({0: before, 1: last_words.words(), 2: before})


@pytest.mark.parametrize("which", ["layout", "nan"])
def test_layout_and_bits_of_nan_do_not_count(watched, which):
    before = said()
    if which == "layout":
        watched._parameters[0]._data = np.asfortranarray(watched._parameters[0]._data)
    else:
        watched._parameters[1]._data.view(np.uint32)[1] ^= 1 << 31
    assert said() == before


def test_values_given_since_the_last_update_do_not_count(watched, monkeypatch):
    watched._parameters[0].set_data(Tensor(np.zeros((2, 3), np.float32)))
    assert [list(names) for names in said().values()] == [["b"]]
    monkeypatch.setattr(progress, "updates", progress.updates + 1)
    assert [list(names) for names in said().values()] == [["w", "b"]]


def test_only_those_that_speak_of_a_weight_are_compared(watched):
    last_words.hear({0: last_words.words(), 1: {}, 2: {"weights": {}}})


def test_the_newest_stay_and_older_ones_go_with_their_model():
    last_look.forget()
    for _ in range(3):
        last_look.Watched([Parameter(np.ones(2, np.float32), name="w")], LocalComm())
    assert len(said()) == 1
    last_look.forget()
    assert not said()


def test_an_update_does_not_count_as_values_given():
    w = Parameter(np.ones(2, np.float32), name="w")
    before = w.overwritten
    nn.SGD([w], 0.1)((Tensor(np.ones(2, np.float32)),))
    nn.Adam([w], 0.1)((Tensor(np.ones(2, np.float32)),))
    assert w.overwritten == before
    ops.assign(w, Tensor(np.zeros(2, np.float32)))
    assert w.overwritten == progress.updates
