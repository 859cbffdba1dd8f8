"""BatchNorm: over the batch in training, with given statistics otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms._ext.remember import remembered
from dist_ms._ext.tape import agree, holds_floats, wanted, written
from dist_ms.autograd.tape import recording
from dist_ms.common.checks import check_bool, check_float_range
from dist_ms.common.dtype import from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops import arguments
from dist_ms.ops.arguments import not_of
from dist_ms.ops.convolutions.geometry import check_data_format
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.kernels import batch_norm as kernels
from dist_ms.ops.kernels import moving_statistics
from dist_ms.ops.layers.postponed_norm import InferLater, MaskLater, NormLater, can_wait
from dist_ms.ops.layout import (
    contiguous,
    converted,
    empty,
    empty_like,
    is_channels_last,
    is_row_major,
    laid_out_like,
    working_type,
)
from dist_ms.ops.primitive import Primitive

__all__ = ["BatchNorm", "batch_norm"]


def _readable(x: np.ndarray) -> np.ndarray:
    """`x` as the kernels read it, in channels-first or channels-last memory."""
    return x if is_row_major(x) or is_channels_last(x) else contiguous(x)


def _result_type(x: np.ndarray, widens: bool) -> np.dtype:
    """The type of a result of `x`."""
    return working_type(x.dtype) if widens else x.dtype


class BatchNormTrain(Primitive):
    """(x - mean) / sqrt(variance + eps) gamma + beta, with the batch's mean and biased variance.

    Ioffe and Szegedy, "Batch Normalization", 2015.

    Args:
        eps: added to the variance.
        widens: give the result in the working type, else in that of `x`.
        waits: leave writing the result to the operation that reads it first, where that can be.

    Call:
        x: (N, C, ...).
        gamma, beta: (C,), in the working type or that of `x`.
        mean, rstd: arrays (C,) of the working type, written: the mean and 1 / sqrt(variance + eps).
    """

    keeps = (0, 1, 2)
    may_wait = True

    def __init__(self, eps: float, widens: bool = False, waits: bool = False) -> None:
        self._eps, self._widens, self._waits = eps, widens, waits

    def widening(self) -> BatchNormTrain:
        """The same with a float32 result of 16-bit numbers: a cast before it is part of it."""
        return BatchNormTrain(self._eps, True, self._waits)

    def forward(
        self, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, mean: np.ndarray, rstd: np.ndarray
    ) -> np.ndarray | NormLater:
        if x.size == 0:
            mean[...], rstd[...] = 0, 1 / np.sqrt(self._eps)
            return x.astype(_result_type(x, self._widens))
        work = mean.dtype
        readable = _readable(x)
        if self._waits and readable is x:
            kernels.statistics(x, self._eps, mean, rstd)
            vectors = np.array(gamma, work), np.array(beta, work), mean, rstd
            return NormLater(x, vectors, _result_type(x, self._widens))
        out = empty_like(readable, _result_type(readable, self._widens))
        kernels.forward_train(readable, contiguous(gamma, work), contiguous(beta, work), self._eps, out, mean, rstd)
        return converted(out, _result_type(x, self._widens))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        x, gamma, beta, mean, rstd = inputs
        found = None
        if isinstance(dout._later, MaskLater) and recording.tape is None:
            found = dout._later.gradients(dout, x._held, (gamma._held, beta._held, mean, rstd))
        dx, dgamma, dbeta = found or BatchNormGrad(self._eps)(dout, x, gamma, mean, rstd)
        return dx, dgamma, dbeta if wanted(beta) else None, None, None


class BatchNormGrad(Primitive):
    """The gradients (dx, dgamma, dbeta) of `BatchNormTrain`.

    With xhat = (x - mean) rstd and averages over the batch:
    dx = gamma rstd (dy - average(dy) - xhat average(dy xhat)).
    """

    keeps = (0, 1, 2)

    def __init__(self, eps: float) -> None:
        self._eps = eps

    def forward(self, dy: np.ndarray, x: np.ndarray, gamma: np.ndarray, mean: np.ndarray, rstd: np.ndarray) -> tuple:
        work = mean.dtype
        dgamma, dbeta = np.zeros(mean.shape, work), np.zeros(mean.shape, work)
        if x.size == 0:
            return x.copy(), dgamma.astype(gamma.dtype), dbeta.astype(gamma.dtype)
        readable = _readable(x)
        dx = empty_like(readable)
        wider = dy.dtype == work != readable.dtype
        dy = laid_out_like(dy, empty_like(readable, work) if wider else readable)
        kernels.backward(dy, readable, contiguous(gamma, work), mean, rstd, dx, dgamma, dbeta)
        return (
            converted(dx, x.dtype),
            converted(dgamma, gamma.dtype),
            converted(dbeta, gamma.dtype),
        )

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        return (*formula_gradient(self._formula, inputs[:3], dout), None, None)

    def _formula(self, dy: Tensor, x: Tensor, gamma: Tensor) -> tuple:
        low = x.dtype
        x = ops.cast(x, dy.dtype)
        axes = (0, *range(2, x.ndim))
        column = (1, x.shape[1], *(1,) * (x.ndim - 2))
        mean = ops.ReduceMean(keep_dims=True)
        centred = x - mean(x, axes)
        rstd = ops.rsqrt(mean(centred * centred, axes) + self._eps)
        xhat = centred * rstd
        inner = dy - mean(dy, axes) - xhat * mean(dy * xhat, axes)
        total = ops.ReduceSum()
        dx = ops.cast(ops.reshape(gamma, column) * rstd * inner, low)
        return dx, total(dy * xhat, axes), total(dy, axes)


class BatchNormInfer(Primitive):
    """(x - mean) / sqrt(variance + eps) gamma + beta with given statistics."""

    def __init__(self, eps: float, widens: bool = False, waits: bool = False) -> None:
        self._eps, self._widens, self._waits = eps, widens, waits

    def widening(self) -> BatchNormInfer:
        """The same with a float32 result of 16-bit numbers: a cast before it is part of it."""
        return BatchNormInfer(self._eps, True, self._waits)

    def forward(
        self, x: np.ndarray, gamma: np.ndarray, beta: np.ndarray, mean: np.ndarray, variance: np.ndarray
    ) -> np.ndarray | NormLater:
        if x.size == 0:
            return x.astype(_result_type(x, self._widens))
        work = working_type(x.dtype)
        readable = _readable(x)
        if self._waits and readable is x:
            vectors = tuple([np.array(a, work) for a in (gamma, beta, mean, variance)])
            return InferLater(self._eps, x, vectors, _result_type(x, self._widens))
        out = empty_like(readable, _result_type(readable, self._widens))
        kernels.forward_eval(readable, *[contiguous(a, work) for a in (gamma, beta, mean, variance)], self._eps, out)
        return converted(out, _result_type(x, self._widens))

    def gradient(self, inputs: tuple, output: Any, dout: Tensor) -> tuple:
        return tuple(formula_gradient(self._formula, inputs, dout))

    def _formula(self, x: Tensor, *vectors: Tensor) -> Tensor:
        if self._widens:
            x = ops.cast(x, from_numpy(working_type(x.dtype.np)))
        column = (1, x.shape[1], *(1,) * (x.ndim - 2))
        gamma, beta, mean, variance = [ops.cast(ops.reshape(v, column), x.dtype) for v in vectors]
        return (x - mean) * (ops.rsqrt(variance + self._eps) * gamma) + beta


class BatchNorm(Primitive):
    """Batch normalisation of (N, C, ...) tensors, per channel.

    In training, `mean` and `variance` are updated in place, outside gradients:
    new = (1 - momentum) old + momentum batch, with the batch's unbiased variance (for a single
    element per channel, 0).

    Args:
        is_training: normalise with the batch's statistics, else with `mean` and `variance`.
        epsilon: added to the variance, in (0, 1].
        momentum: weight of the batch in the update, in [0, 1].
        data_format: "NCHW".

    Call:
        input_x (Tensor): (N, C, ...), 2 to 5 dimensions.
        scale, bias (Tensor): (C,).
        mean, variance (Tensor or Parameter): (C,).

    Returns:
        A tuple: the result; the batch's mean and biased variance; the two again, the last as
        1 / sqrt(variance + epsilon). When not training no batch has any: they are zeros.

    Raises:
        TypeError: if `input_x` holds no floats.
        ValueError: if a vector has another length than there are channels, or an attribute is out
            of range.

    Examples:
        >>> import dist_ms as ms
        >>> one, zero = ms.Tensor([1.0]), ms.Tensor([0.0])
        >>> print(ms.ops.BatchNorm()(ms.Tensor([[2.0]]), one, zero, zero, one)[0])
        [[1.99999]]
    """

    def __init__(
        self, is_training: bool = False, epsilon: float = 1e-5, momentum: float = 0.1, data_format: str = "NCHW"
    ) -> None:
        self.is_training = check_bool(is_training, "is_training", "BatchNorm")
        self.epsilon = check_float_range(epsilon, "epsilon", "BatchNorm", 0, 1, "(]")
        self.momentum = check_float_range(momentum, "momentum", "BatchNorm", 0, 1)
        self.data_format = check_data_format(data_format, "BatchNorm", "NCHW")
        self._train, self._infer = BatchNormTrain(epsilon), BatchNormInfer(epsilon)
        self._train_later, self._infer_later = BatchNormTrain(epsilon, waits=True), BatchNormInfer(epsilon, waits=True)

    def __call__(self, input_x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> tuple:
        if not self.is_training:
            out = self.normalised(input_x, scale, bias, mean, variance)
            return out, *(Tensor(np.zeros(mean.shape, mean.array().dtype)) for _ in range(4))
        out, batch_mean, rstd = self.trained(input_x, scale, bias, mean, variance)
        batch = batch_mean, _biased_variance(rstd, self.epsilon), rstd
        batch_mean, biased, rstd = [Tensor(a.astype(out.array().dtype, copy=False)) for a in batch]
        return out, batch_mean, biased, batch_mean, rstd

    def normalised(self, input_x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> Tensor:
        """The result alone."""
        if self.is_training:
            return self.trained(input_x, scale, bias, mean, variance)[0]
        if not agree(input_x, 2, 5, 1, 2, scale, bias, mean, variance):
            self._check(input_x, scale, bias, mean, variance)
        return (self._infer_later if can_wait(input_x) else self._infer)(input_x, scale, bias, mean, variance)

    def trained(self, input_x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> tuple:
        """The result, and the arrays of the batch's mean and rstd."""
        if not agree(input_x, 2, 5, 1, 2, scale, bias, mean, variance):
            self._check(input_x, scale, bias, mean, variance)
        run = self._train_later if can_wait(input_x) else self._train
        x = input_x.array()
        size, channels, work = x.size, x.shape[1], working_type(x.dtype)
        batch_mean, rstd = empty(channels, work), empty(channels, work)
        out = run(input_x, scale, bias, batch_mean, rstd)
        count = size // channels if channels else 0
        follow_batch(mean, variance, batch_mean, rstd, self.epsilon, self.momentum, count)
        return out, batch_mean, rstd

    def _check(self, input_x: Tensor, scale: Tensor, bias: Tensor, mean: Tensor, variance: Tensor) -> None:
        shape = arguments.floating_tensor(input_x, "input_x", self.name).shape
        if not 2 <= len(shape) <= 5:
            raise ValueError(f"For '{self.name}', 'input_x' must have 2 to 5 dimensions, but got shape {shape}.")
        for name, given in (("scale", scale), ("bias", bias), ("mean", mean), ("variance", variance)):
            vector = arguments.tensor(given, name, self.name)
            if vector.shape != shape[1:2]:
                raise ValueError(
                    f"For '{self.name}', '{name}' must have an element for each of the {shape[1]} "
                    f"channels of 'input_x' {shape}, but got shape {vector.shape}."
                )


def _biased_variance(rstd: np.ndarray, eps: float) -> np.ndarray:
    """The variance in 1 / sqrt(variance + eps), in float64: it is a small difference when it is near eps."""
    return np.maximum(1.0 / np.square(rstd, dtype=np.float64) - eps, 0)


def follow_batch(
    mean: Tensor, variance: Tensor, batch_mean: np.ndarray, rstd: np.ndarray, eps: float, weight: float, count: int
) -> None:
    """Move statistics toward a batch's, with its unbiased variance, by a weight, in place and outside gradients.

    Args:
        mean, variance: (C,), the statistics.
        batch_mean, rstd: (C,), the batch's mean and 1 / sqrt(biased variance + eps).
        eps: the same.
        weight: of the batch.
        count: the batch's elements per channel.
    """
    correction = count / (count - 1) if count > 1 else 0.0
    to_mean, to_variance = written(mean), written(variance)
    if to_mean is None or to_variance is None or mean._plain_text or variance._plain_text:
        to_mean, to_variance = _written(mean), _written(variance)
    if not moving_statistics.follow_batch(to_mean, to_variance, batch_mean, rstd, eps, weight, correction):
        _move(to_mean, batch_mean, weight)
        _move(to_variance, _biased_variance(rstd, eps) * correction, weight)


def follow(moving: Tensor, batch: np.ndarray, weight: float) -> None:
    """Move a statistic toward a batch's by a weight, in place and outside gradients."""
    _move(_written(moving), batch, weight)


def _written(moving: Tensor) -> np.ndarray:
    """The array of a statistic, which is about to be written."""
    there = written(moving)  # what reads `_data` ends the wait of the batch's result
    moving.written()
    return moving.array() if there is None else there


def _move(array: np.ndarray, batch: np.ndarray, weight: float) -> None:
    """array = (1 - weight) array + weight batch."""
    if array.dtype == batch.dtype:
        array *= 1 - weight
        array += batch * weight
    else:
        np.copyto(array, array * (1 - weight) + batch * weight, casting="same_kind")


@remembered
def _batch_norm(training: Any, eps: Any, momentum: Any) -> BatchNorm:
    """The operation with these options."""
    return BatchNorm(training, eps, momentum)


def batch_norm(
    input_x: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor,
    bias: Tensor,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-5,
) -> Tensor:
    """Normalise (N, C, ...) per channel: (x - mean) / sqrt(variance + eps) weight + bias.

    Args:
        input_x: (N, C, ...) floats.
        running_mean, running_var: (C,), used when not training and updated in place when training.
        weight, bias: (C,).
        training: use and follow the batch's statistics.
        momentum: weight of the batch in that update, in [0, 1].
        eps: added to the variance, in (0, 1].

    Returns:
        Tensor of the shape and dtype of `input_x`.

    Raises:
        TypeError: if `training` is no bool, or `input_x` holds no floats.
        ValueError: if a vector has another length than there are channels.

    Examples:
        >>> import dist_ms as ms
        >>> one, zero = ms.Tensor([1.0]), ms.Tensor([0.0])
        >>> print(ms.ops.batch_norm(ms.Tensor([[1.0], [3.0]]), zero, one, one, zero, training=True))
        [[-0.999995]
         [ 0.999995]]
    """
    if not (holds_floats(bias) and holds_floats(running_mean) and holds_floats(running_var) and holds_floats(weight)):
        vectors = {"bias": bias, "running_mean": running_mean, "running_var": running_var, "weight": weight}
        for name, vector in vectors.items():
            not_of(vector, "?ibhlBHILFD", name, "batch_norm")
    return _batch_norm(training, eps, momentum).normalised(input_x, weight, bias, running_mean, running_var)
