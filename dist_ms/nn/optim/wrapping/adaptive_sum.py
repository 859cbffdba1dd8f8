"""Adaptive summation: vectors of several groups of ranks add up as far as they differ in direction.

Source: Maleki et al., Scaling Distributed Training with Adaptive Summation, 2020.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common.checks import check_type
from dist_ms.common.settings.parallel_context import get_auto_parallel_context
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.communication.comm import Comm
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.parallel.mode import world_comm

__all__ = ["AdaSumByDeltaWeightWrapCell", "AdaSumByGradWrapCell"]

_SMALL = 1e-12  # added to products, so that none is 0
_log = logging.getLogger("dist_ms")


def adaptive_sum(
    vectors: Sequence[np.ndarray], comm: Comm, rank: int, device_number: int, group_number: int
) -> list[np.ndarray]:
    r"""Return the adaptive sums of the groups' vectors: :math:`(1-\frac{ab}{2aa})a + (1-\frac{ab}{2bb})b` for two.

    The groups are joined in pairs, then pairs of pairs. A vector of one number is averaged. Every rank calls it.

    Args:
        vectors: this rank's, one for each parameter.
        comm: all ranks.
        rank: this rank's number.
        device_number: how many neighbouring ranks are a group. Each meets the ranks with its place in other groups.
        group_number: how many groups, a power of two.
    """
    own = [np.ascontiguousarray(v) for v in vectors]
    for distance in (device_number << step for step in range(group_number.bit_length() - 1)):
        first = rank // distance % 2 == 0
        partner = rank + distance if first else rank - distance
        theirs = [np.empty_like(v) for v in own]
        comm.post_exchange([(partner, v) for v in own], [(partner, v) for v in theirs]).wait()
        own = [_joined(a, b) if first else _joined(b, a) for a, b in zip(own, theirs)]
    return own


def _joined(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The adaptive sum of two vectors."""
    if a.size == 1:
        return (a + b) / np.asarray(2, a.dtype)
    left, right = (v.astype(np.float64).ravel() for v in (a, b))
    product = left @ right + _SMALL
    total = (1 - product / (2 * (left @ left + _SMALL))) * left + (1 - product / (2 * (right @ right + _SMALL))) * right
    return total.reshape(a.shape).astype(a.dtype)


class _AdaSum(Cell):
    """What both wraps check and keep."""

    device_number = 8  # ranks of a group

    def __init__(self, optimizer: Optimizer) -> None:
        super().__init__(auto_prefix=False)
        owner = type(self).__name__
        check_type(optimizer, "optimizer", owner, Optimizer)
        mode = get_auto_parallel_context("parallel_mode")
        if mode == "stand_alone":
            raise RuntimeError(f"For '{owner}', 'parallel_mode' must be 'data_parallel', but got 'stand_alone'.")
        if get_auto_parallel_context("enable_parallel_optimizer"):
            raise RuntimeError(f"For '{owner}', 'enable_parallel_optimizer' must be False, but got True.")
        self._comm = world_comm()
        size, least = self._comm.size, 2 * self.device_number
        if size < least or size & (size - 1):
            raise RuntimeError(
                f"For '{owner}', the number of ranks must be a power of 2 and at least {least}, but got {size}."
            )
        _log.warning(
            "For '%s', a train step has added gradients up already: boost.AutoBoost takes 'adasum', too.", owner
        )
        self.optimizer = optimizer
        self.parameters = optimizer.parameters

    def _summed(self, vectors: list[np.ndarray]) -> list[np.ndarray]:
        """The adaptive sums over the groups of ranks."""
        comm = self._comm
        return adaptive_sum(vectors, comm, comm.rank, self.device_number, comm.size // self.device_number)


class AdaSumByGradWrapCell(_AdaSum):
    """An optimizer that is given the adaptive sums of the gradients of groups of eight ranks.

    Args:
        optimizer: the optimizer.

    Raises:
        TypeError: if it is no Optimizer.
        RuntimeError: outside of data-parallel training, with the parallel optimizer, or where the number of ranks
            is no power of two from 16 on.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.AdaSumByGradWrapCell(ms.nn.SGD([ms.Parameter(ms.Tensor([1.0]), name="w")]))
        Traceback (most recent call last):
        ...
        RuntimeError: For 'AdaSumByGradWrapCell', 'parallel_mode' must be 'data_parallel', but got 'stand_alone'.
    """

    def construct(self, grads: Sequence[Tensor]) -> Any:
        """Sum the gradients up and update the parameters.

        Args:
            grads: one for each parameter.
        """
        return self.optimizer(tuple(from_array(v) for v in self._summed([g.asnumpy() for g in grads])))


class AdaSumByDeltaWeightWrapCell(_AdaSum):
    """An optimizer whose changes of the parameters are added up adaptively over groups of eight ranks.

    Args:
        optimizer: the optimizer.

    Raises:
        TypeError: if it is no Optimizer.
        RuntimeError: as for `AdaSumByGradWrapCell`.
    """

    def __init__(self, optimizer: Optimizer) -> None:
        super().__init__(optimizer)
        optimizer.local = True  # its gradients differ from rank to rank, and its changes are added up here

    def construct(self, grads: Sequence[Tensor]) -> Any:
        """Update the parameters, then take the sums of all groups' changes in the place of this rank's own.

        Args:
            grads: one for each parameter.
        """
        before = [p.asnumpy().copy() for p in self.parameters]
        self.optimizer(tuple(grads))
        changes = [old - p.asnumpy() for old, p in zip(before, self.parameters)]
        for p, old, change in zip(self.parameters, before, self._summed(changes)):
            p.set_data(from_array(old - change))
        return self.parameters
