"""A network's runs, and the nodes of their steps in a graph of any format."""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Iterator, Sequence
from typing import Any

from dist_ms.common.tensor import Tensor
from dist_ms.exporting.comparing import Step, Varying, Wire
from dist_ms.exporting.examples import examples
from dist_ms.exporting.graph import Unsupported
from dist_ms.exporting.recording import Run, record, tensors

__all__ = ["add_steps", "input_names_of", "runs_of"]

_MIXED = "runs in mixed precision, which the file does not hold: call `net.to_float(ms.float32)` first"
_IN_NO_FILE = {
    **dict.fromkeys(("MixedDense", "MixedMatMul", "MixedConvolution"), _MIXED),
    "BatchNormTrain": "uses the statistics of the batch: export the network with `set_train(False)`",
}


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
        if step.kind in _IN_NO_FILE:
            raise RuntimeError(f"For '{owner}', the operation {step.title} {_IN_NO_FILE[step.kind]}.")
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
