"""Running a pipeline ahead of its consumer in a thread."""

from __future__ import annotations

import contextvars
import queue
import threading
from collections.abc import Iterable, Iterator
from typing import Any


class Prefetcher:
    """Iterates over a source in a background thread, some items ahead.

    Args:
        source: what to iterate over; an exception it raises comes out here.
        ahead: how many items may wait.

    The thread ends with the source, with `close`, or when the consumer is gone.
    """

    def __init__(self, source: Iterable, ahead: int) -> None:
        self._items: queue.Queue = queue.Queue(ahead)
        self._stop = threading.Event()
        # In a copy of this context: NumPy's allocator is a part of it.
        run = contextvars.copy_context().run
        self._thread = threading.Thread(target=run, args=(_fill, iter(source), self._items, self._stop), daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Any]:
        try:
            while True:
                kind, value = self._items.get()
                if kind == "end":
                    return
                if kind == "error":
                    raise value
                yield value
        finally:
            self.close()

    def close(self) -> None:
        """End the thread."""
        self._stop.set()


def _fill(source: Iterator, items: queue.Queue, stop: threading.Event) -> None:
    """The thread: it holds no reference to the Prefetcher, so that one can be collected."""
    try:
        for value in source:
            if not _put(items, ("item", value), stop):
                return
        _put(items, ("end", None), stop)
    except BaseException as error:
        _put(items, ("error", error), stop)


def _put(items: queue.Queue, entry: tuple, stop: threading.Event) -> bool:
    """Put an entry as soon as there is room; False when the consumer has left."""
    while not stop.is_set():
        try:
            items.put(entry, timeout=0.1)
            return True
        except queue.Full:
            continue
    return False
