"""A worker process: loads rows of a pipeline until the process that started it is gone."""

from __future__ import annotations

import faulthandler
import os
import pickle
import queue
import signal
import socket
import threading
import traceback
from typing import Any

from dist_ms.dataset import config, draws
from dist_ms.dataset.execution.bad_rows import Skipped, loading
from dist_ms.dataset.execution.channel import Channel, dumped
from dist_ms.dataset.execution.segments import Segments


def main(socket_number: int, stack_number: int) -> None:
    """Load rows for the process at the other end of a socket.

    Args:
        socket_number: the socket's descriptor.
        stack_number: a file's descriptor; on SIGUSR1 the stacks of this process are written to it.
    """
    for number in (signal.SIGINT, signal.SIGTERM):  # the parent ends this process when it wants to
        signal.signal(number, signal.SIG_IGN)
    faulthandler.register(signal.SIGUSR1, file=stack_number, all_threads=True)
    channel = Channel(socket.socket(fileno=socket_number))
    tasks: queue.SimpleQueue = queue.SimpleQueue()
    threading.Thread(target=_receive, args=(channel, tasks), daemon=True).start()
    segments = Segments()
    draws.follow_rows()
    load = None
    while True:
        kind, *rest = tasks.get()
        if kind == "pipeline":
            dataset = pickle.loads(rest[0])
            load = loading(dataset)
            begin = getattr(dataset, "begin_worker", None)
            if begin is not None:
                begin(rest[1])
        elif kind == "first":
            for begin_process in rest[0]:
                begin_process()
        elif kind == "settings":
            config.restore(rest[0])
        else:
            number, key, freed = rest
            segments.freed(freed)
            draws.follow_row(key, 0)
            descriptors: list[int] = []
            try:
                row = load(key)
                segment, columns, descriptors = (None, None, []) if row is Skipped else segments.put(row)
                message: tuple = (number, "row", segment, columns)
            except Exception as error:
                message = (number, "error", _carried(error), "".join(traceback.format_exception(error)))
            channel.send(message, descriptors)
            for descriptor in descriptors:
                os.close(descriptor)


def _receive(channel: Any, tasks: queue.SimpleQueue) -> None:
    """Take messages as they come; without a parent there is nothing left to do."""
    try:
        while True:
            tasks.put(channel.receive()[0])
    except EOFError:
        os._exit(0)


def _carried(error: Exception) -> bytes | None:
    """The error pickled, None where it cannot be."""
    try:
        text = dumped(error)
        pickle.loads(text)
    except Exception:
        return None
    return text
