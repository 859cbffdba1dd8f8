"""Weights that programs update without an optimizer, as ranks speak of them when they leave."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.parallel.errors import DesyncError
from dist_ms.parallel.replicas import by_hand


@pytest.fixture(autouse=True)
def together():
    ms.set_auto_parallel_context(parallel_mode="data_parallel")
    yield by_hand.forget()
    by_hand.forget()
    ms.reset_auto_parallel_context()


def weights(count=2, **flags):
    return [Parameter(np.full(3, i, np.float32), name=f"w{i}", **flags) for i in range(count)]


def train(found, steps, by=1.0):
    for _ in range(steps):
        by_hand.note(found)
        for w in found:
            w.set_data(w + by)


def said(found, *args, **kwargs):
    by_hand.forget()
    train(found, *args, **kwargs)
    return by_hand._say()


def test_equal_weights_say_nothing_wrong():
    words = said(weights(), 9)
    assert {key: (one.sweeps, len(one.hashes)) for key, one in words.items()} == {(1, "w0"): (9, 4), (1, "w1"): (9, 4)}
    by_hand._hear({0: words, 1: said(weights(), 9)})


@pytest.mark.parametrize(("steps", "sweeps"), [(2, "second"), (9, "second"), (100, "second")])
def test_the_weight_the_ranks_and_the_sweep_are_named(steps, sweeps):
    words, other = said(weights(), steps), said(weights(), steps, by=2.0)
    with pytest.raises(DesyncError, match=rf"'w0'(.|\n)*for the {sweeps} time(.|\n)*  ranks 0, 2\n  rank 1\n"):
        by_hand._hear({0: words, 1: other, 2: words})


def test_values_from_the_start():
    other = weights()
    other[1].set_data(Tensor(np.full(3, 7, np.float32)))
    with pytest.raises(DesyncError, match=r"'w1'(.|\n)*for the first time(.|\n)*set_seed"):
        by_hand._hear({0: said(weights(), 5), 1: said(other, 5)})


def test_ranks_that_meet_again_say_nothing_wrong():
    """As where each rank makes steps of its own before they average."""
    mine, other = weights(1), weights(1)
    both = []
    for found, by in ((mine, 1.0), (other, 2.0)):
        by_hand.forget()
        train(found, 16, by)
        found[0].set_data(Tensor(np.zeros(3, np.float32)))
        both.append(by_hand._say())
    by_hand._hear(dict(enumerate(both)))


def test_other_values_at_the_end_say_nothing_wrong():
    """As where one rank loads the best ones."""
    words, best = said(weights(1), 6), weights(1)
    by_hand.forget()
    train(best, 6)
    best[0].set_data(Tensor(np.zeros(3, np.float32)))
    by_hand._hear({0: words, 1: by_hand._say()})


def test_another_number_of_sweeps_says_nothing():
    by_hand._hear({0: said(weights(), 5), 1: said(weights(), 6, by=2.0)})


@pytest.mark.parametrize("how", ["layerwise", "untrained", "stand_alone", "optimizer", "local", "gone"])
def test_what_is_not_looked_at(how):
    found = weights(layerwise_parallel=how == "layerwise")
    if how == "stand_alone":
        ms.set_auto_parallel_context(parallel_mode="stand_alone")
    if how in ("optimizer", "local"):
        optimizer = nn.SGD(found, 0.1)
        if how == "local":
            optimizer.local = True
        else:
            optimizer(tuple(w * 0 for w in found))
    words = said(found, 9, by=0.0 if how == "untrained" else 1.0)
    if how == "gone":
        by_hand._newest = ()
        del found
        assert {one.last for one in words.values()} != {None}
        assert {one.last for one in by_hand._say().values()} == {None}
    else:
        assert not words


def test_weights_of_a_function_that_trains_stay_for_the_last_look():
    def run():
        train(weights(), 3)

    run()
    assert None not in {one.last for one in by_hand._say().values()}


def test_weights_that_get_other_names_stay_the_same():
    """As where a cell takes in the network between two steps."""

    def run(by):
        by_hand.forget()
        found = weights()
        train(found, 1, by)
        for w in found:
            w.name = f"network.{w.name}"
        train(found, 8, by)
        return by_hand._say()

    with pytest.raises(DesyncError, match="'w0'"):
        by_hand._hear({0: run(1.0), 1: run(2.0)})


def test_two_models_are_told_apart():
    first, second = weights(1), weights(1)
    train(first, 3)
    train(second, 3)
    assert set(by_hand._say()) == {(1, "w0"), (2, "w0")}
