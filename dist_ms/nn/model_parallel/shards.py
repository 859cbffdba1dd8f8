"""How a dimension is cut over the ranks, and how batches and features travel between the shards."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from dist_ms.collectives.all_to_all import AlltoAllV
from dist_ms.common.initializer import initializer
from dist_ms.common.parameter import Parameter
from dist_ms.common.settings.parallel_context import get_auto_parallel_context
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.communication import Comm, get_comm, init
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.joining import concat


def world_comm() -> Comm:
    """Return the communicator of all ranks, joining them if that has not been done."""
    init()
    return get_comm()


class Shards:
    """A dimension cut over the ranks, as evenly as its length allows.

    Args:
        length: the dimension's length.
        size: the number of ranks.
        rank: this rank.

    Attributes:
        lengths: the length of each rank's shard.
        start: where this rank's begins.
        stop: one past where it ends.
    """

    def __init__(self, length: int, size: int, rank: int) -> None:
        self.lengths = [length // size + (r < length % size) for r in range(size)]
        self.start = sum(self.lengths[:rank])
        self.stop = self.start + self.lengths[rank]


def shard_parameter(init: Any, shape: tuple[int, ...], axis: int, shards: Shards, dtype: Any, name: str) -> Parameter:
    """Make the Parameter of this rank's shard.

    Every rank draws the whole and keeps its part, so with one seed the ranks together hold what one process would.
    """
    whole = initializer(init, shape, dtype)
    values = (whole.init_data() if whole.has_init else whole).asnumpy()
    mine = np.ascontiguousarray(values[(slice(None),) * axis + (slice(shards.start, shards.stop),)])
    return Parameter(wrap(mine), name=name, layerwise_parallel=True)


def check_features(features: int, name: str, owner: str, size: int) -> None:
    """Raise if a rank would hold nothing.

    Raises:
        ValueError: if there are fewer features than ranks.
    """
    if features < size:
        raise ValueError(
            f"For '{owner}', '{name}' must be at least the number of ranks, {size}, so that each holds a part, but "
            f"got {features}."
        )


def gradient_scale(size: int) -> float:
    """Return by what a shard's gradients are multiplied: its samples come from every rank's loss.

    Where the context averages gradients over the ranks, a shard's are averaged over the ranks' losses as well.
    """
    return 1 / size if get_auto_parallel_context("gradients_mean") else 1.0


class ScaleGradient(Primitive):
    """The identity, whose gradient is multiplied by a number.

    Args:
        scale: the number.
    """

    keeps = ()

    def __init__(self, scale: float) -> None:
        super().__init__()
        self.scale = scale

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Return the array itself."""
        return x

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Scale."""
        return (dout if self.scale == 1 else dout * self.scale,)


def batch_lengths(rows: int, comm: Comm) -> list[int]:
    """Return every rank's number of rows."""
    return comm.all_gather(np.array([rows]))[:, 0].tolist()


def features_to_batches(y: Tensor, batches: list[int], features: list[int], rank: int) -> Tensor:
    """Of every rank's features of all batches, give each rank all features of its batch.

    Args:
        y: (sum of batches, this rank's features).
        batches: each rank's number of rows.
        features: each rank's number of features.
        rank: this rank.

    Returns:
        (this rank's rows, sum of features).
    """
    mine = batches[rank]
    came = AlltoAllV()(y.reshape(-1), [n * features[rank] for n in batches], [mine * f for f in features])
    return _join(came, [(mine, f) for f in features], 1)


def batches_to_features(x: Tensor, batches: list[int], features: list[int], rank: int) -> Tensor:
    """Of every rank's batch with all features, give each rank its features of all batches: the way back."""
    mine, stops = features[rank], np.cumsum([0, *features]).tolist()
    parts = [x[:, a:b].reshape(-1) for a, b in itertools.pairwise(stops)]
    came = AlltoAllV()(concat(parts), [batches[rank] * f for f in features], [n * mine for n in batches])
    return came.reshape(sum(batches), mine)


def _join(flat: Tensor, shapes: list[tuple[int, int]], axis: int) -> Tensor:
    """Cut a flat tensor into matrices and put them side by side."""
    stops = np.cumsum([0, *(a * b for a, b in shapes)]).tolist()
    return concat([flat[a:b].reshape(shape) for a, b, shape in zip(stops, stops[1:], shapes)], axis)
