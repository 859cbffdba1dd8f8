"""DistributedGradReducer: gradients summed or averaged over the ranks."""

from __future__ import annotations

from typing import Any

from dist_ms.common import parallel_context
from dist_ms.communication import get_group_size
from dist_ms.nn.cell import Cell
from dist_ms.parallel.session import DataParallel, data_parallel


def is_data_parallel() -> bool:
    """Whether the parallel context asks for reduced gradients.

    Raises:
        RuntimeError: in semi_auto_parallel and auto_parallel on several ranks, which dist_ms can not do.
    """
    mode = parallel_context.get_auto_parallel_context("parallel_mode")
    together = (parallel_context.ParallelMode.DATA_PARALLEL, parallel_context.ParallelMode.HYBRID_PARALLEL)
    if mode != parallel_context.ParallelMode.STAND_ALONE and mode not in together and get_group_size() > 1:
        data_parallel([])
    return mode in together


class DistributedGradReducer(Cell):
    r"""Reduce gradients over the ranks: :math:`\sum_r g_r`, times 1/degree when averaging.

    Parameters with `layerwise_parallel=True` get their own gradient back. Under
    DATA_PARALLEL the first call also checks that all ranks have the same parameters and
    gives them rank 0's values (unless `parameter_broadcast=False`).

    Args:
        parameters: the parameters the gradients belong to, in order.
        mean: average instead of add; the context's `gradients_mean` by default.
        degree: the divisor; the context's `device_num` or the group's size by default.
        fusion_type: fusion group of the gradients, as `Parameter.comm_fusion` (MindSpore's default 1).
        group: the ranks; all of them by default.
        network: the cell whose parameters and buffers start equal; the parameters alone by default.
        reuse: write every step's gradients to the same memory; what was returned before changes.

    Raises:
        ValueError: if `degree` is not a positive int.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> reducer = ms.nn.DistributedGradReducer([w], mean=True)
        >>> print(reducer((ms.Tensor([2.0]),))[0])
        [2.]
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str | None = None,
        network: Cell | None = None,
        reuse: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        if mean is not None and not isinstance(mean, bool):
            raise TypeError(f"For 'DistributedGradReducer', 'mean' must be a bool, but got {type(mean).__name__}.")
        if degree is not None and (isinstance(degree, bool) or not isinstance(degree, int) or degree <= 0):
            raise ValueError(f"For 'DistributedGradReducer', 'degree' must be a positive int, but got {degree!r}.")
        if isinstance(fusion_type, bool) or not isinstance(fusion_type, int) or fusion_type < 0:
            raise ValueError(
                f"For 'DistributedGradReducer', 'fusion_type' must be an int of 0 or more, but got {fusion_type!r}."
            )
        weights = list(parameters)
        if fusion_type != 1:
            for p in weights:
                p.comm_fusion = fusion_type
        get = parallel_context.get_auto_parallel_context
        self.mean = get("gradients_mean") if mean is None else mean
        state = (lambda: network.get_parameters()) if network is not None else None
        buffers = (lambda: network.buffers()) if network is not None else None
        asked = data_parallel(weights, state, buffers, mean=self.mean, degree=degree, group=group, reuse=reuse)
        if asked is None:  # outside DATA_PARALLEL a reducer made by hand reduces, and writes no parameter
            asked = DataParallel(weights, mean=self.mean, degree=degree, broadcast=False, reuse=reuse)
        self._together = asked
        self.degree = asked.degree or asked.comm.size
        self.allreduce = True

    def sink(self) -> Any:
        """The gradient sink of a training step."""
        return self._together.sink()

    @property
    def comm(self) -> Any:
        """The ranks that reduce together."""
        return self._together.comm

    @property
    def plan(self) -> Any:
        """What is done with each parameter; None before the first step."""
        return self._together.plan

    def construct(self, grads: Any) -> tuple:
        """Reduce gradients, given in the order of the parameters."""
        return tuple(self._together.sink().reduce(list(grads)))


__all__ = ["DistributedGradReducer", "is_data_parallel"]
