"""FTRL, follow the regularized leader."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_float, check_non_negative_float, check_positive_float
from dist_ms.common.parameter import Parameter
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.optimizer import Optimizer


class FTRL(Optimizer):
    r"""FTRL-proximal: follow the regularized leader, with weights that become exactly 0.

    .. math::
        n' = n + g^2, \quad z \leftarrow z + g - \frac{n'^{-p} - n^{-p}}{\eta} w, \quad n \leftarrow n'

        w \leftarrow \begin{cases}
            \dfrac{\operatorname{sign}(z) l_1 - z}{n^{-p} / \eta + 2 l_2} & |z| > l_1 \\ 0 & \text{otherwise}
        \end{cases}

    g includes the weight decay, which without groups applies to every parameter. Source:
    McMahan et al., Ad Click Prediction: a View from the Trenches, 2013.

    Args:
        params: Parameters or group dictionaries (without `lr`).
        initial_accum: the value n starts with, 0 or more.
        learning_rate: :math:`\eta`, a positive float.
        lr_power: p, a float of 0 or less.
        l1, l2: regularization, floats of 0 or more.
        use_locking: protect the update from other updates of the same parameter (always so here).
        loss_scale: gradients are divided by it.
        weight_decay: a float or a schedule.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range, or a learning rate that changes or differs between groups.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0, 1.0]), name="w")
        >>> opt = ms.nn.FTRL([w], initial_accum=0.0, learning_rate=0.5, l1=2.0)
        >>> _ = opt((ms.Tensor([4.0, 1.0]),))
        >>> print(w.asnumpy())
        [0.25 0.  ]
    """

    element_wise = True
    sparse_target = True
    rule = "ftrl"
    lazy_rows = True

    @remembers_arguments
    def __init__(
        self,
        params: Any,
        initial_accum: float = 0.1,
        learning_rate: float = 0.001,
        lr_power: float = -0.5,
        l1: float = 0.0,
        l2: float = 0.0,
        use_locking: bool = False,
        loss_scale: float = 1.0,
        weight_decay: Any = 0.0,
    ) -> None:
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        if self.dynamic_lr or self.is_group_lr:
            raise ValueError(
                "For 'FTRL', 'learning_rate' must be one float for all steps and groups, but got dynamic learning "
                f"rate {self.dynamic_lr} and group learning rate {self.is_group_lr}."
            )
        check_non_negative_float(initial_accum, "initial_accum", "FTRL")
        self.lr = check_positive_float(learning_rate, "learning_rate", "FTRL")
        self.lr_power = check_float(lr_power, "lr_power", "FTRL")
        if not lr_power <= 0.0:
            raise ValueError(f"For 'FTRL', the argument 'lr_power' must <= 0.0, but got {lr_power}.")
        self.l1 = check_non_negative_float(l1, "l1", "FTRL")
        self.l2 = check_non_negative_float(l2, "l2", "FTRL")
        self.use_locking = check_bool(use_locking, "use_locking", "FTRL")
        self.moments = self.states("moments", fill=initial_accum)
        self.linear = self.states("linear")
        if not self.is_group:
            self.decay_flags = (True,) * self.param_length

    def construct(self, grads: Any) -> Any:
        """Update every parameter; `grads` is what other optimizers call `gradients`."""
        return super().construct(grads)

    def rule_states(self, index: int) -> tuple[Parameter, ...]:
        """The sums of one parameter."""
        return self.moments[index], self.linear[index]

    def rule_numbers(self, index: int, lr: float, weight_decay: float) -> tuple:
        """The numbers of the rule."""
        return lr, weight_decay, self.grad_factor, self.lr_power, self.l1, self.l2
