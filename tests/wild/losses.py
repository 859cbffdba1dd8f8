"""python losses.py FILE SCRIPT ARGUMENTS...: run a script from seed 0 until its first losses are there; write them.

`mindspore` is whichever answers: MindSpore, or dist_ms under `python -m dist_ms.compat`. A loss is what a training
cell, or a function of value_and_grad, returns first; where neither is called in Python, the numbers after `loss` in
what the script prints.
"""

from __future__ import annotations

import json
import os
import re
import runpy
import sys
from collections.abc import Callable
from pathlib import Path

import mindspore as ms
import numpy as np
from mindspore import nn, ops

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
        self.depth = 0

    def watch(self) -> None:
        """Record what training cells and functions with gradients return, and what is printed."""
        called, differentiate, write = nn.Cell.__call__, ms.value_and_grad, sys.stdout.write

        def call(cell: nn.Cell, *inputs, **keywords):
            if self.depth or not isinstance(cell, nn.TrainOneStepCell):
                return called(cell, *inputs, **keywords)
            return self.outermost(called, cell, *inputs, **keywords)

        def value_and_grad(*arguments, **keywords):
            function = differentiate(*arguments, **keywords)
            return lambda *inputs, **more: self.outermost(function, *inputs, **more)

        def written(text: str) -> int:
            self.printed += _PRINTED.findall(text)
            count = write(text)
            self.end_when_enough(self.printed if not self.returned else [])
            return count

        nn.Cell.__call__ = call
        ms.value_and_grad = ops.value_and_grad = value_and_grad
        sys.stdout.write = written

    def outermost(self, function: Callable, *inputs, **keywords):
        """Call a function, and record the first number of its result.

        Args:
            function: returns a loss, or something whose first part leads to one.
            inputs: its arguments.
            keywords: its keywords.
        """
        self.depth += 1
        try:
            result = function(*inputs, **keywords)
        finally:
            self.depth -= 1
        loss = result
        while isinstance(loss, tuple | list) and loss:
            loss = loss[0]
        if isinstance(loss, ms.Tensor) and loss.size == 1:
            self.returned.append(float(loss.asnumpy().reshape(())))
            self.end_when_enough(self.returned)
        return result

    def end_when_enough(self, losses: list) -> None:
        """End the program at once when the list is long enough.

        Args:
            losses: those so far.
        """
        if len(losses) >= COUNT:
            self.save()
            os._exit(0)

    def save(self) -> None:
        """Write the file: numbers that were returned, or words that were printed."""
        self.file.write_text(json.dumps((self.returned or self.printed)[:COUNT]))


def main() -> None:
    """Run the script that the command line names."""
    sys.argv = sys.argv[1:]
    losses = Losses(Path(sys.argv.pop(0)))
    sys.path.insert(0, os.path.dirname(os.path.abspath(sys.argv[0])))
    ms.set_seed(0)
    np.random.seed(0)
    losses.watch()
    try:
        runpy.run_path(sys.argv[0], run_name="__main__")
    finally:
        losses.save()


if __name__ == "__main__":
    main()
