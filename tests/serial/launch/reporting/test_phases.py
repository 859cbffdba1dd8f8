"""What the report says bounds a run, from the ranks' times."""

from collections import defaultdict

import pytest

from dist_ms.launch.reporting.phases import RankPhases, verdict


def rank(number, **milliseconds):
    """A rank of ten steps of 40 ms each."""
    seconds = defaultdict(float, {name.replace("_", " "): 10 * ms / 1e3 for name, ms in milliseconds.items()})
    return RankPhases(number, "node", [40.0] * 10, seconds, [], 0)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        ((4, 30), "A slow rank bounds this run: rank 1 on node. It needs 26 ms more"),
        ((18, 30), "Data bounds this run: ranks wait 60 % of the time"),
        ((30, 30), "Data bounds this run: ranks wait 75 % of the time"),
    ],
)
def test_a_rank_that_is_late_by_data(data, told):
    """It is the data where all ranks wait for it, though one waits longest."""
    ranks = [rank(i, data=ms, forward=10, waiting_for_ranks=30 - ms) for i, ms in enumerate(data)]
    text = verdict(ranks)
    assert text.startswith("A step takes 40 ms (median) on 2 ranks. " + told)
    assert text.endswith("Rank 1 on node waits longest, 12 ms more per step than the others.") == (data == (18, 30))


def test_a_rank_that_computes_longer_is_the_slow_one_where_all_wait_for_data_too():
    ranks = [rank(0, data=20, forward=5, waiting_for_ranks=15), rank(1, data=20, forward=20)]
    assert "A slow rank bounds this run: rank 1 on node. It needs 15 ms more" in verdict(ranks)


@pytest.mark.parametrize(
    ("first", "second", "told"),
    [
        ({"forward": 8, "waiting_for_ranks": 30}, {"forward": 38}, "A slow rank bounds this run: rank 1 on node"),
        ({"forward": 6, "communication": 32}, {"forward": 13, "communication": 26}, "Communication bounds this run"),
        ({"backward": 36}, {"backward": 36}, "Computing bounds this run"),
    ],
)
def test_the_largest_cause_is_named(first, second, told):
    assert told in verdict([rank(0, **first), rank(1, **second)])
