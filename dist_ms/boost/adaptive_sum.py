"""AdaSum: weights whose changes are added up adaptively over groups of ranks."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dist_ms.common.checks import check_non_negative_int, check_positive_int
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.wrapping.adaptive_sum import adaptive_sum
from dist_ms.parallel.mode import world_comm

__all__ = ["AdaSum"]


class AdaSum(Cell):
    """Adds the changes of weights up over groups of ranks, by `nn.AdaSumByDeltaWeightWrapCell`'s rule.

    Args:
        rank: this rank's number.
        device_number: how many neighbouring ranks are a group.
        group_number: how many groups, a power of two.
        parameter_tuple: the parameters.

    Raises:
        ValueError: if the number of groups is no power of two.

    Examples:
        >>> import dist_ms as ms
        >>> w, old = (ms.Parameter(ms.Tensor([2.0, 3.0]), name=n) for n in "wo")
        >>> print(ms.boost.AdaSum(0, 1, 1, (w,))((ms.Tensor([0.5, 1.0]),), (w,), (old,))[0].asnumpy())
        [1.5 2. ]
    """

    def __init__(self, rank: int, device_number: int, group_number: int, parameter_tuple: Sequence[Parameter]) -> None:
        super().__init__()
        self.rank = check_non_negative_int(rank, "rank", "AdaSum")
        self.device_number = check_positive_int(device_number, "device_number", "AdaSum")
        self.group_number = check_positive_int(group_number, "group_number", "AdaSum")
        if group_number & (group_number - 1):
            raise ValueError(f"For 'AdaSum', 'group_number' must be a power of 2, but got {group_number}.")
        self.parameter_tuple = tuple(parameter_tuple)

    def construct(
        self, delta_weights: Sequence[Tensor], parameters: Sequence[Parameter], old_parameters: Sequence[Tensor]
    ) -> tuple[Parameter, ...]:
        """Set the parameters to the old ones less the sums, and return them.

        Args:
            delta_weights: the old parameters less the new ones, on this rank.
            parameters: the parameters.
            old_parameters: their values before the update.
        """
        changes: list[np.ndarray] = [d.asnumpy() for d in delta_weights]
        sums = adaptive_sum(changes, world_comm(), self.rank, self.device_number, self.group_number)
        for p, old, change in zip(parameters, old_parameters, sums):
            p.set_data(from_array(old.asnumpy() - change))
        return tuple(parameters)
