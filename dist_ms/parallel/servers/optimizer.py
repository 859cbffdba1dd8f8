"""An optimizer on its way to the servers: its code, settings and schedules, without the parameters.

The worker's optimizer is pickled; its parameters and their states stand in it by name, and the
server puts its own shards in their places. So a server runs the very code the worker would.
"""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.parallel.servers.shards import DenseShard, TableShard, parameter_of


class _Packer(pickle.Pickler):
    """Pickles an optimizer; parameters are replaced by what `stand_in` says, where it says anything."""

    def __init__(self, file: io.BytesIO, stand_in: Callable[[Parameter], Any]) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._stand_in = stand_in

    def persistent_id(self, value: Any) -> Any:
        """What stands for a parameter."""
        return self._stand_in(value) if isinstance(value, Parameter) else None


def pack_optimizer(optimizer: Any, indices: Sequence[int], cut: Callable[[int, np.ndarray], np.ndarray]) -> bytes:
    """Pickle an optimizer for one server.

    Args:
        optimizer: the worker's.
        indices: which of its parameters the server's shard has, in the shard's order.
        cut: called with (place in the shard, a flat or whole state); returns the server's part.

    Raises:
        TypeError: if something in it cannot be pickled.
    """
    weights = {id(p): i for i, p in enumerate(optimizer.parameters)}
    owners = {p.name: i for i, p in enumerate(optimizer.parameters)}
    place_of = {index: place for place, index in enumerate(indices)}

    def stand_in(p: Parameter) -> Any:
        if id(p) in weights:
            index = weights[id(p)]
            return ("weight", place_of[index], p.name) if index in place_of else ("absent", p.name, p.requires_grad)
        owner = next(
            (i for i in _owners(p.name, owners) if tuple(optimizer.parameters[i].shape) == tuple(p.shape)), None
        )
        if owner is None:
            return None
        if owner not in place_of:
            return ("absent", p.name, p.requires_grad)
        place = place_of[owner]
        if p._data is None:
            return ("state", place, p.name, p.init, tuple(p.shape), p.dtype.np)
        return ("values", place, p.name, cut(place, p._data))

    file = io.BytesIO()
    try:
        _Packer(file, stand_in).dump(optimizer)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise TypeError(
            f"For 'set_param_ps', the optimizer {type(optimizer).__name__} must be one that can be sent to the "
            f"servers, but pickling it failed: {error}. Define its class, and those of its schedules, in a module or "
            "at the top of the script."
        ) from error
    return file.getvalue()


def _owners(name: str, owners: dict[str, int]) -> list[int]:
    """Parameters whose state may have this name: `<state>.<parameter>`."""
    found = []
    while "." in name:
        name = name.split(".", 1)[1]
        if name in owners:
            found.append(owners[name])
    return found


class _Unpacker(pickle.Unpickler):
    """Puts a server's shard in the places of the parameters."""

    def __init__(self, file: io.BytesIO, shard: TableShard | DenseShard) -> None:
        super().__init__(file)
        self._shard = shard
        self._made: dict[str, Parameter] = {}

    def persistent_load(self, pid: Any) -> Parameter:
        """The server's parameter."""
        what, place, name = pid[0], pid[1], pid[2]
        if what == "absent":
            name = place
            if name not in self._made:
                self._made[name] = parameter_of(np.zeros((0,), np.float32), name)
            return self._made[name]
        weight = self._shard.parameters[place]
        if what == "weight":
            return weight
        if name not in self._made:
            if what == "state":
                init, shape, dtype = pid[3:]
                assert isinstance(self._shard, TableShard)
                array = self._shard.state(init, shape, dtype)
            else:
                array = pid[3].reshape(weight._data.shape).copy()
            self._made[name] = parameter_of(array, name)
        return self._made[name]


def unpack_optimizer(blob: bytes, shard: TableShard | DenseShard) -> Any:
    """Return the optimizer of a shard.

    Raises:
        RuntimeError: if a class in it cannot be found on the server.
    """
    try:
        return _Unpacker(io.BytesIO(blob), shard).load()
    except (AttributeError, ImportError) as error:
        raise RuntimeError(
            f"For 'set_param_ps', the servers could not make the optimizer: {error}. A server leaves the script in "
            "init(), so classes of optimizers and schedules must be defined above init(), or in a module."
        ) from error
