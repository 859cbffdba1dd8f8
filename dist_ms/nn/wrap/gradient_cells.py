"""ForwardValueAndGrad and WithGradCell: cells that return gradients."""

from __future__ import annotations

from types import FunctionType, MethodType
from typing import Any

from dist_ms.autograd.grad_operation import GradOperation
from dist_ms.common.checks import check_bool
from dist_ms.common.parameter import ParameterTuple
from dist_ms.nn.cell import Cell
from dist_ms.nn.wrap.loss_cells import WithLossCell


class ForwardValueAndGrad(Cell):
    """A network's value and its gradients: `construct(*inputs)` returns (value, gradients).

    The network runs once, for the value and the gradients together.

    Args:
        network: a Cell or function.
        weights: the parameters to differentiate with respect to, with `get_by_list`.
        get_all: gradients of all inputs, not of the first alone.
        get_by_list: gradients of `weights`; with `get_all`, (of the inputs, of the weights).
        sens_param: the last input is the gradient of the network's output; else it is ones.

    Raises:
        TypeError: for arguments of the wrong type.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> cell = nn.ForwardValueAndGrad(net, net.trainable_params(), get_by_list=True)
        >>> value, grads = cell(ms.Tensor([[3.0]]))
        >>> print(value, grads[0])
        [[3.]] [[3.]]
    """

    def __init__(
        self,
        network: Any,
        weights: Any = None,
        get_all: bool = False,
        get_by_list: bool = False,
        sens_param: bool = False,
    ) -> None:
        super().__init__(auto_prefix=False)
        owner = "ForwardValueAndGrad"
        if not isinstance(network, (Cell, FunctionType, MethodType)):
            raise TypeError(
                f"For '{owner}', 'network' must be a Cell, a function or a method, but got {type(network).__name__}."
            )
        for name, value in (("get_all", get_all), ("get_by_list", get_by_list)):
            check_bool(value, name, owner)
        if get_by_list and not isinstance(weights, (ParameterTuple, tuple, list)):
            raise TypeError(
                f"For '{owner}', with 'get_by_list' 'weights' must be a ParameterTuple, tuple or list, but got "
                f"{type(weights).__name__}."
            )
        self.network = network
        if isinstance(network, Cell):
            network.set_grad()
        self.weights = weights
        self.get_all, self.get_by_list, self.sens_param = get_all, get_by_list, sens_param
        self.grad = GradOperation(get_all=get_all, get_by_list=get_by_list, sens_param=sens_param)

    def construct(self, *inputs: Any) -> tuple:
        """Return the value and the gradients."""
        seen = []

        def network(*args: Any) -> Any:
            seen.append(self.network(*args))
            return seen[-1]

        call = self.grad(network, self.weights) if self.get_by_list else self.grad(network)
        grads = call(*inputs)
        return seen[-1], grads


class WithGradCell(Cell):
    """A network and its loss as a cell that returns the gradients of the network's parameters.

    Args:
        network: the network, or with `loss_fn` None a network that returns the loss.
        loss_fn: a Cell or function of (network output, label).
        sens: the gradient of the loss to start from; ones by default.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> grads = nn.WithGradCell(net, nn.MSELoss())(ms.Tensor([[3.0]]), ms.Tensor([[1.0]]))
        >>> print(grads[0])
        [[12.]]
    """

    def __init__(self, network: Cell, loss_fn: Any = None, sens: Any = None) -> None:
        super().__init__(auto_prefix=False)
        self.network = network
        self.loss_fn = loss_fn
        self.weights = ParameterTuple(network.trainable_params())
        self.grad = GradOperation(get_by_list=True, sens_param=sens is not None)
        self.sens = sens
        self.network_with_loss = network if loss_fn is None else WithLossCell(network, loss_fn)
        self.network_with_loss.set_train()

    def construct(self, *inputs: Any) -> Any:
        """Return the gradients for one batch."""
        given = inputs if self.sens is None else (*inputs, self.sens)
        return self.grad(self.network_with_loss, self.weights)(*given)
