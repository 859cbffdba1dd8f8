"""From a network to a model: runs on several inputs, and the nodes of their steps."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.exporting.comparing import Step, Varying, Wire, aligned
from dist_ms.exporting.examples import Axes, examples, symbols_of
from dist_ms.onnx.graph import Graph, Unsupported, element_type
from dist_ms.onnx.library import onnx
from dist_ms.onnx.nodes.table import table
from dist_ms.exporting.recording import Reference, Run, named_parameters, record, tensors

__all__ = ["OPSET", "add_steps", "input_names_of", "model_of", "runs_of"]

OPSET = 17


def input_names_of(net: Any, inputs: Sequence[Any]) -> list[str]:
    """A name for each tensor among the inputs: that of its parameter of `construct`."""
    parameters = list(inspect.signature(net.construct).parameters.values())
    names: list[str] = []
    for i, x in enumerate(inputs):
        if i < len(parameters) and parameters[i].kind is not parameters[i].VAR_POSITIONAL:
            name = parameters[i].name
        else:
            name = f"input_{i}"
        found = tensors(x)
        names += [name] if isinstance(x, Tensor) else [f"{name}_{k}" for k in range(len(found))]
    return names


@contextlib.contextmanager
def evaluating(net: Any) -> Iterator[None]:
    """A region in which the network and its cells run as for inference."""
    before = [(cell, cell.training) for _, cell in net.cells_and_names()]
    net.set_train(False)
    try:
        yield
    finally:
        for cell, training in before:
            cell.training = training


def model_of(
    owner: str,
    net: Any,
    inputs: Sequence[Any],
    input_names: list[str],
    output_names: list[str],
    axes: Axes,
    with_parameters: bool = True,
    initializers_as_inputs: bool = False,
) -> Any:
    """The ONNX model of a network.

    Args:
        owner: the name used in errors.
        net: a Cell.
        inputs: example inputs; unknown lengths are -1.
        input_names: one for each tensor among them.
        output_names: one for each result; missing ones are made.
        axes: the names of open dimensions, by input and dimension.
        with_parameters: whether the file holds the parameters' values; else they are inputs.
        initializers_as_inputs: whether parameters are inputs, too.

    Raises:
        RuntimeError: if an operation, or a way through the network, cannot be exported.
    """
    symbols = symbols_of(inputs, input_names, axes)
    runs = runs_of(owner, net, inputs, symbols)
    steps, wires = aligned(runs)
    named = [wires[Reference("input", i)] for i in range(len(input_names))]
    graph = Graph([(s.sizes, named[s.places[0][0]], s.places[0][1]) for s in symbols])
    for wire, name in zip(named, input_names):
        wire.name = name
        graph.wires.append(wire)
    for reference, wire in wires.items():
        if reference.kind == "parameter":
            wire.name = reference.index
    outputs = add_steps(owner, graph, table(), runs, steps, wires)
    return _assembled(
        net, graph, named, input_names, outputs, output_names, symbols, with_parameters, initializers_as_inputs
    )


def runs_of(owner: str, net: Any, inputs: Sequence[Any], symbols: Sequence) -> list[Run]:
    """Runs of the network on its inputs and on others of their kind, as for inference.

    Raises:
        RuntimeError: if it does not run with other sizes of its open dimensions, or returns no tensor.
    """
    with evaluating(net):
        runs = []
        for given in examples(inputs, symbols):
            try:
                runs.append(record(net, given))
            except Exception as error:
                if not symbols or not runs:
                    raise
                shapes = ", ".join(str(t.shape) for t in tensors(given))
                raise RuntimeError(
                    f"For '{owner}', the network must run with every size of its open dimensions, but with inputs of "
                    f"the shapes {shapes} it raised {type(error).__name__}: {error} Dimensions that are equal need one "
                    "name in 'dynamic_axes', such as {'a': {1: 'time'}, 'b': {1: 'time'}}."
                ) from error
    for run in runs:
        if not run.outputs:
            raise RuntimeError(f"For '{owner}', the network must return a Tensor, but it returned none.")
    return runs


def add_steps(owner: str, graph: Any, writers: Any, runs: list[Run], steps: list[Step], wires: dict) -> list[Wire]:
    """Add the nodes of all steps, and give the tensors that are returned.

    Args:
        owner: the name used in errors.
        graph: takes the nodes; its `form` is the name of the file's format.
        writers: adds the nodes of a step, by the step's kind.
        runs, steps, wires: what `runs_of` and `aligned` gave.

    Raises:
        RuntimeError: if a step has no form in such files.
    """
    for step in steps:
        writer = writers.get(step.kind)
        if writer is None:
            raise RuntimeError(
                f"For '{owner}', every operation must have a form in {graph.form}, but {step.title} has none here "
                f"(its class is {step.kind})."
            )
        try:
            made = writer(graph, step)
        except Unsupported as error:
            raise RuntimeError(f"For '{owner}', the operation {step.title} {error}.") from None
        except (TypeError, ValueError, KeyError, AttributeError) as error:
            found = [v for v in [*step.inputs, *step.attributes.values()] if _open(v)]
            if not found:
                raise
            raise RuntimeError(
                f"For '{owner}', the settings of the operation {step.title} must not depend on the inputs, "
                f"but there is {found[0]!r}."
            ) from error
        for wire, name in zip(step.outputs, made if isinstance(made, tuple) else (made,)):
            wire.name = name
            graph.wires.append(wire)
            graph.makers[wire.reference] = step
    outputs = []
    for i, references in enumerate(zip(*[run.outputs for run in runs])):
        if any(r != references[0] for r in references) or any(len(r.outputs) != len(runs[0].outputs) for r in runs):
            raise RuntimeError(f"For '{owner}', result {i} of the network must always come from the same operation.")
        wire = wires.get(references[0])
        if wire is None:
            wire = wires[references[0]] = Wire(references[0], [run.arrays[references[0]] for run in runs])
        try:
            graph.name(wire)
        except Unsupported as error:
            raise RuntimeError(f"For '{owner}', the end of the network {error}.") from None
        outputs.append(wire)
    return outputs


def _open(value: Any) -> bool:
    """Whether a value, or a part of it, differs from run to run."""
    if isinstance(value, slice):
        value = (value.start, value.stop, value.step)
    if isinstance(value, dict):
        value = list(value.values())
    return isinstance(value, Varying) or (isinstance(value, (tuple, list)) and any(map(_open, value)))


def _assembled(
    net: Any,
    graph: Graph,
    inputs: list[Wire],
    input_names: list[str],
    outputs: list[Wire],
    output_names: list[str],
    symbols: Sequence,
    with_parameters: bool,
    initializers_as_inputs: bool,
) -> Any:
    """The model of a graph: what no result needs is left out."""
    helper = onnx.helper
    names = list(output_names)
    names += ["output" if len(outputs) == 1 else f"output_{i}" for i in range(len(names), len(outputs))]
    for wire, name in zip(outputs, names):
        graph.nodes.append(helper.make_node("Identity", [wire.name], [name], name=f"/to_{name}"))
    nodes, needed = _needed(graph.nodes, names)
    given = [
        _value_info(n, w, {p[1]: s.name for s in symbols for p in s.places if p[0] == i})
        for i, (n, w) in enumerate(zip(input_names, inputs))
    ]
    initializers = [t for name, t in graph.initializers.items() if name in needed]
    for name, parameter in named_parameters(net):
        if name not in needed or name in graph.initializers:
            continue
        array = parameter.array()
        if with_parameters:
            initializers.append(graph.tensor(array, name))
        if not with_parameters or initializers_as_inputs:
            given.append(helper.make_tensor_value_info(name, element_type(array.dtype), array.shape))
    results = []
    for name, wire in zip(names, outputs):
        open_names = {}
        for axis, n in enumerate(wire.shape):
            if isinstance(n, Varying):
                same = [s.name for s in symbols if s.sizes == n.values]
                open_names[axis] = same[0] if same else f"{name}_{axis}"
        results.append(_value_info(name, wire, open_names))
    made = helper.make_graph(nodes, type(net).__name__, given, results, initializers)
    model = helper.make_model(made, producer_name="dist_ms", opset_imports=[helper.make_opsetid("", OPSET)])
    model.ir_version = 8  # the one of opset 17
    return model


def _needed(nodes: list, names: Sequence[str]) -> tuple[list, set[str]]:
    """The nodes that the named results need, and the names they read."""
    needed, kept = set(names), []
    for node in reversed(nodes):
        if any(name in needed for name in node.output):
            kept.append(node)
            needed.update(node.input)
    return kept[::-1], needed


def _value_info(name: str, wire: Wire, open_names: dict[int, str]) -> Any:
    shape = [open_names.get(axis, n) for axis, n in enumerate(np.shape(wire.arrays[0]))]
    return onnx.helper.make_tensor_value_info(name, element_type(wire.dtype), shape)
