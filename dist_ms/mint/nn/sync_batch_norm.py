"""SyncBatchNorm in PyTorch's form."""

from __future__ import annotations

from typing import Any

from dist_ms.collectives.arguments import check_group_name
from dist_ms.collectives.statistics import normalise
from dist_ms.common.tensor import Tensor
from dist_ms.communication import current
from dist_ms.mint.distributed.groups import get_world_size
from dist_ms.mint.nn.normalization import _BatchNorm
from dist_ms.ops.layers.batch_norm import follow

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation with mean and variance over the batches of all ranks of a group; see `BatchNorm2d`.

    With one rank, before the ranks have met, and outside training it is `BatchNorm2d`.

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: weight of the batches in the running statistics; None for their plain average.
        affine: whether there are `weight` and `bias`.
        track_running_stats: whether there are running statistics; without them the batches' are used always.
        process_group: the name of the ranks' group; None for all ranks.
        dtype: the parameters' type; None for float32.

    Raises:
        TypeError: if `process_group` is not a string.
        ValueError: if a number is out of range, or the input has other dimensions or channels.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.SyncBatchNorm(2)(ms.ops.ones((1, 2, 3, 3))).shape
        (1, 2, 3, 3)
    """

    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        process_group: str | None = None,
        dtype: Any = None,
    ) -> None:
        super().__init__(num_features, eps, momentum, affine, track_running_stats, dtype)
        self.process_group = check_group_name(process_group, self.cls_name)

    def construct(self, input: Tensor) -> Tensor:
        batch = self.training or not self.track_running_stats
        if not batch or current() is None or get_world_size(self.process_group) < 2 or input.ndim not in self._ranks:
            return super().construct(input)
        weight = self._count_batch()
        y, mean, variance = normalise(input, self.weight, self.bias, self.eps, self.process_group)
        if self.training and self.track_running_stats:
            own = self._params  # the statistics are written: never those cast for mixed precision
            follow(own["running_mean"], mean, weight)
            follow(own["running_var"], variance, weight)
        return y
