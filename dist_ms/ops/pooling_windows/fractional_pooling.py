"""Fractional max pooling: windows of one size at random places that cover the input.

Graham, "Fractional Max-Pooling", 2014. With a random u in [0, 1) and alpha = (length - size) /
(count - 1), window i of a dimension starts at floor((i + u) alpha) - floor(u alpha); the last one
ends with the input.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import (
    check_bool,
    check_dimensions,
    check_float,
    check_float_range,
    check_positive_int,
    complaint,
)
from dist_ms.common.dtype import from_numpy
from dist_ms.common.error_classes import raises, reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.arguments import not_of
from dist_ms.ops.drawing_numbers.drawing import draw_uniform, generator_of
from dist_ms.ops.pooling_windows.pooling import Pick
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping.reshaping import expand_dims, squeeze

__all__ = [
    "FractionalMaxPool3DWithFixedKsize",
    "FractionalMaxPoolWithFixedKsize",
    "fractional_max_pool2d",
    "fractional_max_pool3d",
]

# Which column of the random samples places the windows of which spatial dimension.
_COLUMNS = {2: (1, 0), 3: (0, 1, 2)}


def window_starts(samples: np.ndarray, length: int, size: int, count: int) -> np.ndarray:
    """The starts (..., count) of the windows for samples (...) in [0, 1)."""
    starts = np.full((*samples.shape, count), length - size, np.int64)
    if count > 1:
        alpha = samples.dtype.type((length - size) / (count - 1))
        steps = np.arange(count - 1, dtype=samples.dtype)
        shifted = np.floor((steps + samples[..., None]) * alpha) - np.floor(samples[..., None] * alpha)
        starts[..., :-1] = np.minimum(shifted, length - size)
    return starts


def maxima(x: np.ndarray, samples: np.ndarray, kernel: tuple, counts: tuple) -> np.ndarray:
    """The flat spatial index (N, C, *counts) of the first maximum of each window of x (N, C, *spatial)."""
    sizes, rank = x.shape[2:], len(kernel)
    flat = np.zeros((*x.shape[:2], *(1,) * (2 * rank)), np.int64)
    for i, (length, size, count) in enumerate(zip(sizes, kernel, counts)):
        starts = window_starts(samples[..., _COLUMNS[rank][i]], length, size, count)
        places = starts[..., None] + np.arange(size)
        shape = [*x.shape[:2], *(1,) * (2 * rank)]
        shape[2 + i], shape[2 + rank + i] = count, size
        flat = flat * length + places.reshape(shape)
    flat = flat.reshape(*x.shape[:2], math.prod(counts), math.prod(kernel))
    values = np.take_along_axis(x.reshape(*x.shape[:2], -1), flat.reshape(*x.shape[:2], -1), -1).reshape(flat.shape)
    if arguments.is_float(values.dtype):
        values = np.where(np.isnan(values), -np.inf, values)
    best = values.argmax(-1)[..., None]
    return np.take_along_axis(flat, best, -1).reshape(*x.shape[:2], *counts)


class _FractionalMaxPool(Primitive):
    """What both ranks share."""

    _rank = 0
    _format = ""

    def __init__(self, ksize: Any, output_shape: Any, data_format: str) -> None:
        self.ksize = self._lengths(ksize, "ksize")
        self.output_shape = self._lengths(output_shape, "output_shape")
        if data_format != self._format:
            raise ValueError(complaint("data_format", self.name, repr(self._format), repr(data_format)))
        self.data_format = data_format

    def _lengths(self, value: Any, name: str) -> tuple[int, ...]:
        if not isinstance(value, tuple):
            if isinstance(value, bool) or not isinstance(value, int):
                raise TypeError(complaint(name, self.name, "an int or a tuple", type(value).__name__))
            value = (value,) * self._rank
        if name == "output_shape" and any(isinstance(n, bool) or not isinstance(n, int) for n in value):
            raise ValueError(complaint(name, self.name, "a positive int or a tuple of them", value))
        if len(value) != self._rank:
            raise ValueError(complaint(name, self.name, f"an int or a tuple of {self._rank}", value))
        return tuple([check_positive_int(n, name, self.name) for n in value])

    def __call__(self, input_x: Tensor, random_samples: Tensor) -> tuple:
        x = arguments.real(arguments.tensor(input_x, "input_x", self.name).array(), "input_x", self.name)
        samples = arguments.tensor(random_samples, "random_samples", self.name).array()
        arguments.floating(samples, "random_samples", self.name, complex_too=False)
        check_dimensions(x, "input_x", self.name, self._rank + 2)
        if samples.shape != (*x.shape[:2], self._rank):
            raise ValueError(
                f"For '{self.name}', 'random_samples' must have shape {(*x.shape[:2], self._rank)}, but got "
                f"{samples.shape}."
            )
        for length, size, count in zip(x.shape[2:], self.ksize, self.output_shape):
            if size + count - 1 > length:
                raise ValueError(
                    f"For '{self.name}', 'ksize' + 'output_shape' - 1 must not be above the input's size "
                    f"{x.shape[2:]}, but got {self.ksize} and {self.output_shape}."
                )
        work = samples if samples.dtype == np.float64 else samples.astype(np.float32)
        index = maxima(x, work, self.ksize, self.output_shape)
        return Pick()(input_x, index), wrap(index)


@raises(output_shape=ValueError)
class FractionalMaxPoolWithFixedKsize(_FractionalMaxPool):
    """The maxima of windows at random places over two dimensions.

    Args:
        ksize: size of the windows, an int or a tuple (height, width).
        output_shape: how many, an int or a tuple.
        data_format: "NCHW".

    Call:
        input_x (Tensor): (N, C, H, W).
        random_samples (Tensor): (N, C, 2) floats in [0, 1) for the width and the height.

    Returns:
        A tuple (maxima, their int64 places in H W), both (N, C, *output_shape).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> pool = ms.ops.FractionalMaxPoolWithFixedKsize(2, (2, 2))
        >>> out, places = pool(ms.ops.ones((1, 3, 5, 5)), ms.ops.zeros((1, 3, 2), ms.float32))
        >>> out.shape, places.shape
        ((1, 3, 2, 2), (1, 3, 2, 2))
    """

    _rank, _format = 2, "NCHW"

    def __init__(self, ksize: Any, output_shape: Any, data_format: str = "NCHW") -> None:
        super().__init__(ksize, output_shape, data_format)


class FractionalMaxPool3DWithFixedKsize(_FractionalMaxPool):
    """The maxima of windows at random places over three dimensions.

    Args:
        ksize: size of the windows, an int or a tuple (depth, height, width).
        output_shape: how many, an int or a tuple.
        data_format: "NCDHW".

    Call:
        x (Tensor): (N, C, D, H, W) or (C, D, H, W).
        random_samples (Tensor): (N, C, 3) or (C, 1, 3) floats in [0, 1).

    Returns:
        A tuple (maxima, their int64 places in D H W).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is not positive, or the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> pool = ms.ops.FractionalMaxPool3DWithFixedKsize(2, (2, 2, 2))
        >>> out, places = pool(ms.ops.ones((1, 3, 5, 5, 5)), ms.ops.zeros((1, 3, 3), ms.float32))
        >>> out.shape
        (1, 3, 2, 2, 2)
    """

    _rank, _format = 3, "NCDHW"

    def __init__(self, ksize: Any, output_shape: Any, data_format: str = "NCDHW") -> None:
        super().__init__(ksize, output_shape, data_format)

    def __call__(self, x: Tensor, random_samples: Tensor) -> tuple:
        if isinstance(x, Tensor) and x.ndim == 4 and isinstance(random_samples, Tensor) and random_samples.ndim == 3:
            samples = wrap(random_samples.array().swapaxes(0, 1))
            return tuple([squeeze(part, 0) for part in super().__call__(expand_dims(x, 0), samples)])
        return super().__call__(x, random_samples)


def _function(
    owner: str,
    make: type,
    rank: int,
    input: Tensor,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Tensor | None,
) -> Any:
    """What both functions do."""
    data = arguments.tensor(input, "input", owner).array()
    read = rank if output_size is None else 0  # lengths that MindSpore reads before it looks at the dimensions
    arguments.has_dimensions(data, max(read, 2 * rank - 2) if samples is None else read, "input", owner)
    if rank == 3 and samples is not None and data.ndim not in (4, 5):
        raise TypeError(f"For '{owner}', 'input' must have 4 or 5 dimensions, but got shape {data.shape}.")
    if rank == 3 and isinstance(samples, Tensor) and samples.ndim != 3:
        raise TypeError(f"For '{owner}', '_random_samples' must have 3 dimensions, but got shape {samples.shape}.")
    if output_size is None and output_ratio is None:
        raise ValueError(f"For '{owner}', one of 'output_size' and 'output_ratio' must be given, but got neither.")
    check_bool(return_indices, "return_indices", owner)
    check_dimensions(data, "input", owner, rank + 1, rank + 2)
    lead = data.shape[:-rank] if data.ndim == rank + 2 else (1, data.shape[0])
    if samples is None:
        d = data.dtype if arguments.is_float(data.dtype) else np.dtype(np.float32)
        samples = wrap(draw_uniform(generator_of(owner, None), (*lead, rank), d))
    if rank == 2 and not isinstance(samples, Tensor):
        raise TypeError(complaint("_random_samples", owner, "a Tensor", type(samples).__name__))
    arguments.tensor(samples, "_random_samples", owner)
    if output_size is None:
        ratios = output_ratio if isinstance(output_ratio, (tuple, list)) else (output_ratio,) * rank
        if len(ratios) != rank:
            kind = IndexError if len(ratios) < rank else ValueError
            raise kind(complaint("output_ratio", owner, f"a float or a tuple of {rank}", output_ratio))
        for r in ratios:
            check_float_range(check_float(r, "output_ratio", owner), "output_ratio", owner, 0, 1, "()")
        output_size = tuple([int(n * r) for n, r in zip(data.shape[-rank:], ratios)])
    if rank == 3 and samples.dtype != input.dtype:
        raise TypeError(
            f"For '{owner}', 'input' and '_random_samples' must have one dtype, but got "
            f"{from_numpy(data.dtype)} and {samples.dtype}."
        )
    batch = input if data.ndim == rank + 2 else expand_dims(input, 0)
    found = make(kernel_size, output_size)(batch, samples)
    if data.ndim == rank + 1:
        found = tuple([squeeze(part, 0) for part in found])
    return found if return_indices else found[0]


@reads("shape")
def fractional_max_pool2d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Take the maxima of windows at random places over the last two dimensions.

    Graham, "Fractional Max-Pooling", 2014.

    Args:
        input: (N, C, H, W) or (C, H, W), real numbers.
        kernel_size: size of the windows, an int or a tuple (height, width).
        output_size: how many there are, an int or a tuple; or None.
        output_ratio: output size over input size, a float in (0, 1) or a tuple of them; or None.
        return_indices: also return where the maxima are.
        _random_samples: (N, C, 2) floats in [0, 1) that say where the windows lie; None to draw them.

    Returns:
        Tensor (N, C, H', W'); with `return_indices` a tuple of it and the int64 places in H W.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, neither size nor ratio is given, or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.fractional_max_pool2d(ms.ops.ones((1, 3, 7, 7)), 2, output_size=4).shape
        (1, 3, 4, 4)
    """
    not_of(input, "?BHIL", "input", "fractional_max_pool2d")
    return _function(
        "fractional_max_pool2d",
        FractionalMaxPoolWithFixedKsize,
        2,
        input,
        kernel_size,
        output_size,
        output_ratio,
        return_indices,
        _random_samples,
    )


@reads("shape")
def fractional_max_pool3d(
    input: Tensor,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Tensor | None = None,
) -> Any:
    """Take the maxima of windows at random places over the last three dimensions.

    Args:
        input: (N, C, D, H, W) or (C, D, H, W), floats unless samples are given.
        kernel_size, output_size, output_ratio, return_indices: as in `fractional_max_pool2d`, with
            three numbers.
        _random_samples: (N, C, 3) in the dtype of `input`; None to draw them.

    Returns:
        Tensor (N, C, D', H', W'); with `return_indices` a tuple of it and the int64 places in D H W.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a number is out of range, neither size nor ratio is given, or shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.fractional_max_pool3d(ms.ops.ones((1, 3, 5, 5, 5)), 2, output_ratio=0.5).shape
        (1, 3, 2, 2, 2)
    """
    return _function(
        "fractional_max_pool3d",
        FractionalMaxPool3DWithFixedKsize,
        3,
        input,
        kernel_size,
        output_size,
        output_ratio,
        return_indices,
        _random_samples,
    )
