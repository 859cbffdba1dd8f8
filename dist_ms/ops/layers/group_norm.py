"""Group and instance normalisation."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.tape import Kept, wanted
from dist_ms.autograd.tape import recording
from dist_ms.common.checks import check_float, check_positive_int, complaint
from dist_ms.common.error_classes import reads
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops import arguments
from dist_ms.ops.arguments import tensor
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import group_norm as kernels
from dist_ms.ops.layout import contiguous, converted, kernel_type, working_type
from dist_ms.ops.primitive import Primitive
from dist_ms.ops.shaping import reshaping

__all__ = ["group_norm", "instance_norm"]


def _channels(x: np.ndarray, work: np.dtype) -> np.ndarray:
    """(N, C, ...) as a C-contiguous (N, C, size) of a type that is computed with in `work`."""
    return contiguous(x, kernel_type(x.dtype) if working_type(x.dtype) == work else work).reshape(*x.shape[:2], -1)


class _GroupNormalisation(Primitive):
    """(x - mean) / sqrt(variance + eps) gamma + beta, mean and biased variance of each group of channels.

    Args:
        groups: how many groups a sample has.
        eps: added to the variance.

    Call:
        x: (N, C, ...), not empty.
        gamma, beta: (C,).
        kept: gets the arrays (mean, rstd) of the working type, an element per sample and group.
    """

    keeps = (0, 1)

    def __init__(self, groups: int, eps: float) -> None:
        self.name, self._groups, self._eps = "group_norm", groups, eps

    def forward(self, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, kept: Kept) -> np.ndarray:
        work = working_type(x.dtype)
        lines, count = _channels(x, work), x.shape[0] * self._groups
        mean, rstd = kept.value = np.empty(count, work), np.empty(count, work)
        out = np.empty_like(lines)
        kernels.forward(lines, contiguous(gamma, work), contiguous(beta, work), self._eps, out, mean, rstd)
        return converted(out, x.dtype).reshape(x.shape)

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, gamma, beta, kept = inputs
        dx, dgamma, dbeta = _GroupNormalisationGrad(self._groups, self._eps)(dout, x, gamma, *kept.value)
        return dx, dgamma, dbeta if wanted(beta) else None, None


class _GroupNormalisationGrad(Primitive):
    """The gradients (dx, dgamma, dbeta) of `_GroupNormalisation`."""

    keeps = (0, 1, 2)

    def __init__(self, groups: int, eps: float) -> None:
        self._groups, self._eps = groups, eps

    def forward(self, dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, rstd: np.ndarray) -> tuple:
        work = mean.dtype
        lines = _channels(x, work)
        dx, dgamma, dbeta = np.empty_like(lines), np.empty(gamma.size, work), np.empty(gamma.size, work)
        kernels.backward(_channels(dy, work), lines, contiguous(gamma, work), mean, rstd, dx, dgamma, dbeta)
        return (
            converted(dx, x.dtype).reshape(x.shape),
            dgamma.astype(gamma.dtype, copy=False),
            dbeta.astype(gamma.dtype, copy=False),
        )

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        return (*formula_gradient(self._formula, inputs[:3], dout), None, None)

    def _formula(self, dy: Tensor, x: Tensor, gamma: Tensor) -> tuple:
        shape, dtype = x.shape, x.dtype
        grouped = (shape[0], self._groups, shape[1] // self._groups, -1)
        x, dy = ops.reshape(ops.cast(x, dy.dtype), grouped), ops.reshape(dy, grouped)
        mean = ops.ReduceMean(keep_dims=True)
        centred = x - mean(x, (2, 3))
        rstd = ops.rsqrt(mean(centred * centred, (2, 3)) + self._eps)
        xhat = centred * rstd
        g = dy * ops.reshape(ops.cast(gamma, dy.dtype), (1, self._groups, -1, 1))
        dx = rstd * (g - mean(g, (2, 3)) - xhat * mean(g * xhat, (2, 3)))
        sums = [ops.reshape(ops.ReduceSum()(part, (0, 3)), gamma.shape) for part in (dy * xhat, dy)]
        return ops.cast(ops.reshape(dx, shape), dtype), *[ops.cast(part, gamma.dtype) for part in sums]


def _check_channels(owner: str, input: Any, vectors: dict) -> None:
    """Require (N, C, ...) and vectors with an element per channel."""
    shape = arguments.tensor(input, "input", owner).shape
    if len(shape) < 2:
        raise ValueError(f"For '{owner}', 'input' must have at least 2 dimensions, but got shape {shape}.")
    for name, vector in vectors.items():
        if vector is not None and arguments.tensor(vector, name, owner).shape != shape[1:2]:
            raise ValueError(
                f"For '{owner}', '{name}' must have an element for each of the {shape[1]} channels of "
                f"'input' {shape}, but got shape {vector.shape}."
            )


@reads(input="shape")
def group_norm(
    input: Tensor, num_groups: int, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5
) -> Tensor:
    """Normalise groups of channels: (x - mean) / sqrt(variance + eps) weight + bias.

    Wu and He, "Group Normalization", 2018; mean and biased variance per sample and group.

    Args:
        input: (N, C, ...) floats.
        num_groups: number of groups, divides C.
        weight: (C,), or None for ones.
        bias: (C,), or None for zeros.
        eps: added to the variance.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `num_groups` is no int, `input` holds no floats, or a vector another dtype.
        ValueError: if `num_groups` does not divide C, or a vector has another length.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.group_norm(ms.Tensor([[1.0, 3.0]]), 1, eps=0.0))
        [[-1.  1.]]
    """
    check_float(eps, "eps", "group_norm")
    if tensor(input, "input", "group_norm").ndim < 2:
        raise IndexError(f"For 'group_norm', 'input' must have at least 2 dimensions, but got shape {input.shape}.")
    return normalised_groups(input, num_groups, weight, bias, eps, Kept())


def _of_policy(primitive: Primitive, *inputs: Tensor | None) -> tuple:
    """The inputs as the policy of operations casts them: of one type, they are one pass over memory."""
    cast = recording.policy(primitive, tuple([v for v in inputs if v is not None]))
    if not isinstance(cast, tuple):
        return inputs
    found = iter(cast)
    return tuple([None if v is None else next(found) for v in inputs])


def normalised_groups(
    input: Tensor, num_groups: int, weight: Tensor | None, bias: Tensor | None, eps: float, kept: Kept
) -> Tensor:
    """What `group_norm` returns; `kept` gets (mean, rstd), an element per sample and group, unless `input` is empty."""
    num_groups = check_positive_int(arguments.scalar(num_groups), "num_groups", "group_norm")
    _check_channels("group_norm", input, {"weight": weight, "bias": bias})
    shape = input.shape
    if shape[1] % num_groups:
        raise ValueError(
            complaint("num_groups", "group_norm", f"a divisor of the {shape[1]} channels of 'input'", num_groups)
        )
    data = arguments.floating(input.array(), "input", "group_norm", complex_too=False)
    if recording.policy is not None and data.size:
        input, weight, bias = _of_policy(_GroupNormalisation(num_groups, eps), input, weight, bias)
        data = input.array()
    for vector, argument in ((weight, "weight"), (bias, "bias")):
        if vector is not None and vector._element != data.dtype:
            raise TypeError(
                f"For 'group_norm', '{argument}' must have the dtype of 'input', {input.dtype}, "
                f"but got {vector.dtype}; cast one of them."
            )
    ones, zeros = wrap(np.ones(shape[1], data.dtype)), wrap(np.zeros(shape[1], data.dtype))
    if data.size:
        both = ones if weight is None else weight, zeros if bias is None else bias
        return _GroupNormalisation(num_groups, eps)(input, *both, kept)
    out = input + 0
    column = (shape[1], *(1,) * (len(shape) - 2))
    if weight is not None:
        out = out * reshaping.reshape(weight, column)
    return out if bias is None else out + reshaping.reshape(bias, column)


def instance_norm(input: Tensor, weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-5) -> Tensor:
    """Normalise each channel of each sample: (x - mean) / sqrt(variance + eps) weight + bias.

    Ulyanov, Vedaldi and Lempitsky, "Instance Normalization", 2016; biased variance.

    Args:
        input: (N, C, ...) floats.
        weight: (C,), or None for ones.
        bias: (C,), or None for zeros.
        eps: added to the variance.

    Returns:
        Tensor of the shape and dtype of `input`.

    Raises:
        TypeError: if `input` holds no floats.
        ValueError: if a vector has another length than there are channels.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.ops.instance_norm(ms.Tensor([[[1.0, 3.0]]]), eps=0.0))
        [[[-1.  1.]]]
    """
    return normalised_instances(input, weight, bias, eps, Kept())


def normalised_instances(input: Tensor, weight: Tensor | None, bias: Tensor | None, eps: float, kept: Kept) -> Tensor:
    """What `instance_norm` returns; `kept` gets (mean, rstd), an element per sample and channel, unless it is empty."""
    _check_channels("instance_norm", input, {"weight": weight, "bias": bias})
    return normalised_groups(input, max(input.shape[1], 1), weight, bias, eps, kept)
