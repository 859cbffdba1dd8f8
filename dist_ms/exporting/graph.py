"""What graphs of all formats are while they are made: tensors that get their names."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.exporting.comparing import Varying, Wire

__all__ = ["NamedTensors", "Unsupported", "merged_array"]


class Unsupported(Exception):
    """What cannot be said in a format; the message goes on after the operation's name."""


class NamedTensors:
    """The tensors of a graph, which have names in it.

    Attributes:
        form: the name of the format.
        wires: those that have a name, oldest first.
        makers: the step that made a tensor, by its Reference.
        constant: gives the name of a constant; equal ones are one.
    """

    form = ""
    constant: Callable[..., str]

    def __init__(self) -> None:
        self.wires: list[Wire] = []
        self.makers: dict[Any, Any] = {}

    def name(self, x: Any) -> str:
        """The name of a tensor; constants enter the graph here.

        Raises:
            Unsupported: if it is a constant that differs from run to run.
        """
        if not isinstance(x, Wire):
            raise Unsupported(f"has {x!r} where a tensor is expected")
        if not x.name:
            if x.reference.kind == "operation":
                raise Unsupported(f"reads a result of an operation that {self.form} does not give")
            value = merged_array(x)
            x.name = self.varying(x) if isinstance(value, Varying) else self.constant(value)
        return x.name

    def varying(self, x: Wire) -> str:
        """The name of a constant that differs from run to run, where the format has a way to say it.

        Raises:
            Unsupported: if it has none.
        """
        raise Unsupported(
            "reads a tensor that was computed from the inputs outside of operations (`asnumpy`, `item`, or "
            "NumPy in `construct`), which a file cannot hold: compute it by operations"
        )


def merged_array(x: Any) -> Any:
    """The array all runs agree on, or Varying."""
    arrays = x.arrays if isinstance(x, Wire) else x
    first = arrays[0]
    for a in arrays[1:]:
        if a is not first and not (a.shape == first.shape and a.tobytes() == first.tobytes()):
            return Varying(arrays)
    return first
