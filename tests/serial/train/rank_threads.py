"""Ranks as threads of one process: a communicator that meets the others at a barrier."""

import threading

import numpy as np

SECONDS = 20


class ThreadComm:
    """One rank's side; the verbs that train uses."""

    def __init__(self, rank, slots, barrier):
        self.rank, self.size = rank, len(slots)
        self._slots, self._barrier = slots, barrier

    def gather_objects(self, value):
        self._slots[self.rank] = value
        self._barrier.wait(SECONDS)
        found = list(self._slots)
        self._barrier.wait(SECONDS)
        return found

    def all_reduce(self, array, op="sum"):
        found = self.gather_objects(array.copy())
        reduce = {"sum": np.add, "max": np.maximum}[op].reduce
        array[...] = reduce(np.stack(found))
        return array


def run_ranks(size, work):
    """Call work(comm) in a thread per rank and return what the ranks return.

    An exception on one rank is raised here, after the others were freed from the barrier.
    """
    slots, barrier = [None] * size, threading.Barrier(size)
    results, errors = [None] * size, [None] * size

    def run(rank):
        try:
            results[rank] = work(ThreadComm(rank, slots, barrier))
        except BaseException as error:
            errors[rank] = error
            if not isinstance(error, threading.BrokenBarrierError):
                barrier.abort()

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = next((e for e in errors if e and not isinstance(e, threading.BrokenBarrierError)), None)
    if first is not None:
        raise first
    assert errors == [None] * size, "a rank did not come to a meeting"
    return results


def run_ranks_all(size, work):
    """Like `run_ranks`, but every rank must raise; returns the exceptions."""

    def caught(comm):
        try:
            work(comm)
        except Exception as error:
            return error
        return None

    return run_ranks(size, caught)
