"""AlltoAll and its forms with lengths of their own: every rank has a part for every rank."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.collectives.arguments import WORLD, check_group_name, check_int, check_sizes, comm_for, cut
from dist_ms.collectives.movement import all_to_all
from dist_ms.common.checks import check_bool
from dist_ms.common.tensor import Tensor
from dist_ms.communication import Comm
from dist_ms.ops.primitive import Primitive

__all__ = ["AlltoAll", "AlltoAllV", "AlltoAllVC"]


class AlltoAll(Primitive):
    """Cut a dimension into one part per rank, exchange the parts, and join those that came along another dimension.

    Rank r's result is the concatenation, over the ranks k in order, of part r of rank k's tensor.
    Differentiable: the gradient goes the way back (the two dimensions change places).

    Args:
        split_count: the number of parts, which must be the group's size.
        split_dim: the dimension that is cut.
        concat_dim: the dimension along which parts are joined.
        group: the ranks that take part; default: all.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if `split_count` is not the group's size, a dimension does not exist, or cannot be cut evenly.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.AlltoAll(1, -1, 0)(ms.Tensor([[1.0, 2.0]])))
        [[1. 2.]]
    """

    keeps = ()

    def __init__(self, split_count: int, split_dim: int, concat_dim: int, group: str = WORLD) -> None:
        super().__init__()
        self.split_count = check_int(split_count, "split_count", self.name)
        self.split_dim = check_int(split_dim, "split_dim", self.name)
        self.concat_dim = check_int(concat_dim, "concat_dim", self.name)
        self.group = check_group_name(group, self.name)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Exchange."""
        comm = comm_for(self.group, self.name)
        if self.split_count != comm.size:
            raise ValueError(
                f"For '{self.name}', 'split_count' must be the group's size {comm.size}, but got {self.split_count}."
            )
        for argument, dim in (("split_dim", self.split_dim), ("concat_dim", self.concat_dim)):
            if not -x.ndim <= dim < x.ndim:
                raise ValueError(
                    f"For '{self.name}', '{argument}' must be in [{-x.ndim}, {x.ndim - 1}], but got {dim}."
                )
        if x.shape[self.split_dim] % comm.size:
            raise ValueError(
                f"For '{self.name}', dimension {self.split_dim} of 'x' must be a multiple of {comm.size}, but got "
                f"shape {x.shape}."
            )
        split, joined = self.split_dim % x.ndim, self.concat_dim % x.ndim
        if split == joined == 0:
            return comm.all_to_all(x)
        came = comm.all_to_all(np.stack(np.split(x, comm.size, split)))
        return np.concatenate(came, joined)

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every part goes back to where it came from."""
        return (AlltoAll(self.split_count, self.concat_dim, self.split_dim, self.group)(dout),)


class AlltoAllV(Primitive):
    """Exchange parts of a 1-D tensor whose lengths the caller names.

    Differentiable: the gradient goes the way back.

    Args:
        group: the ranks that take part; default: all.
        block_size: the number of elements that a length of 1 stands for.

    Inputs:
        - A Tensor; taken as flat.
        - The length of the part for each rank, a list or tuple of ints.
        - The length of the part that comes from each rank.

    Returns:
        A 1-D Tensor, the parts that came one behind the other.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the lengths do not add up, or are not what the other ranks send.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.AlltoAllV()(ms.Tensor([1.0, 2.0]), [2], [2]))
        [1. 2.]
    """

    keeps = ()

    def __init__(self, group: str = WORLD, block_size: int = 1) -> None:
        super().__init__()
        self.group, self.block_size = check_group_name(group, self.name), _check_block(self.name, block_size)

    def forward(self, x: np.ndarray, send_numel_list: Any, recv_numel_list: Any) -> np.ndarray:
        """Exchange."""
        comm = comm_for(self.group, self.name)
        block = self.block_size
        sends = [block * n for n in check_sizes(send_numel_list, "send_numel_list", self.name, comm)]
        receives = [block * n for n in check_sizes(recv_numel_list, "recv_numel_list", self.name, comm)]
        return exchange_flat(self.name, comm, x, sends, receives)

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every part goes back to where it came from."""
        back = AlltoAllV(self.group, self.block_size)(dout, inputs[2], inputs[1])
        return back.reshape(inputs[0].shape), None, None


class AlltoAllVC(Primitive):
    """Exchange parts of a 1-D tensor whose lengths are in one matrix that all ranks know.

    Differentiable: the gradient goes the way back.

    Args:
        group: the ranks that take part; default: all.
        block_size: the number of elements that a length of 1 stands for.
        transpose: whether row r of the matrix holds what rank r receives, and not what it sends.

    Inputs:
        - A Tensor; taken as flat.
        - The lengths, a Tensor (size, size), or nested or flat list: what rank r sends to rank k in row r, column k.

    Returns:
        A 1-D Tensor, the parts that came one behind the other.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if the matrix has another size, or does not add up to the tensor's.
        RuntimeError: before init(), or on every rank if ranks do different things.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> print(ms.ops.AlltoAllVC()(ms.Tensor([1.0, 2.0]), [[2]]))
        [1. 2.]
    """

    keeps = ()

    def __init__(self, group: str = WORLD, block_size: int = 1, transpose: bool = False) -> None:
        super().__init__()
        self.group, self.block_size = check_group_name(group, self.name), _check_block(self.name, block_size)
        check_bool(transpose, "transpose", self.name)
        self.transpose = transpose

    def forward(self, x: np.ndarray, send_count_matrix: Any) -> np.ndarray:
        """Exchange."""
        comm = comm_for(self.group, self.name)
        counts = count_matrix(self.name, send_count_matrix, comm) * self.block_size
        counts = counts.T if self.transpose else counts
        return exchange_flat(self.name, comm, x, counts[comm.rank].tolist(), counts[:, comm.rank].tolist())

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every part goes back to where it came from."""
        matrix = inputs[1].asnumpy() if isinstance(inputs[1], Tensor) else inputs[1]
        back = AlltoAllVC(self.group, self.block_size, not self.transpose)(dout, matrix)
        return back.reshape(inputs[0].shape), None


AlltoAllVC.keeps = (1,)


def exchange_flat(owner: str, comm: Comm, x: np.ndarray, sends: list[int], receives: list[int]) -> np.ndarray:
    """Exchange parts of a flat array and return those that came, one behind the other."""
    flat = np.ascontiguousarray(x).reshape(-1)
    if sum(sends) != flat.size:
        raise ValueError(
            f"For '{owner}', the lengths to send must add up to the {flat.size} elements of 'x', but got {sends}."
        )
    if sends[comm.rank] != receives[comm.rank]:
        raise ValueError(
            f"For '{owner}', what rank {comm.rank} sends to itself must be what it receives, but got "
            f"{sends[comm.rank]} and {receives[comm.rank]} elements."
        )
    out = np.empty(sum(receives), flat.dtype)
    all_to_all(comm, cut(flat, sends), cut(out, receives)).wait()
    return out


def count_matrix(owner: str, matrix: Any, comm: Comm) -> np.ndarray:
    """Return the lengths that every rank sends to every rank.

    Raises:
        TypeError: if they are not ints.
        ValueError: if there are more or fewer than size * size, or negative ones.
    """
    counts = np.asarray(matrix)
    if counts.dtype.kind not in "iu":
        raise TypeError(f"For '{owner}', 'send_count_matrix' must hold ints, but got {counts.dtype}.")
    if counts.size != comm.size**2 or counts.min() < 0:
        raise ValueError(
            f"For '{owner}', 'send_count_matrix' must hold {comm.size} x {comm.size} lengths of at least 0, but got "
            f"{counts.tolist()}."
        )
    return counts.reshape(comm.size, comm.size)


def _check_block(owner: str, block_size: Any) -> int:
    if isinstance(block_size, bool) or not isinstance(block_size, int):
        raise TypeError(f"For '{owner}', 'block_size' must be an int, but got {block_size!r}.")
    if block_size < 1:
        raise ValueError(f"For '{owner}', 'block_size' must be positive, but got {block_size}.")
    return block_size
