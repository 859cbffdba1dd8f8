"""A server's life: serve requests until the workers have ended."""

from __future__ import annotations

import itertools
import logging
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms._ext import embedding as kernel
from dist_ms.common.progress import progress
from dist_ms.common.settings.environment import value_of
from dist_ms.communication import World
from dist_ms.parallel import status_file
from dist_ms.parallel.servers.checkpoint import load_units, save_units
from dist_ms.parallel.servers.log import UpdateLog, log_path
from dist_ms.parallel.servers.messages import REQUEST_TAG, Kind, Message, pack, pack_object, unpack
from dist_ms.parallel.servers.optimizer import unpack_optimizer
from dist_ms.parallel.servers.partition import Piece, RowPartition
from dist_ms.parallel.servers.shards import DenseShard, TableShard
from dist_ms.parallel.servers.stragglers import Stragglers
from dist_ms.parallel.servers.units import Unit

LONGEST_SLEEP = 0.02  # seconds between two looks at an idle letter box
_STRAGGLING = 5.0  # seconds that others wait before the late worker is named
_log = logging.getLogger("dist_ms")


class Server:
    """One server.

    Args:
        world: the job's; it has roles and mail.

    Attributes:
        units: what it holds, by number.
    """

    def __init__(self, world: World) -> None:
        assert world.mail is not None and world.roles is not None
        self.mail, self.roles = world.mail, world.roles
        self.number = world.comm.rank
        self.units: dict[int, Unit] = {}
        self._numbers = itertools.count()
        self._released: dict[int, set[int]] = {}
        self._specs: dict[tuple[str, int], tuple[int, dict[str, Any]]] = {}
        self._waiting: list[tuple[Message, float]] = []
        self._stragglers = Stragglers(self.roles.workers)
        self._gone: set[int] = set()
        self._told: set[tuple[int, int]] = set()
        self._actions: dict[Kind, Callable[[Message], bool]] = {
            Kind.HOLD: self._hold,
            Kind.VALUES: self._values,
            Kind.OPTIMIZER: self._optimizer,
            Kind.PUSH: self._push,
            Kind.PULL: self._pull,
            Kind.REPORT: self._report,
            Kind.SAVE: self._save,
            Kind.LOAD: self._load,
            Kind.BYE: self._bye,
            Kind.AWAITED: self._awaited,
            Kind.FORGET: self._forget,
        }

    def run(self) -> None:
        """Serve until every worker has said good-bye or ended."""
        idle = heard = time.monotonic()
        while len(self._gone) < self.roles.workers:
            found = self.mail.take(tag=REQUEST_TAG)
            now = time.monotonic()
            if found is not None:
                self.handle(unpack(found[0], found[2]))
                idle = now
                continue
            if now - heard > 0.2:
                heard, progress.awaited = now, self._stragglers.worst()
                self._look_around(now - idle)
            waited = now - idle
            time.sleep(0 if waited < 0.0002 else min(LONGEST_SLEEP, max(0.00002, waited / 50)))
        progress.awaited = self._stragglers.worst()
        while not self.mail.progress():
            time.sleep(0.001)

    def handle(self, message: Message) -> None:
        """Do what a message asks, or put it off until that is possible."""
        if not self._actions[message.kind](message):
            self._waiting.append((message, time.monotonic()))
        elif self._waiting and message.kind is not Kind.PULL:
            self._retry(message.sender if message.kind is Kind.PUSH else None)

    def _retry(self, pushed: int | None = None) -> None:
        """Do what has become possible, by a worker's push perhaps."""
        waiting, self._waiting = self._waiting, []
        answered = []
        for message, since in waiting:
            if not self._actions[message.kind](message):
                self._waiting.append((message, since))
            elif message.kind is Kind.PULL and message.sender != pushed:
                answered.append((message.unit, time.monotonic() - since))
        if pushed is not None:
            self._stragglers.came(pushed, answered)

    def _look_around(self, idle: float) -> None:
        """See who has left, and who keeps others waiting."""
        control = self.mail.control
        control.listen()
        if idle > 1.0:
            for worker in range(self.roles.workers):
                if worker in control.left and worker not in self._gone:
                    self._leave(worker)
        now = time.monotonic()
        for message, since in self._waiting:
            if now - since > _STRAGGLING and message.kind is Kind.PULL:
                self._name_straggler(self.units[message.unit], message, now - since)

    def _name_straggler(self, unit: Unit, message: Message, waited: float) -> None:
        late = unit.missing(unit.version + 1)
        if late and (unit.number, unit.version) not in self._told:
            self._told.add((unit.number, unit.version))
            names = ", ".join(map(str, late))
            _log.warning(
                "worker %s has not pushed update %d of '%s'; worker %d has waited %.1f s for it.",
                names, unit.version + 1, unit.shard.name, message.sender, waited,
            )  # fmt: skip

    # ---- answers
    def _answer(self, message: Message, value: Any) -> bool:
        if message.tag:
            self.mail.send(pack_object(Kind.ANSWER, message.unit, message.tag, value), message.sender, message.tag)
        return True

    def _refuse(self, message: Message, error: Exception) -> bool:
        value = (type(error), str(error))
        self.mail.send(pack_object(Kind.ERROR, message.unit, message.tag, value), message.sender, message.tag)
        return True

    # ---- requests
    def _hold(self, message: Message) -> bool:
        """Make a unit for worker 0; give the others its number."""
        spec, extra = message.object()
        name, key = spec["name"], (spec["name"], spec["generation"])
        if key not in self._specs:
            if message.sender != 0:
                return False
            self._make(spec, extra)
        number, first = self._specs[key]
        different = [key for key in first if first[key] != spec.get(key)]
        if different:
            what = different[0]
            return self._refuse(
                message,
                ValueError(
                    f"For 'set_param_ps', '{name}' must be the same on every worker, but its {what} is "
                    f"{first[what]} on worker 0 and {spec.get(what)} on worker {message.sender}."
                ),
            )
        return self._answer(message, number)

    def _make(self, spec: dict[str, Any], extra: dict[str, Any]) -> None:
        shard: TableShard | DenseShard
        if spec["what"] == "table":
            partition = RowPartition(spec["shape"][0], self.roles.servers, spec["partition"])
            shard = TableShard(spec["name"], spec["shape"], spec["dtype"], partition, self.number)
            if extra["init"] is not None:
                shard.initialise(extra["init"], extra["seed"])
        else:
            pieces = [Piece(*numbers) for numbers in spec["pieces"]]
            shard = DenseShard(spec["names"], spec["shapes"], spec["dtype"], pieces)
        unit = Unit(next(self._numbers), shard, spec["staleness"], self.roles.workers)
        unit.ready = extra["init"] is not None
        self.units[unit.number] = unit
        self._specs[spec["name"], spec["generation"]] = (unit.number, spec)

    def _values(self, message: Message) -> bool:
        """Take values; a message with a tag ends them."""
        unit = self.units[message.unit]
        if message.tag:
            unit.ready = True
            return self._answer(message, None)
        if isinstance(unit.shard, TableShard):
            unit.shard.rows[message.ids] = message.values.reshape(len(message.ids), unit.shard.shape[1])
            unit.shard.changed[message.ids] = unit.version + 1  # newer than what any worker has of this version
        else:
            unit.shard.write(message.values)
        return True

    def _optimizer(self, message: Message) -> bool:
        """Take the optimizer of a unit, or new learning rates for it."""
        unit, value = self.units[message.unit], message.object()
        if isinstance(value, list):
            unit.set_rates(value)
            return True
        blob, indices = value
        try:
            optimizer = unpack_optimizer(blob, unit.shard)
        except RuntimeError as error:
            return self._refuse(message, error)
        folder = value_of("DIST_MS_UPDATE_LOG")
        unit.indices = indices
        if folder:
            unit.log = UpdateLog(log_path(folder, self.number, unit.number), unit, blob)
        unit.attach(optimizer, indices)
        return self._answer(message, None)

    def _push(self, message: Message) -> bool:
        self.units[message.unit].push(message.sender, message.ids, message.values)
        return True

    def _pull(self, message: Message) -> bool:
        """Answer with values that are new enough."""
        unit = self.units[message.unit]
        if not unit.may_read(message.clock):
            return (
                self._refuse(message, self._never(unit)) if self._gone & set(unit.missing(unit.version + 1)) else False
            )
        unit.was_read(message.sender)
        head = (Kind.ANSWER, message.unit, unit.version, message.tag)
        if isinstance(unit.shard, TableShard):
            ids, places = message.ids, np.empty(0, np.int64)
            if len(message.values):  # the versions the worker has: only rows that changed since travel
                places = np.flatnonzero(unit.shard.changed[ids] > message.values)
                ids = ids[places]
            columns = unit.shard.shape[1]
            data, room, body = pack(*head, len(places), len(ids) * columns, message.wanted)
            room[:] = places
            gather(unit.shard.rows, ids, body.reshape(len(ids), columns))
        else:
            data, _, body = pack(*head, 0, unit.shard.size, message.wanted)
            unit.shard.read(body)
        self.mail.send(data, message.sender, message.tag)
        return True

    def _never(self, unit: Unit) -> Exception:
        late = sorted(self._gone & set(unit.missing(unit.version + 1)))
        return RuntimeError(
            f"'{unit.shard.name}' cannot be read: update {unit.version + 1} needs every worker's gradients, but worker "
            f"{', '.join(map(str, late))} has ended after {unit.pushed[late[0]]}. Give every worker the same number of "
            "steps, or use staleness=math.inf."
        )

    def _report(self, message: Message) -> bool:
        return self._answer(message, [unit.report() for unit in self.units.values()])

    def _save(self, message: Message) -> bool:
        """Write a checkpoint when the worker's updates are in."""
        folder, clocks = message.object()
        if not all(self.units[number].may_read(clock) for number, clock in clocks.items()):
            return False
        try:
            save_units(folder, self.number, self.roles.servers, [self.units[number] for number in clocks])
        except OSError as error:
            return self._refuse(message, OSError(f"server {self.number} could not save: {error}"))
        return self._answer(message, None)

    def _load(self, message: Message) -> bool:
        folder, numbers = message.object()
        try:
            load_units(folder, [self.units[number] for number in numbers])
        except (OSError, ValueError) as error:
            return self._refuse(message, type(error)(str(error)))
        return self._answer(message, None)

    def _awaited(self, message: Message) -> bool:
        """Say which workers must act before this one's requests can be answered."""
        late: set[int] = set()
        for waiting, _ in self._waiting:
            if waiting.sender != message.sender:
                continue
            numbers = [waiting.unit] if waiting.kind is Kind.PULL else []
            if waiting.kind is Kind.SAVE:
                numbers = list(waiting.object()[1])
            for unit in (self.units[number] for number in numbers):
                late |= set(unit.missing(unit.version + 1)) if unit.ready and unit.optimizer is not None else {0}
            if not numbers:  # worker 0 makes what the others hold
                late.add(0)
        return self._answer(message, sorted(late))

    def _forget(self, message: Message) -> bool:
        """Free a unit when every worker has let it go: none asks for it any more."""
        released = self._released.setdefault(message.unit, set())
        released.add(message.sender)
        if len(released | self._gone) == self.roles.workers:
            del self.units[message.unit], self._released[message.unit]
            self._specs = {key: spec for key, spec in self._specs.items() if spec[0] != message.unit}
            asked = (Kind.PULL, Kind.VALUES)
            self._waiting = [(m, at) for m, at in self._waiting if m.kind not in asked or m.unit != message.unit]
        return True

    def _bye(self, message: Message) -> bool:
        self._leave(message.sender)
        return True

    def _leave(self, worker: int) -> None:
        self._gone.add(worker)
        self._retry()


def gather(table: np.ndarray, ids: np.ndarray, out: np.ndarray) -> None:
    """Copy rows out of a table; where the types differ they are converted."""
    if out.dtype == table.dtype and table.dtype != np.float16:
        kernel.gather(table, ids, out)
    else:
        with np.errstate(over="ignore"):
            out[...] = table[ids]


def serve(world: World) -> None:
    """Be a server until the workers have ended."""
    status_file.begin(world.comm.ranks[world.comm.rank])  # init(), which does it for workers, never returns here
    Server(world).run()
