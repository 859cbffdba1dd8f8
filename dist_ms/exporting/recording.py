"""Write down the operations of one run of a network: which ran, on what, and where in the user's code."""

from __future__ import annotations

import os
import sys
import zlib
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from dist_ms.autograd.tape import Tape, recording
from dist_ms.common.tensor import Tensor
from dist_ms.exporting.looking import looks_noticed

__all__ = ["Operation", "Reference", "Run", "named_parameters", "record", "tensors"]

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


class Reference(NamedTuple):
    """Where a tensor comes from.

    Attributes:
        kind: "input", "parameter", "constant" or "operation".
        index: the input's number, the parameter's name, the constant's or the operation's number.
        output: which of the operation's results.
    """

    kind: str
    index: Any
    output: int = 0


class Operation(NamedTuple):
    """One operation that ran.

    Attributes:
        primitive: its Primitive.
        inputs: a Reference for each tensor, and plain values as they are.
        results: its result arrays.
        several: whether it returns a tuple.
        where: the line of the user's code that called it.
    """

    primitive: Any
    inputs: tuple
    results: tuple
    several: bool
    where: str


class Run:
    """What one run of a network did.

    Attributes:
        operations: in the order in which they ran.
        arrays: the array behind each Reference.
        outputs: the Reference of each tensor the network returned.
    """

    def __init__(self, inputs: Sequence[Tensor], parameters: Sequence[tuple[str, Tensor]]) -> None:
        self.operations: list[Operation] = []
        self.arrays: dict[Reference, np.ndarray] = {}
        self.outputs: list[Reference] = []
        self._of: dict[int, Reference] = {}  # by the identity of arrays, which `arrays` keeps alive
        self._kept: list[np.ndarray] = []
        self._following: set[Reference] = set()  # what follows from the inputs
        self._sums: dict[Reference, int] = {}
        self._constants = 0
        for name, parameter in parameters:
            self._know(parameter.array(), Reference("parameter", name))
        for i, x in enumerate(inputs):
            self._know(x.array(), Reference("input", i))

    def _know(self, array: np.ndarray, reference: Reference) -> Reference:
        self._of[id(array)] = reference
        self._kept.append(array)
        self.arrays[reference] = array
        if reference.kind != "parameter":
            self._sums[reference] = _checksum(array)
        return reference

    def reference(self, x: Tensor) -> Reference:
        """Where a tensor comes from; one that no operation made is a constant."""
        array = x.array()
        found = self._of.get(id(array))
        if found is None:
            found = self._know(array, Reference("constant", self._constants))
            self._constants += 1
        return found

    def __call__(self, primitive: Any, inputs: tuple, result: Any) -> None:
        """What the gate tells of an operation that ran."""
        given = tuple([_replaced(x, self.reference) for x in inputs])
        several = type(result) is tuple
        results = tuple([r.array() for r in (result if several else (result,))])
        number, follows = len(self.operations), self._follow(given)
        for i, array in enumerate(results):
            made = self._know(array, Reference("operation", number, i))
            if follows:
                self._following.add(made)
        self.operations.append(Operation(primitive, given, results, several, user_line(sys._getframe(1))))

    def _follow(self, values: Any) -> bool:
        """Whether one of the inputs of an operation follows from those of the network."""
        if isinstance(values, Reference):
            return values.kind == "input" or values in self._following
        return type(values) in (tuple, list) and any(map(self._follow, values))

    def depends(self, x: Tensor) -> bool:
        """Whether a tensor follows from the inputs, as far as operations tell."""
        found = self._of.get(id(x._data))
        return found is not None and self._follow(found)

    def check_unwritten(self) -> None:
        """Refuse arrays that were written to after they were seen.

        Raises:
            RuntimeError: if there is one.
        """
        for reference, value in self._sums.items():
            if _checksum(self.arrays[reference]) != value:
                made = self.operations[reference.index] if reference.kind == "operation" else None
                what = f"the {reference.kind} {reference.index}"
                if made is not None:
                    what = f"the result of '{made.primitive.name}' ({made.where})"
                raise RuntimeError(
                    f"For 'export', no tensor may be changed in place outside of operations, but {what} was: "
                    "write the new values with `ops.where`, `ops.concat` or `x[index] = value`."
                )


def _checksum(array: np.ndarray) -> int:
    return zlib.crc32(np.ascontiguousarray(array).view(np.uint8).reshape(-1).data) if array.size else 0


def _replaced(value: Any, reference: Any) -> Any:
    """An input with references for tensors, in tuples and lists too."""
    if isinstance(value, Tensor):
        return reference(value)
    if type(value) in (tuple, list):
        return type(value)(_replaced(v, reference) for v in value)
    return value


def user_line(frame: Any) -> str:
    """The innermost line outside of dist_ms of a frame and those that called it."""
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    return "" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}, in {frame.f_code.co_name}"


def record(net: Any, inputs: Sequence[Any]) -> Run:
    """Run a network once without gradients and write down its operations.

    Args:
        net: a Cell, in the mode in which it is to run.
        inputs: its positional inputs; tensors become the model's inputs, the rest stays as it is.
    """
    run = Run(tensors(list(inputs)), named_parameters(net))
    before = recording.observer, recording.tape
    # With a tape nothing is written in place: `x[0] = 1` is an operation, too. No node is made, as nothing is traced.
    recording.observer, recording.tape = run, Tape()
    try:
        with looks_noticed(run.depends, user_line):
            results = net(*inputs)
    finally:
        recording.observer, recording.tape = before
    run.check_unwritten()
    run.outputs = [run.reference(x) for x in tensors(results)]
    return run


def named_parameters(net: Any) -> list[tuple[str, Tensor]]:
    """A network's parameters by their names, or by their places if two have one name."""
    placed = list(net.parameters_and_names())
    names = [p.name for _, p in placed]
    return [(p.name, p) for _, p in placed] if len(set(names)) == len(names) else placed


def tensors(results: Any) -> list[Tensor]:
    """The tensors in a value: in tuples, lists and dicts too, in order."""
    if isinstance(results, Tensor):
        return [results]
    if isinstance(results, dict):
        results = list(results.values())
    if isinstance(results, (tuple, list)):
        return [t for r in results for t in tensors(r)]
    return []
