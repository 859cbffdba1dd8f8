"""Normalisation layers in PyTorch's form: parameters `weight` and `bias`, statistics as they run."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_positive_int
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.extended.layers import LayerNormExt as LayerNorm
from dist_ms.ops.arguments import tensor

__all__ = ["BatchNorm1d", "BatchNorm2d", "BatchNorm3d", "GroupNorm", "LayerNorm"]


def _vector(init: str, shape: Any, dtype: Any, name: str, trained: bool = True) -> Parameter:
    return Parameter(initializer(init, shape, mstype.float32 if dtype is None else dtype), name, trained)


class _BatchNorm(Cell):
    """What batch normalisation layers share."""

    _ranks: tuple = ()

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float | None = 0.1,
        affine: bool = True,
        track_running_stats: bool = True,
        dtype: Any = None,
    ) -> None:
        super().__init__()
        n = self.num_features = check_positive_int(num_features, "num_features", self.cls_name)
        self.eps, self.momentum = eps, momentum
        self.affine, self.track_running_stats = affine, track_running_stats
        self.weight = _vector("ones", n, dtype, "weight") if affine else None
        self.bias = _vector("zeros", n, dtype, "bias") if affine else None
        self.running_mean = self.running_var = self.num_batches_tracked = None
        if track_running_stats:
            self.running_mean = _vector("zeros", n, dtype, "running_mean", False)
            self.running_var = _vector("ones", n, dtype, "running_var", False)
            self.num_batches_tracked = Parameter(Tensor(0, mstype.float32), "num_batches_tracked", False)

    def construct(self, input: Tensor) -> Tensor:
        if input.ndim not in self._ranks:
            raise ValueError(
                f"For '{self.cls_name}', 'input' must have {' or '.join(map(str, self._ranks))} "
                f"dimensions, but got shape {input.shape}."
            )
        weight = self._count_batch()
        own = self._params  # the statistics are written: never those cast for mixed precision
        return functional.batch_norm(
            input,
            own.get("running_mean"),
            own.get("running_var"),
            self.weight,
            self.bias,
            self.training or not self.track_running_stats,
            weight,
            self.eps,
        )

    def _count_batch(self) -> float:
        """Count a batch that the running statistics follow, and return its weight in them."""
        weight = 0.0 if self.momentum is None else self.momentum
        if self.training and self.track_running_stats:
            ops.assign_add(self.num_batches_tracked, Tensor(1, self.num_batches_tracked.dtype))
            if self.momentum is None:
                weight = 1.0 / self.num_batches_tracked.item()
        return weight

    def extend_repr(self) -> str:
        return (
            f"num_features={self.num_features}, eps={self.eps}, momentum={self.momentum}, affine={self.affine}, "
            f"track_running_stats={self.track_running_stats}"
        )


class BatchNorm1d(_BatchNorm):
    """`BatchNorm2d` of (N, C) or (N, C, L)."""

    _ranks = (2, 3)


class BatchNorm2d(_BatchNorm):
    """Batch normalisation of (N, C, H, W) per channel.

    Parameters: `weight`, `bias`; without gradient `running_mean`, `running_var`, all (num_features,),
    and `num_batches_tracked`. See `functional.batch_norm`.

    Args:
        num_features: number of channels.
        eps: added to the variance.
        momentum: weight of the batch in the running statistics; None for their plain average.
        affine: whether there are `weight` and `bias`.
        track_running_stats: whether there are running statistics; without them the batch's are
            used always.
        dtype: the parameters' type; None for float32.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.BatchNorm2d(2)(ms.ops.ones((1, 2, 3, 3))).shape
        (1, 2, 3, 3)
    """

    _ranks = (4,)


class BatchNorm3d(_BatchNorm):
    """`BatchNorm2d` of (N, C, D, H, W)."""

    _ranks = (5,)


class GroupNorm(Cell):
    """Normalisation of (N, C, ...) over groups of channels.

    Args:
        num_groups: the number of groups.
        num_channels: C, a multiple of it.
        eps: added to the variance.
        affine: whether there are `weight` and `bias`, (num_channels,).
        dtype: the parameters' type; None for float32.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.nn.GroupNorm(2, 4)(ms.ops.ones((1, 4, 3, 3))).shape
        (1, 4, 3, 3)
    """

    def __init__(
        self, num_groups: int, num_channels: int, eps: float = 1e-5, affine: bool = True, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_groups = check_positive_int(num_groups, "num_groups", self.cls_name)
        self.num_channels = check_positive_int(num_channels, "num_channels", self.cls_name)
        if num_channels % num_groups:
            raise ValueError(
                f"For 'GroupNorm', 'num_channels' must be a multiple of 'num_groups' ({num_groups}), "
                f"but got {num_channels}."
            )
        self.eps, self.affine = eps, affine
        self.weight = _vector("ones", num_channels, dtype, "weight", affine)
        self.bias = _vector("zeros", num_channels, dtype, "bias", affine)

    def construct(self, input: Tensor) -> Tensor:
        if tensor(input, "input", "mint.nn.GroupNorm").ndim < 2:
            raise RuntimeError(f"For 'GroupNorm', 'input' must have at least 2 dimensions, but got {input.ndim}.")
        return functional.group_norm(input, self.num_groups, self.weight, self.bias, self.eps)

    def extend_repr(self) -> str:
        return f"num_groups={self.num_groups}, num_channels={self.num_channels}, eps={self.eps}, affine={self.affine}"
