"""PowerSGD: each gradient as the product of two thin matrices."""

from __future__ import annotations

import zlib

import numpy as np

from dist_ms.communication import Comm
from dist_ms.parallel.compression.report import Compression
from dist_ms.parallel.reduction.gradient_hook import GradBucket


class PowerSGD(Compression):
    r"""Sends a low-rank approximation of each matrix; what it misses is added to the next step's gradient.

    The gradient with the error of the step before, as a matrix M_r of rank r (first axis by the
    rest), goes through one step of power iteration that starts from the last one's Q:

    .. math::
        P = \mathrm{orth}\Big(\sum_r M_r Q\Big), \quad Q = \sum_r M_r^T P, \quad
        \sum_r M_r \approx P Q^T, \quad e_r = M_r - P P^T M_r

    Vectors, and matrices that would not become smaller, are sent whole. Source: Vogels, Karimireddy
    and Jaggi, PowerSGD: Practical Low-Rank Gradient Compression for Distributed Optimization, 2019.

    Args:
        rank: the columns of P and Q.
        measure: as for `Compression`.

    Raises:
        ValueError: if `rank` is not a positive int.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.compression import PowerSGD
        >>> reducer = ms.nn.DistributedGradReducer([ms.Parameter(ms.Tensor([1.0]), name="w")])
        >>> reducer.register_comm_hook(PowerSGD(rank=4))
    """

    def __init__(self, rank: int = 2, measure: bool = False) -> None:
        super().__init__(measure)
        if isinstance(rank, bool) or not isinstance(rank, int) or rank < 1:
            raise ValueError(f"For 'PowerSGD', 'rank' must be a positive int, but got {rank!r}.")
        self.rank = rank
        self._errors: dict[str, np.ndarray] = {}
        self._factors: dict[str, np.ndarray] = {}

    def __call__(self, bucket: GradBucket) -> None:
        """Add a bucket over the ranks."""
        matrices: dict[str, np.ndarray] = {}
        whole: dict[str, np.ndarray] = {}
        views = dict(bucket.parts())
        for name, grad in views.items():
            rows, columns = len(grad) if grad.ndim else 1, grad.size // max(len(grad) if grad.ndim else 1, 1)
            if self.rank * (rows + columns) >= grad.size:
                whole[name] = grad
                self.note(name, grad.nbytes, grad.nbytes, grad, np.zeros(1) if self.measure else None)
                continue
            matrix = grad.reshape(rows, columns)
            error = self._errors.get(name)
            matrices[name] = matrix.copy() if error is None else matrix + error
        products = {name: m @ self._start(name, m) for name, m in matrices.items()}
        sums = _add({**whole, **products}, bucket.comm, bucket.array.dtype)
        bases = {name: np.linalg.qr(sums[name])[0].astype(matrices[name].dtype, copy=False) for name in matrices}
        mine = {name: m.T @ bases[name] for name, m in matrices.items()}
        self._factors.update(_add(mine, bucket.comm, bucket.array.dtype))
        for name, matrix in matrices.items():
            rest = matrix - bases[name] @ mine[name].T
            sent = (bases[name].size + mine[name].size) * matrix.itemsize
            self.note(name, matrix.nbytes, sent, matrix, rest if self.measure else None)
            self._errors[name] = rest
            views[name][...] = (bases[name] @ self._factors[name].T).reshape(views[name].shape)
        for name in whole:
            views[name][...] = sums[name]

    def state_dict(self) -> dict[str, dict[str, np.ndarray]]:
        """What this rank has left over, and the last factors."""
        return {"errors": dict(self._errors), "factors": dict(self._factors)}

    def load_state_dict(self, state: dict[str, dict[str, np.ndarray]]) -> None:
        """Go back to what `state_dict` returned."""
        self._errors, self._factors = dict(state["errors"]), dict(state["factors"])

    def _start(self, name: str, matrix: np.ndarray) -> np.ndarray:
        """Return the last step's Q, or random numbers that are the same on every rank."""
        if name not in self._factors:
            random = np.random.default_rng(zlib.crc32(name.encode()))
            self._factors[name] = random.standard_normal((matrix.shape[1], self.rank)).astype(matrix.dtype)
        return self._factors[name]


def _add(arrays: dict[str, np.ndarray], comm: Comm, dtype: np.dtype) -> dict[str, np.ndarray]:
    """Return the sums of arrays over the ranks, reduced as one."""
    if not arrays:
        return {}
    flat = np.concatenate([a.reshape(-1) for a in arrays.values()]).astype(dtype, copy=False)
    comm.all_reduce(flat)
    out, start = {}, 0
    for name, array in arrays.items():
        out[name] = flat[start : start + array.size].reshape(array.shape)
        start += array.size
    return out
