"""MatMul, BatchMatMul and the products made of them."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import wanted
from dist_ms.autograd.places import taken
from dist_ms.autograd.tape import apply, unseen
from dist_ms.common.dtype import from_numpy, int64
from dist_ms.common.error_classes import plain, reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.arguments import array, integer, tensor
from dist_ms.ops.broadcasting import reduce_to
from dist_ms.ops.elementwise.arithmetic import conjugate, mul
from dist_ms.ops.linear_algebra.array_products import outer_has_kernel, outer_product, product
from dist_ms.ops.primitive import OfTensors, Primitive, numpy_dtype
from dist_ms.ops.shaping.reshaping import reshape

__all__ = ["BatchMatMul", "Ger", "MatMul", "bmm", "ger", "inner", "matmul", "mm", "mv", "outer", "vecdot"]


class MatMul(Primitive):
    """The product of two matrices.

    Args:
        transpose_a: transpose the first matrix before.
        transpose_b: transpose the second matrix before.

    Call:
        input (Tensor): (m, k), or (k, m) with `transpose_a`.
        mat2 (Tensor): (k, n), or (n, k) with `transpose_b`; the same dtype.

    Raises:
        TypeError: if the dtypes differ, or are bool.
        ValueError: if an input is no matrix, or the inner lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> a = ms.Tensor([[1.0, 2.0], [3.0, 4.0]])
        >>> print(ms.ops.MatMul(transpose_b=True)(a, a))
        [[ 5. 11.]
         [11. 25.]]
    """

    batched = False

    def __init__(self, transpose_a: bool = False, transpose_b: bool = False) -> None:
        self.transpose_a, self.transpose_b = transpose_a, transpose_b

    def forward(self, input: np.ndarray, mat2: np.ndarray) -> np.ndarray:
        same_dtype(self.name, input, mat2)
        if input.ndim != 2 or mat2.ndim != 2:
            self.check_ranks(input.ndim, mat2.ndim)
        a = input.swapaxes(-1, -2) if self.transpose_a else input
        b = mat2.swapaxes(-1, -2) if self.transpose_b else mat2
        if a.shape[-1] != b.shape[-2]:
            raise ValueError(
                f"For '{self.name}', the inner lengths of 'input' and 'mat2' must be equal, but got "
                f"{a.shape[-1]} and {b.shape[-2]} (shapes {input.shape} and {mat2.shape}, "
                f"transpose_a={self.transpose_a}, transpose_b={self.transpose_b})."
            )
        return product(a, b)

    def check_ranks(self, first: int, second: int) -> None:
        """Raise ValueError unless both inputs are matrices."""
        if first != 2 or second != 2:
            raise ValueError(
                f"For '{self.name}', 'input' and 'mat2' must have 2 dimensions, but got {first} and {second}."
            )

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, b = inputs
        ta, tb = self.transpose_a, self.transpose_b
        da = db = None
        if wanted(a) and (da := self._there(a, b, dout, ta, not tb, False)) is None:
            b_ = conjugate(b)
            da = reduce_to(type(self)(tb, True)(b_, dout) if ta else type(self)(False, not tb)(dout, b_), a)
        if wanted(b) and (db := self._there(b, a, dout, tb, not ta, True)) is None:
            a_ = conjugate(a)
            db = reduce_to(type(self)(True, ta)(dout, a_) if tb else type(self)(not ta, False)(a_, dout), b)
        return da, db

    @staticmethod
    def _there(x: Tensor, other: Tensor, dout: Tensor, transposed: bool, other_transposed: bool, second: bool) -> Any:
        """The gradient of a matrix, where it is wanted, made of arrays; None: operations have to make it.

        Args:
            x: the factor whose gradient it is.
            other: the other factor.
            dout: the product's gradient.
            transposed: whether `x` was transposed.
            other_transposed: whether `other` is to be transposed now.
            second: whether `x` was the second factor.
        """
        if dout.ndim != 2 or x.ndim != 2 or other.dtype != dout.dtype or dout._data.dtype.kind == "c":
            return None
        place = taken(x, dout._data.dtype)
        if place is None and not unseen():
            return None
        a, b = dout._data, other.array()
        if other_transposed:
            b = b.T
        a, b = (b, a) if second else (a, b)
        return wrap(product(b.T, a.T, place) if transposed else product(a, b, place))


class MatrixTimesVector(MatMul):
    """The product of a matrix and a vector; errors name it as MatMul."""

    def __init__(self) -> None:
        super().__init__()
        self.name = "MatMul"

    def forward(self, input: np.ndarray, mat2: np.ndarray) -> np.ndarray:
        same_dtype(self.name, input, mat2)
        return product(input, mat2[:, None])[:, 0]

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        a, x = inputs
        da = ger(dout, conjugate(x)) if wanted(a) else None
        return da, matmul(dout, conjugate(a)) if wanted(x) else None


class BatchMatMul(MatMul):
    """The products of many pairs of matrices; leading dimensions broadcast.

    Args:
        transpose_a: transpose the first matrices before.
        transpose_b: transpose the second matrices before.

    Call:
        x (Tensor): (..., m, k), or (..., k, m) with `transpose_a`.
        y (Tensor): (..., k, n), or (..., n, k) with `transpose_b`; the same dtype.

    Raises:
        TypeError: if the dtypes differ, or are bool.
        ValueError: if an input has fewer than two dimensions, or the lengths do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> a = ms.ops.ones((3, 2, 4), ms.float32)
        >>> ms.ops.BatchMatMul(transpose_b=True)(a, a).shape
        (3, 2, 2)
    """

    takes = "x y"
    batched = True

    def check_ranks(self, first: int, second: int) -> None:
        """Raise ValueError if an input is less than a matrix."""
        if first < 2 or second < 2:
            raise ValueError(
                f"For '{self.name}', 'input' and 'mat2' must have at least 2 dimensions, but got {first} and {second}."
            )


def same_dtype(name: str, a: Any, b: Any) -> None:
    """Raise TypeError unless two arrays hold numbers of one dtype."""
    if type(a) is type(b) is np.ndarray and a.dtype is b.dtype and a.dtype.kind == "f":
        return
    array(a, "input", name)
    array(b, "mat2", name)
    if a.dtype != b.dtype:
        raise TypeError(
            f"For '{name}', 'input' and 'mat2' must have one dtype, "
            f"but got {from_numpy(a.dtype)} and {from_numpy(b.dtype)}; cast one of them."
        )
    if a.dtype.kind == "b":
        raise TypeError(f"For '{name}', the dtype of 'input' must be a number type, but got Bool; cast it first.")


_matmul, _batch_matmul, _matrix_times_vector = MatMul(), BatchMatMul(), MatrixTimesVector()


def matmul(input: Tensor, other: Tensor) -> Tensor:
    """Multiply matrices, vectors, or batches of matrices.

    A vector on the left counts as a row, on the right as a column, and that dimension is
    dropped from the result. Leading dimensions broadcast.

    Args:
        input: (..., m, k) or (k,).
        other: (..., k, n) or (k,), of the same dtype.

    Returns:
        Tensor (..., m, n), without m or n where an input is a vector.

    Raises:
        TypeError: if an input is no Tensor, or the dtypes differ.
        ValueError: if an input is a scalar, the leading dimensions do not broadcast, or `other` is a vector of another
            length.
        RuntimeError: if the inner lengths of other shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.matmul(ms.Tensor([[1.0, 2.0], [3.0, 4.0]]), ms.Tensor([1.0, 1.0])))
        [3. 7.]
    """
    a, b = tensor(input, "input", "matmul"), tensor(other, "other", "matmul")
    first, second = a.array(), b.array()
    if first.ndim == second.ndim == 2:
        _check_inner(first.shape, second.shape)
        return apply(_matmul, a, b)
    if first.ndim == 2 and second.ndim == 1:
        _check_inner(first.shape, (*second.shape, 1), ValueError)
        return apply(_matrix_times_vector, a, b)
    if not a.ndim or not b.ndim:
        raise ValueError(
            f"For 'matmul', 'input' and 'other' must have at least 1 dimension, but got {a.ndim} and {b.ndim}."
        )
    row, column = a.ndim == 1, b.ndim == 1
    if row:
        a = reshape(a, (1, a.shape[0]))
    if column:
        b = reshape(b, (b.shape[0], 1))
    _check_inner(a.shape, b.shape, ValueError if column else RuntimeError)
    if b.ndim == 2:  # one product of one tall matrix
        shape = a.shape[:-1] + b.shape[-1:]
        out = _matmul(a if len(shape) == 2 else reshape(a, (math.prod(shape[:-1]), a.shape[-1])), b)
    else:
        out = _batch_matmul(a, b)
        shape = out.shape
    if row:
        shape = shape[:-2] + shape[-1:]
    if column:
        shape = shape[:-1]
    return out if out.shape == shape else reshape(out, shape)


def _check_inner(a: tuple, b: tuple, kind: type[Exception] = RuntimeError) -> None:
    if a[-1] != b[-2]:
        raise kind(
            f"For 'matmul', the last dimension of 'input' must equal the last but one of 'other', "
            f"but got the shapes {a} and {b}."
        )


def mm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply two matrices.

    Args:
        input: (m, k).
        mat2: (k, n), of the same dtype.

    Returns:
        Tensor (m, n).

    Raises:
        TypeError: if the dtypes differ.
        ValueError: if an input is no matrix, or the inner lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mm(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0], [4.0]])))
        [[11.]]
    """
    tensor(mat2, "mat2", "mm")
    return _matmul(input, mat2)


def bmm(input_x: Tensor, mat2: Tensor) -> Tensor:
    """Multiply many pairs of matrices.

    Args:
        input_x: (..., m, k).
        mat2: (..., k, n), of the same dtype.

    Returns:
        Tensor (..., m, n).

    Raises:
        TypeError: if the dtypes differ.
        ValueError: if an input has fewer than two dimensions, or the lengths do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> a = ms.ops.ones((3, 2, 2), ms.float32)
        >>> ms.ops.bmm(a, a).shape
        (3, 2, 2)
    """
    if tensor(input_x, "input_x", "bmm").shape[:-2] != tensor(mat2, "mat2", "bmm").shape[:-2]:
        raise ValueError(
            f"For 'bmm', 'mat2' must have the batch dimensions of 'input_x', {input_x.shape[:-2]}, "
            f"but got the shape {mat2.shape}."
        )
    return _batch_matmul(input_x, mat2)


def mv(mat: Tensor, vec: Tensor) -> Tensor:
    """Multiply a matrix by a vector.

    Args:
        mat: (m, k).
        vec: k elements of the same dtype, of any shape.

    Returns:
        Tensor (m,).

    Raises:
        ValueError: if `mat` is no matrix, or `vec` has another number of elements.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.mv(ms.Tensor([[1.0, 2.0]]), ms.Tensor([3.0, 4.0])))
        [11.]
    """
    if tensor(mat, "mat", "mv").ndim != 2:
        raise ValueError(f"For 'mv', 'mat' must have 2 dimensions, but got {mat.ndim}.")
    return matmul(mat, vec if tensor(vec, "vec", "mv").ndim == 1 else reshape(vec, (vec.size,)))


class Ger(OfTensors):
    """The outer product of two vectors.

    Call:
        input (Tensor): (m,).
        vec2 (Tensor): (n,), of the same dtype.

    Raises:
        TypeError: if the dtypes differ.
        ValueError: if an input is no vector.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.Ger()(ms.Tensor([1.0, 2.0]), ms.Tensor([3.0, 4.0])))
        [[3. 4.]
         [6. 8.]]
    """

    def forward(self, input: np.ndarray, vec2: np.ndarray) -> np.ndarray:
        same_dtype(self.name, input, vec2)
        if input.ndim != 1 or vec2.ndim != 1:
            raise ValueError(
                f"For '{self.name}', 'input' and 'vec2' must have 1 dimension, but got {input.ndim} and {vec2.ndim}."
            )
        return outer_product(input, vec2)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, y = inputs
        return matmul(dout, conjugate(y)), matmul(conjugate(x), dout)


ger = Ger()


def outer(input: Tensor, vec2: Tensor) -> Tensor:
    """Multiply each element of one vector by each of another.

    Args:
        input: (m,); of more dimensions it counts as flat.
        vec2: (n,).

    Returns:
        Tensor (m, n) of the common type.

    Raises:
        TypeError: if an input is no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.outer(ms.Tensor([1, 2]), ms.Tensor([3, 4])))
        [[3 4]
         [6 8]]
    """
    flat = tensor(input, "input", "outer").ndim == tensor(vec2, "vec2", "outer").ndim == 1
    if flat and input.dtype == vec2.dtype and outer_has_kernel(input.size * vec2.size, numpy_dtype(input)):
        return ger(input, vec2)
    return mul(reshape(input, (-1, 1)), vec2)


@reads("shape")
def inner(input: Tensor, other: Tensor) -> Tensor:
    """Sum the products over the last dimension of both tensors.

    Args:
        input: (..., k); a scalar multiplies.
        other: (*, k), of the same dtype.

    Returns:
        Tensor (..., *).

    Raises:
        ValueError: if the last lengths differ.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.inner(ms.Tensor([[1.0, 2.0]]), ms.Tensor([3.0, 4.0])))
        [11.]
    """
    if tensor(input, "input", "inner").ndim == 0 or tensor(other, "other", "inner").ndim == 0:
        return mul(input, other)
    if input.shape[-1] != other.shape[-1]:
        raise ValueError(
            f"For 'inner', the last dimensions of 'input' and 'other' must be equal, "
            f"but got the shapes {input.shape} and {other.shape}."
        )
    k = input.shape[-1]
    out = MatMul(transpose_b=True)(
        reshape(input, (math.prod(input.shape[:-1]), k)), reshape(other, (math.prod(other.shape[:-1]), k))
    )
    return reshape(out, input.shape[:-1] + other.shape[:-1])


@plain("axis")
def vecdot(x: Tensor, y: Tensor, *, axis: int = -1) -> Tensor:
    """Sum conj(x) * y over one dimension.

    Args:
        x: a Tensor.
        y: a Tensor that broadcasts with it.
        axis: the dimension.

    Returns:
        Tensor without that dimension; int64 for integers and bools.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.vecdot(ms.Tensor([[1.0, 2.0]]), ms.Tensor([[3.0, 4.0]])))
        [11.]
    """
    axis = integer(axis, "axis", "vecdot")
    product = mul(conjugate(tensor(x, "x", "vecdot")), tensor(y, "y", "vecdot"))
    return ops.ReduceSum()(ops.cast(product, int64) if product.array().dtype.kind in "bui" else product, axis)
