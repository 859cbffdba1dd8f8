"""python losses.py FILE SCRIPT ARGUMENTS...: run a script from seed 0 until its first losses are there; write them.

`mindspore` is whichever answers: MindSpore, or dist_ms under `python -m dist_ms.compat`, and both are watched at the
same places (`same_draws` has what is made alike). A loss is what leaves a call that finds gradients or trains:
a function of value_and_grad, the function whose gradients grad, GradOperation or the like find, or a cell that holds an
optimizer, as Model's own does. Of calls within calls the outermost that gives a number counts. Where there is none, the
numbers after `loss` in what the script prints stand for them. Scripts run without graphs, whose inside nobody sees.
"""

from __future__ import annotations

import functools
import json
import os
import random
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops

HERE = Path(__file__).resolve().parent
COUNT = 20
_PRINTED = re.compile(r"loss\w*\W{1,12}(-?\d+\.\d+(?:e-?\d+)?)", re.IGNORECASE)


class Losses:
    """The first losses of a script.

    Args:
        file: where they are written, as JSON.
    """

    def __init__(self, file: Path) -> None:
        """See the class."""
        self.file = file
        self.returned: list[float] = []
        self.printed: list[str] = []
        self.within: list[float | None] = []  # a place per call that is under way: the first number in it
        self.differentiated: list[nn.Cell] = []
        self.trains: dict[int, tuple[nn.Cell, bool]] = {}

    def watch(self) -> None:
        """Record what leaves calls that find gradients or train, and what is printed."""
        called, write, gradient = nn.Cell.__call__, sys.stdout.write, ops.GradOperation.__call__

        def call(cell: nn.Cell, *inputs, **keywords):
            if any(cell is one for one in self.differentiated) or self.is_training(cell):
                return self.during(functools.partial(called, cell), True)(*inputs, **keywords)
            return called(cell, *inputs, **keywords)

        def operation(self_: ops.GradOperation, function: Callable, *weights, **keywords):
            return self.during(gradient(self_, self.seen(function), *weights, **keywords), False)

        def written(text: str) -> int:
            self.printed += _PRINTED.findall(text)
            count = write(text)
            if not self.returned:
                self.keep(self.printed)
            return count

        nn.Cell.__call__ = call
        ops.GradOperation.__call__ = operation
        for name, tells in (("value_and_grad", True), ("grad", False)):
            replace_everywhere(name, functools.partial(self.differentiate, getattr(ms, name), tells))
        sys.stdout.write = written

    def differentiate(self, makes: Callable, tells: bool, function: Callable, *arguments, **keywords) -> Callable:
        """Make a function that finds gradients, and watch it.

        Args:
            makes: what makes it.
            tells: whether its result begins with the function's.
            function: whose gradients.
            arguments: of `makes`.
            keywords: of `makes`.
        """
        return self.during(makes(function if tells else self.seen(function), *arguments, **keywords), tells)

    def seen(self, function: Callable) -> Callable:
        """The function or cell, whose results are losses from now on.

        Args:
            function: whose gradients are to be found.
        """
        if isinstance(function, nn.Cell):
            self.differentiated.append(function)
            return function
        return functools.wraps(function)(self.during(function, True)) if hasattr(function, "__name__") else function

    def is_training(self, cell: nn.Cell) -> bool:
        """Whether a cell holds an optimizer.

        Args:
            cell: any.
        """
        if id(cell) not in self.trains:
            parts = [part for _, part in cell.cells_and_names()]
            found = not isinstance(cell, nn.Optimizer) and any(isinstance(part, nn.Optimizer) for part in parts)
            self.trains[id(cell)] = (cell, found)
        return self.trains[id(cell)][1]

    def during(self, function: Callable, tells: bool) -> Callable:
        """A function with the calls within it: the outermost that gives a number gives a loss.

        Args:
            function: any.
            tells: whether its own result is a loss.
        """

        def watched(*inputs, **keywords):
            self.within.append(None)
            try:
                result = function(*inputs, **keywords)
            finally:
                inner = self.within.pop()
            number = number_of(result) if tells else None
            number = inner if number is None else number
            if number is not None and self.within:
                self.within[-1] = number if self.within[-1] is None else self.within[-1]
            elif number is not None:
                self.returned.append(number)
                self.keep(self.returned)
            return result

        return watched

    def keep(self, losses: list) -> None:
        """Write the losses so far; end the program at once when they are enough.

        Args:
            losses: numbers that were returned, or words that were printed.
        """
        self.file.write_text(json.dumps(losses[:COUNT]))
        if len(losses) >= COUNT:
            os._exit(0)


def number_of(result: object) -> float | None:
    """The mean of the first tensor in a result.

    Args:
        result: a tensor, or what leads to one first.
    """
    while isinstance(result, tuple | list) and result:
        result = result[0]
    return float(result.asnumpy().astype(np.float64).mean()) if isinstance(result, ms.Tensor) and result.size else None


def replace_everywhere(name: str, new: Callable) -> None:
    """Put a function in the place of another wherever the framework's modules show it by its name.

    Args:
        name: of the function.
        new: what takes its place.
    """
    old = getattr(ms, name, None) or getattr(ops, name)
    for place, module in list(sys.modules.items()):
        if place.split(".")[0] in ("mindspore", "dist_ms") and vars(module).get(name) is old:
            setattr(module, name, new)
    for module in (ms, ops):
        if getattr(module, name, None) is old:
            setattr(module, name, new)


def main() -> None:
    """Run the script that the command line names."""
    sys.argv = sys.argv[1:]
    losses = Losses(Path(sys.argv.pop(0)))
    sys.path.insert(0, str(HERE))
    from same_draws import (
        begin_epochs_alike,
        draw_masks_alike,
        draw_numbers_alike,
        make_rows_in_order,
        read_one_shard_alike,
        run_without_graphs,
    )
    from same_images import draw_from_images

    sys.path[0] = os.path.dirname(os.path.abspath(sys.argv[0]))
    ms.set_seed(0)
    np.random.seed(0)
    random.seed(0)
    run_without_graphs()
    draw_masks_alike()
    draw_numbers_alike()
    begin_epochs_alike()
    read_one_shard_alike()
    make_rows_in_order()
    draw_from_images()
    losses.watch()
    runpy.run_path(sys.argv[0], run_name="__main__")


if __name__ == "__main__":
    main()
