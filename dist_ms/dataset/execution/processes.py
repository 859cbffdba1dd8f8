"""Loading rows in worker processes, in order, some ahead of the consumer.

Workers are started anew, never forked: a process in which MPI runs must not be. They stay for later epochs, write rows
into memory that both sides map, and end when this process does, however it ends.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import time
import weakref
from collections.abc import Iterator
from typing import Any

from dist_ms.common.settings import new_processes
from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Key
from dist_ms.dataset.execution.bad_rows import Skipped, named_row
from dist_ms.dataset.execution.channel import Channel, dumped
from dist_ms.dataset.execution.epochs import EpochEnd
from dist_ms.dataset.execution.segments import arrays

_EACH = 2  # tasks that wait at a worker: one under way, one to go on with
# A worker is no rank: what the launchers of ranks tell their processes is not for it.
_OF_RANKS = (
    "OMPI_",
    "PMIX_",
    "PMI_",
    "PRTE_",
    "HYDRA_",
    "MPI_",
    "I_MPI_",
    "SLURM_",
    "DIST_MS_JOB_TOKEN",
    "DIST_MS_PLAN",
    "DIST_MS_REPORT",
    "MS_ROLE",
)
_START = (
    "import json, sys; sys.path[:] = json.loads(sys.argv[3]); "
    "from dist_ms.dataset.execution.worker import main; main(int(sys.argv[1]), int(sys.argv[2]))"
)


class Worker:
    """A process that loads rows, and the memory it shares with this one.

    Args:
        pipeline: the pickled dataset.
        number: which of the workers it is.
    """

    def __init__(self, pipeline: bytes, number: int) -> None:
        ours, theirs = socket.socketpair()
        self.stacks = os.memfd_create("dist_ms stacks")
        environment = {k: v for k, v in os.environ.items() if not k.startswith(_OF_RANKS)}
        self.process = subprocess.Popen(
            [sys.executable, "-c", _START, str(theirs.fileno()), str(self.stacks), json.dumps(sys.path)],
            stdin=subprocess.DEVNULL,
            pass_fds=(theirs.fileno(), self.stacks),
            env=environment | {"OMP_NUM_THREADS": "1", "OPENCV_FOR_THREADS_NUM": "1"},
        )
        theirs.close()
        self.channel = Channel(ours)
        self.memory: dict[int, mmap.mmap] = {}
        self.freed: list[int] = []
        self.waiting: dict[int, Key] = {}  # by number: keys given, whose rows have not come
        self.channel.send(("first", new_processes.first))
        self.channel.send(("settings", config.snapshot()))
        self.channel.send(("pipeline", pipeline, number))

    def give(self, number: int, key: Key) -> None:
        """Have a row loaded."""
        freed, self.freed = self.freed, []
        self.waiting[number] = key
        self.channel.send(("row", number, key, freed))

    def take(self) -> tuple[int, Any]:
        """The next row that comes, and its number; an exception if there is an error in its place.

        Raises:
            EOFError: if the process has ended.
        """
        (number, kind, *rest), descriptors = self.channel.receive()
        self.waiting.pop(number, None)
        if kind == "error":
            return number, _error(*rest)
        segment, columns = rest
        for descriptor in descriptors:
            self.memory[segment] = mmap.mmap(descriptor, os.fstat(descriptor).st_size)
            os.close(descriptor)
        if columns is None:
            return number, Skipped
        if segment is None:
            return number, tuple(columns)
        freed = weakref.WeakMethod(self._free)  # arrays may outlive the worker

        def done() -> None:
            if (free := freed()) is not None:
                free(segment)

        return number, arrays(columns, self.memory[segment], done)

    def _free(self, segment: int) -> None:
        self.freed.append(segment)

    def stack(self) -> str:
        """Where the process is, as its interpreter tells."""
        self.process.send_signal(signal.SIGUSR1)
        for _ in range(20):
            time.sleep(0.05)
            if os.fstat(self.stacks).st_size:
                break
        return os.pread(self.stacks, 1 << 16, 0).decode(errors="replace")

    def end(self) -> None:
        """End the process."""
        self.channel.close()
        try:
            self.process.wait(0.5)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.stacks)


class Pool:
    """The worker processes of a pipeline.

    Args:
        dataset: the pipeline.
        workers: how many processes.
    """

    def __init__(self, dataset: Dataset, workers: int) -> None:
        pipeline = dumped(dataset)
        self.workers: list[Worker] = []
        self.close = weakref.finalize(self, _end, self.workers)  # at the interpreter's end, too
        self.selector = selectors.DefaultSelector()
        for number in range(workers):
            worker = Worker(pipeline, number)
            self.workers.append(worker)
            self.selector.register(worker.channel.end, selectors.EVENT_READ, worker)
        self.numbers = 0  # rows asked for so far: what a consumer left behind is known by its number
        self.busy = False

    def rows(self, dataset: Dataset, keys: Iterator[Key], ahead: int, limit: float | None = None) -> Iterator[Any]:
        """The rows of keys, in their order, behind None, which comes when the first are asked for.

        Raises:
            RuntimeError: if a worker dies, or gives no row within the watchdog's time.
        """
        for worker in self.workers:
            worker.channel.send(("settings", config.snapshot()))
        ready: dict[int, Any] = {}
        number = first = self.numbers
        ahead, more, begun = max(ahead, 1), True, False
        while True:
            while more and self.numbers - number < ahead:
                worker = min(self.workers, key=lambda w: len(w.waiting))
                if len(worker.waiting) >= max(_EACH, ahead // len(self.workers)):
                    break
                key = next(keys, None)
                if key is None:
                    more = False
                    break
                if key is EpochEnd:
                    ready[self.numbers] = EpochEnd
                    self.numbers += 1
                else:
                    self._ask(dataset, worker, key)
            if not begun:
                begun = True
                yield None
            if number == self.numbers:
                return
            while number not in ready:
                self._receive(dataset, ready, number, first, limit)
            row = ready.pop(number)
            number += 1
            if isinstance(row, BaseException):
                raise row
            yield row
            del row  # its memory may be written again as soon as the consumer lets go

    def _ask(self, dataset: Dataset, worker: Worker, key: Key) -> None:
        number, self.numbers = self.numbers, self.numbers + 1
        try:
            worker.give(number, key)
        except ConnectionError:
            raise _death(dataset, worker) from None

    def _receive(self, dataset: Dataset, ready: dict[int, Any], wanted: int, first: int, limit: float | None) -> None:
        """Take what workers send; rows that a consumer before asked for are dropped."""
        if limit is None and config.get_enable_watchdog():
            limit = config.get_multiprocessing_timeout_interval()
        events = self.selector.select(limit)
        if not events:
            raise self._hang(dataset, wanted, limit)
        for event, _ in events:
            worker = event.data
            try:
                number, row = worker.take()
            except EOFError:
                raise _death(dataset, worker) from None
            if number >= first:
                ready[number] = row

    def _hang(self, dataset: Dataset, wanted: int, limit: float | None) -> RuntimeError:
        worker = next(w for w in self.workers if wanted in w.waiting)
        return RuntimeError(
            f"A worker process (pid {worker.process.pid}) made no row within {limit} s, while making "
            f"{named_row(dataset, worker.waiting[wanted])}. Allow more with "
            f"dataset.config.set_multiprocessing_timeout_interval. It is here:\n{worker.stack()}"
        )


def _end(workers: list[Worker]) -> None:
    for worker in workers:
        worker.channel.end.shutdown(socket.SHUT_RDWR)
    for worker in workers:
        worker.end()
    workers.clear()


def _death(dataset: Dataset, worker: Worker) -> RuntimeError:
    """What to say of a worker that is gone."""
    code = worker.process.wait(10)
    how = f"by signal {signal.Signals(-code).name}" if code < 0 else f"with exit code {code}"
    at = next(iter(worker.waiting.values()), None)
    row = "" if at is None else f", while making {named_row(dataset, at)}"
    return RuntimeError(f"A worker process (pid {worker.process.pid}) ended {how}{row}.")


def _error(carried: bytes | None, text: str) -> BaseException:
    """The error of a worker, with its traceback."""
    error = RuntimeError("A worker process raised an error.") if carried is None else pickle.loads(carried)
    error.add_note(f"In a worker process:\n{text}")
    return error


_pools: weakref.WeakKeyDictionary = weakref.WeakKeyDictionary()


def in_processes(dataset: Dataset, keys: Iterator[Key], workers: int, ahead: int) -> Iterator[Any]:
    """The rows of keys, in their order, from processes that stay with the dataset; None first, when they have begun.

    Args:
        dataset: the last stage.
        keys: of its rows.
        workers: how many processes.
        ahead: how many rows may be loaded or under way before the consumer takes them.
    """
    pool = _pools.get(dataset)
    if pool is None or pool.busy or len(pool.workers) != workers:
        pool = Pool(dataset, workers)
        _pools.setdefault(dataset, pool)
    pool.busy = True
    try:
        yield from pool.rows(dataset, keys, ahead)
    except BaseException as error:
        if not isinstance(error, GeneratorExit):
            close_pool(dataset, pool)
        raise
    finally:
        pool.busy = False


def close_pool(dataset: Dataset, pool: Pool | None = None) -> None:
    """End the worker processes of a dataset."""
    pool = _pools.get(dataset) if pool is None else pool
    if pool is not None:
        if _pools.get(dataset) is pool:
            del _pools[dataset]
        pool.close()
