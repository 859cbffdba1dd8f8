"""Tokens put in the order of the experts that take them, and back; parts of row tensors by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.ops.arguments import tensor

__all__ = [
    "make_row_tensor",
    "moe_token_permute",
    "moe_token_unpermute",
    "row_tensor_get_dense_shape",
    "row_tensor_get_indices",
    "row_tensor_get_values",
]


def _unpadded(padded_mode: Any, name: str) -> None:
    check_bool(padded_mode, "padded_mode", name)
    if padded_mode:
        raise ValueError(f"For '{name}', 'padded_mode' must be False, but got True.")


def moe_token_permute(
    tokens: Tensor, indices: Tensor, num_out_tokens: int | None = None, padded_mode: bool = False
) -> tuple[Tensor, Tensor]:
    """Put tokens in the order of their experts, those of one expert in the order in which they come.

    Args:
        tokens (Tensor): (N, H).
        indices (Tensor): (N,) or (N, K), int32 or int64: the experts of each token.
        num_out_tokens: how many to return; None or 0 for all, below 0 for all but so many.
        padded_mode: must be False.

    Returns:
        A tuple (tokens in order, (N K, H); where each pair of a token and an expert went, (N K,) int32).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit, or `padded_mode` is True.
        RuntimeError: if `tokens` and `indices` differ in number.

    Examples:
        >>> import dist_ms as ms
        >>> tokens, places = ms.ops.moe_token_permute(ms.Tensor([[1.0], [7.0], [2.0]]), ms.Tensor([2, 0, 1]))
        >>> print(tokens.reshape(-1), places)
        [7. 2. 1.] [2 0 1]
    """
    name = "moe_token_permute"
    _unpadded(padded_mode, name)
    tensor(tokens, "tokens", name)
    experts = tensor(indices, "indices", name).array()
    if experts.dtype not in (np.int32, np.int64):
        raise TypeError(f"For '{name}', 'indices' must be int32 or int64, but got {indices.dtype}.")
    if num_out_tokens is not None and (not isinstance(num_out_tokens, int) or isinstance(num_out_tokens, bool)):
        raise TypeError(f"For '{name}', 'num_out_tokens' must be int, but got {type(num_out_tokens).__name__}.")
    if tokens.ndim != 2 or experts.ndim not in (1, 2):
        raise ValueError(
            f"For '{name}', 'tokens' must be (N, H) and 'indices' (N,) or (N, K), but got {tokens.shape} and "
            f"{experts.shape}."
        )
    if len(experts) != len(tokens):
        raise RuntimeError(f"For '{name}', 'indices' must be {len(tokens)}, one per token, but got {len(experts)}.")
    order = np.argsort(experts.ravel(), kind="stable")
    places = np.empty(len(order), np.int32)
    places[order] = np.arange(len(order), dtype=np.int32)
    taken = order // (experts.shape[1] if experts.ndim == 2 else 1)
    return ops.gather(tokens, Tensor(taken[: num_out_tokens or None]), 0), Tensor(places)


def moe_token_unpermute(
    permuted_tokens: Tensor,
    sorted_indices: Tensor,
    probs: Tensor | None = None,
    padded_mode: bool = False,
    restore_shape: Any = None,
) -> Tensor:
    """Put tokens back into their own order, those of one token added up with the weights `probs`.

    Args:
        permuted_tokens (Tensor): (N K, H), as `moe_token_permute` gives them.
        sorted_indices (Tensor): (N K,), its second result.
        probs (Tensor): (N, K) weights; None where K is 1.
        padded_mode: must be False.
        restore_shape: of the padded mode only.

    Returns:
        Tensor (N, H).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `padded_mode` is True.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.moe_token_unpermute(ms.Tensor([[7.0], [2.0], [1.0]]), ms.Tensor([2, 0, 1])).reshape(-1))
        [1. 7. 2.]
    """
    name = "moe_token_unpermute"
    _unpadded(padded_mode, name)
    tensor(permuted_tokens, "permuted_tokens", name)
    found = ops.gather(permuted_tokens, tensor(sorted_indices, "sorted_indices", name), 0)
    if probs is None:
        return found
    n, k = tensor(probs, "probs", name).shape
    weighted = ops.mul(ops.reshape(found, (n, k, found.shape[-1])), ops.reshape(probs, (n, k, 1)))
    return ops.ReduceSum()(weighted, 1).astype(permuted_tokens.dtype)


def make_row_tensor(indices: Tensor, values: Tensor, dense_shape: tuple) -> RowTensor:
    """A tensor given by some of its rows.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.ops.make_row_tensor(ms.Tensor([0]), ms.Tensor([[1.0, 2.0]]), (3, 2))
        >>> print(ms.ops.row_tensor_get_indices(x), ms.ops.row_tensor_get_values(x))
        [0] [[1. 2.]]
        >>> ms.ops.row_tensor_get_dense_shape(x)
        (3, 2)
    """
    return RowTensor(indices, values, dense_shape)


def _rows(x: Any, name: str) -> RowTensor:
    if not isinstance(x, RowTensor):
        raise TypeError(f"For '{name}', 'x' must be a RowTensor, but got {type(x).__name__}.")
    return x


def row_tensor_get_indices(x: RowTensor) -> Tensor:
    """The places of a row tensor's rows."""
    return _rows(x, "row_tensor_get_indices").indices


def row_tensor_get_values(x: RowTensor) -> Tensor:
    """The rows of a row tensor."""
    return _rows(x, "row_tensor_get_values").values


def row_tensor_get_dense_shape(x: RowTensor) -> tuple:
    """The shape of a row tensor as a whole."""
    return _rows(x, "row_tensor_get_dense_shape").dense_shape
