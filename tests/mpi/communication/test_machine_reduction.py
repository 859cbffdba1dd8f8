"""Reductions between machines; each rank standing for a machine."""

import itertools
import time

import numpy as np
import pytest

from dist_ms._ext import board as boards
from dist_ms.communication.wire.machine_reduction import Between


class Held:
    """An array that its machine has reduced after so many looks."""

    def __init__(self, length, looks):
        self.part, self._looks, self._released = (0, length), looks, False

    def advance(self, seconds, moving=False):
        self._looks -= 1
        if self._released:
            return boards.DONE
        return boards.REDUCED if self._looks < 0 else boards.WAITING

    def release(self):
        self._released = True


@pytest.fixture
def between(world):
    if world.comm.size == 1:
        pytest.skip("takes 2 ranks")
    from mpi4py import MPI

    comm = MPI.COMM_WORLD.Dup()
    found = Between(MPI, comm, 1)
    yield found
    found.free()


@pytest.mark.parametrize("dtypes", list(itertools.product([np.float32, np.float16], repeat=3)), ids=str)
def test_arrays_meet_in_the_order_they_came(between, dtypes):
    rank, size = between.comm.Get_rank(), between.comm.Get_size()
    arrays = [np.full(100 + 50 * i, rank + i, dtype) for i, dtype in enumerate(dtypes)]
    # Every machine reduces the arrays in another order.
    looks = [(i + rank) % 3 * 5 for i in range(3)]
    under_way = [
        between.reduction(Held(len(array), look), array, "sum") for array, look in zip(arrays, looks, strict=True)
    ]
    deadline = time.monotonic() + 20
    while under_way:
        assert time.monotonic() < deadline
        ended = [exchange.advance(0) == boards.DONE for exchange in under_way]
        under_way = [exchange for exchange, end in zip(under_way, ended, strict=True) if not end]
    for i, array in enumerate(arrays):
        assert (array == sum(range(size)) + i * size).all()
