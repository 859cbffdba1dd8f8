"""SyncBatchNorm: batch normalisation over the batches of several ranks."""

from __future__ import annotations

from typing import Any

from dist_ms.collectives.arguments import WORLD
from dist_ms.collectives.statistics import normalise
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.communication import create_group, current
from dist_ms.nn.layer.normalization import _BatchNorm
from dist_ms.ops.layers.batch_norm import follow

__all__ = ["SyncBatchNorm"]


class SyncBatchNorm(_BatchNorm):
    """Batch normalisation with mean and variance over the batches of all ranks of a group; see `BatchNorm2d`.

    N ranks on parts of a batch give what one process gives on the whole, also where the parts differ in size. With
    one rank, before `init()`, and outside training it is `BatchNorm2d`.

    Args:
        num_features: C.
        eps: added to the variance, in (0, 1].
        momentum: weight of the past in the moving statistics, in [0, 1].
        affine: whether gamma and beta are trained.
        gamma_init, beta_init, moving_mean_init, moving_var_init: Tensor, name, Initializer or number.
        use_batch_statistics: True or False to always or never use the batches'; None to follow `set_train`.
        process_groups: lists of world ranks; those of a list are normalised together. A rank in none of them is
            alone. Default: all ranks together.
        dtype: element type of the parameters.

    Inputs:
        x (Tensor): (N, C), (N, C, L), (N, C, H, W) or (N, C, D, H, W) floats; N may be 0 on some ranks.

    Outputs:
        Tensor of the shape and type of `x`.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, a rank is in two lists or not in the world, or `x` has other
            dimensions or channels.

    Examples:
        >>> import dist_ms as ms
        >>> layer = ms.nn.SyncBatchNorm(1).set_train()
        >>> print(layer(ms.Tensor([[1.0], [3.0]])))
        [[-0.999995]
         [ 0.999995]]
    """

    _ranks = (2, 3, 4, 5)

    def __init__(
        self,
        num_features: int,
        eps: float = 1e-5,
        momentum: float = 0.9,
        affine: bool = True,
        gamma_init: Any = "ones",
        beta_init: Any = "zeros",
        moving_mean_init: Any = "zeros",
        moving_var_init: Any = "ones",
        use_batch_statistics: bool | None = None,
        process_groups: list[list[int]] | None = None,
        dtype: Any = mstype.float32,
    ) -> None:
        super().__init__(
            num_features,
            eps,
            momentum,
            affine,
            gamma_init,
            beta_init,
            moving_mean_init,
            moving_var_init,
            use_batch_statistics,
            dtype=dtype,
        )
        self.process_groups = _check_groups(process_groups)
        self._group: str | None = None

    def construct(self, x: Tensor) -> Tensor:
        batch = self.training if self.use_batch_statistics is None else self.use_batch_statistics
        group = self._find_group() if batch else ""
        if not group or x.ndim not in self._ranks:
            return super().construct(x)
        y, mean, variance = normalise(x, self.gamma, self.beta, self.eps, group)
        own = self._params  # the statistics are written: never those cast for mixed precision
        follow(own["moving_mean"], mean, self.momentum)
        follow(own["moving_variance"], variance, self.momentum)
        return y

    def _find_group(self) -> str:
        """The name of the group this rank normalises with; "" when it is alone."""
        if current() is None or current().comm.size == 1:
            return ""
        if self._group is None:
            self._group = WORLD if self.process_groups is None else _join(self.process_groups, current().comm.rank)
        return self._group


def _join(process_groups: list[list[int]], rank: int) -> str:
    """Make the group of the list this rank is in, if it is not there yet, and return its name; "" for none."""
    mine = next((ranks for ranks in process_groups if rank in ranks), [])
    if len(mine) < 2:
        return ""
    name = "sync_batch_norm_" + "_".join(map(str, mine))
    if name not in current().groups:
        create_group(name, list(mine))
    return name


def _check_groups(process_groups: Any) -> list[list[int]] | None:
    """Return lists of ranks that have no rank twice."""
    if process_groups is None:
        return None
    if not isinstance(process_groups, list) or not all(isinstance(ranks, list) for ranks in process_groups):
        raise TypeError(
            f"For 'SyncBatchNorm', 'process_groups' must be a list of lists of ints, but got {process_groups!r}."
        )
    flat = [rank for ranks in process_groups for rank in ranks]
    if not all(isinstance(rank, int) and not isinstance(rank, bool) for rank in flat):
        raise TypeError(f"For 'SyncBatchNorm', 'process_groups' must hold ints, but got {process_groups!r}.")
    size = 1 if current() is None else current().comm.size
    if len(set(flat)) != len(flat) or any(not 0 <= rank < size for rank in flat):
        raise ValueError(
            f"For 'SyncBatchNorm', 'process_groups' must have each rank of [0, {size - 1}] at most once, but got "
            f"{process_groups!r}."
        )
    return process_groups
