"""DataFormatDimMap, DataFormatVecPermute, MapUniform: numbers carried from one order to another."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_string
from dist_ms.ops.arguments import array, integer, integral
from dist_ms.ops.primitive import Undifferentiable

__all__ = ["DataFormatDimMap", "DataFormatVecPermute", "MapUniform"]


class DataFormatDimMap(Undifferentiable):
    """The dimensions of one data format where another has them.

    Args:
        src_format: "NHWC" or "NCHW".
        dst_format: "NHWC" or "NCHW".

    Call:
        input_x (Tensor): integers in [-4, 4).

    Raises:
        TypeError: if `input_x` holds no integers.
        ValueError: if a format is unknown, or a number is out of range.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.DataFormatDimMap()(ms.Tensor([0, 1, -1])))
        [0 3 2]
    """

    def __init__(self, src_format: str = "NHWC", dst_format: str = "NCHW") -> None:
        for argument, value in (("src_format", src_format), ("dst_format", dst_format)):
            check_string(value, argument, self.name, ("NHWC", "NCHW"))
        self.src_format, self.dst_format = src_format, dst_format
        self._places = np.array([src_format.index(letter) for letter in dst_format])

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        x = integral(input_x, "input_x", self.name)
        if x.size and not (x.min() >= -4 and x.max() < 4):
            raise ValueError(f"For '{self.name}', 'input_x' must be in [-4, 4), but got {x.min()} to {x.max()}.")
        return self._places[x].astype(x.dtype)


class DataFormatVecPermute(DataFormatDimMap):
    """Four numbers, one for each dimension of a data format, in the order of another.

    Args:
        src_format: "NHWC" or "NCHW".
        dst_format: "NHWC" or "NCHW".

    Call:
        input_x (Tensor): integers (4,) or (4, 2).

    Raises:
        TypeError: if `input_x` holds no integers.
        ValueError: if a format is unknown, or the shape is another.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.DataFormatVecPermute()(ms.Tensor([1, 2, 3, 4])))
        [1 4 2 3]
    """

    def forward(self, input_x: np.ndarray) -> np.ndarray:
        x = integral(input_x, "input_x", self.name)
        if x.shape not in ((4,), (4, 2)):
            raise ValueError(f"For '{self.name}', 'input_x' must be (4,) or (4, 2), but got shape {x.shape}.")
        return x[self._places]


class MapUniform(Undifferentiable):
    """Numbers dealt to groups in turn: x goes to x % group_num * per_group_size + x // group_num.

    Call:
        input (Tensor): integers.
        per_group_size (int): numbers in a group.
        group_num (int): number of groups, positive.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `group_num` is not positive.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MapUniform()(ms.Tensor([0, 1, 2, 3]), 2, 2))
        [0 2 1 3]
    """

    def forward(self, input: np.ndarray, per_group_size: Any, group_num: Any) -> np.ndarray:
        x = integral(array(input, "input", self.name), "input", self.name)
        size, count = integer(per_group_size, "per_group_size", self.name), integer(group_num, "group_num", self.name)
        if count < 1:
            raise ValueError(f"For '{self.name}', 'group_num' must be positive, but got {count}.")
        return (x % count * size + x // count).astype(x.dtype)
