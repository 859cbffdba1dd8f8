"""Element-wise update rules on flat arrays, in place: compiled kernels whole, NumPy rules block by block.

Half types are computed in float32 and rounded when they are written back.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops.kernels import optimizer as kernels

_WORK_TYPES = (np.dtype(np.float32), np.dtype(np.float64))
BLOCK = 1 << 15  # elements; a block of each array fits in the second-level cache


def work_type(array: np.ndarray) -> np.dtype:
    """The type an array is updated in: its own if that is float32 or float64, else float32."""
    return array.dtype if array.dtype in _WORK_TYPES else np.dtype(np.float32)


def prepare_to_write(param: Parameter) -> None:
    """Let gradients that saved the parameter's values keep them: its array is about to change."""
    param.array()
    param.before_write()
    param.written()


def run_compiled(
    rule: str, param: Parameter, grad: Tensor, states: Sequence[Parameter], numbers: tuple, shrink: float = 1.0
) -> None:
    """Run a compiled rule on one parameter and its states, after the weights were multiplied with `shrink`."""
    dtype = work_type(param._data)
    whole = param._data.dtype == dtype
    written = [_Flat(a._data) for a in (param, *states)]
    g = np.ascontiguousarray(grad.array()).reshape(-1)
    step = g.size if whole else BLOCK
    for start in range(0, g.size, step or 1):
        part = slice(start, start + step)
        blocks = [w.read(part, dtype) for w in written]
        if shrink != 1.0:
            blocks[0] *= shrink
        kernels.update(rule, [(blocks[0], np.ascontiguousarray(g[part], dtype), *blocks[1:])], [numbers])
        for w, block in zip(written, blocks):
            w.write(part, block)
    for w in written:
        w.close()


def run_rule(
    rule: Callable,
    param: Parameter,
    grad: Tensor,
    states: Sequence[Parameter],
    *scalars: Any,
    scale: float = 1.0,
    decay: float = 0.0,
) -> None:
    """Call `rule(p, g, *states, *scalars)`, written with NumPy, on blocks of the flat arrays.

    Args:
        rule: writes p and the states in place; g is its own to overwrite.
        param: the parameter.
        grad: its gradient, which stays as it is: g = scale * grad + decay * p.
        states: parameters with as many elements.
        scalars: plain numbers.
        scale: a factor of the gradient.
        decay: a factor of the weights that are added to it.
    """
    dtype = work_type(param._data)
    written = [_Flat(a._data) for a in (param, *states)]
    source = np.ascontiguousarray(grad.array()).reshape(-1)
    for start in range(0, source.size, BLOCK):
        part = slice(start, start + BLOCK)
        blocks = [w.read(part, dtype) for w in written]
        g = source[part].astype(dtype)
        if scale != 1.0:
            g *= scale
        if decay:
            g += blocks[0] * decay
        rule(blocks[0], g, *blocks[1:], *scalars)
        for w, block in zip(written, blocks):
            w.write(part, block)
    for w in written:
        w.close()


class _Flat:
    """A flat view of an array, or of a copy that `close` writes back where the strides allow no view."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array
        self.flat = np.ascontiguousarray(array).reshape(-1)
        self.copied = not np.may_share_memory(self.flat, array)

    def read(self, part: slice, dtype: np.dtype) -> np.ndarray:
        """A part in the work type: the memory itself where the types agree."""
        return self.flat[part].astype(dtype, copy=False)

    def write(self, part: slice, block: np.ndarray) -> None:
        """Round a part back into the array's type."""
        if block.dtype != self.flat.dtype:
            self.flat[part] = block

    def close(self) -> None:
        """Copy back."""
        if self.copied and self.flat.size:
            np.copyto(self.array, self.flat.reshape(self.array.shape))
