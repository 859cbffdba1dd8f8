"""Loading a run, on any number of ranks: each takes what it needs from the parts that others wrote."""

from __future__ import annotations

import logging
import math
import os
from collections.abc import Collection
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.communication import Comm, LocalComm, agree
from dist_ms.parallel.servers.checkpoint import load_servers
from dist_ms.parallel.servers.served import hand_over
from dist_ms.train.state import random_streams
from dist_ms.train.state.collecting import Stateful, place_of
from dist_ms.train.state.folder import Folder
from dist_ms.train.state.manifest import DamagedState, type_name
from dist_ms.train.state.reading import SavedState

_log = logging.getLogger("dist_ms")


def load(
    folder: Folder,
    stateful: Stateful,
    comm: Comm | None,
    step: int | None = None,
    among: Collection[int] | None = None,
) -> dict[str, Any] | None:
    """Load the newest whole state, and return its facts; None if there is none. Every rank calls it.

    A damaged state is passed over, with a warning, for the one before.

    Args:
        folder: where states are.
        stateful: what gets its state back.
        comm: the ranks, None for this one alone.
        step: load this state; default: the newest that is whole.
        among: the steps of the states to look at; default: all.

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
    if among is not None:
        steps = [found for found in steps if found in among]
    for optimizer in stateful.optimizers:
        hand_over(optimizer)
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

    def __init__(self, state: SavedState, stateful: Stateful, comm: Comm) -> None:
        self._state, self._stateful = state, stateful
        self.facts = state.manifest.facts
        self._arrays = {name: self._array(name, tensor, own, comm) for name, tensor, own in stateful.held()}
        same = state.manifest.ranks == comm.size
        self._values = state.values(comm.rank if same else 0)
        self._random = self._values.pop("random")
        if not same and not state.equal_streams():
            self._random = random_streams.derive(self._random, comm.rank)

    def _array(self, name: str, tensor: Tensor, own: bool, comm: Comm) -> np.ndarray:
        """Return the values of a tensor, from whatever parts there are."""
        parts = self._state.tensors.get(name)
        if not parts:
            raise ValueError(
                f"For 'load_run', the state must have '{name}', but it has not: it was saved by another program, or "
                "another version of this one."
            )
        first = parts[0][1]
        shape, start, stop = place_of(tensor) or (tuple(tensor.shape), 0, math.prod(tensor.shape))
        dtype = type_name(np.dtype(tensor.dtype.np))
        if (first.shape, first.dtype) != (tuple(shape), dtype):
            raise ValueError(
                f"For 'load_run', '{name}' must have the shape {tuple(shape)} and type {dtype} in the state, but "
                f"it has {first.shape} and {first.dtype} there."
            )
        if not (own or first.own):
            return self._state.range(name, start, stop).reshape(tensor.shape)
        ranks = self._state.manifest.ranks
        if not (own and first.own and ranks == comm.size):
            raise ValueError(
                f"For 'load_run', the ranks must be {ranks} as when the state was saved, but got {comm.size}: each has "
                f"its own '{name}' (layerwise_parallel or sliced), of which nobody knows how to share it out anew."
            )
        return self._state.own(name, comm.rank).reshape(tensor.shape)

    def apply(self, comm: Comm) -> None:
        """Give everything its state."""
        for name, array in self._arrays.items():
            tensor = self._stateful.tensors[name]
            if isinstance(tensor, Parameter):
                tensor.overwrite(array)
            else:
                tensor.assign_value(from_array(array))
        for number, optimizer in enumerate(self._stateful.served()):
            load_servers(os.path.join(self._state.path, f"servers-{number}"), optimizer)
        missing = self._stateful.load_values(self._values)
        random_streams.load_state_dict(self._random)
        unused = sorted(set(self._state.tensors) - set(self._arrays))
        if comm.rank == 0 and self.facts.get("plan", plan := self._stateful.plan_hash()) != plan:
            _log.warning(
                "The run does not train the parameters of the state in %s, or not in the same way (requires_grad, "
                "layerwise_parallel): it will not go on as the saved one would have.",
                self._state.path,
            )
        if comm.rank == 0 and (missing or unused):
            _log.warning(
                "The state in %s does not match the run in everything: it has no state of %s, and the run does not "
                "have %s.",
                self._state.path,
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
        state = _Read(SavedState(folder, step, manifest), stateful, comm)
    except DamagedState as caught:
        damage = str(caught)
    except Exception as caught:
        error = caught
    agree(comm, error)
    damages = [found for found in comm.gather_objects(damage) if found]
    return (None, damages[0]) if damages else (state, "")
