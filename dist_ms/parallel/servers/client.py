"""A worker's side of parameter servers: what it holds there, its pushes and pulls."""

from __future__ import annotations

import atexit
import itertools
import logging
import weakref
from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from dist_ms.communication import World, current
from dist_ms.communication.end.missing import late
from dist_ms.communication.rendezvous.waiting import default_timeout, wait_until
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.holdings import Holdings
from dist_ms.parallel.servers.messages import LAST_TAG, REQUEST_TAG, Kind, Message, pack, pack_object, unpack

_log = logging.getLogger("dist_ms")
_PATIENCE = 2.0  # seconds for a server to say for whom it waits
_client: ServerClient | None = None


class ServerClient:
    """A worker's line to the servers.

    Args:
        world: the job's; it has roles and mail.

    Attributes:
        servers: how many servers there are.
        worker: this worker's number.
        pushed, pulled: bytes sent and received.
    """

    def __init__(self, world: World) -> None:
        assert world.mail is not None and world.roles is not None
        self.mail, self.roles = world.mail, world.roles
        self.servers, self.workers = self.roles.servers, self.roles.workers
        self.worker = world.comm.rank
        self.holdings = Holdings()
        self.dense: list[Any] = []
        # By id, each with a weak reference to whom it belongs to: the servers forget what is gone here.
        self._tables: dict[int, tuple[weakref.ref, weakref.ref | None]] = {}
        self._links: dict[int, tuple[weakref.ref, Any]] = {}
        self._tags = itertools.cycle(range(1, LAST_TAG))
        self._seconds = default_timeout()
        atexit.register(self.close)

    # ---- messages
    def post(self, server: int, data: np.ndarray) -> None:
        """Send a request."""
        self.mail.send(data, self.roles.server_rank(server), REQUEST_TAG)

    def tag(self) -> int:
        """A tag for an answer."""
        return next(self._tags)

    def answer(self, server: int, tag: int, what: str) -> Message:
        """Wait for the answer to a request.

        Raises:
            TimeoutError: if it does not come within DIST_MS_TIMEOUT seconds.
            RuntimeError: if the server has ended.
            Exception: that the server answered with.
        """
        rank, found = self.roles.server_rank(server), []
        control = self.mail.control

        def came() -> bool:
            message = self.mail.take(rank, tag)
            if message is not None:
                found.append(message[2])
            return bool(found)

        def listen(waited: float) -> None:
            control.listen()
            control.check_heartbeats(f"[worker {self.worker} of {self.workers}] {what} cannot be done")
            if (rank in control.left or rank in control.failed) and not came():
                raise RuntimeError(
                    f"[worker {self.worker} of {self.workers}] {what} cannot be done: server {server} (rank {rank}) "
                    f"has ended, which held {self.held_by(server)}."
                )

        began = perf_counter()
        if not wait_until(came, self._seconds, listen):
            raise self._late(server, what)
        control.waited += perf_counter() - began
        message = unpack(rank, found[0])
        if message.kind is Kind.ERROR:
            kind, text = message.object()
            raise kind(f"[worker {self.worker} of {self.workers}] {text}")
        return message

    def _late(self, server: int, what: str) -> TimeoutError:
        """Return the error of an answer that has not come: the server may wait for another worker itself."""
        control, rank = self.mail.control, self.roles.server_rank(server)
        text = (
            f"[worker {self.worker} of {self.workers}] {what} has waited {self._seconds:g} s (DIST_MS_TIMEOUT) for "
            f"server {server} of {self.servers} (rank {rank}), which "
        )
        awaited = self._awaited(server)
        if awaited is None:
            gone = control.missing(rank)
            held = f"holds {self.held_by(server)}; it is not answering: it {gone.doing} (on {gone.host})."
            return late(text + held, gone)
        answers = control.roll_call([w for w in awaited if w != self.worker])
        silent = {w: control.missing(w) for w in awaited if w not in answers and w != self.worker}
        lines = [
            f"worker {w} of {self.workers} (rank {w}), which is not answering: it {one.doing} (on {one.host})"
            for w, one in silent.items()
        ]
        lines += [f"worker {w} of {self.workers} (rank {w}), which is {where}" for w, (_, where) in answers.items()]
        text += f"waits for {'; '.join(lines)}." if lines else "answers, but does not wait for another worker."
        return late(text, next(iter(silent.values()), None))

    def _awaited(self, server: int) -> list[int] | None:
        """Return the workers that a server waits for before it can answer this one; None if it says nothing."""
        tag, rank, found = self.tag(), self.roles.server_rank(server), []
        self.post(server, pack_object(Kind.AWAITED, 0, tag, None))

        def came() -> bool:
            message = self.mail.take(rank, tag)
            if message is not None:
                found.append(unpack(rank, message[2]).object())
            return bool(found)

        return found[0] if wait_until(came, _PATIENCE) else None

    def ask(self, server: int, kind: Kind, unit: int, value: Any, what: str) -> Any:
        """Send an object and return the object that is answered."""
        tag = self.tag()
        self.post(server, pack_object(kind, unit, tag, value))
        return self.answer(server, tag, what).object()

    def ask_all(self, kind: Kind, units: Sequence[int], values: Sequence[Any], what: str) -> list[Any]:
        """Ask every server at once."""
        tags = [self.tag() for _ in range(self.servers)]
        for server, tag in enumerate(tags):
            self.post(server, pack_object(kind, units[server], tag, values[server]))
        return [self.answer(server, tag, what).object() for server, tag in enumerate(tags)]

    # ---- what is held
    def table(self, parameter: Any) -> Any:
        """The link of a table that servers hold, None if the plan keeps it here."""
        key = id(parameter)
        if key not in self._tables:
            from dist_ms.parallel.servers.table import TableLink

            served = make_plan([parameter], servers=True).rows[0].gradient == "server"
            link = TableLink(self, parameter) if served else None  # the parameter keeps it
            owner = weakref.ref(parameter, lambda _: self._tables.pop(key, None))
            self._tables[key] = owner, None if link is None else weakref.ref(link)
        found = self._tables[key][1]
        return None if found is None else found()

    def held_by(self, server: int) -> str:
        """Say what a server holds, as far as this worker knows."""
        links = [link() for _, link in list(self._tables.values()) if link is not None]
        found = [link.held_by(server) for link in (*links, *self.dense) if link is not None]
        return "; ".join(found) or "nothing yet"

    def let_go(self) -> None:
        """Tell the servers what this worker holds no more."""
        for units in self.holdings.let_go():
            for server, unit in enumerate(units):
                self.post(server, pack(Kind.FORGET, unit, 0, 0, 0, 0, np.uint8)[0])

    def begin(self, optimizer: Any) -> Any:
        """Hand what the optimizer updates over to the servers, where the plan says so; done once.

        Args:
            optimizer: has `parameters`, in the order of the gradients.
        """
        key = id(optimizer)
        if key not in self._links:
            from dist_ms.parallel.servers.training import OptimizerLink

            link = OptimizerLink(self, optimizer)
            self._links[key] = weakref.ref(optimizer, lambda _: self._drop(key)), link
        return self._links[key][1]

    def _drop(self, key: int) -> None:
        """Let go of what a gone optimizer had; called at any moment, so nothing is sent."""
        found = self._links.pop(key, None)
        if found is not None:
            self.dense = [link for link in self.dense if link not in found[1].dense]

    def push(self, optimizer: Any, gradients: Mapping[int, Any]) -> dict[int, Any]:
        """Send the gradients of what servers hold and take the new dense values.

        Returns:
            The gradients that are this worker's own business.
        """
        self.let_go()
        return self.begin(optimizer).push(gradients)

    def refresh(self) -> None:
        """Take the servers' values of the dense tensors, which other workers may have changed since the last step."""
        for link in self.dense:
            link.pull()

    def close(self) -> None:
        """Tell the servers that this worker has ended; done when the process ends."""
        if self.mail.control.owner.forked:
            return  # a child ends, not the worker
        for server in range(self.servers):
            self.post(server, pack(Kind.BYE, 0, 0, 0, 0, 0, np.uint8)[0])
        wait_until(self.mail.progress, 10.0)

    def report(self) -> list[dict[str, Any]]:
        """What happened to each tensor so far: updates, their staleness, how late each worker was.

        Returns:
            Per unit and server a dict with `name`, `server`, `staleness` (the bound), `updates`,
            `stale` (updates by how many updates old the values were that they were computed from)
            and `late` (per worker the mean seconds behind the first).
        """
        units = [0] * self.servers
        answers = self.ask_all(Kind.REPORT, units, units, "the servers' report")
        return [{**row, "server": server} for server, rows in enumerate(answers) for row in rows]


def started() -> ServerClient | None:
    """The line of this worker, if it has used it."""
    return _client


def client() -> ServerClient:
    """The line of this worker.

    Raises:
        RuntimeError: if the job has no servers.
    """
    global _client
    if _client is None:
        world = current()
        if world is None or world.roles is None:
            raise RuntimeError("For 'client', the job must have parameter servers, but it has none.")
        _client = ServerClient(world)
    return _client
