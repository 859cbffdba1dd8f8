"""Adaptive pooling: the windows follow from the output size."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_bool, check_positive_int, check_type, complaint
from dist_ms.common.dtype import float64
from dist_ms.common.error_classes import of_value, raises, reads, truths
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.images.resampling import Resample, sparse, window_means
from dist_ms.ops.pooling_windows.pooling import AvgPooling, MaxPooling, MaxPoolingWithIndices, Pick, Pool, Spread
from dist_ms.ops.pooling_windows.pooling_functions import batched
from dist_ms.ops.primitive import Primitive

__all__ = [
    "AdaptiveAvgPool2D",
    "AdaptiveAvgPool3D",
    "AdaptiveMaxPool2D",
    "adaptive_avg_pool1d",
    "adaptive_avg_pool2d",
    "adaptive_avg_pool3d",
    "adaptive_max_pool1d",
    "adaptive_max_pool2d",
    "adaptive_max_pool3d",
]


# There -1 is the input's length, too.
_MAXIMA_OF_IMAGES = ("adaptive_max_pool2d", "AdaptiveMaxPool2d", "AdaptiveMaxPool2D")


def output_size_of(value: Any, rank: int, owner: str, types: tuple | None = None) -> tuple:
    """The output size as a tuple of ints of 0 or more, None where it is the input's.

    Raises:
        TypeError: if it is no int, None or tuple of them, or not of `types`.
        ValueError: for a tuple of another length or negative numbers.
    """
    if types is not None:
        check_type(value, "output_size", owner, types)
    if isinstance(value, Tensor) and value.ndim:
        value = tuple(value.tolist())
    sizes = tuple(value) if isinstance(value, (tuple, list)) else (value,) * rank
    for n in sizes:
        if isinstance(n, Tensor) and rank == 2:
            n = arguments.integer(n, "output_size", owner)
        if n is not None and (isinstance(n, bool) or not isinstance(n, int)):
            raise TypeError(complaint("output_size", owner, "an int, None or a tuple of them", repr(value)))
    sizes = tuple([n if n is None else int(n) for n in sizes])
    if rank == 2 and owner in _MAXIMA_OF_IMAGES:
        sizes = tuple(None if n == -1 else n for n in sizes)
    if len(sizes) != rank or any(n is not None and n < 0 for n in sizes):
        raise of_value("output_size", owner)(complaint("output_size", owner, f"0 or more, or a tuple of {rank}", value))
    return sizes


class _Adaptive(Primitive):
    """An adaptive pooling; plain windows do the work where the sizes divide evenly."""

    _even: Callable[[Pool], Primitive]
    _uneven: Callable[..., Primitive]
    _types: tuple | None = None

    def __init__(self, rank: int, output_size: Any, owner: str) -> None:
        self.name, self._rank = owner, rank
        self.output_size = output_size_of(output_size, rank, owner, self._types)

    def __call__(self, x: Tensor) -> Any:
        shape = arguments.tensor(x, "input", self.name).shape
        if len(shape) not in (self._rank + 1, self._rank + 2):
            raise ValueError(
                f"For '{self.name}', the input must have {self._rank + 1} or {self._rank + 2} dimensions, "
                f"but got shape {shape}."
            )
        if self._rank == 3 and x._element.kind in "iu":  # as MindSpore's kernels of volumes do
            out = self(ops.cast(x, float64))
            return (ops.cast(out[0], x.dtype), out[1]) if isinstance(out, tuple) else ops.cast(out, x.dtype)
        arguments.floating(x.array(), "input", self.name, complex_too=False)
        sizes = shape[-self._rank :]
        counts = tuple([n if c is None else c for n, c in zip(sizes, self.output_size)])
        self.check(shape, counts)
        if all(c and n and n % c == 0 for n, c in zip(sizes, counts)):
            kernel = tuple([n // c for n, c in zip(sizes, counts)])
            pool = Pool(kernel, kernel, ((0, 0),) * self._rank, (1,) * self._rank, owner=self.name)
            return batched(self._even(pool), x, self._rank)
        return batched(self._uneven(sizes, counts), x, self._rank)

    def check(self, shape: tuple, counts: tuple) -> None:
        """Refuse shapes of input and output that MindSpore refuses."""
        raise NotImplementedError


class _AdaptiveMean(_Adaptive):
    """Means of windows of nearly equal size."""

    _types = (int, tuple)

    def check(self, shape: tuple, counts: tuple) -> None:
        """Require a first dimension of 1 or more.

        Raises:
            ValueError: if there are no rows.
        """
        if self._rank > 1 and not shape[0]:
            raise ValueError(f"For '{self.name}', 'input' must not be empty, but got the shape {shape}.")

    def _even(self, pool: Pool) -> Primitive:
        return AvgPooling(pool, count_padding=False)

    def _uneven(self, sizes: tuple, counts: tuple) -> Primitive:
        return Resample(self.name, [sparse(window_means, n, c) for n, c in zip(sizes, counts)])


class _Positive(_Adaptive):
    """What maxima have in common: there must be one in each window."""

    def check(self, shape: tuple, counts: tuple) -> None:
        """Require an output with elements.

        Raises:
            ValueError or RuntimeError: if it has none.
        """
        if 0 in counts:
            kind = of_value("output_size", self.name)
            raise kind(complaint("output_size", self.name, "positive", self.output_size))


class _AdaptiveMaximum(_Positive):
    """Maxima of windows of nearly equal size."""

    def _even(self, pool: Pool) -> Primitive:
        return MaxPooling(pool)

    def _uneven(self, sizes: tuple, counts: tuple) -> Primitive:
        return _MaximumOnly(self.name, counts)


class _AdaptiveMaximumWithIndices(_Positive):
    """Maxima of windows of nearly equal size, and their flat spatial indices."""

    def _even(self, pool: Pool) -> Primitive:
        return MaxPoolingWithIndices(pool)

    def _uneven(self, sizes: tuple, counts: tuple) -> Primitive:
        return _Maximum(self.name, counts)


class _Maximum(Primitive):
    """The maximum of each uneven window and its flat spatial index."""

    keeps = ()
    keeps_output = True

    def __init__(self, owner: str, counts: tuple) -> None:
        self.name, self._counts = owner, counts

    def forward(self, x: np.ndarray) -> tuple:
        sizes = x.shape[2:]
        edges = [[(i * n // c, -((i + 1) * -n // c)) for i in range(c)] for n, c in zip(sizes, self._counts)]
        flat = np.arange(int(np.prod(sizes))).reshape(sizes)
        index = np.empty((*x.shape[:2], *self._counts), np.int64)
        for place in np.ndindex(*self._counts):
            where = tuple([slice(*edges[axis][i]) for axis, i in enumerate(place)])
            part = x[(slice(None), slice(None), *where)]
            part = part.reshape(*x.shape[:2], math.prod(part.shape[2:]))
            index[(slice(None), slice(None), *place)] = flat[where].reshape(-1)[part.argmax(-1)]
        return Pick().forward(x, index), index

    def gradient(self, inputs: tuple, output: tuple, dout: tuple) -> Tensor:
        return Spread()(dout[0], output[1].array(), inputs[0].shape)


class _MaximumOnly(Primitive):
    """`_Maximum` without the indices."""

    def __init__(self, owner: str, counts: tuple) -> None:
        self.name, self._both = owner, _Maximum(owner, counts)

    def __call__(self, x: Tensor) -> Tensor:
        return self._both(x)[0]


class AdaptiveAvgPool2D(_AdaptiveMean):
    """`adaptive_avg_pool2d` as a primitive: `AdaptiveAvgPool2D(output_size)(input)`."""

    def __init__(self, output_size: Any) -> None:
        super().__init__(2, output_size, "AdaptiveAvgPool2D")


class AdaptiveAvgPool3D(_AdaptiveMean):
    """Means over windows such that the output has a given size (depth, height, width).

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.AdaptiveAvgPool3D((1, None, 2))(ms.ops.ones((1, 1, 4, 4, 4))).shape
        (1, 1, 1, 4, 2)
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__(3, output_size, "AdaptiveAvgPool3D")


class AdaptiveMaxPool2D(_AdaptiveMaximumWithIndices):
    """Maxima over windows such that the output has a given size, and their flat indices (int64).

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.AdaptiveMaxPool2D(1)(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]))[1])
        [[[[3]]]]
    """

    def __init__(self, output_size: Any) -> None:
        super().__init__(2, output_size, "AdaptiveMaxPool2D")

    def __call__(self, input: Tensor) -> tuple:
        return super().__call__(input)


def _check_1d(owner: str, input: Any, output_size: Any) -> int:
    """Require (N, C, L) with a length the output size divides."""
    check_positive_int(output_size, "output_size", owner)
    shape = arguments.tensor(input, "input", owner).shape
    if len(shape) != 3:
        raise ValueError(f"For '{owner}', 'input' must have 3 dimensions, but got shape {shape}.")
    if shape[2] == 0 or shape[2] % output_size:
        raise ValueError(
            f"For '{owner}', the last length of 'input' must be a multiple of 'output_size' "
            f"{output_size}, but got shape {shape}."
        )
    return output_size


@reads(input="shape")
def adaptive_avg_pool1d(input: Tensor, output_size: int) -> Tensor:
    """Return means over the last dimension such that the output has a given length.

    Args:
        input: (N, C, L) floats; L is a multiple of `output_size`.
        output_size: the length wanted.

    Returns:
        Tensor (N, C, output_size).

    Raises:
        TypeError: if `output_size` is no int, or `input` holds no floats.
        ValueError: if L is no multiple of `output_size`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.adaptive_avg_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 5.0]]]), 2))
        [[[1.5 4. ]]]
    """
    return _AdaptiveMean(1, _check_1d("adaptive_avg_pool1d", input, output_size), "adaptive_avg_pool1d")(input)


def adaptive_avg_pool2d(input: Tensor, output_size: Any) -> Tensor:
    """Return means over windows such that the output has a given size.

    Window i over a length n in m parts goes from floor(i n / m) to ceil((i + 1) n / m).

    Args:
        input: (N, C, H, W) or (C, H, W) floats.
        output_size: an int, or a tuple (height, width); None keeps the input's length.

    Returns:
        Tensor (N, C, *output_size).

    Raises:
        TypeError: if `output_size` is no int, None or tuple, or `input` holds no floats.
        ValueError: if it is negative or a tuple of another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.adaptive_avg_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), (1, None)))
        [[[[2. 3.]]]]
    """
    return _AdaptiveMean(2, output_size, "adaptive_avg_pool2d")(input)


def adaptive_avg_pool3d(input: Tensor, output_size: Any) -> Tensor:
    """Return means over windows such that the output has a given size; see `adaptive_avg_pool2d`.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.adaptive_avg_pool3d(ms.ops.ones((1, 1, 4, 4, 4)), 2).shape
        (1, 1, 2, 2, 2)
    """
    return _AdaptiveMean(3, output_size, "adaptive_avg_pool3d")(input)


def adaptive_max_pool1d(input: Tensor, output_size: int) -> Tensor:
    """`adaptive_avg_pool1d` for maxima.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.adaptive_max_pool1d(ms.Tensor([[[1.0, 2.0, 3.0, 5.0]]]), 2))
        [[[2. 5.]]]
    """
    return _AdaptiveMaximum(1, _check_1d("adaptive_max_pool1d", input, output_size), "adaptive_max_pool1d")(input)


def _max(owner: str, rank: int, input: Tensor, output_size: Any, return_indices: bool) -> Any:
    check_bool(return_indices, "return_indices", owner)
    kind = _AdaptiveMaximumWithIndices if return_indices else _AdaptiveMaximum
    return kind(rank, output_size, owner)(input)


@raises(output_size=(TypeError, RuntimeError))
def adaptive_max_pool2d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """`adaptive_avg_pool2d` for maxima, with `return_indices` also their flat int64 places in the (H, W) plane.

    Examples:
        >>> import dist_ms as ms
        >>> print(*ms.ops.adaptive_max_pool2d(ms.Tensor([[[[1.0, 2.0], [3.0, 4.0]]]]), 1, True))
        [[[[4.]]]] [[[[3]]]]
    """
    owner = "adaptive_max_pool2d"
    if output_size is None or (isinstance(output_size, Tensor) and not output_size.ndim):
        raise TypeError(
            complaint("output_size", owner, "an int, or a tuple of ints and None", type(output_size).__name__)
        )
    return _max(owner, 2, input, output_size, return_indices)


@truths("return_indices")
def adaptive_max_pool3d(input: Tensor, output_size: Any, return_indices: bool = False) -> Any:
    """Return maxima over windows such that the output has a given size; see `adaptive_max_pool2d`.

    The indices are int32, as MindSpore's.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.adaptive_max_pool3d(ms.ops.ones((1, 1, 4, 4, 4)), 2).shape
        (1, 1, 2, 2, 2)
    """
    out = _max("adaptive_max_pool3d", 3, input, output_size, return_indices)
    return (out[0], wrap(out[1].array().astype(np.int32))) if return_indices else out
