"""LayerNorm: normalisation over the last dimensions of each sample."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import Kept, agree, wanted
from dist_ms.common.checks import check_float_range
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import layer_norm as kernels
from dist_ms.ops.layout import contiguous, converted, empty, empty_like, working_type
from dist_ms.ops.primitive import Primitive

__all__ = ["LayerNorm", "layer_norm"]

_MOST = 64  # dimensions of an array


def _rows_for(x: np.ndarray, work: np.dtype) -> np.ndarray:
    """`x` in row-major memory, in a type from which the kernels compute in `work`."""
    return contiguous(x, None if working_type(x.dtype) == work else work)


class RowNorm(Primitive):
    """(x - mean) / sqrt(variance + eps) gamma + beta over the last dimensions, biased variance.

    Ba, Kiros and Hinton, "Layer Normalization", 2016.

    Call:
        x: (..., *shape), not empty.
        gamma, beta: `shape`.
        kept: gets the arrays (mean, rstd) of the working type with an element per row.
    """

    keeps = (0, 1)

    def __init__(self, eps: float, widens: bool = False) -> None:
        self._eps, self._widens = eps, widens

    def widening(self) -> RowNorm:
        """The same with a float32 result of 16-bit numbers: a cast before it is part of it."""
        return _row_norm(self._eps, True)

    def forward(self, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, kept: Kept) -> np.ndarray:
        work, columns = working_type(x.dtype), gamma.size
        count = x.size // columns
        mean, rstd = kept.value = empty(count, work), empty(count, work)
        if x.dtype is work and x.ndim == 2 and x.shape[1] == columns and x.flags.c_contiguous:
            if gamma.ndim == beta.ndim == 1 and gamma.dtype is beta.dtype is work:
                out = empty_like(x)
                kernels.forward(x, contiguous(gamma), contiguous(beta), self._eps, out, mean, rstd)
                return out
        rows = _rows_for(x, work).reshape(count, columns)
        out = empty(rows.shape, work if self._widens else rows.dtype)
        kernels.forward(
            rows, contiguous(gamma, work).reshape(-1), contiguous(beta, work).reshape(-1), self._eps, out, mean, rstd
        )
        return (out if self._widens else converted(out, x.dtype)).reshape(x.shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, gamma, beta, kept = inputs
        dx, dgamma, dbeta = RowNormGrad(self._eps)(dout, x, gamma, *kept.value)
        return dx, dgamma, dbeta if wanted(beta) else None, None


class RowNormGrad(Primitive):
    """The gradients (dx, dgamma, dbeta) of `RowNorm`.

    With xhat = (x - mean) rstd, g = dy gamma and averages over a row:
    dx = rstd (g - average(g) - xhat average(g xhat)).
    """

    keeps = (0, 1, 2)

    def __init__(self, eps: float) -> None:
        self._eps = eps

    def forward(self, dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, rstd: np.ndarray) -> tuple:
        work = mean.dtype
        rows = _rows_for(x, work).reshape(mean.size, gamma.size)
        dx = empty_like(rows)
        dgamma, dbeta = empty(gamma.size, work), empty(gamma.size, work)
        kernels.backward(
            _rows_for(dy, work).reshape(rows.shape),
            rows,
            contiguous(gamma, work).reshape(-1),
            mean,
            rstd,
            dx,
            dgamma,
            dbeta,
        )
        return (
            converted(dx, x.dtype).reshape(x.shape),
            dgamma.reshape(gamma.shape).astype(gamma.dtype, copy=False),
            dbeta.reshape(gamma.shape).astype(gamma.dtype, copy=False),
        )

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        return (*formula_gradient(self._formula, inputs[:3], dout), None, None)

    def _formula(self, dy: Tensor, x: Tensor, gamma: Tensor) -> tuple:
        low = x.dtype
        x = ops.cast(x, dy.dtype)
        lead = x.ndim - gamma.ndim
        axes = tuple(range(lead, x.ndim))
        mean = ops.ReduceMean(keep_dims=True)
        centred = x - mean(x, axes)
        rstd = ops.rsqrt(mean(centred * centred, axes) + self._eps)
        xhat, g = centred * rstd, dy * gamma
        dx = ops.cast(rstd * (g - mean(g, axes) - xhat * mean(g * xhat, axes)), low)
        if lead == 0:
            return dx, dy * xhat, dy
        rows = tuple(range(lead))
        return dx, ops.ReduceSum()(dy * xhat, rows), ops.ReduceSum()(dy, rows)


def normalised_rows(name: str, x: Tensor, gamma: Tensor, beta: Tensor, eps: float, first: int, kept: Kept) -> Tensor:
    """Normalise over the axes from `first` on; `kept` gets the arrays of means and rstds."""
    if x._element.kind not in "fV":
        arguments.floating_tensor(x, "input", name)
    shape = x.shape
    if 0 not in shape:
        return _row_norm(eps)(x, gamma, beta, kept)
    rows, work = math.prod(shape[:first]), working_type(x._element)
    kept.value = np.zeros(rows, work), np.full(rows, 1 / math.sqrt(eps) if eps else 1, work)
    return x + 0


@functools.lru_cache(16)
def _row_norm(eps: float, widens: bool = False) -> RowNorm:
    return RowNorm(eps, widens)


class LayerNorm(Primitive):
    """Normalisation over the dimensions from `begin_norm_axis` on, with biased variance.

    (x - mean) / sqrt(variance + epsilon) gamma + beta; Ba, Kiros and Hinton, "Layer
    Normalization", 2016.

    Args:
        begin_norm_axis: the first dimension normalised over.
        begin_params_axis: the first dimension of `gamma` and `beta`.
        epsilon: added to the variance, in [0, 1).

    Call:
        input_x (Tensor): (..., *shape) floats.
        gamma, beta (Tensor): of the shape of `input_x` from `begin_params_axis` on.

    Returns:
        A tuple (result, mean, variance); the last two have length 1 where normalised over.

    Raises:
        TypeError: if an attribute has the wrong type, or `input_x` holds no floats.
        ValueError: if `gamma` or `beta` has another shape.
        RuntimeError: if there is no such axis.

    Examples:
        >>> import dist_ms as ms
        >>> x, one, zero = ms.Tensor([[1.0, 3.0]]), ms.Tensor([1.0, 1.0]), ms.Tensor([0.0, 0.0])
        >>> print(ms.ops.LayerNorm()(x, one, zero)[1])
        [[2.]]
    """

    def __init__(self, begin_norm_axis: int = 1, begin_params_axis: int = 1, epsilon: float = 1e-7) -> None:
        self.begin_norm_axis = arguments.integer(begin_norm_axis, "begin_norm_axis", "LayerNorm")
        self.begin_params_axis = arguments.integer(begin_params_axis, "begin_params_axis", "LayerNorm")
        self.epsilon = check_float_range(epsilon, "epsilon", "LayerNorm", 0, 1, "[)")
        self._rows = epsilon, _row_norm(epsilon)

    def __call__(self, input_x: Tensor, gamma: Tensor, beta: Tensor) -> tuple:
        kept = Kept()
        out, first = self._run(input_x, gamma, beta, kept)
        mean, rstd = kept.value
        shape = (*input_x.shape[:first], *(1,) * (input_x.ndim - first))
        variance = np.maximum(1.0 / np.square(rstd, dtype=np.float64) - self.epsilon, 0)
        d = out.array().dtype
        return out, wrap(mean.reshape(shape).astype(d)), wrap(variance.reshape(shape).astype(d))

    def normalised(self, input_x: Tensor, gamma: Tensor, beta: Tensor) -> Tensor:
        """The result alone."""
        first = self.begin_norm_axis
        if first == self.begin_params_axis and first >= -1 and agree(input_x, 1, _MOST, first, _MOST, gamma, beta):
            eps, rows = self._rows
            if eps is not self.epsilon:  # an attribute that was set since
                rows = _row_norm(self.epsilon)
            return rows(input_x, gamma, beta, Kept())
        return self._run(input_x, gamma, beta, Kept())[0]

    def _run(self, x: Tensor, gamma: Tensor, beta: Tensor, kept: Kept) -> tuple[Tensor, int]:
        """The result, and the first axis normalised over; `kept` as of `normalised_rows`."""
        shape = arguments.tensor(x, "input_x", self.name).shape
        ndim = len(shape)
        first = self._axis("begin_norm_axis", self.begin_norm_axis, ndim)
        params = self._axis("begin_params_axis", self.begin_params_axis, ndim)
        for name, vector in (("gamma", gamma), ("beta", beta)):
            found = arguments.tensor(vector, name, self.name).shape
            if found != shape[params:]:
                raise ValueError(
                    f"For '{self.name}', '{name}' must have the shape {shape[params:]} of 'input_x' "
                    f"{shape} from axis {params} on, but got {found}."
                )
        if first == params:
            return normalised_rows(self.name, x, gamma, beta, self.epsilon, first, kept), first
        lengths, d = shape[first:], x.array().dtype
        one, zero = wrap(np.ones(lengths, d)), wrap(np.zeros(lengths, d))
        return normalised_rows(self.name, x, one, zero, self.epsilon, first, kept) * gamma + beta, first

    def _axis(self, name: str, axis: int, ndim: int) -> int:
        if not -1 <= axis < ndim:
            raise RuntimeError(f"For '{self.name}', '{name}' must be in the range [-1, {ndim}), but got {axis}.")
        return axis if axis >= 0 else axis + ndim


def layer_norm(
    input: Tensor, normalized_shape: Any, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise over the last dimensions: (x - mean) / sqrt(variance + eps) weight + bias.

    Args:
        input: (..., *normalized_shape) floats.
        normalized_shape: an int, or a tuple or list of them: the lengths normalised over.
        weight: of that shape, or None for ones.
        bias: of that shape, or None for zeros.
        eps: added to the biased variance.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `normalized_shape` is no int, tuple or list, or `input` holds no floats.
        ValueError: if the shapes do not agree.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.layer_norm(ms.Tensor([[1.0, 3.0]]), (2,), eps=0.0))
        [[-1.  1.]]
    """
    if type(normalized_shape) is tuple and normalized_shape:
        if agree(input, 1, _MOST, -len(normalized_shape), _MOST, normalized_shape, weight, bias):
            return _row_norm(eps)(input, weight, bias, Kept())
    shape = arguments.integers(normalized_shape, "normalized_shape", "layer_norm")
    lengths = arguments.tensor(input, "input", "layer_norm").shape
    first = len(lengths) - len(shape)
    if not shape or first < 0 or lengths[first:] != shape:
        raise ValueError(
            f"For 'layer_norm', 'normalized_shape' must be the last lengths of 'input' {input.shape}, but got {shape}."
        )
    if weight is None or weight.shape != shape:
        weight = _filled_vector("weight", weight, shape, 1, input)
    if bias is None or bias.shape != shape:
        bias = _filled_vector("bias", bias, shape, 0, input)
    return normalised_rows("layer_norm", input, weight, bias, eps, first, Kept())


def _filled_vector(name: str, given: Tensor | None, shape: tuple, fill: int, like: Tensor) -> Tensor:
    """Ones or zeros in place of a vector that is not given; one that is has another shape."""
    if given is not None:
        raise ValueError(
            f"For 'layer_norm', '{name}' must have the shape {shape} of 'normalized_shape', but got {given.shape}."
        )
    return wrap(np.full(shape, fill, like.array().dtype))
