"""Initializers without chance: constants, the identity and Dirac kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.initializers.base import Initializer, _register


@_register("zeros")
class Zero(Initializer):
    """Zeros.

    Examples:
        >>> from dist_ms.common.initializer import Zero, initializer
        >>> print(initializer(Zero(), [2]).init_data())
        [0. 0.]
    """

    def __init__(self) -> None:
        super().__init__()

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = 0


@_register("ones")
class One(Initializer):
    """Ones.

    Examples:
        >>> from dist_ms.common.initializer import One, initializer
        >>> print(initializer(One(), [2]).init_data())
        [1. 1.]
    """

    def __init__(self) -> None:
        super().__init__()

    def _initialize(self, arr: np.ndarray) -> None:
        arr[...] = 1


class Constant(Initializer):
    """One number everywhere.

    Args:
        value: the number.

    Raises:
        TypeError: if `value` is no single number.

    Examples:
        >>> from dist_ms.common.initializer import Constant, initializer
        >>> print(initializer(Constant(3), [2]).init_data())
        [3. 3.]
    """

    def __init__(self, value: Any) -> None:
        super().__init__(value=value)
        single = np.asarray(value)
        if single.ndim or single.dtype.kind not in "biufV":
            raise TypeError(complaint("value", "Constant", "a number", repr(value)))
        self.value = value

    def _initialize(self, arr: np.ndarray) -> None:
        # A number that does not fit an integer type is cut to it, as a cast would.
        arr[...] = np.asarray(self.value).astype(arr.dtype)


@_register()
class Identity(Initializer):
    """Ones on the diagonal of a matrix, zeros elsewhere; 2 dimensions only.

    Raises:
        ValueError: when a tensor of another rank is made.

    Examples:
        >>> from dist_ms.common.initializer import initializer
        >>> print(initializer("identity", [2, 3]).init_data())
        [[1. 0. 0.]
         [0. 1. 0.]]
    """

    elementwise = False

    def __init__(self) -> None:
        super().__init__()

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(f"For 'Identity', the tensor must have 2 dimensions, but got {arr.ndim}.")
        arr[...] = 0
        np.fill_diagonal(arr, 1)


@_register()
class Dirac(Initializer):
    """Convolution weights that hand their inputs through: a one in the middle of kernel
    (i, i) of every group; 3, 4 or 5 dimensions.

    Args:
        groups: the number of groups the output channels fall into.

    Raises:
        ValueError: when a tensor of another rank is made, or `groups` does not divide its
            first dimension.

    Examples:
        >>> from dist_ms.common.initializer import Dirac, initializer
        >>> print(initializer(Dirac(), [2, 2, 3]).init_data())
        [[[0. 1. 0.]
          [0. 0. 0.]]
        <BLANKLINE>
         [[0. 0. 0.]
          [0. 1. 0.]]]
    """

    elementwise = False

    def __init__(self, groups: int = 1) -> None:
        super().__init__()
        self.groups = groups

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim not in (3, 4, 5):
            raise ValueError(f"For 'Dirac', the tensor must have 3, 4 or 5 dimensions, but got {arr.ndim}.")
        groups = self.groups
        if isinstance(groups, bool) or not isinstance(groups, int) or groups < 1:
            raise ValueError(complaint("groups", "Dirac", "a positive int", repr(groups)))
        outputs, inputs, *kernel = arr.shape
        if outputs % groups:
            raise ValueError(
                "For 'Dirac', the first dimension of the tensor must be divisible by 'groups', "
                f"but got {outputs} and {groups}."
            )
        arr[...] = 0
        middle = tuple(n // 2 for n in kernel)
        per_group = outputs // groups
        for group in range(groups):
            for i in range(min(per_group, inputs)):
                arr[(group * per_group + i, i, *middle)] = 1
