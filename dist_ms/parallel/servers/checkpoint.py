"""Saving and loading what servers hold, with the optimizer's state; the same calls work without servers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.communication import current
from dist_ms.parallel.mode import world_comm
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.client import client
from dist_ms.parallel.servers.files import Parts, write_part
from dist_ms.parallel.servers.messages import Kind
from dist_ms.parallel.servers.roles import is_worker
from dist_ms.parallel.servers.shards import TableShard
from dist_ms.parallel.servers.units import Unit

_SETTINGS = ("learning_rate", "momentum")  # of the script that resumes, not of the checkpoint


def save_servers(folder: str, optimizer: Any) -> None:
    """Save the tensors that servers hold, and the optimizer's states of them.

    Every server writes its part at once into the same folder, which they must all reach. Each
    worker calls it, after the same number of steps. Without servers this process writes the
    tensors that `set_param_ps` was called for.

    Args:
        folder: made where missing.
        optimizer: the one that updates them.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> from dist_ms.parallel import load_servers, save_servers
        >>> layer = ms.nn.EmbeddingLookup(4, 2, param_init="ones")
        >>> layer.embedding_table.set_param_ps()
        >>> optimizer = ms.nn.SGD(layer.trainable_params(), 0.1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     save_servers(folder, optimizer)
        ...     load_servers(folder, optimizer)
    """
    world = current()
    if not is_worker():
        if world is None or world.comm.rank == 0:
            parts, numbers = _local_parts(optimizer)
            write_part(folder, 0, 1, parts, numbers)
        return
    line = client()
    link = line.begin(optimizer)
    if line.worker == 0:
        clocks = [{held.units[k]: held.clock for held in link.held()} for k in range(line.servers)]
        values = [(folder, clocks[k]) for k in range(line.servers)]
        line.ask_all(Kind.SAVE, [0] * line.servers, values, "Saving what the servers hold")
    world_comm().barrier()


def load_servers(folder: str, optimizer: Any) -> None:
    """Load what `save_servers` saved, with any number of servers or none.

    Each worker calls it, before its first step.

    Args:
        folder: as given to `save_servers`.
        optimizer: updates the tensors now.

    Raises:
        FileNotFoundError: if the folder has no complete checkpoint.
        ValueError: if a tensor is missing in it, or has another shape, or a file is said to lie outside of it.
    """
    if not is_worker():
        _load_locally(Parts(folder), optimizer)
        return
    line = client()
    link = line.begin(optimizer)
    if line.worker == 0:
        values = [(folder, [held.units[k] for held in link.held()]) for k in range(line.servers)]
        line.ask_all(Kind.LOAD, [0] * line.servers, values, "Loading what the servers hold")
    world_comm().barrier()
    line.refresh()


# ---- on a server
def save_units(folder: str, server: int, servers: int, units: list[Unit]) -> None:
    """Write a server's units."""
    parts: list[tuple[dict[str, Any], np.ndarray]] = []
    numbers: dict[str, dict[str, list]] = {}
    for unit in units:
        shard = unit.shard
        for place, weight in enumerate(shard.parameters):
            if not weight._data.size:
                continue
            if isinstance(shard, TableShard):
                what: dict[str, Any] = {"kind": "rows", "shape": list(shard.shape), "how": shard.partition.how}
            else:
                piece = shard.pieces[place]
                what = {"kind": "dense", "shape": list(shard.shapes[piece.index]), "start": piece.start}
            small: dict[str, list] = {}
            for state, p in _states(unit.optimizer, weight):
                array = p._data if isinstance(shard, TableShard) else p._data.reshape(-1)
                parts.append(({"name": weight.name, "state": state, **what}, array))
            for p in _numbers(unit.optimizer, weight.name):
                small[p.name] = p._data.tolist()
            numbers[weight.name] = small
    write_part(folder, server, servers, parts, numbers)


def load_units(folder: str, units: list[Unit]) -> None:
    """Read a server's units."""
    parts = Parts(folder)
    for unit in units:
        shard = unit.shard
        for place, weight in enumerate(shard.parameters):
            if not weight._data.size:
                continue
            for state, p in _states(unit.optimizer, weight):
                if isinstance(shard, TableShard):
                    wanted = shard.partition.slice_of(shard.server)
                    parts.read_rows(weight.name, state, shard.shape, wanted, p._data)
                else:
                    piece = shard.pieces[place]
                    shape = shard.shapes[piece.index]
                    parts.read_flat(weight.name, state, shape, piece.start, p._data.reshape(-1))
            _set_numbers(unit.optimizer, weight.name, parts)
        if isinstance(shard, TableShard):
            shard.changed[...] = unit.version + 1  # newer than what any worker has of this version


# ---- of an optimizer
def _states(optimizer: Any, weight: Parameter) -> Iterator[tuple[str, Parameter]]:
    """The values of a weight ("") and the states of its shape, by the name before the weight's."""
    yield "", weight
    if optimizer is None:
        return
    for _, p in optimizer.parameters_and_names():
        if p is not weight and p.name.endswith("." + weight.name) and p._data.shape == weight._data.shape:
            yield p.name[: -len(weight.name) - 1], p


def _numbers(optimizer: Any, name: str) -> Iterator[Parameter]:
    """The states that are a number or one per weight of another shape."""
    if optimizer is None:
        return
    for _, p in optimizer.parameters_and_names():
        if p._data is not None and p._data.size == 1 and not p.name.startswith(_SETTINGS):
            if "." not in p.name or p.name.endswith("." + name):
                yield p


def _set_numbers(optimizer: Any, name: str, parts: Parts) -> None:
    saved = parts.numbers.get(name, {})
    for p in _numbers(optimizer, name):
        if p.name in saved:
            p._data[...] = saved[p.name]


# ---- without servers
def _local_parts(optimizer: Any) -> tuple[list, dict]:
    parts, numbers = [], {}
    for weight in served(optimizer):
        kind = {"kind": "rows", "how": "hash"} if weight.looked_up else {"kind": "dense", "start": 0}
        weight.array()
        for state, p in _states(optimizer, weight):
            array = p.array() if weight.looked_up else p.array().reshape(-1)
            parts.append(({"name": weight.name, "state": state, "shape": list(weight.shape), **kind}, array))
        numbers[weight.name] = {p.name: p._data.tolist() for p in _numbers(optimizer, weight.name)}
    return parts, numbers


def _load_locally(parts: Parts, optimizer: Any) -> None:
    for weight in served(optimizer):
        weight.array()
        weight.before_write()
        for state, p in _states(optimizer, weight):
            if weight.looked_up:
                parts.read_rows(weight.name, state, weight.shape, slice(None), p.array())
            else:
                flat = np.empty(p.size, p.array().dtype)
                parts.read_flat(weight.name, state, weight.shape, 0, flat)
                p.array()[...] = flat.reshape(p.shape)
        _set_numbers(optimizer, weight.name, parts)


def saved_by_servers(optimizer: Any) -> list[Parameter]:
    """The parameters that `save_servers` saves: what servers would hold, and the optimizer's states of these."""
    weights = served(optimizer)
    shapes = {weight.name: tuple(weight.shape) for weight in weights}
    states = [
        p
        for p in optimizer.get_parameters()
        if any(p.name.endswith(f".{name}") and tuple(p.shape) == shape for name, shape in shapes.items())
    ]
    return [*weights, *states]


def served(optimizer: Any) -> list[Parameter]:
    """The parameters that servers would hold."""
    rows = {row.name: row for row in make_plan(optimizer.parameters, servers=True).rows}
    return [p for p in optimizer.parameters if rows[p.name].gradient == "server"]
