"""Adagrad."""

from __future__ import annotations

from typing import Any

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.experimental.optim.arguments import check_above, check_at_least
from dist_ms.experimental.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.elementwise import run_compiled


class Adagrad(Optimizer):
    r"""`nn.Adagrad` in PyTorch's form, with a fading rate and eps added to the root.

    .. math::
        h \leftarrow h + g^2, \qquad w \leftarrow w - \frac{\eta}{1 + (t - 1) r} \frac{g}{\sqrt{h} + \epsilon}

    Args:
        params, weight_decay, maximize: as in `Adam`.
        lr: a positive number or scalar Tensor.
        lr_decay: r, 0 or more.
        initial_accumulator_value: the value h starts with, 0 or more.
        eps: added to the root, positive.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for a number out of range.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> _ = ms.experimental.optim.Adagrad([w], lr=0.5)((ms.Tensor([3.0]),))
        >>> print(w.asnumpy())
        [0.5]
    """

    def __init__(
        self,
        params: Any,
        lr: Any = 1e-2,
        lr_decay: float = 0.0,
        weight_decay: float = 0.0,
        initial_accumulator_value: float = 0.0,
        eps: float = 1e-10,
        *,
        maximize: bool = False,
    ) -> None:
        check_above(lr, "lr", "Adagrad")
        check_at_least(lr_decay, "lr_decay", "Adagrad")
        check_at_least(weight_decay, "weight_decay", "Adagrad")
        check_at_least(initial_accumulator_value, "initial_accumulator_value", "Adagrad")
        check_above(eps, "eps", "Adagrad")
        defaults = {
            "lr": lr,
            "lr_decay": lr_decay,
            "eps": eps,
            "weight_decay": weight_decay,
            "initial_accumulator_value": initial_accumulator_value,
            "maximize": maximize,
        }
        super().__init__(params, defaults)
        self.states("accum", fill=initial_accumulator_value)
        self.counter("step_t")

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Update one parameter and its sum of squares in place."""
        group = self.group_of(index)
        faded = lr / (1.0 + (int(self.step_t._data) - 1) * group["lr_decay"])
        numbers = (faded, weight_decay, self.sign_of(index), group["eps"], True)
        run_compiled("adagrad", param, grad, [self.accum[index]], numbers)
