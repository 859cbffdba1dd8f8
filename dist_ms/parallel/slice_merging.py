"""Slices of a parameter, from the checkpoints of several ranks, put together."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor

__all__ = ["merge_sliced_parameter"]


def merge_sliced_parameter(sliced_parameters: list[Parameter], strategy: Any = None) -> Parameter:
    """Put slices of a parameter together along their first dimension.

    Args:
        sliced_parameters: the slices, in the order of the ranks, with one name.
        strategy: must be None: strategies of MindSpore's parallel compiler are not read.

    Returns:
        A new Parameter with the first one's name and flags.

    Raises:
        TypeError: if `sliced_parameters` is no list of Parameters.
        ValueError: if it is empty, or names or other dimensions differ.

    Examples:
        >>> import dist_ms as ms
        >>> parts = [ms.Parameter(ms.Tensor([1.0, 2.0]), name="w"), ms.Parameter(ms.Tensor([3.0]), name="w")]
        >>> print(ms.merge_sliced_parameter(parts).asnumpy())
        [1. 2. 3.]
    """
    owner = "merge_sliced_parameter"
    if not isinstance(sliced_parameters, list):
        raise TypeError(complaint("sliced_parameters", owner, "a list", type(sliced_parameters).__name__))
    for parameter in sliced_parameters:
        if not isinstance(parameter, Parameter):
            raise TypeError(complaint("sliced_parameters", owner, "a list of Parameters", type(parameter).__name__))
    if not sliced_parameters:
        raise ValueError(complaint("sliced_parameters", owner, "at least one Parameter", "[]"))
    if strategy is not None:
        raise ValueError(
            complaint("strategy", owner, "None", type(strategy).__name__, "slices of the first dimension are merged")
        )
    first = sliced_parameters[0]
    for parameter in sliced_parameters:
        if (parameter.name, parameter.shape[1:], parameter.ndim) != (first.name, first.shape[1:], first.ndim):
            raise ValueError(
                complaint(
                    "sliced_parameters",
                    owner,
                    f"slices of '{first.name}' with shape (any, *{first.shape[1:]})",
                    f"'{parameter.name}' with {parameter.shape}",
                )
            )
    merged = first.clone()
    merged.set_data(Tensor(np.concatenate([p.asnumpy() for p in sliced_parameters])), slice_shape=True)
    merged.sliced = False
    return merged
