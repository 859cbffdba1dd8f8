"""clip_by_global_norm, clip_by_norm: tensors scaled down, together, whose norm is too large.

Of gradients that ranks have parts of (see `RankPart`) the norm is that of the whole, added up over the
ranks. Outside of a recording the norm takes one pass, and what is returned is made when it is read: an
optimizer multiplies while it reads the gradients.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext import norms as kernels
from dist_ms.autograd.tape import recording
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.rank_part import RankPart
from dist_ms.common.tensor.scaled import pending, readable, scaled
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.ops.arguments import array, number, scalar, tensor
from dist_ms.ops.creating.casting import cast_array
from dist_ms.ops.elementwise.arithmetic import add, mul, square
from dist_ms.ops.elementwise.division import true_divide
from dist_ms.ops.layout import in_memory_order, working_type
from dist_ms.ops.reducing.norms import vector_norm
from dist_ms.ops.reducing.reduction import ReduceSum

__all__ = ["clip_by_global_norm", "clip_by_norm"]

_FLOAT32 = np.dtype(np.float32)


def square_sums(tensors: Sequence[Tensor]) -> np.ndarray:
    """The sum of the squares of each tensor, float64; tensors that wait to be read stay so.

    Args:
        tensors: of floating types.
    """
    arrays, factors = [], []
    for t in tensors:
        found = pending(t)
        x, factor = (readable(t), 1.0) if found is None else found
        x = in_memory_order(x).astype(working_type(x.dtype), copy=False)
        arrays.append(x if x.flags.aligned else x.copy())
        factors.append(factor)
    return kernels.square_sums(arrays) * np.square(factors)


def parts_of(owner: str, tensors: Sequence[Tensor]) -> RankPart | None:
    """The mark of the tensors that ranks have parts of, None if all ranks have the same.

    Args:
        owner: the operation.
        tensors: some tensors.

    Raises:
        ValueError: if the parts are those of different groups of ranks.
    """
    parts = [t._part for t in tensors if t._part is not None]
    if any(part.comm is not parts[0].comm for part in parts):
        raise ValueError(
            f"For '{owner}', the ranks that have the other parts of the gradients must be the same for all, but got "
            f"groups of {sorted({part.comm.size for part in parts})} ranks: clip the gradients of each group apart."
        )
    return parts[0] if parts else None


def global_norm(owner: str, tensors: Sequence[Tensor]) -> float:
    """The Euclidean norm of all tensors, the same on all ranks; every rank calls it.

    Args:
        owner: the operation.
        tensors: of floating types.
    """
    part, squares = parts_of(owner, tensors), square_sums(tensors)
    if part is None:
        return math.sqrt(squares.sum())
    own = np.array([t._part is not None for t in tensors])
    return math.sqrt(squares[~own].sum() + part.over_ranks(squares[own].sum()))


def clip_by_norm(x: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False) -> Any:
    """Scale down tensors, together, whose p-norm over all elements is larger than `max_norm`.

    Of reduced gradients of which this rank has a slice, or which are each rank's own, it is the norm over all
    ranks' that counts, and all ranks call this. A single tensor of the rank's own is clipped by its own norm.

    Args:
        x: a Tensor, or a tuple or list of them.
        max_norm: the largest norm.
        norm_type: the order; above 0 where ranks have parts.
        error_if_nonfinite: raise if the norm is infinite or NaN.

    Returns:
        Tensor, or list or tuple of Tensors like `x`.

    Raises:
        RuntimeError: if the norm is not finite and `error_if_nonfinite` is True.
        ValueError: for an order of 0 or less where ranks have parts.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.clip_by_norm(ms.Tensor([3.0, 4.0]), 10.0))
        [3. 4.]
    """
    several = x if isinstance(x, (tuple, list)) else [x]
    norm_type = number(scalar(norm_type), "norm_type", "clip_by_norm", True)
    if any(isinstance(t, (int, float)) for t in several):  # whose dtype MindSpore reads
        raise AttributeError(f"For 'clip_by_norm', 'x' must be a Tensor or hold Tensors, but got {x!r}.")
    norms = [vector_norm(tensor(t, "x", "clip_by_norm"), norm_type) for t in several]
    part = parts_of("clip_by_norm", norms)
    if part is None or (part.kind == "own" and not isinstance(x, (tuple, list))):
        total = vector_norm(ops.stack(norms), norm_type)
    else:
        total = Tensor(np.asarray(_norm_over_ranks(norms, norm_type, part), norms[0].dtype.np))
    if error_if_nonfinite and not np.isfinite(total.array()):
        raise RuntimeError(f"For 'clip_by_norm', the norm must be finite, but got {total}.")
    scale = ops.minimum(true_divide(max_norm, add(total, 1e-6)), 1.0)
    out = [mul(t, ops.cast(scale, t.dtype) if t.array().dtype.kind not in "iu" else scale) for t in several]
    return out[0] if isinstance(x, Tensor) else type(x)(out)


def _norm_over_ranks(norms: Sequence[Tensor], p: float, part: RankPart) -> float:
    """The p-norm of tensors whose parts on this rank have these norms."""
    if not p > 0:
        raise ValueError(
            f"For 'clip_by_norm', 'norm_type' must be above 0 for gradients that ranks have parts of, but got {p}."
        )
    sizes = [float(n.array()) for n in norms]
    whole = [size for size, n in zip(sizes, norms) if n._part is None]
    own = [size for size, n in zip(sizes, norms) if n._part is not None]
    if math.isinf(p):
        return max([*whole, part.over_ranks(max(own), "max")])
    return (sum(size**p for size in whole) + part.over_ranks(sum(size**p for size in own))) ** (1 / p)


def clip_by_global_norm(x: Any, clip_norm: float = 1.0, use_norm: Any = None) -> tuple:
    """Scale down tensors, together, whose norm over all elements is larger than `clip_norm`.

    Of reduced gradients of which this rank has a slice (the parallel optimizer) or which are each rank's own
    (`layerwise_parallel`), and of what was computed from them, it is the norm over all ranks' that counts, and
    all ranks call this.

    Args:
        x: a tuple or list of Tensors, or RowTensors, whose rows of one index are added up first.
        clip_norm: the largest root of the sum of all squares, positive.
        use_norm: None; the norm to use instead is not supported.

    Returns:
        tuple of Tensors. Outside of a recording they are made when they are read; an optimizer multiplies
        while it reads the gradients.

    Raises:
        TypeError: if `x` is no tuple or list of Tensors, or `clip_norm` no number.
        ValueError: if `clip_norm` is not positive, or `use_norm` is not None; for gradients whose parts are on
            different groups of ranks.

    Examples:
        >>> import dist_ms as ms
        >>> a, b = ms.ops.clip_by_global_norm([ms.Tensor([0.6]), ms.Tensor([0.8])], 0.5)
        >>> print(a, b)
        [0.3] [0.4]
    """
    owner = "clip_by_global_norm"
    clip_norm = scalar(clip_norm)
    if isinstance(clip_norm, Tensor):
        raise ValueError(f"For '{owner}', 'clip_norm' must be one number, but got the shape {clip_norm.shape}.")
    if isinstance(clip_norm, bool) or not isinstance(clip_norm, (int, float)):
        raise TypeError(f"For 'clip_by_global_norm', 'clip_norm' must be a number, but got {type(clip_norm).__name__}.")
    if clip_norm <= 0 or use_norm is not None:
        raise ValueError(
            f"For 'clip_by_global_norm', 'clip_norm' must be positive and 'use_norm' None, "
            f"but got {clip_norm} and {use_norm}."
        )
    if isinstance(x, (tuple, list)):
        given = [t.summed() if isinstance(t, RowTensor) else t for t in x]
        x = [t.values if isinstance(t, RowTensor) else t for t in given]
    several = ops.shaping.joining.sequence(x, "x", owner)
    if recording.tape is None and all(t.dtype.np.kind != "c" for t in several):
        limit = np.float32(clip_norm)
        with np.errstate(all="ignore"):
            factor = limit / np.maximum(np.float32(global_norm(owner, several)), limit)
        clipped = [scaled(t, factor) for t in several]
    else:
        scale = _recorded_scale(several, clip_norm)
        clipped = [mul(t, ops.cast(scale, from_numpy(array(t.array(), "input", "x").dtype))) for t in several]
    return tuple([t.with_values(new) if isinstance(t, RowTensor) else new for t, new in zip(given, clipped)])


def _recorded_scale(several: Sequence[Tensor], clip_norm: float) -> Tensor:
    """The factor as operations make it, so that it has a gradient."""
    part = parts_of("clip_by_global_norm", several)
    if part is not None:
        raise ValueError(
            "For 'clip_by_global_norm', gradients that ranks have parts of must be clipped outside of the function "
            "that a gradient is taken of: the sum over the ranks has no gradient."
        )
    squares = ops.addn([cast_array(ReduceSum()(square(cast_array(t, _FLOAT32))), _FLOAT32) for t in several])
    return true_divide(clip_norm, ops.maximum(ops.sqrt(squares), clip_norm))
