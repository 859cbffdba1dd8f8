"""Rprop."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_float_range, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.rules import rprop_rule


class Rprop(Optimizer):
    """`nn.Rprop` in PyTorch's form, without weight decay.

    Args:
        params, maximize: as in `Adam`.
        lr: a positive number or scalar Tensor.
        etas, step_sizes: as in `nn.Rprop`; numbers in a tuple or list.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0, 1.0]), name="w")
        >>> _ = ms.experimental.optim.Rprop([w], lr=0.5)((ms.Tensor([3.0, -0.1]),))
        >>> print(w.asnumpy())
        [0.5 1.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        etas: tuple[float, float] = (0.5, 1.2),
        step_sizes: tuple[float, float] = (1e-6, 50),
        *,
        maximize: bool = False,
    ) -> None:
        check_above(lr, "lr", "Rprop")
        for name, pair in (("etas", etas), ("step_sizes", step_sizes)):
            check_type(pair, name, "Rprop", (tuple, list))
            if len(pair) != 2:
                raise ValueError(f"For 'Rprop', '{name}' must be a tuple of 2 numbers, but got {len(pair)}.")
        check_above(etas[1], "etas[1]", "Rprop", 1.0)
        check_float_range(etas[0], "etas[0]", "Rprop", 0.0, 1.0, "()")
        super().__init__(params, {"lr": lr, "etas": etas, "step_sizes": step_sizes, "maximize": maximize})
        self.states("prev")
        self.states("step_size")
        self.counter("step_t")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter, its last gradient and its step sizes in place."""
        group = self.group_of(index)
        if int(self.step_t._data) == 1:
            self.step_size[index]._data.fill(lr)
        states = [self.prev[index], self.step_size[index]]
        self.run_rule(rprop_rule, index, param, grad, states, 0.0, *group["etas"], *group["step_sizes"])
