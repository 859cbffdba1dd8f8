"""Loading a run, on any number of ranks: each takes what it needs from the parts that others wrote."""

from __future__ import annotations

import logging
import math
import os
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.communication import Comm, LocalComm, agree
from dist_ms.parallel.servers.checkpoint import load_servers
from dist_ms.train.state import random_streams, tree
from dist_ms.train.state.collecting import Stateful, place_of
from dist_ms.train.state.files import ArraysFile
from dist_ms.train.state.folder import Folder
from dist_ms.train.state.manifest import DamagedState, Manifest, Part, type_name

_log = logging.getLogger("dist_ms")
_VALUES = "values/"


def load(folder: Folder, stateful: Stateful, comm: Comm | None, step: int | None = None) -> dict[str, Any] | None:
    """Load the newest whole state, and return its facts; None if there is none. Every rank calls it.

    A damaged state is passed over, with a warning, for the one before.

    Args:
        folder: where states are.
        stateful: what gets its state back.
        comm: the ranks, None for this one alone.
        step: load this state; default: the newest that is whole.

    Raises:
        FileNotFoundError: if there is no state of this step.
        ValueError: if the state is of something else, or all states are damaged.
    """
    comm = comm or LocalComm()
    steps = comm.gather_objects(folder.steps())[0]
    if step is not None:
        if step not in steps:
            raise FileNotFoundError(
                f"For 'load_run', 'step' must be one of {steps}, of which there are states in {folder.path}, but got "
                f"{step}."
            )
        steps = [step]
    damages = []
    for candidate in reversed(steps):
        state, damage = _read(folder, candidate, stateful, comm)
        if state is not None:
            state.apply(comm)
            return state.facts
        damages.append(f"step {candidate}: {damage}")
        if comm.rank == 0:
            _log.warning("The state of step %d in %s is damaged and passed over: %s.", candidate, folder.path, damage)
    if damages:
        raise ValueError(
            f"For 'load_run', 'directory' must have a whole state, but all in {folder.path} are damaged: "
            f"{'; '.join(damages)}. Restore one from a copy, or give another directory to start anew."
        )
    return None


class _Read:
    """A state that was read and fits; applying it cannot fail half way but by its objects' own refusal."""

    def __init__(self, path: str, manifest: Manifest, stateful: Stateful, comm: Comm) -> None:
        self.facts, self._stateful, self._path = manifest.facts, stateful, path
        self._files = [ArraysFile(path, written) for written in manifest.writers]
        self._manifest = manifest
        self._parts: dict[str, list[tuple[int, Part]]] = {}
        for written in manifest.writers:
            for part in written.parts:
                self._parts.setdefault(part.name, []).append((written.rank, part))
        self._arrays = {name: self._array(name, tensor, own, comm) for name, tensor, own in stateful.held()}
        self._values, self._random = self._read_values(comm)
        self._unused = set(self._parts) - set(self._arrays)

    def _array(self, name: str, tensor: Tensor, own: bool, comm: Comm) -> np.ndarray:
        """Return the values of a tensor, from whatever parts there are."""
        parts = self._parts.get(name)
        if not parts:
            raise ValueError(
                f"For 'load_run', the state must have '{name}', but it has not: it was saved by another program, or "
                "another version of this one."
            )
        first = parts[0][1]
        place = place_of(tensor) or (tuple(tensor.shape), 0, math.prod(tensor.shape))
        dtype = type_name(np.dtype(tensor.dtype.np))
        if (first.shape, first.dtype) != (tuple(place[0]), dtype):
            raise ValueError(
                f"For 'load_run', '{name}' must have the shape {tuple(place[0])} and type {dtype} in the state, but "
                f"it has {first.shape} and {first.dtype} there."
            )
        if own or first.own:
            return self._own(name, parts, own, comm).reshape(tensor.shape)
        start, stop = place[1:]
        found, filled = np.empty(stop - start, np.dtype(tensor.dtype.np)), 0
        for rank, part in parts:
            low, high = max(start, part.start), min(stop, part.stop)
            if low < high or not found.size:
                values = self._files[rank].read(name)
                found[low - start : high - start] = values[low - part.start : high - part.start]
                filled += max(0, high - low)
        if filled != found.size:
            raise DamagedState(f"the parts of '{name}' are not its whole")
        return found.reshape(tensor.shape)

    def _own(self, name: str, parts: list[tuple[int, Part]], own: bool, comm: Comm) -> np.ndarray:
        ranks = {rank for rank, part in parts if part.own}
        if not own or comm.rank not in ranks or self._manifest.ranks != comm.size:
            raise ValueError(
                f"For 'load_run', the ranks must be {self._manifest.ranks} as when the state was saved, but got "
                f"{comm.size}: each has its own '{name}' (layerwise_parallel or sliced), of which nobody knows how to "
                "share it out anew."
            )
        return self._files[comm.rank].read(name)

    def _read_values(self, comm: Comm) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return this rank's values, and its random streams."""
        same = self._manifest.ranks == comm.size
        values = self._values_of(comm.rank if same else 0)
        streams = values.pop("random")
        if not same and not self._equal_streams():
            streams = random_streams.derive(streams, comm.rank)
        return values, streams

    def _values_of(self, rank: int) -> dict[str, Any]:
        written = self._manifest.writers[rank]
        arrays = {
            p.name: self._files[rank].read(p.name).reshape(p.shape) for p in written.parts if p.name.startswith(_VALUES)
        }
        try:
            found = tree.decode(written.values, arrays)
        except (ValueError, RecursionError) as error:
            raise DamagedState(str(error)) from None
        if not isinstance(found, dict) or not isinstance(found.get("random"), dict):
            raise DamagedState(f"the values of rank {rank} are missing")
        return found

    def _equal_streams(self) -> bool:
        """Whether all ranks drew the same numbers when the state was saved."""
        found = []
        for written in self._manifest.writers:
            sums = [p.crc32 for p in written.parts if p.name.startswith(f"{_VALUES}random/")]
            values = written.values.get("random") if isinstance(written.values, dict) else None
            found.append((sums, values))
        return all(one == found[0] for one in found)

    def apply(self, comm: Comm) -> None:
        """Give everything its state."""
        for name, array in self._arrays.items():
            tensor = self._stateful.tensors[name]
            if isinstance(tensor, Parameter):
                tensor.overwrite(array)
            else:
                tensor.assign_value(from_array(array))
        for number, optimizer in enumerate(self._stateful.served()):
            load_servers(os.path.join(self._path, f"servers-{number}"), optimizer)
        missing = self._stateful.load_values(self._values)
        random_streams.load_state_dict(self._random)
        unused = sorted(name for name in self._unused if not name.startswith(_VALUES))
        if comm.rank == 0 and (missing or unused):
            _log.warning(
                "The state in %s does not match the run in everything: it has no state of %s, and the run does not "
                "have %s.",
                self._path,
                missing or "nothing",
                unused[:5] or "nothing",
            )


def _read(folder: Folder, step: int, stateful: Stateful, comm: Comm) -> tuple[_Read | None, str]:
    """Read a state on every rank; return what is wrong with it where it is damaged on any."""
    error, damage, state = None, "", None
    try:
        manifest = folder.manifest(step)
        if comm.rank == 0:
            folder.verify_others(step, manifest)
        state = _Read(folder.of(step), manifest, stateful, comm)
    except DamagedState as caught:
        damage = str(caught)
    except Exception as caught:
        error = caught
    agree(comm, error)
    damages = [found for found in comm.gather_objects(damage) if found]
    return (None, damages[0]) if damages else (state, "")
