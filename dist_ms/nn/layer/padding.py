"""Padding layers: a border of constants, of a mirror image or of the edge."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_non_negative_int, check_number, check_string, check_type, complaint
from dist_ms.common.error_classes import bools, reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import tensor

__all__ = [
    "ConstantPad1d",
    "ConstantPad2d",
    "ConstantPad3d",
    "Pad",
    "ReflectionPad1d",
    "ReflectionPad2d",
    "ReflectionPad3d",
    "ReplicationPad1d",
    "ReplicationPad2d",
    "ReplicationPad3d",
    "ZeroPad2d",
]


class Pad(Cell):
    """Puts a border around a tensor.

    Args:
        paddings: a pair (before, after) per dimension, as a tuple of tuples.
        mode: "CONSTANT" for zeros, "REFLECT" for a mirror image without the edge, "SYMMETRIC" for
            one with it.

    Raises:
        TypeError: if `paddings` is no tuple, or holds numbers in a pair's place.
        RuntimeError: if a pair holds anything but ints.
        ValueError: if a number is negative, `mode` is another string, or, when called, the number of pairs is wrong.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Pad(((0, 0), (1, 1)))(ms.Tensor([[1.0]])))
        [[0. 1. 0.]]
    """

    def __init__(self, paddings: tuple, mode: str = "CONSTANT") -> None:
        super().__init__()
        if not isinstance(paddings, tuple) or any(isinstance(pair, (int, float)) for pair in paddings):
            raise TypeError(complaint("paddings", "Pad", "a tuple of pairs of ints", paddings))
        self.paddings = paddings
        self.mode = check_string(mode, "mode", "Pad", ["CONSTANT", "REFLECT", "SYMMETRIC"])
        for pair in paddings:
            if isinstance(pair, Tensor):
                raise RuntimeError(complaint("paddings", "Pad", "a tuple of pairs of ints", paddings))
            if not hasattr(pair, "__len__"):
                raise TypeError(complaint("paddings", "Pad", "a tuple of pairs of ints", paddings))
            if not isinstance(pair, (tuple, list)) or len(pair) != 2:
                raise ValueError(complaint("paddings", "Pad", "a tuple of pairs of ints", paddings))
            for n in pair:
                if isinstance(n, Tensor):
                    raise ValueError(complaint("paddings", "Pad", "a tuple of pairs of ints", paddings))
                kind = RuntimeError if self.mode == "CONSTANT" else TypeError
                if not isinstance(n, (int, float)) or (kind is RuntimeError and type(n) is not int):
                    raise kind(complaint("paddings", "Pad", "a tuple of pairs of ints", paddings))
                check_non_negative_int(int(n), "paddings", "Pad")

    def construct(self, x: Tensor) -> Tensor:
        if self.mode == "CONSTANT":
            return ops.Pad(self.paddings)(x)
        return ops.MirrorPad(self.mode)(x, wrap(np.array(self.paddings, np.int64)))


class _PadNd(Cell):
    """What the layers share that pad the last dimensions: a border as (left, right, top, ...)."""

    _rank, _mode, _least = 0, "constant", 0

    def __init__(self, padding: Any) -> None:
        super().__init__()
        check_type(padding, "padding", self.cls_name, (int, tuple))
        border = (padding,) * (2 * self._rank) if isinstance(padding, int) else padding
        if len(border) % 2 or not self._least <= len(border) <= 2 * self._rank:
            raise ValueError(
                complaint("padding", self.cls_name, f"an int or a tuple of up to {self._rank} pairs", padding)
            )
        for n in border:
            check_type(n, "padding", self.cls_name, (bool, int) if self._mode == "reflect" else int)
        self.padding = tuple(map(int, border))
        self.value = None

    def construct(self, x: Tensor) -> Tensor:
        tensor(x, "x", self.cls_name)
        if self._mode != "reflect":
            return ops.pad(x, self.padding, self._mode, self.value)
        pairs = np.array(self.padding, np.int64).reshape(-1, 2)[::-1]  # of any number of dimensions
        return ops.MirrorPad("REFLECT")(x, wrap(np.pad(pairs, ((max(0, x.ndim - len(pairs)), 0), (0, 0)))))


class _ConstantPadNd(_PadNd):
    """A border of one value; negative numbers cut off."""

    def __init__(self, padding: Any, value: float) -> None:
        super().__init__(padding)
        self.value = check_number(value, "value", self.cls_name)


@bools("value")
class ConstantPad1d(_ConstantPadNd):
    """Pads the last dimension with a value.

    Args:
        padding: an int for both sides, or (left, right); negative numbers cut off.
        value: the value.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `padding` has another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ConstantPad1d(1, 0.5)(ms.Tensor([[1.0]])))
        [[0.5 1.  0.5]]
    """

    _rank = 1


@bools("value")
class ConstantPad2d(_ConstantPadNd):
    """Pads the last two dimensions with a value: an int, or (left, right, top, bottom).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ConstantPad2d((1, 0, 0, 1), 0.5)(ms.Tensor([[1.0]])))
        [[0.5 1. ]
         [0.5 0.5]]
    """

    _rank = 2


@bools("value")
class ConstantPad3d(_ConstantPadNd):
    """`ConstantPad1d` of the last three dimensions: an int, or (left, right, top, bottom, front, back)."""

    _rank = 3


class ZeroPad2d(_ConstantPadNd):
    """Pads the last two dimensions with zeros: an int, or (left, right, top, bottom).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ZeroPad2d((1, 0, 0, 0))(ms.Tensor([[1.0]])))
        [[0. 1.]]
    """

    _rank = 2

    def __init__(self, padding: Any) -> None:
        super().__init__(padding, 0)


@reads("shape")
@bools("padding")
class ReflectionPad1d(_PadNd):
    """Pads the last dimension with its mirror image, without the edge.

    Args:
        padding: an int for both sides, or (left, right).

    Raises:
        TypeError: if `padding` is no int or tuple of ints.
        ValueError: if it has another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ReflectionPad1d(1)(ms.Tensor([[1.0, 2.0, 3.0]])))
        [[2. 1. 2. 3. 2.]]
    """

    _rank, _mode = 1, "reflect"


@reads("shape")
class ReflectionPad2d(_PadNd):
    """`ReflectionPad1d` of the last two dimensions: an int, or (left, right, top, bottom)."""

    _rank, _mode = 2, "reflect"


@reads("shape")
class ReflectionPad3d(_PadNd):
    """`ReflectionPad1d` of the last three dimensions: an int, or (left, right, top, bottom, front, back)."""

    _rank, _mode = 3, "reflect"


@reads("shape")
class ReplicationPad1d(_PadNd):
    """Pads the last dimension with its edge.

    Args:
        padding: an int for both sides, or (left, right).

    Raises:
        TypeError: if `padding` is no int or tuple of ints.
        ValueError: if it has another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ReplicationPad1d(1)(ms.Tensor([[1.0, 2.0]])))
        [[1. 1. 2. 2.]]
    """

    _rank, _mode, _least = 1, "replicate", 2


@reads("shape")
class ReplicationPad2d(_PadNd):
    """`ReplicationPad1d` of the last two dimensions: an int, or (left, right, top, bottom)."""

    _rank, _mode, _least = 2, "replicate", 2


@reads("shape")
class ReplicationPad3d(_PadNd):
    """`ReplicationPad1d` of the last three dimensions: an int, or (left, right, top, bottom, front, back)."""

    _rank, _mode, _least = 3, "replicate", 2
