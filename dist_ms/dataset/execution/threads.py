"""Loading rows in threads, in order, some ahead of the consumer."""

from __future__ import annotations

import atexit
import contextvars
import os
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any
from weakref import WeakSet

_PATIENCE = 5.0  # seconds that the end of the process waits for what threads are at

# In threads of which several load: whoever makes keys there is called by one at a time, and in order.
several_load: contextvars.ContextVar[bool] = contextvars.ContextVar("several_load", default=False)


class _Shared:
    """What the threads and the consumer share; it knows neither, so that a consumer can be collected.

    Attributes:
        results: by number, (value, None) or (None, the exception) of what is loaded and not taken yet.
        begun: how many keys were taken up.
        taken: how many results the consumer took.
        end: how many keys there are; None until the last was seen.
        threads: those that load.
    """

    def __init__(self, keys: Iterator, load: Callable[[Any], Any], ahead: int) -> None:
        self.keys, self.load, self.ahead = keys, load, ahead
        self.lock = threading.RLock()  # a collection of garbage within it may end a consumer, which stops the threads
        self.room, self.news = threading.Condition(self.lock), threading.Condition(self.lock)
        self.next_key = threading.Lock()  # keys may call functions of the user: one thread at a time
        self.results: dict[int, tuple[Any, BaseException | None]] = {}
        self.begun = self.taken = 0
        self.end: int | None = None
        self.stopped = False
        self.threads: list[threading.Thread] = []

    def work(self) -> None:
        """Load keys until there are none, or the consumer is gone."""
        while True:
            with self.next_key:
                with self.lock:
                    while not self.stopped and self.end is None and self.begun - self.taken >= self.ahead:
                        self.room.wait()
                    if self.stopped or self.end is not None:
                        return
                    number = self.begun
                    self.begun += 1
                try:
                    key = next(self.keys)
                except StopIteration:
                    self._finish(number)
                    return
                except BaseException as error:
                    self._put(number, (None, error))
                    self._finish(number + 1)
                    return
            try:
                result = self.load(key), None
            except BaseException as error:
                result = None, error
            self._put(number, result)

    def _put(self, number: int, result: tuple) -> None:
        with self.lock:
            self.results[number] = result
            self.news.notify()

    def _finish(self, end: int) -> None:
        with self.lock:
            self.end = end
            self.news.notify()
            self.room.notify_all()

    def take(self) -> Any:
        """The next result, in order.

        Raises:
            StopIteration: after the last.
        """
        with self.lock:
            while self.taken not in self.results:
                if self.end is not None and self.taken >= self.end:
                    raise StopIteration
                self.news.wait()
            value, error = self.results.pop(self.taken)
            self.taken += 1
            self.room.notify()
        if error is not None:
            raise error
        return value

    def stop(self) -> None:
        """End the threads after what they are at."""
        with self.lock:
            self.stopped = True
            self.results.clear()
            self.room.notify_all()


_running: WeakSet[_Shared] = WeakSet()
os.register_at_fork(after_in_child=_running.clear)


def _end() -> None:
    """End all threads while the interpreter is whole: one that returns from C++ later ends the process by a signal."""
    running, deadline = list(_running), time.monotonic() + _PATIENCE
    for shared in running:
        shared.stop()
    for shared in running:
        for thread in shared.threads:
            thread.join(max(0.0, deadline - time.monotonic()))


atexit.register(_end)


def in_threads(keys: Iterable, load: Callable[[Any], Any], workers: int, ahead: int) -> Iterator[Any]:
    """The results of `load` for each key, in the keys' order.

    Args:
        keys: what to load; an exception it raises comes out in its place.
        load: called by several threads at once.
        workers: how many.
        ahead: how many results may be loaded or under way before the consumer takes them.

    The generator gives None first, when the threads have begun. They end with the keys, with the generator, or when the
    consumer is gone.
    """
    shared = _Shared(iter(keys), load, max(ahead, 1))
    _running.add(shared)
    for i in range(workers):
        # In a copy of this context: NumPy's allocator is a part of it.
        context = contextvars.copy_context()
        context.run(several_load.set, workers > 1)
        thread = threading.Thread(target=context.run, args=(shared.work,), name=f"dist_ms data {i}", daemon=True)
        shared.threads.append(thread)
        thread.start()
    try:
        yield None
        while True:
            try:
                value = shared.take()
            except StopIteration:
                return
            yield value
    finally:
        shared.stop()
