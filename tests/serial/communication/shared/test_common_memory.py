"""One copy of some bytes, and a view of it that a process's own writes change for itself alone."""

import builtins
import os
from itertools import pairwise

import numpy as np
import pytest

from dist_ms.communication import LocalComm
from dist_ms.communication.shared import common_memory
from dist_ms.communication.shared.common_memory import make

PAGE = 4096
rng = np.random.default_rng(5)


def made(pages):
    memory = make(LocalComm(), pages * PAGE)
    assert memory is not None
    return memory


def test_what_is_shared_is_seen_where_nothing_was_written():
    memory = made(3)
    memory.shared[...] = rng.integers(0, 256, 3 * PAGE)
    np.testing.assert_array_equal(memory.own, memory.shared)
    assert memory.own_pages() == []
    memory.shared[5 : 2 * PAGE] += 1
    np.testing.assert_array_equal(memory.own, memory.shared)


@pytest.mark.parametrize("trial", range(20))
def test_own_pages_are_those_written_to(trial):
    draws = np.random.default_rng(trial)
    pages = int(draws.integers(1, 40))
    memory = made(pages)
    before = draws.integers(0, 256, pages * PAGE).astype(np.uint8)
    memory.shared[...] = before
    touched = np.flatnonzero(draws.random(pages) < 0.3)
    for page in touched:
        memory.own[page * PAGE + int(draws.integers(PAGE))] += 1
    found = memory.own_pages()
    assert [p for start, stop in found for p in range(start // PAGE, stop // PAGE)] == touched.tolist()
    assert all(stop < start for (_, stop), (start, _) in pairwise(found))  # neighbours are one piece
    np.testing.assert_array_equal(memory.shared, before)
    memory.shared[...] = after = before[::-1]
    seen = np.flatnonzero((memory.own.reshape(pages, PAGE) != after.reshape(pages, PAGE)).any(axis=1))
    assert set(seen) <= set(touched.tolist()) and len(seen) == len(touched)
    memory.forget(found)
    np.testing.assert_array_equal(memory.own, after)
    assert memory.own_pages() == []


def test_where_linux_does_not_tell_all_are_its_own(monkeypatch):
    memory = made(2)
    memory.own[PAGE] = 7

    def refused(name, *args, **kwargs):
        if name == "/proc/self/pagemap":
            raise PermissionError(name)
        return builtins.open(name, *args, **kwargs)

    monkeypatch.setattr(common_memory, "open", refused, raising=False)
    assert memory.own_pages() == [(0, 2 * PAGE)]
    memory.forget(memory.own_pages())
    assert memory.own[PAGE] == 0
    assert make(LocalComm(), PAGE) is None


def test_it_leaves_no_file_and_no_descriptor(tmp_path, monkeypatch):
    monkeypatch.setattr(common_memory, "FOLDER", str(tmp_path))
    before = len(os.listdir("/proc/self/fd"))
    memory = made(1)
    assert os.listdir(tmp_path) == []
    del memory
    assert len(os.listdir("/proc/self/fd")) == before


def test_too_much_is_none(tmp_path, monkeypatch):
    assert make(LocalComm(), 1 << 55) is None
    monkeypatch.setattr(common_memory, "room", lambda: 1 << 60)
    assert make(LocalComm(), 1 << 55) is None  # the system refuses it
    monkeypatch.setattr(common_memory, "FOLDER", str(tmp_path / "absent"))
    assert make(LocalComm(), PAGE) is None
