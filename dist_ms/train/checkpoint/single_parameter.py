"""`_update_param` of `mindspore.train.serialization`: one parameter takes another's values."""

from __future__ import annotations

from dist_ms.common.checks import check_type
from dist_ms.common.parameter import Parameter
from dist_ms.nn.cell import Cell
from dist_ms.train.checkpoint.load_into_net import load_param_into_net


def _update_param(param: Parameter, new_param: Parameter, strict_load: bool = False) -> None:
    """Load one parameter's values into another, by the rules of `load_param_into_net`.

    Args:
        param: what takes the values.
        new_param: what has them.
        strict_load: demand equal types.

    Raises:
        TypeError: if one of the two is no Parameter.
        RuntimeError: if shape or type do not fit.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.train.checkpoint.single_parameter import _update_param
        >>> weight = ms.Parameter(ms.Tensor([0.0]), name="weight")
        >>> _update_param(weight, ms.Parameter(ms.Tensor([2.0]), name="weight"))
        >>> print(weight.asnumpy())
        [2.]
    """
    for name, value in (("param", param), ("new_param", new_param)):
        check_type(value, name, "_update_param", Parameter)
    holder = Cell(auto_prefix=False)
    holder.insert_param_to_cell("param", param, check_name_contain_dot=False)
    load_param_into_net(holder, {param.name: new_param}, strict_load)
