"""Rprop."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_float, check_float_range, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import rprop_rule


class Rprop(Optimizer):
    r"""Resilient backpropagation: a step size per weight, from the signs of the gradients alone.

    .. math::
        d \leftarrow \begin{cases}
            \min(\eta_+ d, d_{max}) & g_{t-1} g_t > 0 \\
            \max(\eta_- d, d_{min}),\ g_t \leftarrow 0 & g_{t-1} g_t < 0 \\
            d & \text{otherwise}
        \end{cases}, \qquad w \leftarrow w - d \operatorname{sign}(g_t)

    d starts at the learning rate, which has no part in later steps. g includes the weight
    decay. Source: Riedmiller and Braun, A Direct Adaptive Method for Faster Backpropagation
    Learning: The RPROP Algorithm, 1993.

    Args:
        params: Parameters or group dictionaries.
        learning_rate: a float, a list per step, a Tensor or a schedule.
        etas: (:math:`\eta_-` in (0, 1), :math:`\eta_+` above 1), floats.
        step_sizes: (:math:`d_{min}`, :math:`d_{max}`), floats.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a tuple of another length, or a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0, 1.0]), name="w")
        >>> opt = ms.nn.Rprop([w], learning_rate=0.5)
        >>> print(opt((ms.Tensor([3.0, -0.1]),)), w.asnumpy())
        True [0.5 1.5]
    """

    element_wise = True

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        learning_rate: Any = 0.1,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50.0),
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay)
        for name, pair in (("etas", etas), ("step_sizes", step_sizes)):
            check_type(pair, name, "Rprop", tuple)
            if len(pair) != 2:
                raise ValueError(f"For 'Rprop', '{name}' must be a tuple of 2 floats, but got {len(pair)}.")
        check_float_range(etas[0], "etaminus", "Rprop", 0.0, 1.0, "()")
        if not check_float(etas[1], "etaplus", "Rprop") > 1.0:
            raise ValueError(f"For 'Rprop', 'etaplus' must be greater than 1.0, but got {etas[1]}.")
        check_float(step_sizes[0], "min_step_sizes", "Rprop")
        check_float(step_sizes[1], "max_step_sizes", "Rprop")
        if step_sizes[0] > step_sizes[1]:
            raise ValueError(f"For 'Rprop', 'step_sizes' must be (smallest, largest), but got {step_sizes}.")
        self.etaminus, self.etaplus = etas
        self.step_size_min, self.step_size_max = step_sizes
        self.prev = self.states("prev")
        self.step_size = self.states("step_size")

    def construct(self, gradients: Any) -> bool:
        """Update every parameter and return True."""
        super().construct(gradients)
        return True

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter, its last gradient and its step sizes in place."""
        if self.global_step._data[0] == 1:
            self.step_size[index]._data.fill(lr)
        states = [self.prev[index], self.step_size[index]]
        settings = (self.etaminus, self.etaplus, self.step_size_min, self.step_size_max)
        self.run_rule(rprop_rule, param, grad, states, weight_decay, *settings)
