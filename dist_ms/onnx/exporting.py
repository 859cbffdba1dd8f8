"""From a network to a model: runs on several inputs, and the nodes of their steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.exporting.comparing import Varying, Wire, aligned
from dist_ms.exporting.examples import Axes, symbols_of
from dist_ms.exporting.recording import Reference, named_parameters
from dist_ms.exporting.steps import add_steps, runs_of
from dist_ms.onnx.graph import Graph, element_type
from dist_ms.onnx.library import onnx
from dist_ms.onnx.nodes.table import table

__all__ = ["OPSET", "model_of"]

OPSET = 17


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
