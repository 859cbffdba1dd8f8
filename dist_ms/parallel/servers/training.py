"""What an optimizer has on the servers: tables, and dense tensors cut by size and pushed together."""

from __future__ import annotations

import weakref
from collections.abc import Mapping
from typing import Any

import numpy as np

from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.messages import Kind, pack, pack_object
from dist_ms.parallel.servers.optimizer import pack_optimizer
from dist_ms.parallel.servers.partition import Piece, cut_dense, pieces_in_words
from dist_ms.parallel.servers.table import StateElsewhere, check_held


class DenseLink:
    """A worker's end of dense tensors that are updated together.

    Args:
        client: the line to the servers.
        optimizer: whose parameters they are.
        indices: which.
    """

    def __init__(self, client: Any, optimizer: Any, indices: list[int]) -> None:
        self.client, self.indices = client, indices
        self.parameters = [optimizer.parameters[i] for i in indices]
        first = self.parameters[0]
        for p in self.parameters:
            check_held(client, p)
        self.staleness, self.dtype = first.staleness, np.dtype(first.dtype.np)
        self.wire = np.dtype(first.wire or self.dtype)
        self.name = " + ".join(p.name for p in self.parameters)
        apart = optimizer.element_wise
        centred = optimizer.grad_centralization_flags
        divisible = [apart and not (centred[i] and optimizer.parameters[i].ndim > 1) for i in indices]
        sizes = [p.size for p in self.parameters]
        pieces = cut_dense(sizes, client.servers, divisible)
        self.pieces: list[list[Piece]] = [[q for q in pieces if q.server == k] for k in range(client.servers)]
        self.sizes = [sum(q.stop - q.start for q in mine) for mine in self.pieces]
        self.clock = 0
        self._hold()
        client.holdings.add(optimizer, {p.name: tuple(p.shape) for p in self.parameters}, self.units)

    def _hold(self) -> None:
        generation = self.client.holdings.generation(self.name)
        specs = []
        for mine in self.pieces:
            spec = {
                "name": self.name,
                "what": "dense",
                "generation": generation,
                "names": [p.name for p in self.parameters],
                "shapes": [tuple(p.shape) for p in self.parameters],
                "dtype": self.dtype.str,
                "staleness": self.staleness,
                "pieces": [(q.index, q.server, q.start, q.stop) for q in mine],
            }
            specs.append((spec, {"init": None}))
        self.units = self.client.ask_all(Kind.HOLD, [0] * self.client.servers, specs, f"Holding '{self.name}'")
        if self.client.worker == 0:
            for server in range(self.client.servers):
                self._send(server, Kind.VALUES, [p.array() for p in self.parameters], self.dtype)
                self.client.ask(server, Kind.VALUES, self.units[server], None, f"Writing '{self.name}'")
        self.pull()

    def held_by(self, server: int) -> str:
        """Say what a server holds."""
        parameters = self.parameters
        return pieces_in_words(
            [p.name for p in parameters], [p.shape for p in parameters], self.dtype, self.pieces[server]
        )

    def _send(self, server: int, kind: Kind, arrays: list[np.ndarray], dtype: np.dtype) -> None:
        """Send a server its pieces of arrays."""
        data, _, body = pack(kind, self.units[server], self.clock, 0, 0, self.sizes[server], dtype)
        at = 0
        for piece in self.pieces[server]:
            size = piece.stop - piece.start
            with np.errstate(over="ignore"):
                body[at : at + size] = arrays[piece.index].reshape(-1)[piece.start : piece.stop]
            at += size
        self.client.post(server, data)

    def push(self, gradients: list[Any]) -> None:
        """Send gradients; None stands for zeros."""
        arrays = [
            np.zeros(p.shape, self.dtype) if g is None else g.array()
            for p, g in zip(self.parameters, gradients, strict=True)
        ]
        for server in range(self.client.servers):
            self._send(server, Kind.PUSH, arrays, self.wire)
        self.clock += 1

    def pull(self) -> None:
        """Overwrite the parameters with the servers' values."""
        tags = []
        for server in range(self.client.servers):
            tags.append(self.client.tag())
            request = pack(Kind.PULL, self.units[server], self.clock, tags[-1], 0, 0, np.uint8, self.wire)[0]
            self.client.post(server, request)
        arrays = []
        for p in self.parameters:
            p.before_write()
            p.written()
            arrays.append(p.array())
        for server, tag in enumerate(tags):
            values, at = self.client.answer(server, tag, f"Pulling '{self.name}'").values, 0
            for piece in self.pieces[server]:
                size = piece.stop - piece.start
                array = arrays[piece.index]
                if array.flags.c_contiguous:
                    array.reshape(-1)[piece.start : piece.stop] = values[at : at + size]
                else:
                    array.flat[piece.start : piece.stop] = values[at : at + size]
                at += size


class OptimizerLink:
    """Everything of one optimizer that is on the servers.

    Args:
        client: the line to the servers.
        optimizer: updates tables and dense tensors; its code runs on the servers for those the plan
            gives them.
    """

    def __init__(self, client: Any, optimizer: Any) -> None:
        self.client, self._optimizer = client, weakref.ref(optimizer)
        parameters = list(optimizer.parameters)
        plan = make_plan(parameters, servers=True)
        rows = {id(p): row for p, row in zip(parameters, plan.rows, strict=True)}
        served = [i for i, p in enumerate(parameters) if rows[id(p)].gradient == "server"]
        if served and not hasattr(optimizer, "update_some"):
            raise TypeError(
                f"For 'set_param_ps', the optimizer must be one of nn.Optimizer with an 'update_one' of its own, but "
                f"got {type(optimizer).__name__}, whose code a server cannot run for a part of the parameters."
            )
        self.tables: dict[int, Any] = {}
        groups: dict[tuple, list[int]] = {}
        for i in served:
            p = parameters[i]
            if p.looked_up or p._data is None:
                if not optimizer.element_wise:
                    raise ValueError(
                        f"For 'set_param_ps', the optimizer of the table '{p.name}' must treat every row by itself, "
                        f"but got {type(optimizer).__name__}. A class of yours whose rule does says so by "
                        "'element_wise = True' in its body."
                    )
                self.tables[i] = client.table(p)
            else:
                groups.setdefault((p.dtype.np, p.staleness, p.wire), []).append(i)
        self._give_up_states()
        self.dense = [DenseLink(client, optimizer, indices) for indices in groups.values()]
        client.dense += self.dense
        self._rates = self._fixed_rates()
        if client.worker == 0:
            self._send_optimizer()

    @property
    def optimizer(self) -> Any:
        """The worker's optimizer, which asks for everything that is done here."""
        return self._optimizer()

    def _give_up_states(self) -> None:
        """Let the plan and this process know that the servers have the states of the tables too."""
        names = {link.name: link.shape for link in self.tables.values()}
        for p in self.optimizer.get_parameters():
            owner = next((name for name in names if p.name.endswith("." + name)), None)
            if owner is not None and p._data is None and tuple(p.shape) == names[owner]:
                p.is_param_ps = True
                p.storage = StateElsewhere(p)

    def _send_optimizer(self) -> None:
        for i, link in self.tables.items():
            for server in range(self.client.servers):
                cut = link.partition.slice_of(server)

                def slice_of(_: Any, array: np.ndarray, cut: Any = cut) -> np.ndarray:
                    return np.ascontiguousarray(array[cut])

                blob = pack_optimizer(self.optimizer, [i], slice_of)
                self._attach(server, link.units[server], blob, [i])
        for link in self.dense:
            for server, pieces in enumerate(link.pieces):
                indices = [link.indices[q.index] for q in pieces]

                def cut(place: int, array: np.ndarray, pieces: list[Piece] = pieces) -> np.ndarray:
                    return array.reshape(-1)[pieces[place].start : pieces[place].stop].copy()

                self._attach(server, link.units[server], pack_optimizer(self.optimizer, indices, cut), indices)

    def _attach(self, server: int, unit: int, blob: bytes, indices: list[int]) -> None:
        self.client.ask(server, Kind.OPTIMIZER, unit, (blob, indices), "Sending the optimizer")

    def _fixed_rates(self) -> list[float]:
        """Learning rates that a script may write to between steps."""
        rate = self.optimizer.learning_rate
        found = rate if isinstance(rate, tuple) else [rate]
        return [float(r.array()) for r in found if hasattr(r, "array")]

    def _send_rates(self) -> None:
        """Tell the servers of learning rates that were written to."""
        rates = self._fixed_rates()
        if rates == self._rates:
            return
        self._rates = rates
        if self.client.worker == 0:
            for link in (*self.tables.values(), *self.dense):
                for server, unit in enumerate(link.units):
                    self.client.post(server, pack_object(Kind.OPTIMIZER, unit, 0, rates))

    def held(self) -> list[Any]:
        """The links of everything that is held."""
        return [*self.tables.values(), *self.dense]

    def push(self, gradients: Mapping[int, Any]) -> dict[int, Any]:
        """Send the gradients of what servers hold, take the new dense values, return the others."""
        left = dict(gradients)
        if not self.tables and not self.dense:
            return left
        self._send_rates()
        for i, link in self.tables.items():
            link.push(left.pop(i))
        for link in self.dense:
            link.push([left.pop(i) for i in link.indices])
        for link in self.dense:
            link.pull()
        return left
