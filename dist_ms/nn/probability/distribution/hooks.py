"""What the methods of a family have in common: the values and parameters of a call are checked and brought together.

A family writes a formula of its parameters alone, as `def _entropy(self, rate)`; a decorator makes of it the hook
that Distribution calls, whose parameters may be left out where they were given before.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import check_type, complaint
from dist_ms.common.dtype import float32, float_type, int_type, uint_type
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.distribution import Distribution
from dist_ms.nn.probability.parameters import (
    FLOATS,
    broadcast,
    check_between,
    check_dtype,
    check_positive,
    check_tensor,
)

__all__ = [
    *("ANY_NUMBER", "FLOATS", "TINY", "Family", "draws", "of_parameters", "of_two", "of_value"),
    "standard_uniform",
]

ANY_NUMBER = (*int_type, *uint_type, *float_type)
TINY = float(np.finfo(np.float32).tiny)


def _of_call(self: Family, args: tuple, kwargs: dict, what: str) -> Any:
    """The parameters of a call: in order, or by name, also with `_a` behind it."""
    names = self.parameter_names
    if len(args) > len(names):
        raise TypeError(f"For '{self.name}', '{what}' must get at most {len(names)} parameters, but got {len(args)}.")
    given = dict(zip(names, args, strict=False))
    for key, value in kwargs.items():
        name = key if key in names else key.removesuffix("_a")
        if name not in names or name in given:
            raise TypeError(f"For '{self.name}', '{what}' must get {', '.join(names)}, but got '{key}' besides.")
        given[name] = value
    return self._check_param_type(*(given.get(name) for name in names))


def _all(found: Any) -> tuple:
    return found if isinstance(found, tuple) else (found,)


def of_value(formula: Callable) -> Callable:
    """Make a hook of `formula(self, value, *parameters)`."""

    @functools.wraps(formula)
    def hook(self: Family, value: Any, *args: Any, **kwargs: Any) -> Any:
        value = self._check_value(value, "value").astype(self.value_type)
        return formula(self, value, *_all(_of_call(self, args, kwargs, formula.__name__[1:])))

    return hook


def of_parameters(formula: Callable) -> Callable:
    """Make a hook of `formula(self, *parameters)`."""

    @functools.wraps(formula)
    def hook(self: Family, *args: Any, **kwargs: Any) -> Any:
        return formula(self, *_all(_of_call(self, args, kwargs, formula.__name__[1:])))

    return hook


def of_two(formula: Callable) -> Callable:
    """Make a hook of `formula(self, *parameters of the other, *parameters)`."""

    @functools.wraps(formula)
    def hook(self: Family, dist: Any, *args: Any, **kwargs: Any) -> Any:
        what = formula.__name__[1:]
        if dist != self.family:
            raise ValueError(complaint("dist", self.name, f"'{self.family}'", dist))
        names, others = self.parameter_names, {}
        for place, name in enumerate(names):
            if place < len(args):
                others[name] = args[place]
            elif f"{name}_b" in kwargs:
                others[name] = kwargs.pop(f"{name}_b")
            else:
                raise TypeError(f"For '{self.name}', '{what}' must get '{name}_b', the other's, but it is missing.")
        own = _all(_of_call(self, args[len(names) :], kwargs, what))
        b = [check_tensor(value, f"{name}_b", self.name).astype(self.parameter_type) for name, value in others.items()]
        return formula(self, *broadcast(*b), *own)

    return hook


def draws(formula: Callable) -> Callable:
    """Make a hook of `formula(self, shape, *parameters)`, which returns numbers of that shape."""

    @functools.wraps(formula)
    def hook(self: Family, shape: tuple[int, ...] = (), *args: Any, **kwargs: Any) -> Tensor:
        check_type(shape, "shape", self.name, tuple)
        found = _all(_of_call(self, args, kwargs, "sample"))
        whole = shape + self.event_free_shape(found)
        drawn = formula(self, whole or (1,), *found)
        return (drawn if whole else drawn.reshape(())).astype(self.dtype)

    return hook


class Family(Distribution):
    """A distribution whose parameters have names.

    Args:
        seed: from which it draws.
        dtype: the type of its values.
        name: what it is called.
        given: the parameters, by name.
        dtypes: which types it may have.

    Attributes:
        value_type: the type in which formulas take values.
        positive: which parameters must be above 0.
        probabilities: which must be between 0 and 1.
    """

    positive: tuple[str, ...] = ()
    probabilities: tuple[str, ...] = ()

    @staticmethod
    def given(name: str, meaning: str) -> property:
        """Make the property that shows a parameter; None where each call gives it."""
        return property(lambda self: getattr(self, f"_{name}_value"), doc=meaning)

    def __init__(
        self, seed: int | None, dtype: Any, name: str, given: Mapping[str, Any], dtypes: Iterable[Any] = FLOATS
    ) -> None:
        check_dtype(dtype, dtypes, type(self).__name__)
        super().__init__(seed, dtype, name, {**given, "seed": seed, "dtype": dtype, "name": name, "param_dict": given})
        for key, value in given.items():
            setattr(self, f"_{key}_value", self._add_parameter(value, key))  # which makes a Parameter one of this cell
        for keys, check in ((self.positive, check_positive), (self.probabilities, check_between)):
            for key in keys:
                if given[key] is not None:
                    check(getattr(self, f"_{key}_value"), key, name)
        self.value_type = dtype if dtype in FLOATS else self.parameter_type

    @property
    def family(self) -> str:
        """What `get_dist_type` says."""
        return type(self).__name__

    def event_free_shape(self, found: tuple[Tensor, ...]) -> tuple[int, ...]:
        """The shape of the parameters, without what one value has of them."""
        return found[0].shape

    def _get_dist_type(self) -> str:
        return self.family

    def _get_dist_args(self, *args: Any, **kwargs: Any) -> tuple:
        given = [*args, *self.default_parameters[len(args) :]]
        for name, value in kwargs.items():
            given[self.parameter_names.index(name)] = value
        for value, name in zip(given, self.parameter_names, strict=True):
            if value is not None:
                check_tensor(value, name, self.name)
        return tuple(given)

    def _cross_entropy(self, dist: Any, *args: Any, **kwargs: Any) -> Tensor:
        """Entropy and divergence together."""
        divergence = self._ask("kl_loss", dist, *args, **kwargs)
        own = {name: value for name, value in kwargs.items() if not name.endswith("_b")}
        return self._ask("entropy", *args[len(self.parameter_names) :], **own) + divergence


def standard_uniform(self: Family, shape: tuple[int, ...], low: float = 0.0) -> Tensor:
    """Draw numbers from [low, 1) by the distribution's seed."""
    dtype = self.parameter_type
    return ops.uniform(shape, Tensor(low, float32), Tensor(1.0, float32), self.seed).astype(dtype)
