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
    r"""`experimental.optim.Adam` with eps apart from the correction, and arguments that must be floats and a tuple.

    .. math::
        w \leftarrow w - \frac{\eta}{1-\beta_1^t} \frac{m}{\sqrt{v} / \sqrt{1-\beta_2^t} + \epsilon}

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> opt = ms.mint.optim.Adam([w], lr=0.1)
        >>> print(opt((ms.Tensor([3.0]),)), w.asnumpy().round(4))
        True [0.9]
    """
