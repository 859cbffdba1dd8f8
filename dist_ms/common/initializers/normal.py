"""Normal distributions: plain, truncated, and orthogonal or sparse matrices of them."""

from __future__ import annotations

import math

import numpy as np

from dist_ms.common.initializers.base import CHUNK, Initializer, _register, fill, number
from dist_ms.common.random.seed import initial_seed


def normal_fill(arr: np.ndarray, sigma: float, mean: float = 0.0) -> None:
    """Fill `arr` from N(mean, sigma**2).

    Raises:
        ValueError: if sigma is negative.
    """
    if sigma < 0:
        raise ValueError(f"For 'Normal', 'sigma' must be 0 or more, but got {sigma}.")
    from dist_ms._ext import initial_numbers

    seed = initial_seed()
    fill(arr, lambda out, first: initial_numbers.normal(out, seed, mean, sigma, first))


@_register()
class Normal(Initializer):
    """Values from the normal distribution N(mean, sigma**2).

    Args:
        sigma: the standard deviation.
        mean: the mean.

    Raises:
        TypeError: if an argument is no number.
        ValueError: when values are made with a negative sigma.

    Examples:
        >>> from dist_ms.common.initializer import Normal, initializer
        >>> initializer(Normal(0.1, mean=1.0), [2, 3]).init_data().shape
        (2, 3)
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0) -> None:
        super().__init__(sigma=sigma, mean=mean)
        self.sigma = number(sigma, "sigma", self)
        self.mean = number(mean, "mean", self)

    def _initialize(self, arr: np.ndarray) -> None:
        normal_fill(arr, self.sigma, self.mean)


@_register()
class TruncatedNormal(Initializer):
    """Values from N(mean, sigma**2), those outside [a, b] drawn again.

    Args:
        sigma: the standard deviation.
        mean: the mean.
        a: the smallest value.
        b: the largest value. Both are values, not multiples of sigma.

    Raises:
        TypeError: if an argument is no number.
        ValueError: when values are made with a sigma of 0 or less.

    Examples:
        >>> from dist_ms.common.initializer import TruncatedNormal, initializer
        >>> x = initializer(TruncatedNormal(1.0, 0.0, -0.5, 0.5), [100]).init_data()
        >>> bool(abs(x.asnumpy()).max() <= 0.5)
        True
    """

    def __init__(self, sigma: float = 0.01, mean: float = 0.0, a: float = -2.0, b: float = 2.0) -> None:
        super().__init__(sigma=sigma, mean=mean, a=a, b=b)
        self.sigma = number(sigma, "sigma", self)
        self.mean = number(mean, "mean", self)
        self.a = number(a, "a", self)
        self.b = number(b, "b", self)

    def _initialize(self, arr: np.ndarray) -> None:
        truncated_fill(arr, self.sigma, self.mean, *sorted((self.a, self.b)))


def truncated_fill(arr: np.ndarray, sigma: float, mean: float, low: float, high: float) -> None:
    """Fill `arr` from N(mean, sigma**2) restricted to [low, high].

    Raises:
        ValueError: if sigma is not above 0.
    """
    if not sigma > 0:
        raise ValueError(f"For 'TruncatedNormal', 'sigma' must be above 0, but got {sigma}.")
    from scipy import special

    from dist_ms._ext import initial_numbers

    seed, low_z, high_z = initial_seed(), (low - mean) / sigma, (high - mean) / sigma
    # Of the two tails the one is taken whose probabilities are small numbers and not nearly 1.
    side = -1.0 if low_z > 0 else 1.0
    start, end = special.ndtr(side * low_z), special.ndtr(side * high_z)
    if start == end:  # more than 37 standard deviations away, where all of it lies at the limit
        arr[...] = low if low_z > 0 else high
        return

    def draw(out: np.ndarray, first: int) -> None:
        flat = out.reshape(-1)
        initial_numbers.uniform(flat, seed, first=first)
        for begin in range(0, flat.size, CHUNK):
            part = flat[begin : begin + CHUNK]
            z = side * special.ndtri(start + (end - start) * part.astype(np.float64))
            part[...] = np.clip(z * sigma + mean, low, high)

    fill(arr, draw)


@_register()
class Orthogonal(Initializer):
    """A (semi-)orthogonal matrix times `gain`: rows, or columns if there are fewer, are
    orthonormal. Dimensions after the first count as one.

    Args:
        gain: the factor.

    Raises:
        TypeError: if `gain` is no number.
        ValueError: when a tensor with fewer than 2 dimensions is made.

    Examples:
        >>> import numpy as np
        >>> from dist_ms.common.initializer import Orthogonal, initializer
        >>> x = initializer(Orthogonal(gain=2.0), [2, 3]).init_data().asnumpy()
        >>> print(np.abs(x @ x.T).round(3))
        [[4. 0.]
         [0. 4.]]
    """

    elementwise = False

    def __init__(self, gain: float = 1.0) -> None:
        super().__init__(gain=gain)
        self.gain = number(gain, "gain", self)

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim < 2:
            raise ValueError(f"For 'Orthogonal', the tensor must have 2 dimensions or more, but got {arr.ndim}.")
        rows, columns = arr.shape[0], math.prod(arr.shape[1:])
        draws = np.empty((rows, columns), np.float32)
        normal_fill(draws, 1.0)
        q, r = np.linalg.qr(draws.T if rows < columns else draws)
        # A factorisation is unique, and so evenly distributed, once r has a positive diagonal.
        q *= np.where(np.diag(r) < 0, -1, 1)
        arr[...] = (self.gain * (q.T if rows < columns else q)).reshape(arr.shape)


@_register()
class Sparse(Initializer):
    """A matrix with a share of zeros in each column, the rest from N(0, sigma**2).

    Args:
        sparsity: the share of zeros in a column, rounded up to whole elements.
        sigma: the standard deviation.

    Raises:
        TypeError: if an argument is no number.
        ValueError: when a tensor of another rank than 2 is made.

    Examples:
        >>> from dist_ms.common.initializer import Sparse, initializer
        >>> x = initializer(Sparse(sparsity=0.4), [5, 8]).init_data()
        >>> print((x.asnumpy() == 0).sum(axis=0))
        [2 2 2 2 2 2 2 2]
    """

    elementwise = False

    def __init__(self, sparsity: float, sigma: float = 0.01) -> None:
        super().__init__()
        self.sparsity = number(sparsity, "sparsity", self)
        self.sigma = number(sigma, "sigma", self)

    def _initialize(self, arr: np.ndarray) -> None:
        if arr.ndim != 2:
            raise ValueError(f"For 'Sparse', the tensor must have 2 dimensions, but got {arr.ndim}.")
        normal_fill(arr, self.sigma)
        rows, columns = arr.shape
        zeros = min(max(math.ceil(self.sparsity * rows), 0), rows)
        for column in range(columns):
            arr[np.random.permutation(rows)[:zeros], column] = 0
