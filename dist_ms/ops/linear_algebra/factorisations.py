"""svd, qr, eig, geqrf, orgqr: matrices as products of orthogonal and simpler ones."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.error_classes import raises, scalars
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import boolean, floating, not_of, one_dtype, one_of, tensor
from dist_ms.ops.linear_algebra import lapack
from dist_ms.ops.linear_algebra.decompositions import square_matrices
from dist_ms.ops.primitive import Primitive, Undifferentiable

__all__ = ["Eig", "Geqrf", "MatrixLogarithm", "Orgqr", "Qr", "Svd", "eig", "eigvals", "geqrf", "orgqr", "qr", "svd"]


def _matrices(name: str, x: Any) -> np.ndarray:
    """An array of matrices, in a dtype LAPACK knows.

    Raises:
        TypeError: if it holds no floats or complex numbers.
        ValueError: if it holds no matrices.
    """
    if floating(x, "input", name).ndim < 2:
        raise ValueError(f"For '{name}', 'input' must have at least two dimensions, but got the shape {x.shape}.")
    return x.astype(np.float32) if x.dtype.itemsize == 2 else x


# Up to as many singular vectors have MindSpore's signs.
_SIGNED = 4


def _with_signs(u: np.ndarray, v: np.ndarray, matrices: np.ndarray) -> None:
    """Give singular vectors MindSpore's signs: always where there are up to two, mostly where there are three or four.

    MindSpore's come out of Jacobi rotations by less than a right angle, so the largest number of each right vector is
    positive. Matrices that are not square it first makes triangular, by reflections of the longer side; where there
    are fewer rows than columns it is what these leave of the right vectors that counts. Further vectors are those that
    the reflections turn into unit vectors.
    """
    rows, columns = matrices.shape[-2:]
    count = min(rows, columns)
    if count > _SIGNED or matrices.dtype.kind != "f" or not matrices.size:
        return
    turned, longer = v, u if rows > columns else v
    more = longer.shape[-1] > count
    if rows < columns or more:
        left = _reflected(matrices if rows > columns else np.swapaxes(matrices, -1, -2), longer)
        turned = v if rows > columns else left[..., :count, :count]
    if more:
        turn = np.swapaxes(left[..., count:, count:], -1, -2)
        unit = np.eye(turn.shape[-1])
        # Where a matrix has a lower rank, vectors of the first `count` are as free as the further ones: those stay.
        off = np.abs(turn @ np.swapaxes(turn, -1, -2) - unit).max((-2, -1), keepdims=True)
        longer[..., count:] = longer[..., count:] @ np.where(off < 64 * np.finfo(v.dtype).eps, turn, unit)
    size = np.abs(turned)
    # Of numbers that are equal but for rounding the last one counts.
    last = count - 1 - np.argmax((size >= (1 - 1e-4) * size.max(-2, keepdims=True))[..., ::-1, :], axis=-2)
    signs = np.where(np.take_along_axis(turned, last[..., None, :], -2) < 0, -1, 1).astype(v.dtype)
    u[..., :count] *= signs
    v[..., :count] *= signs


def _reflected(matrices: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """What the reflections that make matrices triangular, longest column first, make of vectors of their height."""
    left, moved = matrices.astype(np.float64), vectors.astype(np.float64)
    used = np.zeros((*matrices.shape[:-2], matrices.shape[-1]), bool)
    for k in range(matrices.shape[-1]):
        below = left[..., k:, :]
        longest = np.argmax(np.where(used, -1, np.square(below).sum(-2)), -1)[..., None]
        np.put_along_axis(used, longest, True, -1)
        mirror = np.take_along_axis(below, longest[..., None, :], -1)
        turns = np.square(mirror[..., 1:, :]).sum(-2, keepdims=True) > 0
        mirror[..., 0, :] += np.copysign(np.sqrt(np.square(mirror).sum(-2)), mirror[..., 0, :])
        weight = np.where(turns, 2 / np.maximum(np.square(mirror).sum(-2, keepdims=True), 1e-300), 0)
        for part in (below, moved[..., k:, :]):
            part -= weight * mirror * (np.swapaxes(mirror, -1, -2) @ part)
    return moved


@scalars("compute_uv")
class Svd(Primitive):
    """`svd` as a primitive: `Svd(full_matrices, compute_uv)(input)`."""

    keeps_output = True

    def __init__(self, full_matrices: bool = False, compute_uv: bool = True) -> None:
        self.full_matrices = boolean(full_matrices, "full_matrices", self.name)
        self.compute_uv = boolean(compute_uv, "compute_uv", self.name)

    def forward(self, input: np.ndarray) -> Any:
        x = _matrices(self.name, input)
        if not self.compute_uv:
            return lapack.singular_values(x)
        u, s, v = lapack.svd(x, self.full_matrices)
        v = np.conj(np.swapaxes(v, -1, -2)).copy()
        _with_signs(u, v, x)
        return s, u, v

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> Tensor:
        rows, columns = inputs[0].shape[-2:]
        if not self.compute_uv:
            _, u, v = Svd()(inputs[0])
            return ops.matmul(ops.mul(u, ops.expand_dims(dout, -2)), ops.adjoint(v))
        s, u, v = output
        ds, du, dv = dout
        if self.full_matrices and rows != columns:
            if du.array().any() or dv.array().any():
                raise RuntimeError(
                    f"For '{self.name}', U and V have no gradient with 'full_matrices' "
                    f"for matrices that are not square, but got {inputs[0].shape}."
                )
            k = min(rows, columns)
            u, v, du, dv = u[..., :k], v[..., :k], du[..., :k], dv[..., :k]
        across, down = ops.expand_dims(s, -2), ops.expand_dims(s, -1)
        unit = ops.eye(s.shape[-1], s.shape[-1], s.dtype)
        # s_j² - s_i²; the diagonal, where the numerators are 0, is kept from dividing by 0
        gaps = ops.add(ops.mul(ops.sub(across, down), ops.add(across, down)), unit)
        turn_u, turn_v = ops.matmul(ops.adjoint(u), du), ops.matmul(ops.adjoint(v), dv)
        inner = ops.mul(ops.true_divide(ops.sub(turn_u, ops.adjoint(turn_u)), gaps), across)
        inner = ops.add(inner, ops.mul(ops.true_divide(ops.sub(turn_v, ops.adjoint(turn_v)), gaps), down))
        out = ops.matmul(ops.matmul(u, ops.add(inner, ops.mul(unit, ops.expand_dims(ds, -2)))), ops.adjoint(v))
        if rows > columns:
            rest = ops.true_divide(ops.sub(du, ops.matmul(u, turn_u)), across)
            out = ops.add(out, ops.matmul(rest, ops.adjoint(v)))
        elif rows < columns:
            rest = ops.true_divide(ops.sub(dv, ops.matmul(v, turn_v)), across)
            out = ops.add(out, ops.matmul(u, ops.adjoint(rest)))
        return out


def svd(input: Tensor, full_matrices: bool = False, compute_uv: bool = True) -> Any:
    """Decompose matrices into U diag(s) V^H, with s falling.

    The signs of the vectors, which are free, are MindSpore's for real matrices with up to two rows or columns, and for
    most with three or four; LAPACK's for others.

    Args:
        input: a Tensor of floats (..., m, n).
        full_matrices: make U and V square.
        compute_uv: return U and V.

    Returns:
        tuple of s, U and V; only s without `compute_uv`.

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if `input` holds no matrices.

    Examples:
        >>> import dist_ms as ms
        >>> s, u, v = ms.ops.svd(ms.Tensor([[3.0, 0.0], [0.0, 4.0]]))
        >>> print(s)
        [4. 3.]
    """
    not_of(input, "e", "input", "svd")
    return Svd(full_matrices, compute_uv)(tensor(input, "input", "svd"))


class Qr(Primitive):
    """`qr` as a primitive: `Qr(full_matrices)(x)`.

    Args:
        full_matrices: square Q; that of matrices with more rows than columns has no gradient.
    """

    keeps = (0,)
    keeps_output = True

    def __init__(self, full_matrices: bool = False) -> None:
        self.full_matrices = boolean(full_matrices, "full_matrices", self.name)

    def forward(self, x: np.ndarray) -> tuple:
        q, r = lapack.qr(_matrices(self.name, x), self.full_matrices)
        return q.astype(x.dtype, copy=False), r.astype(x.dtype, copy=False)

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        rows, columns = inputs[0].shape[-2:]
        (q, r), (dq, dr) = output, dout
        if self.full_matrices and rows > columns:
            raise RuntimeError(
                f"For '{self.name}', there is no gradient with 'full_matrices' for matrices with "
                f"more rows than columns, but got {inputs[0].shape}."
            )
        if rows >= columns:
            return _qr_gradient(q, r, dq, dr)
        # A = [X Y], X square: Q R' = X, and R = [R' Q^H Y]
        dy = dr[..., rows:]
        dq = ops.add(dq, ops.matmul(inputs[0][..., rows:], ops.adjoint(dy)))
        dx = _qr_gradient(q, r[..., :rows], dq, dr[..., :rows])
        return ops.concat((dx, ops.matmul(q, dy)), -1)


def _qr_gradient(q: Tensor, r: Tensor, dq: Tensor, dr: Tensor) -> Tensor:
    """The gradient of a matrix with at least as many rows as columns."""
    m = ops.sub(ops.matmul(r, ops.adjoint(dr)), ops.matmul(ops.adjoint(dq), q))
    mirrored = ops.add(ops.tril(m), ops.adjoint(ops.tril(m, -1)))
    inner = ops.add(dq, ops.matmul(q, mirrored))
    return ops.adjoint(ops.matrix_solve(r, ops.adjoint(inner)))


@raises(mode=TypeError)
def qr(input: Tensor, mode: str = "reduced") -> tuple:
    """Decompose matrices into Q R, Q with orthonormal columns and R upper triangular.

    Args:
        input: a Tensor of floats (..., m, n).
        mode: "reduced", or "complete" for a square Q.

    Returns:
        tuple of Q and R.

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if `input` holds no matrices, or `mode` is unknown.

    Examples:
        >>> import dist_ms as ms
        >>> q, r = ms.ops.qr(ms.Tensor([[3.0, 1.0], [0.0, 2.0]]))
        >>> print(q @ r)
        [[3. 1.]
         [0. 2.]]
    """
    return Qr(one_of(mode, "mode", "qr", ("reduced", "complete")) == "complete")(tensor(input, "input", "qr"))


class Geqrf(Undifferentiable):
    """`geqrf` as a primitive: `Geqrf()(input)`."""

    def forward(self, input: np.ndarray) -> tuple:
        not_of(input, "FD", "input", self.name)
        y, tau = np.linalg.qr(_matrices(self.name, input), mode="raw")
        return np.swapaxes(y, -1, -2).astype(input.dtype), tau.astype(input.dtype)


def geqrf(input: Tensor) -> tuple:
    """Decompose matrices into R and reflections I - tau v v^T, of which `orgqr` makes Q.

    Args:
        input: a Tensor of floats (..., m, n).

    Returns:
        tuple of y and tau: R is the upper triangle of y, the v are columns below, each after a 1 on the diagonal.

    Raises:
        TypeError: if `input` holds no floats.

    Examples:
        >>> import dist_ms as ms
        >>> y, tau = ms.ops.geqrf(ms.Tensor([[3.0, 1.0], [0.0, 2.0]]))
        >>> print(y)
        [[3. 1.]
         [0. 2.]]
    """
    return Geqrf()(tensor(input, "input", "geqrf"))


def orgqr(input: Tensor, input2: Tensor) -> Tensor:
    """Return the first n columns of the product of reflections I - tau_i v_i v_i^T.

    Args:
        input: a Tensor of floats (..., m, n), whose columns below the diagonal are the v_i, each after a 1.
        input2: tau, a Tensor of the same dtype (..., k), k at most n.

    Returns:
        Tensor of the shape of `input`.

    Raises:
        TypeError: if an input holds no floats.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> y, tau = ms.ops.geqrf(ms.Tensor([[0.0, 1.0], [1.0, 0.0]]))
        >>> print(ms.ops.orgqr(y, tau).asnumpy().round(4) + 0)
        [[ 0. -1.]
         [-1.  0.]]
    """
    one_dtype("orgqr", "fcV", input=input, input2=input2)
    x, tau = (
        _matrices("orgqr", tensor(input, "input", "orgqr").array()),
        floating(tensor(input2, "input", "orgqr").array(), "input", "orgqr"),
    )
    rows, columns = x.shape[-2:]
    if columns > rows or tau.ndim != x.ndim - 1 or tau.shape[-1] > columns:
        raise ValueError(
            "For 'orgqr', 'input' must have at least as many rows as columns and 'input2' a number for "
            f"each column at most, but got the shapes {x.shape} and {tau.shape}."
        )
    unit = np.eye(rows, columns, dtype=input.array().dtype)
    vectors = ops.add(ops.tril(input, -1), wrap(unit))
    out = wrap(np.broadcast_to(unit, x.shape).copy())
    for i in reversed(range(tau.shape[-1])):
        v = vectors[..., i : i + 1]
        weight = ops.expand_dims(input2[..., i : i + 1], -1)
        out = ops.sub(out, ops.mul(weight, ops.matmul(v, ops.matmul(ops.adjoint(v), out))))
    return out


class Orgqr(Primitive):
    """`orgqr` as a primitive: `Orgqr()(x, tau)`."""

    def __call__(self, x: Tensor, tau: Tensor) -> Tensor:
        return orgqr(x, tau)


class Eig(Primitive):
    """`eig` as a primitive, without a gradient: `Eig(compute_v)(x)`.

    Args:
        compute_v: give the eigenvectors, as columns.
    """

    def __init__(self, compute_v: bool = False) -> None:
        self.compute_v = boolean(compute_v, "compute_v", self.name)

    def forward(self, x: np.ndarray) -> Any:
        full = square_matrices(self.name, x)
        target = np.complex128 if full.dtype in (np.float64, np.complex128) else np.complex64
        if not self.compute_v:
            return np.linalg.eigvals(full).astype(target)
        values, vectors = np.linalg.eig(full)
        return values.astype(target), vectors.astype(target)


def eig(A: Tensor) -> tuple:
    """Return the eigenvalues and eigenvectors of square matrices.

    Args:
        A: a Tensor of floats or complex numbers (..., n, n).

    Returns:
        tuple of complex Tensors: the eigenvalues (..., n) and, as columns, the eigenvectors (..., n, n).

    Raises:
        TypeError: if `A` holds no floats.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.eig(ms.Tensor([[1.0, 0.0], [0.0, 2.0]]))[0])
        [1.+0.j 2.+0.j]
    """
    not_of(A, "e", "A", "eig")
    return Eig(True)(A)


def eigvals(A: Tensor) -> Tensor:
    """Return the eigenvalues of square matrices.

    Args:
        A: a Tensor of floats or complex numbers (..., n, n).

    Returns:
        Tensor of complex numbers (..., n).

    Raises:
        TypeError: if `A` holds no floats.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.eigvals(ms.Tensor([[1.0, 0.0], [0.0, 2.0]])))
        [1.+0.j 2.+0.j]
    """
    not_of(A, "e", "A", "eigvals")
    return Eig()(A)


class MatrixLogarithm(Undifferentiable):
    """The matrices whose exponentials the inputs are.

    Roots are taken (Denman and Beavers' iteration) until the matrix is close to 1; the log
    of that is the integral over t in [0, 1] of (A - 1) (1 + t (A - 1))^-1, by Gauss's rule.

    Call:
        x (Tensor): complex numbers (..., n, n), without eigenvalues on the negative real axis.

    Raises:
        TypeError: if `x` holds no complex numbers.
        ValueError: if the matrices are not square.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.MatrixLogarithm()(ms.Tensor([[1 + 0j, 1 + 0j], [0j, 1 + 0j]])).asnumpy().real.round(4) + 0)
        [[0. 1.]
         [0. 0.]]
    """

    def forward(self, x: np.ndarray) -> np.ndarray:
        a = square_matrices(self.name, x).astype(np.complex128)
        if x.dtype.kind != "c":
            raise TypeError(f"For '{self.name}', the dtype of 'x' must be complex, but got {x.dtype.name}.")
        one, roots = np.eye(x.shape[-1]), 0
        while a.size and np.abs(a - one).sum(-1).max() > 0.25 and roots < 60:
            other = np.broadcast_to(one, a.shape)
            for _ in range(60):
                before = a
                a, other = (a + np.linalg.inv(other)) / 2, (other + np.linalg.inv(a)) / 2
                if np.abs(a - before).max() <= 1e-15 * np.abs(a).max():
                    break
            roots += 1
        points, weights = np.polynomial.legendre.leggauss(12)
        out = sum(w / 2 * np.linalg.solve(one + (t + 1) / 2 * (a - one), a - one) for t, w in zip(points, weights))
        return (out * 2.0**roots).astype(x.dtype)
