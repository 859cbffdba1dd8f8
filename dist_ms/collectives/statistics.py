"""Batch statistics over the ranks of a group, for normalisation layers."""

from __future__ import annotations

from typing import Any

from dist_ms.collectives.reductions import AllReduce
from dist_ms.common import dtype as mstype
from dist_ms.common.tensor import Tensor
from dist_ms.ops.creating.creation import ones
from dist_ms.ops.elementwise.powers import rsqrt
from dist_ms.ops.shaping.joining import concat

_WIDE = (mstype.float32, mstype.float64)


def normalise(x: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, group: str) -> tuple[Any, Any, Any]:
    """Normalise (N, C, ...) per channel with mean and variance over every rank's batch.

    The batches may have different sizes, also none. Gradients pass through the statistics, so they are those of the
    sum of the ranks' losses.

    Args:
        x: this rank's batch.
        weight: (C,) or None.
        bias: (C,) or None.
        eps: added to the variance.
        group: the ranks.

    Returns:
        The normalised tensor in the type of `x`, the mean (C,) and the unbiased variance (C,), as arrays.

    Raises:
        ValueError: if there is one value per channel or none, of which no variance can be taken.
    """
    axes = (0, *range(2, x.ndim))
    column = (1, -1, *(1,) * (x.ndim - 2))
    wide = x if x.dtype in _WIDE else x.astype(mstype.float32)
    own = x.size // x.shape[1]
    sums = AllReduce("sum", group)(concat((wide.sum(axes), ones((1,), wide.dtype) * own)))
    count = float(sums[-1].item())
    if count < 2:
        raise ValueError(
            f"For 'SyncBatchNorm', the ranks must have at least 2 values per channel together to train, but got "
            f"{count:g}."
        )
    mean = sums[:-1] / count
    centred = wide - mean.reshape(column)
    variance = AllReduce("sum", group)((centred * centred).sum(axes)) / count
    scale = rsqrt(variance + eps)
    if weight is not None:
        scale = scale * weight
    y = centred * scale.reshape(column)
    if bias is not None:
        y = y + bias.reshape(column)
    return y.astype(x.dtype), mean.asnumpy(), variance.asnumpy() * (count / (count - 1))
