"""Runs on inputs of several sizes, laid side by side: what they share is fixed, what differs depends on a size."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.exporting.recording import Operation, Reference, Run

__all__ = ["Step", "Varying", "Wire", "aligned", "merged"]


class Varying:
    """A value that differs from run to run.

    Attributes:
        values: what it is in each run.
    """

    def __init__(self, values: Sequence[Any]) -> None:
        self.values = tuple(values)

    def __repr__(self) -> str:
        return "a value that depends on the inputs (" + ", ".join(str(v)[:40] for v in self.values) + ")"


class Wire:
    """A tensor of the network.

    Attributes:
        reference: where it comes from.
        arrays: it in each run.
        name: its name in the exported graph, once it is there.
    """

    def __init__(self, reference: Reference, arrays: Sequence[np.ndarray]) -> None:
        self.reference = reference
        self.arrays = arrays
        self.name = ""

    @property
    def dtype(self) -> np.dtype:
        """The element type."""
        return self.arrays[0].dtype

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return self.arrays[0].ndim

    @property
    def shape(self) -> tuple:
        """The shape; lengths that differ are Varying."""
        return merged([a.shape for a in self.arrays], None)

    @property
    def fixed(self) -> bool:
        """Whether the tensor is a constant or a parameter."""
        return self.reference.kind in ("constant", "parameter")


class Step:
    """One operation of the network, as all runs saw it.

    Attributes:
        kind: the name of its Primitive's class.
        inputs: a Wire for each tensor, plain values as they are, or Varying.
        attributes: those of the Primitive, compared in the same way.
        outputs: a Wire for each result.
        where: the line of the user's code.
    """

    def __init__(self, operation: Operation, inputs: list, attributes: dict, outputs: list[Wire]) -> None:
        self.primitive = operation.primitive
        self.kind = type(operation.primitive).__name__
        self.inputs = inputs
        self.attributes = attributes
        self.outputs = outputs
        self.where = operation.where

    def __getitem__(self, attribute: str) -> Any:
        """An attribute of the primitive."""
        if attribute in self.attributes:
            return self.attributes[attribute]
        return getattr(self.primitive, attribute)

    @property
    def title(self) -> str:
        """The operation and its line, for errors."""
        return f"'{self.primitive.name}'" + (f" ({self.where})" if self.where else "")


def merged(values: Sequence[Any], wire: Any) -> Any:
    """One value of those of all runs: itself where they agree, Varying where they do not, part by part.

    Args:
        values: one for each run.
        wire: makes a Wire of the References of all runs.
    """
    first = values[0]
    if any(type(v) is not type(first) for v in values):
        return Varying(values)
    if isinstance(first, Reference):
        return wire(values)
    if isinstance(first, slice):
        return slice(*[merged([getattr(v, k) for v in values], wire) for k in ("start", "stop", "step")])
    if isinstance(first, (tuple, list)):
        if any(len(v) != len(first) for v in values):
            return Varying(values)
        parts = [merged(v, wire) for v in zip(*values)]
        return tuple(parts) if isinstance(first, tuple) and not hasattr(first, "_fields") else _again(first, parts)
    if isinstance(first, dict):
        if any(v.keys() != first.keys() for v in values):
            return Varying(values)
        return {k: merged([v[k] for v in values], wire) for k in first}
    if dataclasses.is_dataclass(first) and not isinstance(first, type):
        return {f.name: merged([getattr(v, f.name) for v in values], wire) for f in dataclasses.fields(first)}
    if isinstance(first, np.ndarray):
        same = all(np.array_equal(v, first, equal_nan=v.dtype.kind == "f") for v in values[1:])
        return first if same else Varying(values)
    if isinstance(first, (bool, int, float, str, np.generic)):
        return first if all(v == first or (v != v and first != first) for v in values[1:]) else Varying(values)
    return first


def _again(first: Any, parts: list) -> Any:
    """A list, or a named tuple as a dict of its fields."""
    return dict(zip(first._fields, parts)) if hasattr(first, "_fields") else list(parts)


def aligned(runs: Sequence[Run]) -> tuple[list[Step], dict[Reference, Wire]]:
    """The steps and tensors of several runs.

    Raises:
        RuntimeError: if they did not run the same operations.
    """
    wires: dict[Reference, Wire] = {}

    def wire(references: Sequence[Reference]) -> Wire:
        first = references[0]
        if any(r != first for r in references):
            return Varying(references)  # type: ignore[return-value]
        if first not in wires:
            wires[first] = Wire(first, [run.arrays[first] for run in runs])
        return wires[first]

    for reference in runs[0].arrays:
        if reference.kind in ("input", "parameter"):
            wire([reference] * len(runs))
    steps = []
    _check_sequences(runs)
    for i, operations in enumerate(zip(*[run.operations for run in runs])):
        first = operations[0]
        inputs = [merged(values, wire) for values in zip(*[o.inputs for o in operations])]
        attributes = merged([getattr(o.primitive, "__dict__", {}) for o in operations], wire)
        outputs = [wire([Reference("operation", i, k)] * len(runs)) for k in range(len(first.results))]
        steps.append(Step(first, inputs, attributes, outputs))
    return steps, wires


def _check_sequences(runs: Sequence[Run]) -> None:
    """Refuse runs that took different ways."""

    def name(operations: list[Operation], i: int) -> str:
        if i >= len(operations):
            return "nothing"
        return f"'{operations[i].primitive.name}' ({operations[i].where})"

    first = runs[0].operations
    for run in runs[1:]:
        other = run.operations
        for i in range(max(len(first), len(other))):
            if i >= min(len(first), len(other)) or _form(first[i]) != _form(other[i]):
                raise RuntimeError(
                    f"For 'export', the network must run the same operations whatever its inputs hold, but "
                    f"{name(first, i)} ran with some inputs and {name(other, i)} with others. A file holds one way "
                    "through it: replace Python's `if` and loops on tensors, or on lengths that change, by operations "
                    "such as `ops.where`."
                )


def _form(operation: Operation) -> tuple:
    return type(operation.primitive), len(operation.inputs), len(operation.results)
