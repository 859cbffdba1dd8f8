"""Functions of `mint` that MindSpore has on Ascend only: statistics of batches in parts, conv_tbc and others."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_string, complaint
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.tensor.tensor_inplace_methods import become

__all__ = [
    "addr_",
    "batch_norm_elemt",
    "batch_norm_gather_stats_with_counts",
    "batch_norm_stats",
    "conv_tbc",
    "npu_gelu",
    "triangular_solve",
]


def addr_(input: Tensor, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """Give a tensor the values of `ops.addr`, beta * input + alpha * outer(vec1, vec2), and return it.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor([[1.0, 1.0]])
        >>> print(ms.mint.addr_(x, ms.Tensor([2.0]), ms.Tensor([3.0, 4.0])))
        [[7. 9.]]
    """
    return become(input, ops.addr(input, vec1, vec2, beta=beta, alpha=alpha), "addr_")


def _channels(x: Any, owner: str) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes but that of the channels, and the shape of numbers per channel."""
    if tensor(x, "input", owner).ndim < 2:
        raise ValueError(complaint("input", owner, "(N, C, ...)", f"shape {x.shape}"))
    return (0, *range(2, x.ndim)), (1, -1, *(1,) * (x.ndim - 2))


def batch_norm_stats(input: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """Return the mean of each channel, and 1 / sqrt(variance + eps), both float32.

    Args:
        input: (N, C, ...).
        eps: keeps the divisor from zero.

    Examples:
        >>> import dist_ms as ms
        >>> mean, invstd = ms.mint.batch_norm_stats(ms.Tensor([[1.0], [3.0]]), 0.0)
        >>> print(mean, invstd)
        [2.] [1.]
    """
    axes, _ = _channels(input, "batch_norm_stats")
    x = ops.cast(input, float32)
    mean = ops.mean(x, axes, True)
    variance = ops.mean(ops.square(x - mean), axes)
    return ops.reshape(mean, (-1,)), ops.rsqrt(variance + eps)


def batch_norm_elemt(
    input: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    mean: Tensor | None = None,
    invstd: Tensor | None = None,
    eps: float = 1e-05,
) -> Tensor:
    """Return (input - mean) * invstd * weight + bias, with numbers per channel.

    Args:
        input: (N, C, ...).
        weight, bias, mean, invstd: (C,); None leaves the step out.
        eps: accepted; it is in `invstd`.

    Examples:
        >>> import dist_ms as ms
        >>> x, two = ms.Tensor([[1.0], [3.0]]), ms.Tensor([2.0])
        >>> print(ms.mint.batch_norm_elemt(x, two, two, two, ms.Tensor([1.0])))
        [[0.]
         [4.]]
    """
    _, shape = _channels(input, "batch_norm_elemt")
    out = input
    for name, value, apply in (
        ("mean", mean, ops.sub),
        ("invstd", invstd, ops.mul),
        ("weight", weight, ops.mul),
        ("bias", bias, ops.add),
    ):
        if value is not None:
            if tensor(value, name, "batch_norm_elemt").shape != (input.shape[1],):
                raise ValueError(complaint(name, "batch_norm_elemt", f"of shape ({input.shape[1]},)", value.shape))
            out = apply(out, ops.reshape(value, shape))
    return ops.cast(out, input.dtype)


def batch_norm_gather_stats_with_counts(
    input: Tensor,
    mean: Tensor,
    invstd: Tensor,
    running_mean: Tensor | None = None,
    running_var: Tensor | None = None,
    momentum: float = 0.1,
    eps: float = 1e-05,
    counts: Tensor | None = None,
) -> tuple[Tensor, Tensor]:
    """Put together the statistics of parts of a batch, and let the running ones follow.

    Args:
        input: (N, C, ...), a part; its type and channels are looked at.
        mean, invstd: (parts, C), what `batch_norm_stats` returned for each.
        running_mean, running_var: (C,), updated in place: (1 - momentum) old + momentum new, the variance unbiased;
            or None.
        momentum: how much is new.
        eps: what is in `invstd`.
        counts: (parts,), how many elements a channel of each part has; None for one number for all.

    Returns:
        tuple, the mean and invstd of the whole, (C,).

    Raises:
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, one = ms.Tensor([[1.0]]), ms.Tensor([[1.0], [1.0]])
        >>> means = ms.Tensor([[1.0], [3.0]])
        >>> found = ms.mint.batch_norm_gather_stats_with_counts(x, means, one, counts=ms.Tensor([2.0, 2.0]))
        >>> print(found[0], found[1].asnumpy().round(3))
        [2.] [0.707]
    """
    owner = "batch_norm_gather_stats_with_counts"
    _channels(input, owner)
    parts, channels = mean.shape
    if channels != input.shape[1] or invstd.shape != mean.shape:
        raise ValueError(complaint("invstd", owner, f"({parts}, {input.shape[1]}), as 'mean'", invstd.shape))
    means, inverses = (x.array().astype(np.float64) for x in (mean, invstd))
    numbers = np.ones(parts) if counts is None else tensor(counts, "counts", owner).array().astype(np.float64)
    if numbers.shape != (parts,):
        raise ValueError(complaint("counts", owner, f"of shape ({parts},)", numbers.shape))
    total = numbers.sum()
    whole = numbers @ means / total
    variance = numbers @ (1 / inverses**2 - eps + (means - whole) ** 2) / total
    unbiased = variance * total / max(total - 1, 1)
    for name, running, new in (("running_mean", running_mean, whole), ("running_var", running_var, unbiased)):
        if running is not None:
            old = tensor(running, name, owner).array()
            become(running, Tensor(((1 - momentum) * old + momentum * new).astype(old.dtype)), owner)
    return Tensor(whole.astype(np.float32)), Tensor((1 / np.sqrt(variance + eps)).astype(np.float32))


def conv_tbc(input: Tensor, weight: Tensor, bias: Tensor, pad: int = 0) -> Tensor:
    """Convolve over time, which is the first dimension.

    Args:
        input: (time, N, C).
        weight: (kernel, C, O).
        bias: (O,).
        pad: zeros before and after.

    Returns:
        Tensor (time + 2 pad - kernel + 1, N, O).

    Raises:
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> ms.mint.conv_tbc(ms.ops.ones((5, 2, 3)), ms.ops.ones((2, 3, 4)), ms.ops.zeros(4)).shape
        (4, 2, 4)
    """
    for name, value, rank in (("input", input, 3), ("weight", weight, 3), ("bias", bias, 1)):
        if tensor(value, name, "conv_tbc").ndim != rank:
            raise ValueError(complaint(name, "conv_tbc", f"of {rank} dimensions", f"shape {value.shape}"))
    x, w = ops.transpose(input, (1, 2, 0)), ops.transpose(weight, (2, 1, 0))
    return ops.transpose(ops.conv1d(x, w, bias, pad_mode="pad", padding=pad), (2, 0, 1))


def npu_gelu(input: Tensor, approximate: str = "none") -> Tensor:
    """`ops.gelu`, with "none" or "tanh" as `approximate`."""
    return ops.gelu(input, check_string(approximate, "approximate", "npu_gelu", ("none", "tanh")))


def triangular_solve(
    b: Tensor, A: Tensor, upper: bool = True, transpose: bool = False, unitriangular: bool = False
) -> tuple[Tensor, Tensor]:
    """Solve A x = b for a triangular A, of which the other triangle is not read.

    Args:
        b: (..., n, k).
        A: (..., n, n).
        upper: whether the upper triangle is A.
        transpose: solve A^T x = b.
        unitriangular: whether A has ones on its diagonal, which is not read then.

    Returns:
        tuple: x, and A.

    Raises:
        TypeError: if an argument has the wrong type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.mint.triangular_solve(ms.Tensor([[3.0], [4.0]]), ms.Tensor([[1.0, 1.0], [0.0, 2.0]]))[0])
        [[1.]
         [2.]]
    """
    for name, value in (("upper", upper), ("transpose", transpose), ("unitriangular", unitriangular)):
        check_bool(value, name, "triangular_solve")
    matrix = (ops.triu if upper else ops.tril)(A, (1 if upper else -1) if unitriangular else 0)
    if unitriangular:
        matrix = matrix + ops.eye(A.shape[-1], A.shape[-1], A.dtype)
    if transpose:
        matrix = ops.swapaxes(matrix, -1, -2)
    solved = ops.MatrixTriangularSolve(lower=upper == transpose)(matrix, b)
    return solved, A
