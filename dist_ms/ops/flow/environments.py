"""Environments of gradients, and J, which makes them: what a sweep gives for the weights that a function uses.

MindSpore's compiler takes gradients with these; here they are plain Python over `ms.vjp`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dist_ms import ops
from dist_ms.autograd.jacobian import vjp
from dist_ms.common.checks import check_type, complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.ops.primitive import Primitive

__all__ = [
    "J",
    "embed",
    "env_get",
    "environ_add",
    "environ_create",
    "environ_get",
    "environ_set",
    "ref_to_embed",
]


class Key:
    """What a value is called in an environment: the value itself, whatever it holds.

    Args:
        value: a Tensor, Parameter or any other object.
    """

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Key) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)

    def __repr__(self) -> str:
        return f"Key({getattr(self.value, 'name', type(self.value).__name__)})"


class Environment:
    """Values by keys, never changed: setting makes another one.

    Args:
        values: of the keys.
    """

    __slots__ = ("_values",)

    def __init__(self, values: dict[Key, Any]) -> None:
        self._values = dict(values)

    @property
    def values(self) -> dict[Key, Any]:
        """A copy of what it holds."""
        return dict(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __repr__(self) -> str:
        return f"Environment({', '.join(map(repr, self._values))})"


def environ_create() -> Environment:
    """An environment without values.

    Examples:
        >>> from dist_ms import ops
        >>> len(ops.environ_create())
        0
    """
    return Environment({})


def embed(value: Any) -> Key:
    """The key of a value: two keys are equal if they are of the very same object.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor(1.0)
        >>> ms.ops.embed(x) == ms.ops.embed(x), ms.ops.embed(x) == ms.ops.embed(ms.Tensor(1.0))
        (True, False)
    """
    return Key(value)


def ref_to_embed(parameter: Parameter) -> Key:
    """The key of a Parameter.

    Raises:
        TypeError: if it is none.

    Examples:
        >>> import dist_ms as ms
        >>> ms.ops.ref_to_embed(ms.Parameter(ms.Tensor(1.0), name="w"))
        Key(w)
    """
    return Key(check_type(parameter, "parameter", "ref_to_embed", Parameter))


def environ_set(environ: Environment, key: Key, value: Any) -> Environment:
    """An environment that holds what another does, and a value under a key.

    Args:
        environ: the other, which stays as it is.
        key: from `embed` or `ref_to_embed`.
        value: any.

    Returns:
        The new environment.

    Raises:
        TypeError: if `environ` or `key` is something else.

    Examples:
        >>> import dist_ms as ms
        >>> x = ms.Tensor(1.0)
        >>> env = ms.ops.environ_set(ms.ops.environ_create(), ms.ops.embed(x), 5)
        >>> ms.ops.environ_get(env, ms.ops.embed(x), 0)
        5
    """
    check_type(environ, "environ", "environ_set", Environment)
    return Environment({**environ.values, check_type(key, "key", "environ_set", Key): value})


def environ_get(environ: Environment, key: Key, default: Any) -> Any:
    """The value under a key, or `default` if there is none; see `environ_set`.

    Raises:
        TypeError: if `environ` or `key` is something else.
    """
    check_type(environ, "environ", "environ_get", Environment)
    return environ.values.get(check_type(key, "key", "environ_get", Key), default)


def environ_add(x: Environment, y: Environment) -> Environment:
    """The values of two environments; those under one key are added.

    Raises:
        TypeError: if one is something else.

    Examples:
        >>> from dist_ms import ops
        >>> key = ops.embed("a")
        >>> one = ops.environ_set(ops.environ_create(), key, 1)
        >>> ops.environ_get(ops.environ_add(one, one), key, 0)
        2
    """
    left = check_type(x, "x", "environ_add", Environment).values
    for key, value in check_type(y, "y", "environ_add", Environment).values.items():
        left[key] = left[key] + value if key in left else value
    return Environment(left)


def env_get(environ: Environment, parameter: Parameter) -> Any:
    """What an environment has for a Parameter: zeros if nothing; see `J`.

    Raises:
        TypeError: if an argument is something else.
    """
    key = ref_to_embed(parameter)
    check_type(environ, "environ", "env_get", Environment)
    return environ.values[key] if key in environ else ops.zeros_like(parameter)


class J(Primitive):
    """A function with its sweep back: calling it gives its output and what takes a gradient of it to the inputs.

    Called with the function, it gives one that returns (output, back). `back` takes the output's gradient and
    returns first an environment with the gradients of the Parameters of a Cell that need one, then one for each
    input. Anything that cannot be called is returned as it is.

    Examples:
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> out, back = ms.ops.J(net)(ms.Tensor([[3.0]]))
        >>> env, grad = back(ms.ops.ones_like(out))
        >>> print(out, grad, ms.ops.env_get(env, net.weight))
        [[3.]] [[1.]] [[3.]]
    """

    def __new__(cls, *args: Any) -> Any:
        """With a function it is applied at once, as `ops.J(f)`; without, the operation."""
        return cls()(*args) if args else super().__new__(cls)

    def __call__(self, x: Any) -> Any:
        return _with_sweep(x) if callable(x) and not isinstance(x, Tensor) else x


def _with_sweep(function: Callable) -> Callable:
    weights = list(function.trainable_params()) if hasattr(function, "trainable_params") else []

    def run(*inputs: Any) -> tuple[Any, Callable]:
        for x in inputs:
            if not isinstance(x, (Tensor, tuple, list)):
                raise TypeError(complaint("inputs", "J", "Tensors, or tuples or lists of them", type(x).__name__))
        output, sweep = vjp(function, *inputs, weights=weights or None)

        def back(*dout: Any) -> tuple:
            found = sweep(*dout)
            of_inputs, of_weights = found if weights else (found, ())
            environ = Environment({Key(w): g for w, g in zip(weights, of_weights)})
            return (environ, *(of_inputs if isinstance(of_inputs, tuple) else (of_inputs,)))

        return output, back

    return run
