"""From a network to a model of MINDIR."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dist_ms.exporting.comparing import Varying, Wire, aligned
from dist_ms.exporting.examples import symbols_of
from dist_ms.exporting.recording import Reference, named_parameters
from dist_ms.exporting.steps import add_steps, runs_of
from dist_ms.mindir.graph import Graph
from dist_ms.mindir.messages import ATTRIBUTE
from dist_ms.mindir.nodes.table import table

__all__ = ["MOST_BYTES", "model_of"]

MOST_BYTES = (1 << 31) - (1 << 20)  # what a protobuf message may have, less the room its nodes take


def model_of(owner: str, net: Any, inputs: Sequence[Any], input_names: list[str]) -> Any:
    """The MINDIR model of a network.

    Args:
        owner: the name used in errors.
        net: a Cell.
        inputs: example inputs; unknown lengths are -1.
        input_names: one for each tensor among them.

    Raises:
        RuntimeError: if an operation, or a way through the network, cannot be exported.
        ValueError: if the parameters have more than 2 GB.
    """
    symbols = symbols_of(inputs, input_names, {})
    runs = runs_of(owner, net, inputs, symbols)
    steps, wires = aligned(runs)
    graph = Graph(type(net).__name__)
    for i, name in enumerate(input_names):
        wire = wires[Reference("input", i)]
        wire.name = graph.own(name)
        graph.wires.append(wire)
        graph.ends("input", wire.name, _lengths(wire), wire.dtype)
    for reference, wire in wires.items():
        if reference.kind == "parameter":
            wire.name = graph.own(reference.index)
    outputs = add_steps(owner, graph, table(), runs, steps, wires)
    read = {name for node in graph.model.graph.node for name in node.input} | {wire.name for wire in outputs}
    kept = [(name, p) for name, p in named_parameters(net) if graph.own(name) in read]
    size = sum(p.array().nbytes for _, p in kept)
    if size > MOST_BYTES:
        raise ValueError(
            f"For '{owner}', a file of MINDIR must be below 2 GB, but the parameters have {size} bytes: export to ONNX."
        )
    for name, parameter in kept:
        graph.parameter(name, parameter.array())
    _finish(graph, outputs)
    return graph.model


def _lengths(wire: Wire) -> list[int]:
    """A tensor's shape; open lengths are -1."""
    return [-1 if isinstance(n, Varying) else n for n in wire.shape]


def _finish(graph: Graph, outputs: list[Wire]) -> None:
    """Say what the graph returns: a node's result, of its own if it is an input or a parameter."""
    if len(outputs) == 1:
        graph.ends("output", outputs[0].name, _lengths(outputs[0]), outputs[0].dtype)
        return
    told = graph.model.graph.output.add(name=graph.tuple(outputs), denotation="Tuple")
    told.attr_info.type = ATTRIBUTE["tuple"]
    told.attr_info.seq_info.is_dyn_len = False
    for wire in outputs:
        part = told.attr_info.values.add(type=ATTRIBUTE["tensors"])
        part.tensors.append(graph.form_of(_lengths(wire), wire.dtype))
