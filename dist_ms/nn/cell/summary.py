"""Cell.summary: which cells a network has, what they return, and how much they compute.

Fields of a cell: writes `training`.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from dist_ms.autograd.tape import recording
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell.shortcut import choose_call
from dist_ms.ops.operation_flops import operation_flops

if TYPE_CHECKING:
    from dist_ms.nn.cell.cell import Cell

__all__ = ["CellRow", "NetworkSummary", "summary"]

_HEADS = ("cell", "output", "parameters", "FLOPs")


class CellRow(NamedTuple):
    """What a summary says of one cell, with all cells inside it.

    Attributes:
        name: the path from the network to the cell; "" is the network.
        kind: the name of its class.
        outputs: the shapes of the tensors it returned when it last ran; None if it did not run.
        parameters: the number of elements of its parameters.
        flops: what its runs computed.
    """

    name: str
    kind: str
    outputs: tuple[tuple[int, ...], ...] | None
    parameters: int
    flops: int


class NetworkSummary:
    """The table that `Cell.summary` returns; its `str` is for people.

    Attributes:
        rows: a CellRow for each cell, the network first.
        parameters: the number of elements of all parameters.
        trainable: of those, the elements of parameters that are trained.
        flops: of one run: twice the multiplications of matrix products, convolutions, attention and recurrent
            layers; other operations are not counted.
    """

    def __init__(self, rows: list[CellRow], parameters: int, trainable: int, flops: int) -> None:
        self.rows, self.parameters, self.trainable, self.flops = rows, parameters, trainable, flops

    def __repr__(self) -> str:
        lines = [_HEADS]
        for row in self.rows:
            depth, last = (row.name.count(".") + 1, row.name.rpartition(".")[2]) if row.name else (0, "")
            name = "  " * depth + (f"{last}: {row.kind}" if last else row.kind)
            shapes = "-" if row.outputs is None else " ".join(map(str, row.outputs))
            lines.append((name, shapes, f"{row.parameters:,}", f"{row.flops:,}" if row.flops else "-"))
        wide = [max(map(len, column)) for column in zip(*lines)]
        text = [
            "  ".join((a.ljust(wide[0]), b.ljust(wide[1]), c.rjust(wide[2]), d.rjust(wide[3]))) for a, b, c, d in lines
        ]
        rule = "-" * len(text[0])
        total = f"parameters {self.parameters:,} (trainable {self.trainable:,}), FLOPs {self.flops:,}"
        return "\n".join([text[0], rule, *text[1:], rule, total])


def summary(self: Cell, *inputs: Any) -> NetworkSummary:
    """Run the network once, in inference mode and without gradients, and return a table of its cells.

    Args:
        inputs: the network's inputs.

    Returns:
        NetworkSummary: the output shapes, parameters and FLOPs of each cell; print it.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.SequentialCell(nn.Dense(4, 8), nn.ReLU())
        >>> print(net.summary(ms.ops.ones((2, 4))))
        cell            output  parameters  FLOPs
        -----------------------------------------
        SequentialCell  (2, 8)          40    128
          0: Dense      (2, 8)          40    128
          1: ReLU       (2, 8)           0      -
        -----------------------------------------
        parameters 40 (trainable 40), FLOPs 128
    """
    cells = list(self.cells_and_names())
    watch = _Watch()
    with _watched([cell for _, cell in cells], watch):
        self(*inputs)
    rows = [
        CellRow(name, cell.cls_name, watch.outputs.get(id(cell)), _elements(cell), watch.flops.get(id(cell), 0))
        for name, cell in cells
    ]
    trainable = sum(prod(p.shape) for p in self.trainable_params())
    return NetworkSummary(rows, _elements(self), trainable, watch.total)


class _Watch:
    """Follows one run: which cells are running, and what operations compute."""

    def __init__(self) -> None:
        self.running: list[int] = []
        self.outputs: dict[int, tuple] = {}
        self.flops: dict[int, int] = {}
        self.total = 0

    def enter(self, cell: Cell, args: tuple) -> None:
        self.running.append(id(cell))

    def leave(self, cell: Cell, args: tuple, output: Any) -> None:
        self.outputs[id(cell)] = tuple(_shapes(output))
        self.running.pop()

    def __call__(self, primitive: Any, inputs: tuple, result: Any) -> None:
        """What the gate tells of an operation that ran."""
        count = operation_flops(primitive, inputs, result)
        self.total += count
        for cell in set(self.running):
            self.flops[cell] = self.flops.get(cell, 0) + count


@contextmanager
def _watched(cells: list[Cell], watch: _Watch) -> Iterator[None]:
    """Tell a watch of cells and operations; cells are in inference mode meanwhile."""
    training = [cell.__dict__.get("training") for cell in cells]
    before = recording.observer, recording.tape
    handles = []
    try:
        for cell in cells:
            handles += [cell.register_forward_pre_hook(watch.enter), cell.register_forward_hook(watch.leave)]
            cell.__dict__["training"] = False
        recording.observer, recording.tape = watch, None
        yield
    finally:
        recording.observer, recording.tape = before
        for handle in handles:
            handle.remove()
        for cell, was in zip(cells, training):
            cell.__dict__.pop("training")
            if was is not None:
                cell.__dict__["training"] = was
            choose_call(cell)


def _elements(cell: Cell) -> int:
    return sum(prod(p.shape) for p in cell.get_parameters())


def _shapes(output: Any) -> Iterator[tuple[int, ...]]:
    if isinstance(output, Tensor):
        yield tuple(output.shape)
    elif isinstance(output, (tuple, list)):
        for one in output:
            yield from _shapes(one)
    elif isinstance(output, dict):
        yield from _shapes(list(output.values()))
