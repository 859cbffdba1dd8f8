"""Small layers: identity, shapes, norms, clipping."""

from __future__ import annotations

from typing import Any

from dist_ms import ops
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_bool, check_number, check_type, complaint
from dist_ms.common.error_classes import plain, reads, scalars
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.arguments import integer, many_axes, not_of, tensor

__all__ = [
    "ClipByNorm",
    "Flatten",
    "Identity",
    "L1Regularizer",
    "Moments",
    "Norm",
    "OneHot",
    "Roll",
    "Tril",
    "Triu",
    "Unflatten",
]


class Identity(Cell):
    """Returns its input; takes and ignores any arguments.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Identity()(ms.Tensor([1.0])))
        [1.]
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__()

    def construct(self, input: Any) -> Any:
        return input


@plain("start_dim", "end_dim")
@scalars("start_dim", "end_dim")
class Flatten(Cell):
    """`ops.flatten`, row by row, as a layer: `Flatten(start_dim, end_dim)(x)`."""

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim, self.end_dim = start_dim, end_dim

    def construct(self, x: Tensor) -> Tensor:
        ndim = tensor(x, "x", "Flatten").ndim
        for dim, name in ((self.start_dim, "start_dim"), (self.end_dim, "end_dim")):
            if not -ndim <= integer(dim, name, "Flatten") < ndim:
                raise ValueError(
                    complaint(name, "Flatten", f"in [{-ndim}, {ndim}) for an input of shape {x.shape}", dim)
                )
        return ops.flatten(x, start_dim=self.start_dim, end_dim=self.end_dim)


@plain("axis")
class Unflatten(Cell):
    """Makes several dimensions of one.

    Args:
        axis: the dimension.
        unflattened_size: tuple or list of the new lengths.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: when called, if the lengths do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> ms.nn.Unflatten(1, (2, 3))(ms.ops.ones((2, 6))).shape
        (2, 2, 3)
    """

    def __init__(self, axis: int, unflattened_size: Any) -> None:
        super().__init__()
        self.axis = integer(axis, "axis", "Unflatten")
        self.unflattened_size = check_type(unflattened_size, "unflattened_size", "Unflatten", (tuple, list))

    def construct(self, input_x: Tensor) -> Tensor:
        shape = tensor(input_x, "input_x", "Unflatten").shape
        axis = many_axes(self.axis, "axis", "Unflatten", len(shape))[0]
        return ops.reshape(input_x, (*shape[:axis], *self.unflattened_size, *shape[axis + 1 :]))


class Norm(Cell):
    """The Euclidean norm over dimensions.

    Args:
        axis: an int or a tuple; () for all.
        keep_dims: keep them with length 1.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.Norm()(ms.Tensor([3.0, 4.0])))
        5.0
    """

    def __init__(self, axis: Any = (), keep_dims: bool = False) -> None:
        super().__init__()
        self.axis = axis
        self.keep_dims = check_bool(keep_dims, "keep_dims", "Norm")

    def construct(self, x: Tensor) -> Tensor:
        return ops.sqrt(ops.ReduceSum(self.keep_dims)(x * x, self.axis))

    def extend_repr(self) -> str:
        return f"axis={self.axis}, keep_dims={self.keep_dims}"


class L1Regularizer(Cell):
    """scale sum(|weights|), a loss that draws weights to 0.

    Args:
        scale: a number above 0.

    Raises:
        TypeError: if `scale` is no number.
        ValueError: if it is not above 0.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.L1Regularizer(0.5)(ms.Tensor([1.0, -3.0])))
        2.0
    """

    def __init__(self, scale: float) -> None:
        super().__init__()
        if check_number(scale, "scale", "L1Regularizer") <= 0:
            raise ValueError(complaint("scale", "L1Regularizer", "a number above 0", scale))
        self.scale = scale

    def construct(self, weights: Tensor) -> Tensor:
        not_of(weights, "?FD", "weights", self.cls_name)
        return self.scale * ops.ReduceSum()(ops.abs(weights))


class ClipByNorm(Cell):
    """Scales a tensor down so that its Euclidean norm is at most `clip_norm`.

    Args:
        axis: the dimensions of the norm, an int or a tuple; None for all.

    Raises:
        TypeError: if `axis` has the wrong type.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.ClipByNorm()(ms.Tensor([3.0, 4.0]), ms.Tensor(1.0)))
        [0.6 0.8]
    """

    def __init__(self, axis: Any = None) -> None:
        super().__init__()
        if axis is not None:
            check_type(axis, "axis", "ClipByNorm", (int, tuple))
        self.axis = () if axis is None else axis

    def construct(self, x: Tensor, clip_norm: Any) -> Tensor:
        tensor(clip_norm, "clip_norm", self.cls_name)
        not_of(x, "?ibhlBHIL", "x", self.cls_name), not_of(clip_norm, "?ibhlBHIL", "clip_norm", self.cls_name)
        norm = ops.sqrt(ops.ReduceSum(keep_dims=True)(x * x, self.axis))
        return x * clip_norm / ops.maximum(norm, clip_norm)


class Moments(Cell):
    """The mean and the biased variance over dimensions.

    Args:
        axis: an int, a tuple or a list; None for all.
        keep_dims: keep them with length 1; None for False.

    Raises:
        TypeError: if an argument has the wrong type.

    Examples:
        >>> import dist_ms as ms
        >>> mean, variance = ms.nn.Moments()(ms.Tensor([1.0, 3.0]))
        >>> print(mean, variance)
        2.0 1.0
    """

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis = () if axis is None else check_type(axis, "axis", "Moments", (int, tuple, list))
        self.keep_dims = False if keep_dims is None else check_bool(keep_dims, "keep_dims", "Moments")

    def construct(self, x: Tensor) -> tuple:
        mean = ops.ReduceMean(keep_dims=True)(x, self.axis)
        variance = ops.ReduceMean(self.keep_dims)(ops.square(x - mean), self.axis)
        return ops.reshape(mean, variance.shape), variance


class OneHot(Cell):
    """`ops.one_hot` as a layer, with one class and values 1 and 0 of float32 unless told otherwise.

    Args:
        axis, depth, on_value, off_value: as there.
        dtype: element type of the result.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.nn.OneHot(depth=3)(ms.Tensor([0, 2])))
        [[1. 0. 0.]
         [0. 0. 1.]]
    """

    def __init__(
        self, axis: int = -1, depth: int = 1, on_value: float = 1.0, off_value: float = 0.0, dtype: Any = mstype.float32
    ) -> None:
        super().__init__()
        self.axis, self.depth = integer(axis, "axis", "OneHot"), integer(depth, "depth", "OneHot")
        self.on_value, self.off_value = Tensor(on_value, dtype), Tensor(off_value, dtype)

    def construct(self, indices: Tensor) -> Tensor:
        return ops.one_hot(indices, self.depth, self.on_value, self.off_value, self.axis)


class Roll(Cell):
    """`ops.roll` as a layer: `Roll(shift, axis)(input_x)`."""

    def __init__(self, shift: Any, axis: Any) -> None:
        super().__init__()
        self.shift = check_type(shift, "shift", "Roll", (int, tuple, list))
        self.axis = check_type(axis, "axis", "Roll", (int, tuple, list))

    def construct(self, input_x: Tensor) -> Tensor:
        return ops.roll(input_x, self.shift, self.axis)


@reads(x="shape")
class Tril(Cell):
    """`ops.tril` as a layer: `Tril()(x, k=0)`, with `k` as the last diagonal kept."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return ops.tril(tensor(x, "x", self.cls_name), k)


class Triu(Cell):
    """`ops.triu` as a layer: `Triu()(x, k=0)`, with `k` as the first diagonal kept."""

    def construct(self, x: Tensor, k: int = 0) -> Tensor:
        return ops.triu(x, k)
