"""Which bytes the desync detector hashes in which step, and what it reads from the environment."""

import numpy as np
import pytest

from dist_ms.parallel.replicas.desync import memory, pieces, steps_between


@pytest.mark.parametrize("sizes", [[], [0], [1], [64, 0, 3], [1000, 7, 4096, 64, 1], [5] * 40, [123457]])
@pytest.mark.parametrize("parts", [1, 2, 3, 25])
def test_every_byte_is_hashed_once(sizes, parts):
    cut = pieces(sizes, parts)
    assert len(cut) == parts
    seen = [np.zeros(size, int) for size in sizes]
    for part in cut:
        for index, start, stop in part:
            assert start < stop <= sizes[index] and start % 64 == 0
            seen[index][start:stop] += 1
    assert all((count == 1).all() for count in seen)
    largest = max((sum(stop - start for _, start, stop in part) for part in cut), default=0)
    assert largest <= sum(sizes) / parts + 64 * (len(sizes) + 1)


def test_memory_keeps_the_order_in_which_it_lies():
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    assert memory(a).tobytes() == a.tobytes()
    assert memory(a.transpose(2, 0, 1)).tobytes() == a.tobytes()
    assert np.shares_memory(memory(a.transpose(1, 2, 0)), a)
    assert len(memory(np.float64(3.0).reshape(()))) == 8


@pytest.mark.parametrize("text", ["-1", "1.5", "often", ""])
def test_a_wrong_number_of_steps_is_refused(text):
    with pytest.raises(ValueError, match="DIST_MS_DESYNC_STEPS must be a number of steps"):
        steps_between({"DIST_MS_DESYNC_STEPS": text})
