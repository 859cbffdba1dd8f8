"""Adam, and the state it shares with AdamW."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.experimental.optim.adam_states import AdamStates
from dist_ms.experimental.optim.arguments import check_strictly
from dist_ms.nn.optim.optimizer import make_states


class StrictAdamStates(AdamStates):
    """As in `experimental.optim`, but the arguments must be floats, and running maxima are part of their group."""

    first_count = 0  # the step count before the first step
    pair_types: Any = tuple  # of betas

    @classmethod
    def check(cls, owner: str, **arguments: Any) -> None:
        """Check the arguments."""
        check_strictly(owner, **arguments, pair=cls.pair_types)

    def more_states(self) -> None:
        """Make the count of steps."""
        self.counter("state_step", np.float32, (1,), self.first_count)

    def add_param_group(self, param_group: dict) -> None:
        """Add a group, with running maxima if it sets `amsgrad`."""
        super().add_param_group(param_group)
        if param_group["amsgrad"]:
            param_group["max_exp_avg_sq"] = ParameterTuple(make_states(param_group["params"], "max_exp_avg_sq"))

    def step_number(self) -> int:
        """The number of the step, from 1."""
        return int(self.state_step._data[0]) - self.first_count

    def maximum(self, index: int, group: dict) -> Parameter:
        """The running maximum of a parameter of a group with `amsgrad`."""
        return group["max_exp_avg_sq"][index - self.group_start_id[self.param_groups.index(group)]]


class Adam(StrictAdamStates):
    r"""Adam: steps scaled by running moments of the gradient.

    .. math::
        m \leftarrow \beta_1 m + (1-\beta_1) g, \quad v \leftarrow \beta_2 v + (1-\beta_2) g^2, \quad
        w \leftarrow w - \frac{\eta}{1-\beta_1^t} \frac{m}{\sqrt{v} / \sqrt{1-\beta_2^t} + \epsilon}

    With `amsgrad` the running maximum of v stands in the root. Sources: Kingma and Ba, Adam: A
    Method for Stochastic Optimization, 2015; Reddi et al., On the Convergence of Adam and
    Beyond, 2018.

    Args:
        params: Parameters or group dictionaries.
        lr: a float of 0 or more.
        betas: a tuple of decay rates, floats in [0, 1).
        eps: added to the corrected root, a float of 0 or more.
        weight_decay: times the weights, added to the gradient; a float of 0 or more.
        amsgrad: use the largest v so far.
        maximize: go up the gradient.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.mint.optim.Adam([w], lr=0.1)
        >>> print(opt((ms.Tensor([3.0]),)), w.asnumpy().round(4))
        True [0.9]
    """

    def __init__(
        self,
        params: Any,
        lr: float = 1e-3,
        betas: tuple[float, float] = (0.9, 0.999),
        eps: float = 1e-8,
        weight_decay: float = 0.0,
        amsgrad: bool = False,
        *,
        maximize: bool = False,
    ) -> None:
        super().__init__(params, lr, betas, eps, weight_decay, amsgrad, maximize)
