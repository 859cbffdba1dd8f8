"""Products by groups of rows, as experts have them, and products of quantised matrices."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_choice, complaint
from dist_ms.common.dtype import float16, float32
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import integers, one_dtype, tensor

__all__ = ["gmm", "gmm_backward", "gmm_backward_fusion", "quant_matmul"]


def _single(given: Any, name: str, owner: str) -> Tensor:
    """The one tensor of a tuple or list."""
    if not isinstance(given, (tuple, list)) or len(given) != 1:
        raise ValueError(complaint(name, owner, "a tuple or list of one Tensor", given))
    return tensor(given[0], name, owner)


def _bounds(group_list: Any, kind: int, length: int, owner: str) -> list[int]:
    """0 and the ends of the groups along an axis of a length."""
    check_choice(kind, "group_list_type", owner, (0, 1))
    given = list(integers(group_list, "group_list", owner))
    sizes_given = kind == 1 and isinstance(group_list, Tensor)
    found = [0, *(np.cumsum(given).tolist() if sizes_given else given)]
    if len(found) < 2 or found != sorted(found) or found[-1] != length:
        wanted = f"sizes of groups whose sum is {length}" if sizes_given else f"ends of groups that rise to {length}"
        raise ValueError(complaint("group_list", owner, wanted, given))
    return found


def gmm(
    x: Sequence[Tensor],
    weight: Sequence[Tensor],
    bias: Sequence[Tensor] | None = None,
    group_list: Any = None,
    group_type: int = 0,
    group_list_type: int = 0,
) -> tuple[Tensor]:
    """Matrix products of groups.

    Args:
        x: one Tensor (m, k).
        weight: one Tensor (groups, k, n), or (k, n) with `group_type` 2.
        bias: one Tensor (groups, n), added to each group's rows; only with `group_type` 0.
        group_list: ends of the groups of rows of `x`, with `group_type` 2 of its columns: int64 Tensor, or a list or
            tuple of ints.
        group_type: 0: each group of rows has a matrix; 2: each group of columns of `x` and rows of `weight` makes one.
        group_list_type: 1 if a Tensor `group_list` holds the sizes of the groups instead of their ends.

    Returns:
        tuple of one Tensor, (m, n) or (groups, m, n).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if shapes or groups do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x, w = ms.ops.ones((3, 2)), ms.Tensor([[[1.0], [1.0]], [[5.0], [5.0]]])
        >>> print(ms.ops.functional_overload.gmm([x], [w], group_list=[1, 3])[0].asnumpy().tolist())
        [[2.0], [10.0], [10.0]]
    """
    left, right = _single(x, "x", "gmm"), _single(weight, "weight", "gmm")
    one_dtype("gmm", "fV", x=left, weight=right)
    check_choice(group_type, "group_type", "gmm", (0, 2))
    if left.ndim != 2 or right.ndim != (3 if group_type == 0 else 2):
        wanted = "(groups, k, n), or (k, n) with 'group_type' 2, for 'x' (m, k)"
        raise ValueError(complaint("weight", "gmm", wanted, f"{right.shape} for {left.shape}"))
    axis = 0 if group_type == 0 else 1
    ends = _bounds(group_list, group_list_type, left.shape[axis], "gmm")
    groups = list(pairwise(ends))
    if right.shape[-2] != left.shape[1] or (axis == 0 and right.shape[0] != len(groups)):
        raise ValueError(complaint("weight", "gmm", f"of {len(groups)} groups and {left.shape[1]} rows", right.shape))
    if axis == 1:
        if bias is not None:
            raise ValueError(complaint("bias", "gmm", "None with 'group_type' 2", "a tuple"))
        return (ops.stack([ops.matmul(left[:, a:b], right[a:b]) for a, b in groups], 0),)
    rows = [ops.matmul(left[a:b], right[g]) for g, (a, b) in enumerate(groups)]
    if bias is not None:
        added = _single(bias, "bias", "gmm")
        if added.shape != (len(groups), right.shape[2]):
            raise ValueError(complaint("bias", "gmm", f"of shape {(len(groups), right.shape[2])}", added.shape))
        rows = [ops.cast(r + added[g], left.dtype) for g, r in enumerate(rows)]
    return (ops.concat(rows, 0),)


def gmm_backward(
    grad: Sequence[Tensor], x: Sequence[Tensor], weight: Sequence[Tensor], *, group_list: Any, group_list_type: int = 0
) -> tuple[tuple[Tensor], tuple[Tensor], tuple[Tensor]]:
    """The gradients of `gmm` with `group_type` 0.

    Args:
        grad: one Tensor (m, n), that of the output.
        x, weight, group_list, group_list_type: as there.

    Returns:
        tuple of three tuples of one Tensor: for `x`, for `weight` and for a bias.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if shapes or groups do not fit.
    """
    left, dout = _single(x, "x", "gmm_backward"), _single(grad, "grad", "gmm_backward")
    (dx,) = gmm_backward_fusion(grad, weight, group_list=group_list, group_list_type=group_list_type)
    ends = _bounds(group_list, group_list_type, left.shape[0], "gmm_backward")
    if left.shape[0] != dout.shape[0]:
        raise ValueError(complaint("x", "gmm_backward", f"of {dout.shape[0]} rows, as 'grad'", left.shape))
    groups = list(pairwise(ends))
    dweight = ops.stack([ops.matmul(ops.transpose(left[a:b], (1, 0)), dout[a:b]) for a, b in groups], 0)
    return dx, (dweight,), (ops.stack([ops.sum(dout[a:b], 0) for a, b in groups], 0),)


def gmm_backward_fusion(
    grad: Sequence[Tensor], weight: Sequence[Tensor], *, group_list: Any, group_list_type: int = 0
) -> tuple[tuple[Tensor]]:
    """The gradient of `gmm` with `group_type` 0 for its `x`; see `gmm_backward`.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Tensor([[[1.0], [2.0]], [[5.0], [6.0]]])
        >>> print(ms.ops.functional_overload.gmm_backward_fusion([ms.ops.ones((2, 1))], [w], group_list=[1, 2])[0][0])
        [[1. 2.]
         [5. 6.]]
    """
    right = _single(weight, "weight", "gmm_backward_fusion")
    if right.ndim != 3:
        raise ValueError(complaint("weight", "gmm_backward_fusion", "(groups, k, n)", right.shape))
    turned = ops.transpose(right, (0, 2, 1))
    return (gmm(grad, [turned], group_list=group_list, group_list_type=group_list_type),)


def quant_matmul(
    x1: Tensor,
    x2: Tensor,
    scale: Tensor,
    *,
    offset: Tensor | None = None,
    pertoken_scale: Tensor | None = None,
    bias: Tensor | None = None,
    output_dtype: Any = None,
    x1_dtype: Any = None,
    x2_dtype: Any = None,
    pertoken_scale_dtype: Any = None,
    scale_dtype: Any = None,
    group_sizes: Any = None,
) -> Tensor:
    """The product of quantised matrices, brought to its numbers: (x1 x2 scale + offset) pertoken_scale + bias.

    Args:
        x1: (..., M, K) of float8_e4m3fn, float8_e5m2 or another float.
        x2: (..., K, N).
        scale: (1,) or (N,), of the columns.
        offset: (1,) or (N,).
        pertoken_scale: (M,), of the rows.
        bias: (N,) or (B, 1, N).
        output_dtype: of the result; float16 if None.
        x1_dtype, x2_dtype, pertoken_scale_dtype, scale_dtype: types to cast to first.
        group_sizes: None: scales of blocks are not built.

    Returns:
        Tensor (..., M, N).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `x1` is of int8 or int32, as in MindSpore, or a shape does not fit.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.ones((2, 2)).to(ms.float8_e4m3fn)
        >>> print(ms.ops.functional_overload.quant_matmul(x, x, ms.Tensor([0.5]), output_dtype=ms.float32))
        [[1. 1.]
         [1. 1.]]
    """
    owner = "quant_matmul"
    if group_sizes is not None:
        raise ValueError(complaint("group_sizes", owner, "None", group_sizes))
    pairs = ((x1, "x1", x1_dtype), (x2, "x2", x2_dtype), (scale, "scale", scale_dtype))
    for given, name, _ in pairs:
        if tensor(given, name, owner).array().dtype.kind in "iub":
            raise ValueError(complaint(name, owner, "of a float type", given.dtype))
    left, right, factor = (ops.cast(x if d is None else ops.cast(x, d), float32) for x, _, d in pairs)
    rows, columns = left.shape[-2], right.shape[-1]
    if left.ndim < 2 or right.ndim < 2 or left.shape[-1] != right.shape[-2]:
        raise ValueError(complaint("x2", owner, f"(..., K, N) for 'x1' {x1.shape}", x2.shape))
    _of_shape(factor, "scale", owner, (1,), (columns,))
    out = ops.matmul(left, right) * factor
    if offset is not None:
        out = out + ops.cast(_of_shape(offset, "offset", owner, (1,), (columns,)), float32)
    if pertoken_scale is not None:
        _of_shape(pertoken_scale, "pertoken_scale", owner, (rows,))
        of_rows = pertoken_scale if pertoken_scale_dtype is None else ops.cast(pertoken_scale, pertoken_scale_dtype)
        out = out * ops.reshape(ops.cast(of_rows, float32), (rows, 1))
    if bias is not None:
        out = out + ops.cast(_of_shape(bias, "bias", owner, (columns,), (out.shape[0], 1, columns)), float32)
    return ops.cast(out, float16 if output_dtype is None else output_dtype)


def _of_shape(x: Tensor, name: str, owner: str, *shapes: tuple) -> Tensor:
    if tensor(x, name, owner).shape not in shapes:
        raise ValueError(complaint(name, owner, "of shape " + " or ".join(map(str, shapes)), x.shape))
    return x
