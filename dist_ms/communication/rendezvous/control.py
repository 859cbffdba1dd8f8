"""What ranks tell each other beside the collectives: who left, who failed, who is where.

The messages are small, travel on a communicator of their own and are read while a rank waits. So
a long wait can find out which ranks are missing, and a rank that has ended is noticed at once.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import deque
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from time import perf_counter
from types import FrameType
from typing import TYPE_CHECKING, Any

from dist_ms.communication.end.forked import Owner
from dist_ms.communication.end.heartbeat import silence
from dist_ms.communication.end.missing import SILENT, Missing, Place, doing, late
from dist_ms.communication.end.survivors import follow
from dist_ms.communication.rendezvous.waiting import wait_until

if TYPE_CHECKING:
    from dist_ms._ext.heartbeat import Heartbeat
    from dist_ms.communication.end.survivors import Survivors

_PACKAGE = str(Path(__file__).resolve().parents[2])


def caller() -> str:
    """Return file:line of the innermost frame outside dist_ms, and outside of the `with` statements in it."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        if not name.startswith((_PACKAGE, contextlib.__file__, "<frozen")):
            return f"{Path(name).name}:{frame.f_lineno}"
        frame = frame.f_back
    return "?"


class Control:
    """The private channel of one rank.

    Args:
        channel: an mpi4py communicator that nothing else uses.
        rank: this process's rank on it.
        size: its number of ranks.

    Attributes:
        counts: per group, the number of collectives this rank has entered.
        where: the (group, number, verb) this rank waits in, None when it does not wait.
        left: ranks that have ended, with their counts at that time.
        said: what those have said as they left, and this one.
        failed: ranks that ended with an error.
        abandoned: arrays and requests that MPI may still write to.
        abandoned_before: the same, of larger worlds.
        arenas: the shared memory of ranks on this machine, by their world ranks.
        drivers: per group, what drives its operations under way.
        owner: the process that may communicate.
        places: where every rank runs.
        waited: seconds spent in collectives.
        watch: told of each such time: group, verb, number of the collective, when it began and when it ended.
        heartbeat: tells which rank has fallen silent; None where ranks have none.
        survivors: tells which rank has died; None where that ends the job.
    """

    def __init__(self, channel: Any, rank: int, size: int, survivors: Survivors | None = None) -> None:
        self._channel, self.rank, self.size = channel, rank, size
        self.counts: dict[str, int] = {}
        self.where: tuple[str, int, str] | None = None
        self.left: dict[int, dict[str, int]] = {}
        self.said: dict[int, dict[str, Any]] = {}
        self.failed: set[int] = set()
        self.abandoned: list[Any] = []
        self.abandoned_before: list[Any] = []
        self.arenas: dict[tuple[int, ...], Any] = {}
        self.drivers: list[Callable[[], None]] = []
        self.owner = Owner()
        self.places: list[Place] = []
        self.heartbeat: Heartbeat | None = None
        self.survivors = survivors
        self.waited = 0.0
        self.watch: Callable[[str, str, int, float, float], None] | None = None
        self._answers: dict[int, tuple[dict[str, int], str]] = {}
        self._assembled: dict[str, dict[int, deque[tuple[int, ...]]]] = {}
        self._sending: list[Any] = []
        self._lock = threading.Lock()

    @property
    def others(self) -> list[int]:
        """All ranks but this one."""
        return [r for r in range(self.size) if r != self.rank]

    def opened(self, comm: Any) -> Any:
        """Return a communicator, and remember it where ranks may die."""
        if self.survivors is not None:
            self.survivors.opened.append(comm)
        return comm

    def take_over(self, before: Control) -> None:
        """Go on for the channel of a larger world, whose heartbeat ends.

        Args:
            before: that channel.
        """
        if before.heartbeat is not None:
            before.heartbeat.end()
        self.owner, self.waited, self.watch = before.owner, before.waited, before.watch
        self.abandoned_before = [*before.abandoned_before, before]

    def spent(self, group: str, verb: str, began: float) -> None:
        """Count the time since `began` (`perf_counter`) as spent in a collective of a group."""
        ended = perf_counter()
        self.waited += ended - began
        if self.watch is not None:
            self.watch(group, verb, self.counts.get(group, 0), began, ended)

    def _tell(self, kind: str, value: Any, ranks: list[int]) -> None:
        """Send a message without waiting."""
        for r in ranks:
            with nullcontext() if self.survivors is None else self.survivors.passing_over():
                self._sending.append(self._channel.isend((kind, self.rank, value), r))

    def listen(self) -> None:
        """Read what has come, and answer; in an elastic job, find out who has died.

        Raises:
            RankFailedError: if a rank of an elastic job has.
        """
        if self.owner.forked or not self._lock.acquire(blocking=False):
            return  # the parent is, or another thread
        try:
            if self.survivors is None:
                self._read()
                return
            what = f"Rank {self.rank} of {self.size} cannot go on ({caller()})"
            with self.survivors.noticing(what):
                self._read()
            if self.failed:  # nobody else ends this process
                follow()
            self.survivors.check(what)
        finally:
            self._lock.release()

    def _read(self) -> None:
        while self._channel.iprobe():
            kind, sender, value = self._channel.recv()
            if kind == "who":
                self._tell("here", (dict(self.counts), self._whereabouts()), [sender])
            elif kind == "here":
                self._answers[sender] = value
            elif kind == "left":
                self.left[sender], self.said[sender] = value
            elif kind == "failed":
                self.failed.add(sender)
            elif kind == "assemble":
                name, members = value
                came = self._assembled.setdefault(name, {})
                came.setdefault(sender, deque()).append(members)
        self._sending = [request for request in self._sending if not request.test()[0]]

    def _hear_the_living(self) -> set[int]:
        """Read what has come at the end, and return the ranks that have died; an elastic job ends well without them."""
        if self.survivors is None:
            self.listen()
            return set()
        dead = self.survivors.acknowledge()
        with self.survivors.passing_over():
            self._read()
        return dead

    def _whereabouts(self) -> str:
        """Say in words what this rank is doing."""
        if self.where is None:
            return f"in no collective, at {caller()}"
        group, number, verb = self.where
        return f"in '{verb}', call {number} of group '{group}', at {caller()}"

    def roll_call(self, ranks: list[int]) -> dict[int, tuple[dict, str]]:
        """Ask ranks where they are, for 2 seconds; only those that wait or have ended can answer.

        Returns:
            Per rank that answered: its counts and where it is.
        """
        self._answers = {}
        self._tell("who", None, ranks)

        def complete() -> bool:
            self.listen()
            return all(r in self._answers or r in self.left for r in ranks)

        wait_until(complete, 2.0, longest=0.01)
        ended = {r: (self.left[r], "at its end: the process has finished") for r in self.left}
        return {r: value for r, value in {**self._answers, **ended}.items() if r in ranks}

    def missing(self, rank: int) -> Missing:
        """Return what can be said of a rank that does not answer."""
        if not self.places:
            return Missing(rank, "?", doing(None, None))
        place = self.places[rank]
        return Missing(rank, place.host, doing(place, self.places[self.rank]))

    def check_heartbeats(self, what: str) -> None:
        """Raise if a rank of the job has fallen silent.

        Args:
            what: cannot be done then: the error's first words.

        Raises:
            TimeoutError: that names the rank.
        """
        lost = None if self.heartbeat is None else self.heartbeat.lost
        if lost is None or lost in self.left or lost in self.failed:
            return
        found = self.missing(lost)
        if found.doing == SILENT:  # one that computes is not silent
            found = replace(found, doing="is stopped or cut off")
        raise late(
            f"{what}: rank {lost} of {self.size} has fallen silent for {silence():g} s (DIST_MS_HEARTBEAT): "
            f"it {found.doing} (on {found.host}).",
            found,
        )

    def assemble(self, name: str, members: tuple[int, ...], seconds: float) -> None:
        """Wait until every member asks for the group `name` of the same members.

        Raises:
            TimeoutError: if some do not come in time.
            ValueError: if they name other members.
        """
        others = [r for r in members if r != self.rank]
        self._tell("assemble", (name, members), others)
        came = self._assembled.setdefault(name, {})

        def complete() -> bool:
            self.listen()
            return all(came.get(r) for r in others)

        if not wait_until(complete, seconds, longest=0.005):
            missing = ", ".join(str(r) for r in others if not came.get(r))
            raise TimeoutError(
                f"For 'create_group', rank {self.rank} of {self.size} has waited {seconds:g} s "
                f"(DIST_MS_TIMEOUT) for ranks {missing} to create group '{name}' as well."
            )
        for r in others:
            theirs = came[r].popleft()
            if theirs != members:
                raise ValueError(
                    f"For 'create_group', 'rank_ids' of group '{name}' must be the same on every "
                    f"member, but got {list(members)} on rank {self.rank} and {list(theirs)} on "
                    f"rank {r}."
                )

    def farewell(self, words: dict[str, Any]) -> None:
        """Tell that this rank has ended, and stay until all have. Uses next to no CPU.

        Args:
            words: what it says to the others as it leaves.

        Raises:
            TimeoutError: if one has fallen silent instead.
        """
        what = f"Rank {self.rank} of {self.size} cannot end with the others"
        self.said[self.rank] = words
        self._tell("left", (dict(self.counts), words), self.others)
        self._await_all(float("inf"), 0.02, lambda waited: self.check_heartbeats(what))

    def fail(self, seconds: float) -> None:
        """Tell that this rank failed; stay a little, so that others who fail can say so."""
        self._tell("failed", None, self.others)
        self._await_all(seconds, longest=0.005)

    def _await_all(self, seconds: float, longest: float, listen: Callable[[float], None] | None = None) -> None:
        """Wait until all others have left or failed, and what was told has gone out."""

        def complete() -> bool:
            dead = self._hear_the_living()
            gone = len(self.left.keys() | self.failed | dead) == self.size - 1
            return gone and not self._sending

        wait_until(complete, seconds, listen, longest)
