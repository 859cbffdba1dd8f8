"""COOTensor, CSRTensor, RowTensor: tensors given by the elements or rows that are not zero.

They only hold their parts; what computes with them is attached by `ops`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.error_classes import raises
from dist_ms.common.tensor import Tensor, wrap

__all__ = ["COOTensor", "CSRTensor", "RowTensor", "SparseTensor"]


class SparseParts:
    """Values with their places in a larger tensor of zeros."""

    parts: tuple[str, ...] = ("indices",)

    def __init__(self, indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> None:
        self._fill(shape, indices=indices, values=values)
        assert indices is not None and values is not None and shape is not None  # `_fill` has seen to it

    def _fill(self, shape: Any, **tensors: Any) -> None:
        """Check and keep the parts."""
        owner = type(self).__name__
        for argument, value in tensors.items():
            if not isinstance(value, Tensor):
                raise TypeError(f"For '{owner}', '{argument}' must be a Tensor, but got {type(value).__name__}.")
            if argument != "values" and value.dtype.np.kind not in "iu":
                raise TypeError(f"For '{owner}', '{argument}' must hold integers, but got {value.dtype}.")
        if not isinstance(shape, tuple) or not all(isinstance(n, int) and n > 0 for n in shape):
            ints = isinstance(shape, tuple) and all(isinstance(n, int) for n in shape)
            raise (ValueError if ints else TypeError)(
                f"For '{owner}', 'shape' must be a tuple of positive ints, but got {shape!r}."
            )
        self._tensors, self._shape = tensors, shape

    def _copy(self, other: Any, argument: str, given: tuple) -> bool:
        """Take the parts of another sparse tensor, if there is one."""
        owner = type(self).__name__
        if other is None:
            if any(part is None for part in given):
                raise TypeError(
                    f"For '{owner}', all of {', '.join((*self.parts, 'values', 'shape'))} must be given, "
                    f"or '{argument}'."
                )
            return False
        if not isinstance(other, type(self)):
            raise TypeError(f"For '{owner}', '{argument}' must be a {owner}, but got {type(other).__name__}.")
        if any(part is not None for part in given):
            raise TypeError(f"For '{owner}', '{argument}' must be given alone, but got other arguments too.")
        self._tensors, self._shape = other._tensors, other._shape
        return True

    @property
    def indices(self) -> Tensor:
        """Where the values are."""
        return self._tensors["indices"]

    @property
    def values(self) -> Tensor:
        """The values."""
        return self._tensors["values"]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the dense tensor."""
        return self._shape

    @property
    def dtype(self) -> Any:
        """Type of the values."""
        return self.values.dtype

    @property
    def size(self) -> int:
        """Number of values."""
        return self.values.size

    @property
    def itemsize(self) -> int:
        """Bytes of one value."""
        return self.values.itemsize

    @property
    def ndim(self) -> int:
        """Number of dimensions of the dense tensor."""
        return len(self._shape)

    def with_values(self, values: Tensor) -> Any:
        """Return a sparse tensor with other values at the same places."""
        out = object.__new__(type(self))
        out._tensors, out._shape = {**self._tensors, "values": values}, self._shape
        return out

    def astype(self, dtype: Any) -> Any:
        """Return the sparse tensor with its values in another dtype."""
        return self.with_values(self.values.astype(dtype))

    def to_tuple(self) -> tuple:
        """Return the parts in the order of the constructor."""
        return (*self._tensors.values(), self._shape)

    def __repr__(self) -> str:
        parts = ", ".join(f"{name}={_text(t)}" for name, t in self._tensors.items())
        return f"{type(self).__name__}(shape={list(self._shape)}, dtype={self.dtype}, {parts})"


def _text(t: Tensor) -> str:
    """A part as MindSpore prints it inside a sparse tensor: numbers without commas."""
    head, body = repr(t).split("value=", 1)
    return f"{head}value={body.removeprefix(' ').replace(',', '')}"


@raises(shape=ValueError)
class COOTensor(SparseParts):
    """A tensor given by the coordinates and values of its elements.

    Args:
        indices: integers (N, ndim), a row of coordinates per value.
        values: a Tensor (N,).
        shape: shape of the dense tensor.
        coo_tensor: a COOTensor to copy instead of the parts.

    Raises:
        TypeError: if a part is missing or has the wrong type.
        ValueError: if the parts do not fit together.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.COOTensor(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (2, 2))
        >>> print(x.to_dense())
        [[0. 5.]
         [0. 0.]]
    """

    # Attached by `ops`.
    add: Callable[..., Any]
    coalesce: Callable[..., Any]
    to_csr: Callable[..., Any]
    to_dense: Callable[..., Tensor]

    def __init__(
        self,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        coo_tensor: COOTensor | None = None,
    ) -> None:
        if self._copy(coo_tensor, "coo_tensor", (indices, values, shape)):
            return
        self._fill(shape, indices=indices, values=values)
        assert indices is not None and values is not None and shape is not None  # `_fill` has seen to it
        if indices.ndim != 2 or indices.shape != (values.shape[:1] + (len(shape),)) or values.ndim != 1:
            raise ValueError(
                f"For 'COOTensor', 'indices' must be (N, {len(shape)}) and 'values' (N,), but got shapes "
                f"{indices.shape} and {values.shape}."
            )
        places = indices.asnumpy()
        if places.size and (places.min() < 0 or (places >= shape).any()):
            raise ValueError(f"For 'COOTensor', 'indices' must be inside the shape {shape}, but got some outside.")


class SparseTensor(COOTensor):
    """The old name of `COOTensor`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.SparseTensor(ms.Tensor([[0, 1]]), ms.Tensor([5.0]), (2, 2)).shape
        (2, 2)
    """

    def __init__(self, indices: Tensor, values: Tensor, shape: tuple[int, ...]) -> None:
        super().__init__(indices, values, shape)


class CSRTensor(SparseParts):
    """A tensor given by rows: where each begins among the values, and the values' columns.

    Args:
        indptr: integers (rows + 1,): row i has the values indptr[i] to indptr[i + 1].
        indices: integers (N,), the column of each value.
        values: a Tensor (N, ...).
        shape: shape of the dense tensor.
        csr_tensor: a CSRTensor to copy instead of the parts.

    Raises:
        TypeError: if a part is missing or has the wrong type.
        ValueError: if the parts do not fit together.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.CSRTensor(ms.Tensor([0, 1, 1]), ms.Tensor([1]), ms.Tensor([5.0]), (2, 2))
        >>> print(x.to_dense())
        [[0. 5.]
         [0. 0.]]
    """

    # Attached by `ops`.
    add: Callable[..., Any]
    mm: Callable[..., Tensor]
    mv: Callable[..., Tensor]
    sum: Callable[..., Tensor]
    to_coo: Callable[..., Any]
    to_dense: Callable[..., Tensor]

    parts = ("indptr", "indices")

    def __init__(
        self,
        indptr: Tensor | None = None,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        csr_tensor: CSRTensor | None = None,
    ) -> None:
        if self._copy(csr_tensor, "csr_tensor", (indptr, indices, values, shape)):
            return
        self._fill(shape, indptr=indptr, indices=indices, values=values)
        assert indptr is not None
        assert indices is not None and values is not None and shape is not None  # `_fill` has seen to it
        if indptr.ndim != 1 or indices.ndim != 1 or values.shape[:1] != indices.shape:
            raise ValueError(
                f"For 'CSRTensor', 'indptr' and 'indices' must have one dimension and 'values' as many "
                f"rows as 'indices', but got shapes {indptr.shape}, {indices.shape}, {values.shape}."
            )
        if len(shape) != values.ndim + 1 or shape[2:] != values.shape[1:] or indptr.shape[0] != shape[0] + 1:
            raise ValueError(
                f"For 'CSRTensor', 'shape' must fit 'indptr' {indptr.shape} and 'values' {values.shape}, "
                f"but got {shape}."
            )

    @property
    def indptr(self) -> Tensor:
        """Where each row begins among the values."""
        return self._tensors["indptr"]


class RowTensor(SparseParts):
    """A tensor given by some of its rows; rows that come several times add up.

    The gradient of a table of which some rows were looked up: of the weight of
    `nn.EmbeddingLookup`, `ops.EmbeddingLookup` and `ops.SparseGatherV2`. Optimizers with a rule
    for it (LazyAdam, FTRL, SGD without momentum, ...) leave the other rows of the weight and of
    their state alone; the others take it as the dense tensor that `to_dense()` gives.

    Args:
        indices: integers (N,), the places of the rows.
        values: a Tensor (N, ...), the rows.
        shape: shape of the dense tensor.
        row_tensor: a RowTensor to copy instead of the parts.

    Raises:
        TypeError: if a part is missing or has the wrong type.
        ValueError: if the parts do not fit together.

    Examples:
        >>> import dist_ms as ms
        >>> ms.RowTensor(ms.Tensor([0]), ms.Tensor([[1.0, 2.0]]), (3, 2)).dense_shape
        (3, 2)
    """

    # Attached by `ops`.
    added_to: Callable[..., Any]
    array: Callable[..., Any]
    asnumpy: Callable[..., Any]
    summed: Callable[..., Any]
    to_dense: Callable[..., Tensor]

    def __init__(
        self,
        indices: Tensor | None = None,
        values: Tensor | None = None,
        shape: tuple[int, ...] | None = None,
        row_tensor: RowTensor | None = None,
    ) -> None:
        if self._copy(row_tensor, "row_tensor", (indices, values, shape)):
            return
        self._fill(shape, indices=indices, values=values)
        assert indices is not None and values is not None and shape is not None  # `_fill` has seen to it
        if indices.ndim != 1 or values.shape[:1] != indices.shape or values.shape[1:] != shape[1:]:
            raise ValueError(
                f"For 'RowTensor', 'values' must be (N, *{shape[1:]}) with 'indices' (N,), but got shapes "
                f"{values.shape} and {indices.shape}."
            )

    whole = False  # the rows that are not there are zeros to an optimizer too, as in a dense gradient

    @property
    def dense_shape(self) -> tuple[int, ...]:
        """Shape of the dense tensor."""
        return self._shape

    def with_values(self, values: Tensor) -> RowTensor:
        """Return the same rows with other values."""
        out = super().with_values(values)
        out.whole = self.whole
        return out


def row_tensor(indices: np.ndarray, values: np.ndarray, shape: tuple[int, ...], whole: bool = False) -> RowTensor:
    """A RowTensor of arrays that are known to fit. Inside the package only.

    Args:
        indices: integers (N,) in [0, shape[0]).
        values: (N, *shape[1:]).
        shape: shape of the dense tensor.
        whole: it stands for a dense gradient, in which every row counts.
    """
    out = object.__new__(RowTensor)
    out._tensors, out._shape = {"indices": wrap(indices), "values": wrap(values)}, shape
    if whole:
        out.whole = True
    return out


def joined(a: RowTensor, b: RowTensor) -> RowTensor:
    """a + b: the rows of both, those of `a` first."""
    return row_tensor(
        np.concatenate([a.indices.array(), b.indices.array()]),
        np.concatenate([a.values.array(), b.values.array()]),
        a.dense_shape,
        a.whole or b.whole,
    )
