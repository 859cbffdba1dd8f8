"""LARS, layer-wise adaptive rate scaling around another optimizer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_callable, check_float, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.optim.hyper_parameters.arguments import remembers_arguments
from dist_ms.nn.optim.lamb import norm
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.elementwise import work_type


def _no_norm_no_bias(param: Parameter) -> bool:
    return "LayerNorm" not in param.name and "bias" not in param.name


class LARS(Optimizer):
    r"""LARS: gradients scaled per parameter by a local rate, then given to another optimizer.

    .. math::
        \gamma = c \frac{\|w\|}{\|g\| + \lambda \|w\| + \epsilon}, \qquad g \leftarrow \gamma (g + \lambda w)

    With `use_clip` :math:`\gamma` becomes :math:`\min(\gamma / \eta, 1)`. It is 1 where a norm is 0.
    Parameters that the filter leaves out keep their gradient and have no weight decay. The
    optimizer's own weight decay :math:`\lambda` and loss scale are applied here and no longer there.
    Source: You, Gitman and Ginsburg, Large Batch Training of Convolutional Networks, 2017.
    (MindSpore 2.10 has no kernel of it on the CPU.)

    Args:
        optimizer: updates the parameters, with its own learning rate :math:`\eta`; the attribute
            `learning_rate` here is without meaning, as in MindSpore.
        epsilon: added to the denominator, a float.
        coefficient: c, a float.
        use_clip: limit the rate of a parameter to the optimizer's.
        lars_filter: a function of a Parameter: whether its gradient is scaled. By default all
            but those with "LayerNorm" or "bias" in their names.

    Raises:
        TypeError: for an argument of another type.
        ValueError: for `use_clip` with group learning rates that change.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([3.0, 4.0]), name="w")
        >>> opt = ms.nn.LARS(ms.nn.SGD([w], 1.0), epsilon=0.0, coefficient=0.1)
        >>> _ = opt((ms.Tensor([0.0, 2.0]),))
        >>> print(w.asnumpy())
        [3.  3.5]
    """

    @remembers_arguments
    def __init__(
        self,
        optimizer: Optimizer,
        epsilon: float = 1e-5,
        coefficient: float = 0.001,
        use_clip: bool = False,
        lars_filter: Callable[[Parameter], bool] = _no_norm_no_bias,
    ) -> None:
        check_type(optimizer, "optimizer", "LARS", Optimizer)
        super().__init__(0.0, [Parameter(Tensor(0.0), name="fake_param")])
        self.epsilon = check_float(epsilon, "epsilon", "LARS")
        self.coefficient = check_float(coefficient, "coefficient", "LARS")
        self.use_clip = check_bool(use_clip, "use_clip", "LARS")
        if use_clip and optimizer.is_group_lr and optimizer.dynamic_lr:
            raise ValueError(
                "For 'LARS', 'use_clip' must be False with learning rates of groups that change, but got True: "
                "use fixed rates in the groups."
            )
        check_callable(lars_filter, "lars_filter", "LARS")
        self._take_over(optimizer)
        self.lars_flag = tuple(bool(lars_filter(p)) for p in self.parameters)

    def _take_over(self, optimizer: Optimizer) -> None:
        """Share step and parameters with the optimizer, and take the weight decay and loss scale from it."""
        self.opt = optimizer
        self.learning_rate = Parameter(Tensor(0.0), name="fake_lr")
        for name in _SHARED:
            setattr(self, name, getattr(optimizer, name))
        self.grad_centralization_flags = optimizer.decay_flags = (False,) * self.param_length
        optimizer.exec_weight_decay = optimizer.dynamic_weight_decay = False
        optimizer.dynamic_decay_flags = (False,) * self.param_length if self.is_group else False
        optimizer.reciprocal_scale, optimizer.grad_factor = Tensor(np.float32(1)), 1.0

    def get_lr(self) -> Any:
        """The optimizer's learning rate of this step; a tuple, one per parameter, when groups have their own."""
        return self.opt.get_lr()

    def begin_step(self) -> None:
        """The optimizer's own beginning."""
        self.opt.begin_step()

    def update_one(self, index: int, param: Parameter, grad: Tensor, lr: float, weight_decay: float) -> None:
        """Scale one gradient, and have the optimizer update the parameter."""
        if self.lars_flag[index]:
            grad = self._scaled(param._data, grad.asnumpy(), lr, weight_decay)
        elif self.grad_factor != 1.0:
            grad = from_array(grad.asnumpy() * np.asarray(self.grad_factor, grad.asnumpy().dtype))
        self.opt.apply_one(index, param, grad, lr, 0.0)

    def _scaled(self, p: np.ndarray, g: np.ndarray, lr: float, weight_decay: float) -> Tensor:
        g = g.astype(work_type(p))
        g *= self.grad_factor
        rate = self.local_rate(norm(p), norm(g), lr, weight_decay)
        if weight_decay:
            g += p.astype(g.dtype, copy=False) * weight_decay
        g *= rate
        return from_array(g)

    def local_rate(self, weights: float, gradient: float, lr: float, weight_decay: float) -> float:
        """The factor of a gradient, from the norms of weights and gradient."""
        if not (weights > 0.0 and gradient > 0.0):
            return 1.0
        rate = self.coefficient * weights / (gradient + weight_decay * weights + self.epsilon)
        return min(rate / lr, 1.0) if self.use_clip and lr > 0.0 else rate


_SHARED = (
    *("global_step", "_parameters", "parameters", "param_length", "is_group", "weight_decay", "_decay_sources"),
    *("decay_flags", "dynamic_decay_flags", "exec_weight_decay", "dynamic_weight_decay"),
    *("loss_scale", "grad_factor", "reciprocal_scale", "need_scale"),
)
