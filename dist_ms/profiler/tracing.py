"""Tracing a whole run: each rank's lanes, memory and loss by step, as `rank_K.json.gz` for `dist-ms report`.

`dist-ms run --trace DIR` names the folder (DIST_MS_TRACE). Operations are recorded in two steps only, as that
slows them.
"""

from __future__ import annotations

import atexit
import contextlib
import gzip
import json
import os
import platform
import sys
from time import perf_counter_ns
from typing import Any

import numpy as np

from dist_ms._ext import memory
from dist_ms._ext.threads import get_num_threads
from dist_ms.common.lanes import lanes
from dist_ms.common.progress import progress
from dist_ms.communication import Comm
from dist_ms.communication.world import World, on_init
from dist_ms.profiler.links import link_rate
from dist_ms.profiler.recording import Recorder
from dist_ms.profiler.results import by_operation

__all__ = ["Trace", "clock_offset", "start"]

LANES = ("steps", "data", "forward", "backward", "update", "communication", "checkpoint", "callbacks", "evaluation")
_DETAILED = (3, 4)  # steps, from 0, whose operations are recorded
_ROUND_TRIPS = 8  # by which clocks are compared


def clock_offset(comm: Comm) -> int:
    """Return what to add to this rank's clock, in ns, to get rank 0's; every rank calls it.

    Rank 0 answers each rank's messages with its time; of several round trips the shortest tells most.

    Args:
        comm: the ranks.

    Examples:
        >>> from dist_ms.communication import LocalComm
        >>> from dist_ms.profiler.tracing import clock_offset
        >>> clock_offset(LocalComm())
        0
    """
    if comm.size == 1 or comm.one_node:  # of one machine the clock is one
        return 0
    word, best = np.zeros(1, np.int64), (1 << 62, 0)
    for other in range(1, comm.size):
        for _ in range(_ROUND_TRIPS):
            if comm.rank == 0:
                comm.recv(word, other)
                word[0] = perf_counter_ns()
                comm.send(word, other)
            elif comm.rank == other:
                asked = perf_counter_ns()
                comm.send(word, 0)
                comm.recv(word, 0)
                came = perf_counter_ns()
                best = min(best, (came - asked, int(word[0]) - (asked + came) // 2))
    return best[1]


class Trace:
    """What one rank writes.

    Args:
        folder: where to.

    Attributes:
        rank, ranks: which one this is, of how many.
        link: the first rank of the next machine, and the bytes per second that go there; None where none were sent.
        offset: from its clock to rank 0's, in ns.
        updates: per update its end, the bytes that arrays have and the most they had, and the loss before it.
    """

    def __init__(self, folder: str) -> None:
        self.folder, self.rank, self.ranks, self.offset = folder, 0, 1, 0
        self.link: tuple[int, float] | None = None
        self.began, self._process = perf_counter_ns(), os.getpid()
        self.updates: list[tuple[int, int, int, float | None]] = []
        self._operations = Recorder(shapes=True, gives_way=True)
        self._written = self._failed = False
        self.world: World | None = None

    def after_update(self, now: int) -> None:
        """Note the end of a step."""
        found = memory.statistics()
        self.updates.append((now, found["live"], found["peak_live"], progress.loss))
        progress.wants_loss = True
        done = len(self.updates)
        if done == _DETAILED[0]:
            with contextlib.suppress(RuntimeError):  # the user records
                self._operations.begin()
        elif done > _DETAILED[-1] and self._operations.on:
            self._operations.end()

    def communicated(self, group: str, verb: str, number: int, began: float, ended: float) -> None:
        """Note a time in a collective."""
        lanes.add("communication", f"{verb} of {group}", int(began * 1e9), int(ended * 1e9), number)

    def events(self) -> list[dict[str, Any]]:
        """The trace events, in us of rank 0's clock."""
        lane_of, pid = {name: place for place, name in enumerate(LANES)}, self.rank

        def complete(lane: str, name: str, start: int, end: int, more: dict[str, Any]) -> dict[str, Any]:
            times = {"ts": (start + self.offset) / 1e3, "dur": max(0, end - start) / 1e3}
            return {
                "name": name,
                "cat": lane,
                "ph": "X",
                **times,
                "pid": pid,
                "tid": lane_of[lane],
                "args": more,
            }

        host = platform.node()
        events: list[dict[str, Any]] = [
            {"name": "process_name", "ph": "M", "pid": pid, "tid": 0, "args": {"name": f"rank {pid} on {host}"}},
            {"name": "process_sort_index", "ph": "M", "pid": pid, "tid": 0, "args": {"sort_index": pid}},
        ]
        for lane, place in lane_of.items():
            events.append({"name": "thread_name", "ph": "M", "pid": pid, "tid": place, "args": {"name": lane}})
            more = {"sort_index": place}
            events.append({"name": "thread_sort_index", "ph": "M", "pid": pid, "tid": place, "args": more})
        for lane, name, start, end, number in lanes.spans:
            events.append(complete(lane, name, start, end, {"number": number} if number else {}))
        before = self.first()
        losses = [loss for _, _, _, loss in self.updates[1:]] + [progress.loss]
        for count, ((end, live, peak, _), loss) in enumerate(zip(self.updates, losses, strict=False)):
            known = {"step": count, "live": live, "peak": peak, "detailed": count in _DETAILED}
            if loss is not None:
                known["loss"] = loss
            events.append(complete("steps", f"step {count + 1}", before, end, known))
            at = (end + self.offset) / 1e3
            events.append({"name": "memory", "ph": "C", "pid": pid, "tid": 0, "ts": at, "args": {"MB": live / 1e6}})
            before = end
        return events

    def first(self) -> int:
        """When the first step began: with its first batch, or its forward."""
        starts = (start for lane, _, start, _, _ in lanes.spans if lane in ("data", "forward"))
        return min(starts, default=self.began)

    def facts(self) -> dict[str, Any]:
        """What else there is to say of this rank."""
        from importlib.metadata import version

        limits = {}
        if self._operations.spans and not self._failed:
            from dist_ms.profiler.limits import measured_limits

            limits = measured_limits()
        return {
            "rank": self.rank,
            "ranks": self.ranks,
            "host": platform.node(),
            "offset_us": self.offset / 1e3,
            "link": self.link,
            "left_out": lanes.left_out,
            "command": sys.argv,
            "cpu": _cpu(),
            "threads": get_num_threads(),
            "versions": {
                "dist_ms": version("dist_ms"),
                "Python": platform.python_version(),
                "NumPy": version("numpy"),
            },
            "plan": lanes.plan if self.rank == 0 else "",  # it is the same on all
            "limits": limits,
            "operations": by_operation(self._operations.spans)[:200],
            "detailed_steps": sum(place < len(self.updates) for place in _DETAILED),
        }

    def write(self) -> None:
        """Write the file, once: aside, and then under its name."""
        if self._written or os.getpid() != self._process:  # a fork is no rank
            return
        self._written, lanes.on = True, False
        if self._operations.on:
            self._operations.end()
        os.makedirs(self.folder, exist_ok=True)
        path = os.path.join(self.folder, f"rank_{self.rank}.json.gz")
        with gzip.open(f"{path}.{self._process}", "wt", encoding="utf-8", compresslevel=3) as file:
            json.dump({"traceEvents": self.events(), "displayTimeUnit": "ms", "otherData": self.facts()}, file)
        os.replace(f"{path}.{self._process}", path)

    def joined(self, world: World) -> None:
        """Find this rank's place and clock; parameter servers, which take no steps, write nothing."""
        if len(world.processes) <= 1:
            return
        self.world = world
        self.rank, self.ranks = world.comm.ranks[world.comm.rank], len(world.processes)
        if world.roles is not None and world.roles.role != "worker":
            self._written, lanes.on = True, False
            return
        self.offset = clock_offset(world.comm)
        self.link = link_rate(world.comm, [world.nodes[rank] for rank in world.comm.ranks])
        control = getattr(world.comm, "_control", None)
        if control is not None:
            control.watch = self.communicated
        atexit.register(self.write)  # before that of the world, which may end the process
        ending = sys.excepthook

        def failed(*error: Any) -> None:
            self._failed = True
            self.write()
            ending(*error)

        sys.excepthook = failed


def _cpu() -> str:
    """The name of the CPU."""
    with contextlib.suppress(OSError), open("/proc/cpuinfo", encoding="utf-8") as file:
        for line in file:
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.machine()


def start(folder: str) -> None:
    """Trace this process from now on, and write its file when it ends.

    Args:
        folder: where the ranks' files go.
    """
    os.environ.pop("DIST_MS_TRACE", None)  # what this process starts is no rank
    trace = Trace(folder)
    lanes.on, lanes.after_update = True, trace.after_update
    progress.wants_loss = True
    atexit.register(trace.write)
    on_init(trace.joined)
