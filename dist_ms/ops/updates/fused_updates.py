"""FusedAdaFactor and FusedCastAdamWeightDecay: whole optimizer steps over one weight and its state."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.arguments import tensor
from dist_ms.ops.creating.assignment import overwrite
from dist_ms.ops.primitive import quiet
from dist_ms.ops.updates.parameter_updates import ParameterUpdate

__all__ = ["FusedAdaFactor", "FusedAdaFactorWithGlobalNorm", "FusedCastAdamWeightDecay"]


def mean_square_root(x: np.ndarray) -> Any:
    """The square root of the mean square."""
    return np.sqrt(np.mean(np.square(x)))


class FusedAdaFactor(ParameterUpdate):
    """A step of AdaFactor (Shazeer and Stern, 2018).

    The moving mean of squared gradients of a matrix is kept as that of its rows and that of its columns. The
    gradient over its root is scaled down to a root mean square of `clip_threshold`, times the learning rate.

    Args:
        enable_scale_parameter: multiply the learning rate by the weights' root mean square, at least epsilon[1].
        enable_first_moment: step by the moving mean of the steps.
        enable_weight_decay: take lr weight_decay param off the weights too.

    Call:
        epsilon (tuple): (added to squared gradients, see above).
        clip_threshold, beta1, beta2, weight_decay, learning_rate (float): beta1 is of the steps' mean, beta2 of
            the squares'.
        gradient (Tensor): of the shape of `param`.
        param (Parameter): the weights, float16 or float32, updated.
        exp_avg (Parameter): moving mean of the steps, updated with `enable_first_moment`.
        exp_avg_sq_row (Parameter): means over the last dimension, updated where there are two or more.
        exp_avg_sq_col (Parameter): means over the last dimension but one, likewise.
        exp_avg_sq (Parameter): moving mean of the squares, updated where there is one dimension.

    Returns:
        tuple: the updated weights.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> def state(*shape):
        ...     return ms.Parameter(ms.ops.zeros(shape, ms.float32))
        >>> w, step = ms.Parameter(ms.Tensor([[1.0, 1.0]])), ms.ops.FusedAdaFactor()
        >>> numbers = ((1e-30, 1e-3), 1.0, 0.9, 0.8, 0.0, 0.5, ms.Tensor([[2.0, -2.0]]))
        >>> print(step(*numbers, w, state(1, 2), state(1), state(2), state(1, 2))[0])
        [[0.5 1.5]]
    """

    def __init__(
        self,
        enable_scale_parameter: bool = False,
        enable_first_moment: bool = False,
        enable_weight_decay: bool = False,
    ) -> None:
        super().__init__()
        self.enable_scale_parameter = self.flag(enable_scale_parameter, "enable_scale_parameter")
        self.enable_first_moment = self.flag(enable_first_moment, "enable_first_moment")
        self.enable_weight_decay = self.flag(enable_weight_decay, "enable_weight_decay")

    @quiet
    def __call__(
        self,
        epsilon: tuple,
        clip_threshold: Any,
        beta1: Any,
        beta2: Any,
        weight_decay: Any,
        learning_rate: Any,
        gradient: Tensor,
        param: Tensor,
        exp_avg: Tensor,
        exp_avg_sq_row: Tensor,
        exp_avg_sq_col: Tensor,
        exp_avg_sq: Tensor,
    ) -> tuple[Tensor]:
        return self._step(
            epsilon,
            (clip_threshold, beta1, beta2, weight_decay, learning_rate),
            gradient,
            (param, exp_avg, exp_avg_sq_row, exp_avg_sq_col, exp_avg_sq),
        )

    def _step(
        self, epsilon: tuple, numbers: tuple, gradient: Tensor, states: tuple[Tensor, ...], divisor: Any = 1.0
    ) -> tuple[Tensor]:
        param, exp_avg, row, column, square = states
        if not isinstance(epsilon, (tuple, list)) or len(epsilon) != 2:
            raise TypeError(complaint("epsilon", self.name, "a tuple of two floats", repr(epsilon)))
        work = np.dtype(np.float64 if tensor(param, "param", self.name).array().dtype.itemsize == 8 else np.float32)
        small, least = (self.scalar(value, "epsilon", work) for value in epsilon)
        names = ("clip_threshold", "beta1", "beta2", "weight_decay", "learning_rate")
        clip, beta1, beta2, decay, rate = (self.scalar(v, n, work) for v, n in zip(numbers, names))

        def array(value: Tensor, name: str, shape: tuple) -> np.ndarray:
            return self.floats(value, name, shape).astype(work)

        shape = param.shape
        weights = array(param, "param", shape)
        g = array(gradient, "gradient", shape) / self.scalar(divisor, "global_norm", work)
        squared = g * g + small
        if len(shape) > 1:
            rows = array(row, "exp_avg_sq_row", shape[:-1])
            columns = array(column, "exp_avg_sq_col", (*shape[:-2], shape[-1]))
            rows = rows * beta2 + squared.mean(-1, dtype=work) * (1 - beta2)
            columns = columns * beta2 + squared.mean(-2, dtype=work) * (1 - beta2)
            scale = rows / rows.mean(-1, keepdims=True, dtype=work)
            step = g / (np.sqrt(scale)[..., None] * np.sqrt(columns)[..., None, :])
            overwrite(row, rows), overwrite(column, columns)
        else:
            squares = array(square, "exp_avg_sq", shape) * beta2 + squared * (1 - beta2)
            step = g / np.sqrt(squares)
            overwrite(square, squares)
        step = step / max(work.type(1), mean_square_root(step) / clip)
        if self.enable_scale_parameter:
            rate = rate * max(least, mean_square_root(weights))
        step = step * rate
        if self.enable_first_moment:
            step = array(exp_avg, "exp_avg", shape) * beta1 + step * (1 - beta1)
            overwrite(exp_avg, step)
        if self.enable_weight_decay:
            weights = weights - weights * decay * rate
        return (overwrite(param, weights - step),)


class FusedAdaFactorWithGlobalNorm(FusedAdaFactor):
    """A step of AdaFactor on a gradient divided by a norm.

    Args:
        enable_scale_parameter, enable_first_moment, enable_weight_decay: see `FusedAdaFactor`.

    Call:
        As `FusedAdaFactor`, then global_norm (float): what the gradient is divided by.

    Returns:
        tuple: the updated weights.

    Examples:
        >>> import dist_ms as ms
        >>> def state(*shape):
        ...     return ms.Parameter(ms.ops.zeros(shape, ms.float32))
        >>> w, step = ms.Parameter(ms.Tensor([1.0])), ms.ops.FusedAdaFactorWithGlobalNorm()
        >>> numbers = ((1e-30, 1e-3), 1.0, 0.9, 0.8, 0.0, 0.5, ms.Tensor([2.0]))
        >>> print(step(*numbers, w, state(1), state(1), state(1), state(1), 4.0)[0])
        [0.5]
    """

    @quiet
    def __call__(self, epsilon: tuple, *args: Any) -> tuple[Tensor]:
        if len(args) != 12:
            raise TypeError(f"For '{self.name}', there must be 13 arguments, but got {1 + len(args)}.")
        return self._step(epsilon, args[:5], args[5], args[6:11], args[11])


class FusedCastAdamWeightDecay(ParameterUpdate):
    """A step of Adam with weight decay on float16 or float32 weights, whose state is float32.

    With g = gradient / global_norm: m and v move towards g and its square, and
    var -= lr (m / (sqrt(v) + epsilon) + decay var).

    Args:
        use_locking: accepted; updates are always in order.

    Call:
        var (Parameter): the weights, float16 or float32, updated.
        m (Parameter): moving mean of the gradients, float32, updated.
        v (Parameter): moving mean of their squares, float32, updated.
        lr, beta1, beta2, epsilon, decay (float): see above.
        gradient (Tensor): of the shape of `var`, floats.
        global_norm (float): what the gradient is divided by.

    Returns:
        The updated (var, m, v).

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the shapes do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0], ms.float16))
        >>> one = lambda: ms.Parameter(ms.Tensor([1.0]))
        >>> step = ms.ops.FusedCastAdamWeightDecay()
        >>> _ = step(w, one(), one(), 0.5, 0.5, 0.5, 1.0, 0.5, ms.Tensor([2.0], ms.float16), 2.0)
        >>> print(w.asnumpy())
        [0.5]
    """

    @quiet
    def __call__(
        self,
        var: Tensor,
        m: Tensor,
        v: Tensor,
        lr: Any,
        beta1: Any,
        beta2: Any,
        epsilon: Any,
        decay: Any,
        gradient: Tensor,
        global_norm: Any,
    ) -> tuple[Tensor, Tensor, Tensor]:
        shape = tensor(var, "var", self.name).shape
        arrays = [self.floats(a, n, shape) for a, n in ((var, "var"), (m, "m"), (v, "v"), (gradient, "gradient"))]
        for array, name in zip(arrays[1:3], "mv"):
            if array.dtype != np.float32:
                raise TypeError(complaint(name, self.name, "of float32", array.dtype))
        weights, mean, square, g = (a.astype(np.float32) for a in arrays)
        names = ("lr", "beta1", "beta2", "epsilon", "decay", "global_norm")
        d = np.dtype(np.float32)
        values = (lr, beta1, beta2, epsilon, decay, global_norm)
        rate, beta1, beta2, small, decay, norm = (self.scalar(value, name, d) for value, name in zip(values, names))
        g = g / norm
        mean = beta1 * mean + (1 - beta1) * g
        square = beta2 * square + (1 - beta2) * g * g
        weights = weights - rate * (mean / (np.sqrt(square) + small) + decay * weights)
        return overwrite(var, weights), overwrite(m, mean), overwrite(v, square)
