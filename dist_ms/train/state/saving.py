"""Saving a run: every rank writes its share aside, rank 0 makes the whole valid by one rename."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import dist_ms
from dist_ms._ext import busy_cores
from dist_ms.common.lanes import span
from dist_ms.common.settings.environment import value_of
from dist_ms.communication import Comm, LocalComm, agree, on_shrink
from dist_ms.parallel.servers.checkpoint import save_servers
from dist_ms.parallel.servers.served import hand_over
from dist_ms.train.checkpoint import background
from dist_ms.train.state import files, manifest, random_streams, tree
from dist_ms.train.state.collecting import Stateful, place_of
from dist_ms.train.state.folder import Folder
from dist_ms.train.state.manifest import Manifest, Part, Written

_POLL_SECONDS = 0.02
_REASON = "saving"
_gone = threading.Event()  # a rank has died that a save in the background may wait for


def save(
    folder: Folder,
    stateful: Stateful,
    facts: Mapping[str, Any],
    comm: Comm | None,
    keep: int | None,
    best: tuple[str, float] | None = None,
    wait: bool = True,
    copies: dict[str, np.ndarray] | None = None,
) -> None:
    """Save a run; every rank calls it after the same step.

    Args:
        folder: takes the state.
        stateful: what is saved.
        facts: "step", "epoch" and more that JSON can hold.
        comm: the ranks, None for this one alone.
        keep: how many states to keep, None for all.
        best: the metric's name and its value, if this state is the best so far.
        wait: return when it is on the disk; otherwise the values are copied and written in the background.
        copies: the copies of the last save, to be written over: memory that is new costs more than the copying.

    Raises:
        RuntimeError: if the background save before failed.
        OSError: if the folder cannot be written.
    """
    with span("checkpoint", "state of the run"):
        _save(folder, stateful, facts, comm or LocalComm(), keep, best, wait, copies)


def _save(
    folder: Folder,
    stateful: Stateful,
    facts: Mapping[str, Any],
    comm: Comm,
    keep: int | None,
    best: tuple[str, float] | None,
    wait: bool,
    copies: dict[str, np.ndarray] | None,
) -> None:
    """Save a run, as `save` says."""
    step = facts["step"]
    _agreeing(comm, background.finish)
    for optimizer in stateful.optimizers:
        hand_over(optimizer)
    _agreeing(comm, lambda: folder.begin(step) if comm.rank == 0 else None)
    aside = folder.aside(step)
    _check_shared(aside, comm)
    for number, optimizer in enumerate(stateful.served()):
        save_servers(os.path.join(aside, f"servers-{number}"), optimizer)
    found: list = []
    _agreeing(comm, lambda: found.append(_copy(stateful, comm, {} if copies is None else copies)))
    arrays, parts, values = found[0]
    facts = {**_about(), **facts, "ranks": comm.size}
    if comm.rank == 0:  # which writes them
        facts["plan"] = stateful.plan_hash()
    rank, size = comm.rank, comm.size

    def write() -> None:
        try:
            _write(aside, rank, arrays, parts, values)
        except BaseException as error:
            with contextlib.suppress(OSError):  # on a full disk, rank 0 waits until its deadline
                files.write_text(os.path.join(aside, f"rank-{rank:05d}.failed"), f"{type(error).__name__}: {error}")
            raise
        if rank == 0:
            _finish(folder, facts, size)
            if best is not None:
                folder.note_best(step, *best)
            folder.keep(keep)

    if wait:
        _agreeing(comm, write)
    else:  # the core that writing takes is no reason to give up a thread
        busy_cores.keep_number(_REASON)
        background.start(folder.of(step), write)


def finish(comm: Comm | None) -> None:
    """Wait for a save in the background; every rank calls it.

    Raises:
        RuntimeError: on every rank, if it failed on any.
    """
    _agreeing(comm or LocalComm(), background.finish)
    look()


def abandon() -> None:
    """End a save in the background that waits for a rank which has died; the state does not become one."""
    _gone.set()
    try:
        background.finish()
    except RuntimeError:
        pass  # it has been logged
    finally:
        _gone.clear()
    look()


on_shrink(abandon)


def look() -> None:
    """Look after busy cores again when a background save is over; the thread that trains calls it now and then."""
    if not background.running():
        busy_cores.keep_number(_REASON, False)


def _agreeing(comm: Comm, job: Any) -> None:
    """Do something that talks to no other rank, and raise on every rank if it fails on any."""
    error = None
    try:
        job()
    except Exception as caught:
        error = caught
    agree(comm, error)


def _check_shared(aside: str, comm: Comm) -> None:
    """Raise on every rank if one does not see the folder that rank 0 made."""
    seen = comm.gather_objects((os.path.isdir(aside), platform.node()))
    blind = [f"{rank} ({node})" for rank, (sees, node) in enumerate(seen) if not sees]
    if blind:
        raise RuntimeError(
            f"For 'save_run', 'directory' must be one that all ranks share, but rank {', '.join(blind)} cannot see "
            f"{os.path.dirname(aside)} of rank 0 ({seen[0][1]}): give a path on a shared file system."
        )


def _copy(
    stateful: Stateful, comm: Comm, copies: dict[str, np.ndarray]
) -> tuple[dict[str, np.ndarray], dict[str, Part], Any]:
    """Copy this rank's share: its own tensors and slices, and of what all have as many bytes as the others."""
    arrays: dict[str, np.ndarray] = {}
    parts: dict[str, Part] = {}
    load = [0] * comm.size
    for name, tensor, own in stateful.held():
        place = place_of(tensor)
        array = tensor.array()
        if not own and place is None:
            to = load.index(min(load))
            load[to] += array.nbytes
            if to != comm.rank:
                continue
        arrays[name] = copies[name] = _copied(array, copies.get(name))
        parts[name] = files.part_of(name, arrays[name], place, own)
    others: dict[str, np.ndarray] = {}
    values = tree.encode({"random": random_streams.state_dict(), **stateful.values()}, "values", others)
    arrays |= others
    parts |= {name: files.part_of(name, array, None, True) for name, array in others.items()}
    return arrays, parts, values


def _copied(array: np.ndarray, into: np.ndarray | None) -> np.ndarray:
    """Return a copy in C order, in given memory if that fits."""
    if into is None or (into.shape, into.dtype) != (array.shape, array.dtype):
        return np.array(array, order="C")
    np.copyto(into, array)
    return into


def _write(aside: str, rank: int, arrays: dict[str, np.ndarray], parts: dict[str, Part], values: Any) -> None:
    """Write this rank's file, and then what is in it."""
    file = f"rank-{rank:05d}.safetensors"
    sums = files.write_arrays(os.path.join(aside, file), arrays)
    found = tuple(replace(part, crc32=sums[name]) for name, part in parts.items())
    text = json.dumps(manifest.written_to_json(Written(rank, file, found, values)))
    files.write_text(os.path.join(aside, f"rank-{rank:05d}.json"), text)


def _finish(folder: Folder, facts: dict[str, Any], size: int) -> None:
    """Wait until all ranks have written, and give the state its name."""
    aside = folder.aside(facts["step"])
    writers = [_wait_for(aside, rank) for rank in range(size)]
    others = {}
    for place, _, names in os.walk(aside):
        for name in names if place != aside else ():
            path = os.path.join(place, name)
            others[os.path.relpath(path, aside)] = files.file_sum(path)
            _sync(path)
    files.write_text(os.path.join(aside, manifest.FILE), manifest.to_json(Manifest(facts, tuple(writers), others)))
    for rank in range(size):
        os.unlink(os.path.join(aside, f"rank-{rank:05d}.json"))
    folder.commit(facts["step"])


def _wait_for(aside: str, rank: int) -> Written:
    """Return what a rank wrote, when it has."""
    path, failed = (os.path.join(aside, f"rank-{rank:05d}.{end}") for end in ("json", "failed"))
    seconds = float(value_of("DIST_MS_TIMEOUT"))
    deadline = time.monotonic() + seconds
    while not os.path.exists(path):
        if os.path.exists(failed):
            with open(failed, encoding="utf-8") as file:
                raise RuntimeError(f"rank {rank} could not write its share: {file.read()}")
        if _gone.is_set():
            raise RuntimeError(f"rank {rank} has not written its share, and a rank has died")
        if time.monotonic() > deadline:
            raise TimeoutError(f"rank {rank} has not written its share within {seconds:g} s (DIST_MS_TIMEOUT)")
        time.sleep(_POLL_SECONDS)
    with open(path, encoding="utf-8") as file:
        return manifest.written_from_json(json.load(file), rank)


def _sync(path: str) -> None:
    """See that a file that others wrote is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _about() -> dict[str, Any]:
    return {
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "versions": {
            "dist_ms": dist_ms.__version__,
            "numpy": np.__version__,
            "python": platform.python_version(),
        },
    }
