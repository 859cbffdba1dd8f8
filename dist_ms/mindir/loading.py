"""A file of MINDIR as a graph that runs on dist_ms's operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from dist_ms.common.tensor import wrap
from dist_ms.mindir.messages import FUNCTION, PRIMITIVE, parsed
from dist_ms.mindir.operations import VIEWS, WRITING, Unknown, operation
from dist_ms.mindir.values import ORDER, array_of, dtype_of, value_of
from dist_ms.nn.cell.graph_cell import LoadedGraph

__all__ = ["graph_of"]

_ORDERING = frozenset({"UpdateState"})
_PASSING = frozenset({"Load", "Depend"})  # give their first input
_TUPLES = frozenset({"MakeTuple", "make_tuple", "MakeList", "make_list"})
_ITEMS = frozenset({"TupleGetItem", "tuple_getitem", "ListGetItem", "list_getitem"})


class _Step(NamedTuple):
    """A node that computes.

    Attributes:
        kind: the operation's name.
        compute: what is called with the inputs.
        inputs: for each either its name or, in a list of one, its value.
        output: the result's name.
        last: names that no later step reads.
    """

    kind: str
    compute: Callable[..., Any]
    inputs: tuple
    output: str
    last: tuple[str, ...]

    @property
    def title(self) -> str:
        """The operation and its result, for errors."""
        return f"{self.kind} ({self.output})"


def graph_of(content: bytes) -> LoadedGraph:
    """The graph in the bytes of a file.

    Raises:
        ValueError: if they are no such file, or a damaged one.
        NotImplementedError: if an operation of the graph is not available.
    """
    model = parsed(content)
    if not model.HasField("graph") or not (model.graph.node or model.graph.output):
        raise ValueError("it holds no graph")
    if model.HasField("little_endian") and not model.little_endian:
        raise ValueError("its numbers are big-endian")
    if model.functions:
        raise NotImplementedError(
            f"it has {len(model.functions)} graphs that others call, as Python's `if` and loops on tensors make them: "
            "only graphs of operations run here"
        )
    if model.graph.map_parameter:
        raise NotImplementedError("it has hash tables as parameters, which are not read")
    return _Reader(model).graph()


class _Reader:
    """Goes through the nodes of a model."""

    def __init__(self, model: Any) -> None:
        self._graph = model.graph
        self._primitives = {p.name: p for p in model.primitives}
        self._known: dict[str, Any] = {}  # constants
        self._made: set[str] = set()  # what inputs, parameters and nodes give
        self._same: dict[str, str] = {}  # names of nodes that give another's result
        self._steps: list[_Step] = []

    def graph(self) -> LoadedGraph:
        """The whole of it."""
        parameters = {}
        names = []
        for told in self._graph.parameter:
            name = told.ref_key or told.name.rpartition(":")[2]
            if name in parameters:
                name = told.name
            parameters[name] = array_of(told, f"the parameter {name!r}")
            self._made.add(told.name)
            names.append(told.name)
        inputs, forms = [], []
        for told in self._graph.input:
            if not told.tensor:
                raise NotImplementedError(f"its input {told.name!r} is no tensor")
            inputs.append(told.name)
            forms.append((tuple(told.tensor[0].dims), dtype_of(told.tensor[0].data_type, f"the input {told.name!r}")))
            self._made.add(told.name)
        for node in self._graph.node:
            self._add(node)
        outputs = tuple([self._input(told.name) for told in self._graph.output])
        if not outputs or any(v is None for v in outputs):
            raise ValueError("it does not say what it returns")
        steps = _with_ends(self._steps, outputs)
        _check_unread(steps, outputs)

        def run(values: Sequence[Any], given: Sequence[Any]) -> Any:
            return _run(steps, outputs, dict(zip([*names, *inputs], [*values, *given])))

        return LoadedGraph(self._graph.name, parameters, forms, run)

    def _input(self, name: str) -> Any:
        """A name that a step reads, a constant in a list of one, or None for the order of nodes.

        Raises:
            ValueError: if nothing gives it.
        """
        while name in self._same:
            name = self._same[name]
        if name in self._made:
            return name
        if name not in self._known:
            raise ValueError(f"a node reads {name!r}, which no node before it gives")
        value = self._known[name]
        return None if value is ORDER else [value]

    def _add(self, node: Any) -> None:
        kind, attributes, form = self._primitive(node)
        if len(node.output) != 1:
            raise ValueError(f"the node {node.name!r} has {len(node.output)} results, and one is wanted")
        output = node.output[0]
        if kind == "Constant":
            found = [a for a in node.attribute if a.name == "value"]
            if not found:
                raise ValueError(f"the constant {output!r} has no value")
            value = value_of(found[0], f"the constant {output!r}")
            self._known[output] = _tensors(value)
            return
        if kind in _ORDERING:
            self._known[output] = ORDER
            return
        given = [self._input(name) for name in node.input]
        if kind in _PASSING:
            if not node.input or given[0] is None:
                raise ValueError(f"the node {output!r} has no input")
            self._same[output] = node.input[0]
            return
        given = [v for v in given if v is not None]
        if kind in _TUPLES:
            if all(isinstance(v, list) for v in given):
                self._known[output] = tuple([v[0] for v in given])
                return
            compute: Callable[..., Any] = _tuple
        elif kind in _ITEMS:
            compute = _item
        else:
            compute, count = self._operation(kind, form, attributes, given)
            given = given[:count]
        self._made.add(output)
        self._steps.append(_Step(kind, compute, tuple(given), output, ()))

    def _operation(self, kind: str, form: int, attributes: dict, given: list) -> tuple[Any, int]:
        try:
            return operation(kind, form, attributes, [v[0] if isinstance(v, list) else ... for v in given])
        except Unknown:
            raise NotImplementedError(f"it has the operation {kind}, which is not available") from None
        except NotImplementedError:
            raise
        except Exception as error:
            raise ValueError(f"its operation {kind} cannot be made: {error}") from error

    def _primitive(self, node: Any) -> tuple[str, dict[str, Any], int]:
        """An operation's name, its attributes, and whether its settings are inputs."""
        kind = node.op_type
        if not kind.startswith("REF::"):
            attributes = [] if kind == "Constant" else node.attribute
            return kind, {a.name: value_of(a, f"{kind}'s {a.name}") for a in attributes if a.name != "shape"}, PRIMITIVE
        told = self._primitives.get(kind[len("REF::") :])
        if told is None:
            raise ValueError(f"the node {node.name!r} has the primitive {kind[len('REF::') :]!r}, which is missing")
        if told.prim_type == FUNCTION:
            return told.op_type, {}, FUNCTION
        return told.op_type, {a.name: value_of(a, f"{told.op_type}'s {a.name}") for a in told.attribute}, PRIMITIVE


def _tensors(value: Any) -> Any:
    """Arrays as tensors."""
    if isinstance(value, np.ndarray):
        return wrap(value)
    return tuple(map(_tensors, value)) if isinstance(value, tuple) else value


def _tuple(*parts: Any) -> tuple:
    return parts


def _item(parts: Any, index: Any) -> Any:
    return parts[int(index)]


def _with_ends(steps: list[_Step], outputs: tuple) -> list[_Step]:
    """The steps that the results need, each with the names it is the last to read."""
    later = {v for v in outputs if isinstance(v, str)}
    kept = []
    for step in reversed(steps):
        if step.output not in later:
            continue
        read = {v for v in step.inputs if isinstance(v, str)}
        kept.append(step._replace(last=tuple(read - later)))
        later |= read
    return kept[::-1]


def _check_unread(steps: list[_Step], outputs: tuple) -> None:
    """Refuse to write into a tensor that others read: what is written is a new tensor here.

    Raises:
        NotImplementedError: if there is such a tensor.
    """
    makers = {step.output: step for step in steps}
    reads = Counter(v for step in steps for v in {v for v in step.inputs if isinstance(v, str)})
    reads.update(v for v in outputs if isinstance(v, str))

    def alone(x: Any) -> bool:
        maker = makers.get(x) if isinstance(x, str) else None
        if maker is None or reads[x] > 1:
            return False
        return maker.kind not in VIEWS | _ITEMS or alone(maker.inputs[0])

    for step in steps:
        if step.kind in WRITING and not alone(step.inputs[0]):
            raise NotImplementedError(
                f"the operation {step.title} writes into a tensor that others read, which is not available: write "
                "`x = x + y` instead of `x += y` in the network"
            )


def _run(steps: list[_Step], outputs: tuple, values: dict[str, Any]) -> Any:
    """Compute the results."""
    for step in steps:
        given = [values[v] if isinstance(v, str) else v[0] for v in step.inputs]
        try:
            values[step.output] = step.compute(*given)
        except Exception as error:
            error.add_note(f"In the graph's operation {step.title}.")
            raise
        for name in step.last:
            values.pop(name, None)
    results = [values[v] if isinstance(v, str) else v[0] for v in outputs]
    return results[0] if len(results) == 1 else tuple(results)
