"""Slices: which part of a tensor a rank holds."""

import pytest

import dist_ms as ms
from dist_ms.common.tensor import slices


def index_of(devices, tensor_map, rank):
    shape = [1] * len(tensor_map)
    return slices.slice_of((devices, tensor_map, shape, 0, True, ""), shape, rank).index


@pytest.mark.parametrize(
    ("devices", "tensor_map", "wanted"),
    # what MindSpore 2.10.0 computes for the ranks 0, 1, 2, ...
    [
        ([2, 2], [0, -1], [0, 1, 0, 1]),
        ([2, 2], [1, -1], [0, 0, 1, 1]),
        ([2, 2], [1, 0], [0, 1, 2, 3]),
        ([2, 2], [0, 1], [0, 2, 1, 3]),
        ([2, 3], [0, 1], [0, 2, 4, 1, 3, 5]),
        ([2, 3, 2], [-1, 2, 0], [0, 1, 0, 1, 0, 1, 2, 3, 2, 3, 2, 3]),
        ([2, 2], [-1, -1], [0, 0, 0, 0]),
        ([2, 2], [[1, 0], -1], [0, 1, 2, 3]),
    ],
)
def test_the_number_of_a_slice(devices, tensor_map, wanted):
    assert [index_of(devices, tensor_map, rank) for rank in range(len(wanted))] == wanted


def test_slices_with_the_same_number_start_at_the_same_place_and_cover_the_whole():
    layout = ([2, 3, 2], [1, 2], [4, 5], 0, True, "")
    starts = {}
    for rank in range(12):
        part = slices.slice_of(layout, (12, 10), rank)
        assert part.shape == (4, 5)
        assert starts.setdefault(part.index, part.start) == part.start
    assert sorted(starts.values()) == [(i, j) for i in (0, 4, 8) for j in (0, 5)]


def test_the_rank_comes_from_the_environment_or_the_context_or_the_source(monkeypatch):
    monkeypatch.delenv("RANK_ID", raising=False)
    assert slices.rank() == 0
    monkeypatch.setenv("RANK_ID", "2")
    assert slices.rank() == 2
    slices.set_rank_source(lambda group="world": {"world": 5, "pair": 1}[group])
    try:
        assert (slices.rank(), slices.rank("pair")) == (5, 1)
        ms.set_auto_parallel_context(global_rank=3)
        assert (slices.rank(), slices.rank("pair")) == (3, 1)
    finally:
        ms.reset_auto_parallel_context()
        slices.set_rank_source(None)
    with pytest.raises(RuntimeError, match="the group 'pair' is not known"):
        slices.rank("pair")
