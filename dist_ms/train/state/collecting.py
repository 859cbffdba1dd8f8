"""What a run consists of: the tensors and values of the objects that decide its next step."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.random.generator import Generator
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.parallel.plan import make_plan
from dist_ms.parallel.servers.checkpoint import saved_by_servers, served


class Stateful:
    """The objects of a run, by name.

    Args:
        objects: Cells (networks, train steps, optimizers), Parameters, Tensors, Generators, whatever has
            `state_dict` and `load_state_dict`, and lists and dicts of these.
        owner: whose arguments they are, for errors.

    Raises:
        TypeError: if an object is of another kind.
        ValueError: if two parameters have one name.

    Attributes:
        tensors: Parameters and Tensors by name.
        optimizers: all that were found.
    """

    def __init__(self, objects: Mapping[str, Any], owner: str) -> None:
        self.tensors: dict[str, Tensor] = {}
        self.optimizers: list[Optimizer] = []
        self._values: dict[str, Any] = {}
        self._seen: set[int] = set()
        for name, thing in objects.items():
            self._add(thing, name, owner)

    def _add(self, thing: Any, name: str, owner: str) -> None:
        if isinstance(thing, Cell):
            self._add_cell(thing, name, owner)
        elif isinstance(thing, Tensor):
            self._add_tensor(thing, name, owner)
        elif isinstance(thing, Mapping):
            for key, item in thing.items():
                self._add(item, f"{name}/{key}", owner)
        elif isinstance(thing, (list, tuple)):
            for number, item in enumerate(thing):
                self._add(item, f"{name}/{number}", owner)
        elif isinstance(thing, Generator) or (hasattr(thing, "state_dict") and hasattr(thing, "load_state_dict")):
            if id(thing) not in self._seen:
                self._seen.add(id(thing))
                self._values[name] = thing
        else:
            raise TypeError(
                f"For '{owner}', '{name}' must be a Cell, Parameter, Tensor or Generator, have state_dict and "
                f"load_state_dict, or be a list or dict of these, but got {type(thing).__name__}."
            )

    def _add_cell(self, cell: Cell, name: str, owner: str) -> None:
        for parameter in cell.get_parameters():
            self._add_tensor(parameter, f"{name}/{parameter.name}", owner)
        for path, buffer in cell.named_buffers():
            self._add_tensor(buffer, f"{name}/buffers/{path}", owner)
        for path, part in cell.cells_and_names():
            if id(part) in self._seen:
                continue
            self._seen.add(id(part))
            if isinstance(part, Optimizer):
                self.optimizers.append(part)
            if type(part).get_extra_state is not Cell.get_extra_state or hasattr(part, "run_state"):
                self._values[f"{name}/extra/{path}"] = part

    def _add_tensor(self, tensor: Tensor, name: str, owner: str) -> None:
        if id(tensor) in self._seen:
            return
        self._seen.add(id(tensor))
        if name in self.tensors:
            raise ValueError(
                f"For '{owner}', parameters must have names of their own, but two are called '{name}': give the cells "
                "different attribute names, or a Parameter a 'name'."
            )
        self.tensors[name] = tensor

    # ---- tensors
    def held(self) -> Iterator[tuple[str, Tensor, bool]]:
        """Yield name, tensor and whether the values are this rank's own; what servers save is left out."""
        served = {id(p) for optimizer in self.served() for p in saved_by_servers(optimizer)}
        for name, tensor in self.tensors.items():
            if id(tensor) not in served:
                yield name, tensor, saved_by(tensor) == "every rank" and place_of(tensor) is None

    def served(self) -> list[Optimizer]:
        """Return the optimizers of which servers hold something, or would if there were any."""
        return [optimizer for optimizer in self.optimizers if served(optimizer)]

    def plan_hash(self) -> str:
        """What tells runs apart that train other parameters, or otherwise; the same for any ranks and servers."""
        named = [_Named(name, tensor) for name, tensor in self.tensors.items() if isinstance(tensor, Parameter)]
        return make_plan(named).hash.hex()

    # ---- values
    def values(self) -> dict[str, Any]:
        """Return the states of everything that is no tensor, by name."""
        return {name: _state(thing) for name, thing in self._values.items()}

    def load_values(self, states: Mapping[str, Any]) -> list[str]:
        """Give everything that is no tensor its state back; return the names for which there was none.

        Raises:
            ValueError: if an object does not take its state.
        """
        for name, thing in self._values.items():
            if name in states:
                try:
                    _load(thing, states[name])
                except (ArithmeticError, AttributeError, LookupError, RuntimeError, TypeError) as error:
                    raise ValueError(f"For 'load_run', '{name}' does not take its state: {error}") from error
        return [name for name in self._values if name not in states]


class _Named:
    """A parameter by its name in the state, as those of two networks may have one name; a slice as its whole."""

    def __init__(self, name: str, parameter: Parameter) -> None:
        place = place_of(parameter)
        self.name, self.shape = name, tuple(parameter.shape) if place is None else place[0]
        self._parameter = parameter

    def __getattr__(self, name: str) -> Any:
        return getattr(self._parameter, name)


def saved_by(tensor: Tensor) -> str:
    """Who saves a tensor: "rank 0" for all that have it, or "every rank" what is its own."""
    return make_plan([tensor], []).rows[0].saved_by if isinstance(tensor, Parameter) else "rank 0"


def place_of(tensor: Tensor) -> tuple[tuple[int, ...], int, int] | None:
    """Which elements of which shape a rank's slice has; None for a tensor that is whole."""
    return getattr(tensor, "part_of", None)


def _state(thing: Any) -> Any:
    if isinstance(thing, Generator):
        return thing.get_state().asnumpy()
    if hasattr(thing, "run_state"):
        return thing.run_state()
    return thing.get_extra_state() if isinstance(thing, Cell) else thing.state_dict()


def _load(thing: Any, state: Any) -> None:
    if isinstance(thing, Generator):
        thing.set_state(from_array(np.asarray(state)))
    elif hasattr(thing, "load_run_state"):
        thing.load_run_state(state)
    elif isinstance(thing, Cell):
        thing.set_extra_state(state)
    else:
        thing.load_state_dict(state)
