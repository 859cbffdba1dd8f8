"""GradOperation: the higher-order function that makes gradient functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.grad import (
    check_bool,
    check_callable,
    check_weights,
    has_gradient,
    shaped,
    take_sens,
    unshared,
)
from dist_ms.autograd.seeds import fitting_seed
from dist_ms.autograd.tree import tensors
from dist_ms.common.tensor import Tensor


class GradOperation:
    """Makes gradient functions: `GradOperation(...)(fn, weights)(*args)`.

    Args:
        get_all: gradients of all tensor arguments, as a tuple; False: of the first argument only.
        get_by_list: gradients of `weights`; with `get_all` the pair of both.
        sens_param: the last argument (or the keyword argument `sens`) is the output's gradient.

    Raises:
        TypeError: if one of them is no bool.

    Examples:
        >>> import dist_ms as ms
        >>> grad_all = ms.ops.GradOperation(get_all=True)
        >>> print(grad_all(lambda x, y: x * y)(ms.Tensor(2.0), ms.Tensor(5.0)))
        (Tensor(shape=[], dtype=Float32, value= 5), Tensor(shape=[], dtype=Float32, value= 2))
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        for key, flag in (
            ("get_all", get_all),
            ("get_by_list", get_by_list),
            ("sens_param", sens_param),
        ):
            check_bool(flag, key, "GradOperation")
        self.get_all = get_all
        self.get_by_list = get_by_list
        self.sens_param = sens_param

    def __call__(self, fn: Callable, weights: Any = None) -> Callable:
        """Return the gradient function of `fn`.

        Args:
            fn: a Cell or function.
            weights: with `get_by_list`: the Parameters (one, a list or a tuple); by default the
                trainable ones of a Cell.
        """
        check_callable(fn, "GradOperation")
        if not self.get_by_list:
            weights = None
        elif weights is None:
            if not hasattr(fn, "trainable_params"):
                raise TypeError(
                    "For 'GradOperation', 'weights' must be given with get_by_list=True, unless "
                    f"'fn' is a Cell, but 'fn' is a {type(fn).__name__}."
                )
            weights = fn.trainable_params
        else:
            check_weights(weights)

        def gradient(*args: Any, **kwargs: Any) -> Any:
            return self._run(fn, weights() if callable(weights) else weights, args, kwargs)

        return gradient

    def _run(self, fn: Callable, weights: Any, args: tuple, kwargs: dict) -> Any:
        sens = None
        if self.sens_param:
            args, kwargs, sens = take_sens(args, kwargs)
        args, kwargs, values = unshared(args, kwargs)
        if self.get_all:
            chosen = [x for x in values if has_gradient(x)]
        else:
            chosen = [] if self.get_by_list else [x for x in values[:1] if has_gradient(x)]
        graph = Graph(
            fn,
            args,
            kwargs,
            weights=check_weights(weights),
            targets=tensors(chosen),
            traced=[v for v in values if isinstance(v, Tensor)] if chosen else (),
        )
        if self.sens_param:
            sens = fitting_seed(graph.outputs, sens)
        input_grads, weight_grads = graph.sweep(graph.outputs, sens)
        each = iter(input_grads)
        inputs = tuple([shaped(x, each) for x in chosen])
        if not self.get_by_list:
            return inputs if self.get_all or not inputs else inputs[0]
        by_weight = weight_grads[0] if isinstance(weights, Tensor) else tuple(weight_grads)
        return (inputs, by_weight) if self.get_all else by_weight
