"""How a pipeline's rows are made: by the caller, by threads, or by processes."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator

from dist_ms.dataset import config
from dist_ms.dataset.dataset import Dataset, Key, Row
from dist_ms.dataset.execution.bad_rows import Skipped, loading
from dist_ms.dataset.execution.channel import StaysHereError
from dist_ms.dataset.execution.epochs import EpochEnd
from dist_ms.dataset.execution.processes import in_processes
from dist_ms.dataset.execution.threads import in_threads

_log = logging.getLogger("dist_ms")
_GROUP = 8  # single rows that a thread loads at a time: handing over each costs more than many rows do


def results(dataset: Dataset, keys: Iterator[Key]) -> Iterator[Row]:
    """The rows of keys, in their order.

    Functions for worker processes that cannot be sent there run in one thread: they may hold what no two may use.

    Args:
        dataset: the last stage.
        keys: of its rows; `EpochEnd` among them comes out in its place.
    """
    workers = 0 if config.get_debug_mode() else dataset.number_of_workers()
    load = loading(dataset)
    batches = any(d.makes_batches for d in dataset.stages())
    ahead = config.get_prefetch_size()
    if not workers:
        return (row for row in map(load, keys) if row is not Skipped)
    if any(d.wants_processes for d in dataset.stages()):
        rows = in_processes(dataset, keys, workers, min(ahead, 2 * workers + 1) if batches else ahead)
        try:
            next(rows)  # the workers begin now
        except StaysHereError as error:
            _log.warning("%s Until then the rows are made in one thread.", error)
            workers = 1
        else:
            return (row for row in rows if row is not Skipped)
    if batches or any(d.holds_back for d in dataset.stages()):
        rows = in_threads(keys, load, workers, min(ahead, 2 * workers + 1))
    else:
        groups = in_threads(_groups(keys), _all_of(load), workers, max(ahead // _GROUP, 1) + workers)
        next(groups)
        return (row for group in groups for row in group if row is not Skipped)
    next(rows)
    return (row for row in rows if row is not Skipped)


def _groups(keys: Iterator[Key]) -> Iterator[list[Key]]:
    """Keys some at a time, of one epoch each."""
    group: list[Key] = []
    size = 1  # the first row comes alone, and soon
    for key in keys:
        group.append(key)
        if len(group) == size or key is EpochEnd:
            yield group
            group, size = [], _GROUP
    if group:
        yield group


def _all_of(load: Callable[[Key], Row]) -> Callable[[list[Key]], list[Row]]:
    return lambda keys: [load(key) for key in keys]
