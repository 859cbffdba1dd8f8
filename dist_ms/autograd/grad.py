"""grad, value_and_grad and get_grad: gradient functions of a function or Cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.seeds import fitting_seed
from dist_ms.autograd.tape import alias
from dist_ms.autograd.tree import map_tensors, tensors
from dist_ms.common.mutables import is_mutable, mutable
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor


def value_and_grad(
    fn: Callable,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable:
    """Return a function that gives the outputs of `fn` and its gradients.

    The gradient is that of the sum of all outputs (with `sens_param`: weighted).

    Args:
        fn: a Cell or function.
        grad_position: which arguments (positional, then keyword ones) to differentiate with respect
            to: an int, a tuple of them, or None for none. Arguments that are no tensors have no
            gradient; nested tensors only inside `mutable` containers.
        weights: Parameters to differentiate with respect to: one, a list or a tuple.
        has_aux: only the first output is differentiated.
        return_ids: give (position, gradient) and (parameter name, gradient) pairs.
        sens_param: the last argument, or the keyword argument `sens`, is the output's gradient.

    Returns:
        A function that returns (outputs, gradients). Gradients are: of positions, of weights, or
        the pair of both. Those of an int position or of a tuple with one are a Tensor, of one
        Parameter a Tensor, of several a tuple. Zeros where the outputs do not depend on it.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: for a negative or repeated position, or if neither positions nor weights are
            given.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor(3.0), name="w")
        >>> f = ms.value_and_grad(lambda x: x * x * w, 0, w)
        >>> value, (dx, dw) = f(ms.Tensor(2.0))
        >>> print(value, dx, dw)
        12.0 12.0 4.0
    """
    request = Request("grad", fn, grad_position, weights, has_aux, return_ids, sens_param)

    def gradient(*args: Any, **kwargs: Any) -> tuple:
        return request.run(args, kwargs)

    return gradient


def grad(
    fn: Callable,
    grad_position: int | tuple[int, ...] | None = 0,
    weights: Any = None,
    has_aux: bool = False,
    return_ids: bool = False,
    sens_param: bool = False,
) -> Callable:
    """Return a function that gives the gradients of `fn`, as those of `value_and_grad`.

    With `has_aux` it returns (gradients, the other outputs as a tuple).

    Examples:
        >>> import dist_ms as ms
        >>> f = ms.grad(lambda x, y: x * y + x, grad_position=(0, 1))
        >>> print(f(ms.Tensor(2.0), ms.Tensor(5.0)))
        (Tensor(shape=[], dtype=Float32, value= 6), Tensor(shape=[], dtype=Float32, value= 2))
    """
    request = Request("grad", fn, grad_position, weights, has_aux, return_ids, sens_param)

    def gradient(*args: Any, **kwargs: Any) -> Any:
        outputs, grads = request.run(args, kwargs)
        return (grads, outputs[1:]) if has_aux else grads

    return gradient


class Request:
    """What a gradient function was asked for, and the running of it."""

    def __init__(
        self,
        name: str,
        fn: Callable,
        grad_position: Any,
        weights: Any,
        has_aux: bool = False,
        return_ids: bool = False,
        sens_param: bool = False,
    ) -> None:
        check_callable(fn, name)
        for key, flag in (
            ("has_aux", has_aux),
            ("return_ids", return_ids),
            ("sens_param", sens_param),
        ):
            check_bool(flag, key, name)
        if grad_position is None and weights is None:
            raise ValueError("`grad_position` and `weight` can not be None at the same time.")
        self.fn = fn
        self.position = None if grad_position is None else check_positions(grad_position, name)
        self.weights = check_weights(weights)
        self.single = isinstance(weights, Tensor)
        self.with_weights = weights is not None
        self.has_aux = has_aux
        self.return_ids = return_ids
        self.sens_param = sens_param

    def run(self, args: tuple, kwargs: dict) -> tuple:
        """Run the function and return (outputs, gradients)."""
        sens = None
        if self.sens_param:
            args, kwargs, sens = take_sens(args, kwargs)
        args, kwargs, values = unshared(args, kwargs)
        chosen = self._chosen(values)
        graph = Graph(
            self.fn,
            args,
            kwargs,
            weights=self.weights,
            targets=[t for _, x in chosen for t in tensors(x)],
            traced=[v for v in values if isinstance(v, Tensor)] if chosen else (),
        )
        outputs = graph.outputs
        source = first_output(outputs) if self.has_aux else outputs
        if self.sens_param:
            sens = fitting_seed(source, sens)
        position_grads, weight_grads = graph.sweep(source, sens)
        if self.position is None:
            return outputs, self._weight_part(weight_grads)
        part = self._position_part(chosen, iter(position_grads))
        return outputs, (part, self._weight_part(weight_grads)) if self.with_weights else part

    def _chosen(self, values: list) -> list[tuple[int, Any]]:
        """The arguments that have gradients, with their positions."""
        if self.position is None or not values:
            return []
        if max(self.position) >= len(values):
            raise RuntimeError(f"Position index {max(self.position)} is exceed input size.")
        return [(p, values[p]) for p in self.position if has_gradient(values[p])]

    def _position_part(self, chosen: list, grads: Any) -> Any:
        parts = [shaped(x, grads) for _, x in chosen]
        if self.return_ids:
            parts = [(p, g) for (p, _), g in zip(chosen, parts)]
        return parts[0] if len(parts) == 1 else tuple(parts)

    def _weight_part(self, grads: list) -> Any:
        if self.return_ids:
            grads = [(getattr(w, "name", ""), g) for w, g in zip(self.weights, grads)]
        return grads[0] if self.single else tuple(grads)


def get_grad(gradients: Any, identifier: int | Parameter) -> Tensor:
    """Find one gradient among those computed with `return_ids=True`.

    Args:
        gradients: what the gradient function returned.
        identifier: the position of the argument, or the Parameter.

    Raises:
        TypeError: if `identifier` is neither.
        RuntimeError: if there is no such gradient.

    Examples:
        >>> import dist_ms as ms
        >>> gradient = ms.grad(lambda x, y: x * y, (0, 1), return_ids=True)
        >>> print(ms.get_grad(gradient(ms.Tensor(2.0), ms.Tensor(5.0)), 1))
        2.0
    """
    if not isinstance(identifier, (int, Parameter)):
        raise TypeError(f"For `get_grad`, the `x` should be an integer or a Parameter, but got {identifier}.")
    key = identifier.name if isinstance(identifier, Parameter) else int(identifier)
    found = _find(gradients, key)
    if found is None:
        raise RuntimeError(
            f"Can not find the gradient for position or Parameter {identifier}: gradients must be "
            "computed with return_ids=True."
        )
    return found


def _find(gradients: Any, key: Any) -> Tensor | None:
    if not isinstance(gradients, tuple):
        return None
    if len(gradients) == 2 and type(gradients[0]) is type(key) and gradients[0] == key:
        return gradients[1]
    for part in gradients:
        found = _find(part, key)
        if found is not None:
            return found
    return None


# ---- the parts other gradient functions share
def check_callable(fn: Any, name: str) -> None:
    """Refuse what cannot be called."""
    if not callable(fn):
        raise TypeError(f"For '{name}', 'fn' must be a Cell or a function, but got {type(fn).__name__}.")


def check_bool(value: Any, name: str, owner: str) -> None:
    """Refuse what is no bool."""
    if not isinstance(value, bool):
        raise TypeError(f"For '{owner}', the '{name}' should be bool, but got {type(value).__name__}.")


def check_positions(position: Any, name: str) -> tuple[int, ...]:
    """An int or a tuple of ints as a tuple of different positions."""
    if not isinstance(position, (int, tuple)):
        raise TypeError(f"For '{name}', the 'grad_position' must be int or tuple, but got {type(position).__name__}.")
    positions = position if isinstance(position, tuple) else (int(position),)
    for p in positions:
        if not isinstance(p, int):
            raise TypeError(f"For '{name}', the element in 'grad_position' must be int, but got {type(p).__name__}.")
        if p < 0:
            raise ValueError(f"grad_position must be >= 0, but got {p}.")
    if len(set(positions)) != len(positions):
        raise ValueError(f"There are duplicate positions in `grad_position`, please check it: got {positions}.")
    if not positions:
        raise RuntimeError("grad_position should not be empty when grad by position!")
    return positions


def check_weights(weights: Any) -> list[Tensor]:
    """The Parameters given as `weights`, as a list."""
    if weights is None:
        return []
    if isinstance(weights, Tensor):
        return [weights]
    if not isinstance(weights, (list, tuple)):
        raise TypeError(
            "The weights you provided is expected to be a Parameter, or a list or tuple of them, "
            f"but got {type(weights).__name__}: {weights}."
        )
    for w in weights:
        if not isinstance(w, Tensor):
            raise TypeError(
                "The weights you provided is expected to be a list or tuple of Parameters, but "
                f"it has a {type(w).__name__}: {w}."
            )
    return list(weights)


def take_sens(args: tuple, kwargs: dict) -> tuple[tuple, dict, Any]:
    """Split the gradient of the output off the arguments."""
    if "sens" in kwargs:
        kwargs = dict(kwargs)
        return args, kwargs, kwargs.pop("sens")
    if not args:
        raise TypeError(
            "With 'sens_param=True' the gradient of the output must be the last argument, or be "
            "given as 'sens', but there is no argument."
        )
    return args[:-1], kwargs, args[-1]


def unshared(args: tuple, kwargs: dict) -> tuple[tuple, dict, list]:
    """The arguments, and all of them as a list; `mutable` containers get tensors of their own.

    So the gradient of a tensor inside is that of its place there, whatever else it is used for.
    """
    if not any(map(is_mutable, args)) and not any(map(is_mutable, kwargs.values())):
        return args, kwargs, [*args, *kwargs.values()]
    args = tuple([_with_own_tensors(a) for a in args])
    kwargs = {k: _with_own_tensors(v) for k, v in kwargs.items()}
    return args, kwargs, [*args, *kwargs.values()]


def _with_own_tensors(value: Any) -> Any:
    return mutable(map_tensors(alias, value)) if is_mutable(value) else value


def first_output(outputs: Any) -> Any:
    """The output that is differentiated when the others are auxiliary."""
    if not isinstance(outputs, tuple) or len(outputs) < 2:
        raise ValueError("When has_aux is True, origin fn requires more than one outputs.")
    return outputs[0]


def has_gradient(x: Any) -> bool:
    """Whether an argument has a gradient: a Tensor, or a `mutable` value."""
    return isinstance(x, Tensor) or is_mutable(x)


def shaped(x: Any, grads: Any) -> Any:
    """The gradients of an argument in its nesting; numbers have the gradient zero."""
    if isinstance(x, Tensor):
        return next(grads, None)
    if isinstance(x, tuple):
        return tuple([shaped(v, grads) for v in x])
    if isinstance(x, list):
        return [shaped(v, grads) for v in x]
    if isinstance(x, dict):
        return {k: shaped(v, grads) for k, v in x.items()}
    return 0.0 if isinstance(x, float) else 0
