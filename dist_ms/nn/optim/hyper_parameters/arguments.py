"""Arguments of optimizers: a record of them, and the checks several optimizers share."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_float, check_float_range, check_positive_float
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell


def remembers_arguments(fn: Callable) -> Callable:
    """`opt_init_args_register` that shows the arguments of what it decorates."""
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def remember(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        rest = dict(bound.arguments)
        rest.pop(next(iter(rest)))
        kept = {}
        if "params" in rest:
            kept["init_params"] = {"params": rest.pop("params")}
        if "optimizer" in rest:
            kept["init_params"] = dict(getattr(rest.pop("optimizer"), "init_params", {}))
        if "learning_rate" in rest:
            rate = rest.pop("learning_rate")
            if isinstance(rate, Tensor):
                rate = rate.asnumpy().tolist()
            kept["init_learning_rate"] = None if isinstance(rate, Cell) else rate
        fn(self, *args, **kwargs)
        for name, value in (*kept.items(), ("init_args", rest)):
            object.__setattr__(self, name, value)

    return remember


def opt_init_args_register(fn: Callable) -> Callable:
    """Decorate an optimizer's `__init__` so that the object remembers its arguments.

    The object gets `init_params` (a dict with `params`), `init_learning_rate` (None for a
    schedule, a list for a Tensor of rates) and `init_args` (a dict of the other arguments,
    defaults included).

    Args:
        fn: the `__init__`; its arguments `params` (or `optimizer`) and `learning_rate` are the ones set apart.

    Returns:
        an `__init__` that takes the same arguments. Its signature is `(self, *args, **kwargs)`, as in MindSpore:
        programs look there for the arguments that they fill in.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> opt = nn.Momentum([ms.Parameter(ms.Tensor([1.0]), name="w")], 0.1, 0.9)
        >>> opt.init_learning_rate, opt.init_args["momentum"]
        (0.1, 0.9)
    """
    made = remembers_arguments(fn)
    del vars(made)["__wrapped__"]
    return made


def check_betas(owner: str, beta1: Any, beta2: Any, eps: Any) -> None:
    """Check the decay rates of two moments and the stabiliser.

    Raises:
        TypeError: if one is no float.
        ValueError: if a rate is outside (0, 1) or `eps` not positive.
    """
    for name, value in (("beta1", beta1), ("beta2", beta2), ("eps", eps)):
        check_float(value, name, owner)
    for name, value in (("beta1", beta1), ("beta2", beta2)):
        check_float_range(value, name, owner, 0.0, 1.0, "()")
    check_positive_float(eps, "eps", owner)


def float32_value(number: float) -> float:
    """The number as MindSpore holds it: rounded to float32, so that 1 - beta has the same rounding error."""
    return float(np.float32(number))
