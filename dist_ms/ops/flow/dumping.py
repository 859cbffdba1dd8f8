"""Tensors, and gradients, written into files while a network runs."""

from __future__ import annotations

import itertools
import os
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_string, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.creating.assignment import overwrite
from dist_ms.ops.flow.hooks import InsertGradientOf
from dist_ms.ops.primitive import Primitive

__all__ = ["CopyWithSlice", "DumpGradient", "MoveTo", "TensorDump", "move_to", "tensordump"]

_numbers = itertools.count()


def _write(path: str, x: Tensor) -> None:
    """Write a tensor into a file whose name ends in its type and a number that counts the files."""
    stem = os.path.abspath(path.removesuffix(".npy"))
    os.makedirs(os.path.dirname(stem), exist_ok=True)
    array = x.array()
    if array.dtype.kind == "V":  # bfloat16 and its kin, which other readers of the file do not have
        array = array.astype(np.float32)
    np.save(f"{stem}_{str(x.dtype).lower()}_{next(_numbers)}.npy", array)


def tensordump(file_name: str, tensor: Tensor, mode: str = "out") -> None:
    """Write a tensor into a file of NumPy: `NAME_TYPE_NUMBER.npy`, where numbers count the files of the process.

    Args:
        file_name: path of the file without its end; folders are made.
        tensor: what is written; bfloat16 as float32.
        mode: "out" or "in", which side of a cut of the tensor is meant; there is none.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: for another mode.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> ms.ops.tensordump(os.path.join(folder, "x"), ms.Tensor([1.0]))
        >>> [name.rpartition("_")[0] for name in os.listdir(folder)]
        ['x_float32']
    """
    check_type(file_name, "file_name", "tensordump", str)
    check_type(tensor, "tensor", "tensordump", Tensor)
    check_string(mode, "mode", "tensordump", ("out", "in"))
    _write(file_name, tensor)


class TensorDump(Primitive):
    """Writes tensors into files: `tensordump` as a primitive.

    Args:
        input_output: "out" or "in".

    Raises:
        ValueError: for another one.
    """

    def __init__(self, input_output: str = "out") -> None:
        self.input_output = check_string(input_output, "input_output", self.name, ("out", "in"))

    def __call__(self, file: str, input_x: Tensor) -> None:
        tensordump(file, input_x, self.input_output)


class DumpGradient(Primitive):
    """Returns a tensor as it is, and writes its gradient into a file when it is computed; see `tensordump`.

    Call:
        path (str): path of the file.
        x (Tensor): the tensor.
        input_output (str): "out" or "in".

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> dump = lambda x: ms.ops.DumpGradient()(os.path.join(folder, "g"), x, "out")
        >>> print(ms.grad(lambda x: dump(x) * 2)(ms.Tensor(1.0)), len(os.listdir(folder)))
        2.0 1
    """

    def __call__(self, path: str, x: Tensor, input_output: str) -> Tensor:
        check_type(path, "path", self.name, str)
        check_string(input_output, "input_output", self.name, ("out", "in"))

        def write(gradient: Tensor) -> None:
            _write(path, gradient)

        return InsertGradientOf(write)(tensor(x, "x", self.name))


def move_to(input: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
    """A tensor on another device, which must be the CPU, where it is.

    Args:
        input: the tensor, or a tuple or list of them.
        to: "CPU".
        blocking: accepted: nothing is copied.

    Returns:
        Tensor, `input`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `to` is another device.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.move_to(ms.Tensor([1.0]), "CPU"))
        [1.]
    """
    if to not in ("CPU", "Ascend", "GPU", "npu"):
        raise ValueError(complaint("to", "move_to", "'CPU'", repr(to)))
    check_bool(blocking, "blocking", "move_to")
    if to != "CPU":
        raise ValueError(complaint("to", "move_to", "'CPU', as dist_ms runs on CPUs", repr(to)))
    for one in input if isinstance(input, (tuple, list)) else (input,):
        tensor(one, "input", "move_to")
    return input


class MoveTo(Primitive):
    """A tensor on another device: `move_to` as a primitive."""

    def __call__(self, x: Tensor, to: str = "CPU", blocking: bool = True) -> Tensor:
        return move_to(x, to, blocking)


class CopyWithSlice(Primitive):
    """Copies a tensor's values into another of its shape, and returns that.

    Call:
        x (Tensor): where the values go.
        y (Tensor): the values.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([0.0, 0.0])
        >>> print(ms.ops.CopyWithSlice()(x, ms.Tensor([1.0, 2.0])), x)
        [1. 2.] [1. 2.]
    """

    differentiable = False

    def __call__(self, x: Tensor, y: Any) -> Tensor:
        target = tensor(x, "x", self.name)
        values = np.broadcast_to(tensor(y, "y", self.name).array(), target.shape).astype(target.dtype.np)
        return overwrite(target, values)
