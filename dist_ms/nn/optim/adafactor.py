"""AdaFactor."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.checks import (
    check_bool,
    check_float_range,
    check_non_negative_float,
    check_non_negative_number,
    check_type,
)
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.elementwise import run_rule, work_type


class AdaFactor(Optimizer):
    r"""Adafactor: running squares of a matrix's gradients kept as one row and one column.

    .. math::
        R \leftarrow \beta_t R + (1-\beta_t)\, \overline{(g^2 + \epsilon_1)}_{row}, \quad
        C \leftarrow \beta_t C + (1-\beta_t)\, \overline{(g^2 + \epsilon_1)}_{column}, \quad
        u = g \Big/ \sqrt{\frac{R\, C^\top}{\bar R}}

        w \leftarrow w - \alpha \lambda w - m, \quad m \leftarrow \beta_1 m + (1-\beta_1)
        \frac{\alpha\, u}{\max(1, \operatorname{RMS}(u) / d)}, \quad
        \alpha = \eta_t \max(\epsilon_2, \operatorname{RMS}(w)), \quad \beta_t = 1 - t^{-r}

    where vectors keep the squares themselves, and without `scale_parameter` :math:`\alpha = \eta_t`.
    Source: Shazeer and Stern, Adafactor: Adaptive Learning Rates with Sublinear Memory Cost, 2018.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule; None with
            `relative_step`. A rate that changes switches `scale_parameter` and
            `relative_step` off.
        eps: (:math:`\epsilon_1`, :math:`\epsilon_2`), floats of 0 or more.
        clip_threshold: d, a float of 0 or more.
        decay_rate: r, a float in (0, 1).
        beta1: decay rate of the first moment, 0 or more; None or 0 for no first moment.
        weight_decay: :math:`\lambda`, a float in [0, 1), for all parameters that no group says otherwise for.
        scale_parameter: scale steps by the size of the weights.
        relative_step: :math:`\eta_t = \min(10^{-2}, 1/\sqrt t)` in the place of a learning rate.
        warmup_init: :math:`\eta_t = \min(10^{-6} t, 1/\sqrt t)` instead; needs `relative_step`.
        compression: keep the squares of vectors in float16.
        loss_scale: gradients are divided by it.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range, or a learning rate that does not fit `relative_step`.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.nn.AdaFactor([w], learning_rate=0.5, relative_step=False, beta1=0.0)
        >>> _ = opt((ms.Tensor([3.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    decoupled_decay = True
    sparse_target = True

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = None,
        eps: tuple[float, float] = (1e-30, 1e-3),
        clip_threshold: float = 1.0,
        decay_rate: float = 0.8,
        beta1: float | None = 0.9,
        weight_decay: float = 0.0,
        scale_parameter: bool = True,
        relative_step: bool = True,
        warmup_init: bool = False,
        compression: bool = False,
        loss_scale: float = 1.0,
    ) -> None:
        _check_rate(learning_rate, relative_step, warmup_init)
        check_float_range(weight_decay, "weight_decay", "AdaFactor", 0.0, 1.0, "[)")
        super().__init__(0.0 if learning_rate is None else learning_rate, params, weight_decay, loss_scale)
        check_type(eps, "eps", "AdaFactor", (list, tuple))
        if len(eps) != 2:
            raise ValueError(f"For 'AdaFactor', 'eps' must be a tuple of 2 floats, but got {len(eps)}.")
        self.eps = tuple(check_non_negative_float(e, f"eps{i}", "AdaFactor") for i, e in enumerate(eps))
        self.clip_threshold = check_non_negative_float(clip_threshold, "clip_threshold", "AdaFactor")
        self.decay_rate = check_float_range(decay_rate, "decay_rate", "AdaFactor", 0.0, 1.0, "()")
        for name, value in (
            ("scale_parameter", scale_parameter),
            ("relative_step", relative_step),
            ("warmup_init", warmup_init),
            ("compression", compression),
        ):
            check_bool(value, name, "AdaFactor")
        self.beta1 = float(check_non_negative_number(0.0 if beta1 is None else beta1, "beta1", "AdaFactor"))
        self.scale_lr = not self.dynamic_lr
        self.scale_parameter, self.relative_step = scale_parameter and self.scale_lr, relative_step
        self.warmup_init, self.compression = warmup_init, compression
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length
        self._make_moments()

    def _make_moments(self) -> None:
        self.use_first_moment = self.beta1 > 0.0
        if self.use_first_moment:
            self.exp_avg = self.states("exp_avg")
        rows, columns, squares = [], [], []
        for p in self.parameters:
            dtype, factored = p.dtype.np, p.ndim > 1
            rows.append(_zeros(p.shape[:-1] if factored else (1,), dtype, f"exp_avg_sq_row_{p.name}"))
            columns.append(_zeros(p.shape[:-2] + p.shape[-1:] if factored else (1,), dtype, f"exp_avg_sq_col_{p.name}"))
            kept = np.float16 if self.compression and not factored else dtype
            squares.append(_zeros((1,) if factored else p.shape, kept, f"exp_avg_sq_{p.name}"))
        self.exp_avg_sq_row, self.exp_avg_sq_col = ParameterTuple(rows), ParameterTuple(columns)
        self.exp_avg_sq = ParameterTuple(squares)
        self.step = Parameter(Tensor(np.zeros(1, np.float32)), name="afactor_step")

    def begin_step(self) -> None:
        """Count the step."""
        self.step._data += 1

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its moments in place."""
        p = param._data
        g = grad.asnumpy().astype(work_type(p))
        g *= self.grad_factor
        rate = self._rate(lr)
        if self.scale_parameter:
            rate *= max(self.eps[1], _rms(p))
        if not g.size:
            return
        g = self._normalised(index, g)
        g *= rate / max(1.0, _rms(g) / self.clip_threshold if self.clip_threshold else math.inf)
        states = [self.exp_avg[index]] if self.use_first_moment else []
        self._move(param, from_array(g), states, rate * weight_decay)

    def _rate(self, lr: float) -> float:
        """The relative step size, or the learning rate."""
        if not (self.scale_lr and self.relative_step):
            return lr
        step = float(self.step._data[0])
        return min(1e-6 * step if self.warmup_init else 1e-2, 1.0 / math.sqrt(step))

    def _normalised(self, index: int, g: np.ndarray) -> np.ndarray:
        """The gradient over the root of its running squares, which are updated; in the gradient's memory."""
        beta = 1.0 - float(self.step._data[0]) ** -self.decay_rate
        squares = g * g
        squares += self.eps[0]
        if g.ndim < 2:
            g /= np.sqrt(_fade(self.exp_avg_sq[index]._data, squares, beta))
            return g
        rows = _fade(self.exp_avg_sq_row[index]._data, squares.mean(-1), beta)
        columns = _fade(self.exp_avg_sq_col[index]._data, squares.mean(-2), beta)
        g /= np.sqrt(rows / rows.mean(-1, keepdims=True))[..., None]
        g /= np.sqrt(columns)[..., None, :]
        return g

    def _move(self, param: Parameter, step: Tensor, states: list[Parameter], decay: float) -> None:
        run_rule(_smoothed if states else _direct, param, step, states, self.beta1, decay)


def _smoothed(p: np.ndarray, step: np.ndarray, m: np.ndarray, beta1: float, decay: float) -> None:
    m *= beta1
    step *= 1.0 - beta1
    m += step
    _direct(p, m, beta1, decay)


def _direct(p: np.ndarray, step: np.ndarray, beta1: float, decay: float) -> None:
    if decay:
        p *= 1.0 - decay
    p -= step


def _check_rate(learning_rate: Any, relative_step: Any, warmup_init: Any) -> None:
    """Check that exactly one of a learning rate and relative steps is asked for."""
    if learning_rate is not None and relative_step:
        raise ValueError(
            "For 'AdaFactor', 'relative_step' must be False with a learning rate, but got True: "
            "give relative_step=False, or no learning rate."
        )
    if learning_rate is None and not relative_step:
        raise ValueError("For 'AdaFactor', 'learning_rate' must be given without relative_step, but got None.")
    if warmup_init and not relative_step:
        raise ValueError("For 'AdaFactor', 'relative_step' must be True with warmup_init, but got False.")


def _zeros(shape: tuple[int, ...], dtype: Any, name: str) -> Parameter:
    return Parameter(Tensor(np.zeros(shape, dtype)), name)


def _rms(array: np.ndarray) -> float:
    return math.sqrt(float(np.mean(np.square(array, dtype=np.float64)))) if array.size else 0.0


def _fade(state: np.ndarray, new: np.ndarray, beta: float) -> np.ndarray:
    """Mix a running mean with the new values in place, and return it in their type, not rounded."""
    mixed = state.astype(new.dtype)
    mixed *= beta
    mixed += new * (1.0 - beta)
    state[...] = mixed
    return mixed
