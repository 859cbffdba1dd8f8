"""ParameterUpdate: a cell that sets a parameter."""

from __future__ import annotations

from dist_ms.common.checks import check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.picking.scattering_along import fits


class ParameterUpdate(Cell):
    """Sets a parameter to what it is called with, and returns that.

    Args:
        param: the parameter.

    Raises:
        TypeError: if it is no Parameter.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> layer = nn.Dense(1, 1)
        >>> print(nn.ParameterUpdate(layer.weight)(ms.Tensor([[5.0]])), layer.weight.asnumpy())
        [[5.]] [[5.]]
    """

    def __init__(self, param: Parameter) -> None:
        super().__init__(auto_prefix=False)
        check_type(param, "param", "ParameterUpdate", Parameter)
        self._param = param

    def construct(self, x: Tensor) -> Tensor:
        """Set the parameter to `x`."""
        fits(self._param, x, "x", "ParameterUpdate")
        self._param.set_data(x)
        return x
