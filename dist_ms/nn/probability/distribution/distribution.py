"""The base class of distributions: what a distribution can be asked, and what follows from what."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from dist_ms import ops
from dist_ms.common.checks import check_non_negative_int
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.parameters import as_tensor, broadcast, check_tensor
from dist_ms.nn.probability.parametrised import Parametrised

__all__ = ["Distribution"]


def _rest(x: Tensor) -> Tensor:
    return 1.0 - x


_Step = Callable[[Tensor], Tensor]
# What a question is answered from, the first that a class has.
_WAYS: dict[str, tuple[tuple[str, tuple[_Step, ...]], ...]] = {
    "prob": (("_prob", ()), ("_log_prob", (ops.exp,))),
    "log_prob": (("_log_prob", ()), ("_prob", (ops.log,))),
    "cdf": (
        ("_cdf", ()),
        ("_log_cdf", (ops.exp,)),
        ("_survival_function", (_rest,)),
        ("_log_survival", (ops.exp, _rest)),
    ),
    "log_cdf": (
        ("_log_cdf", ()),
        ("_cdf", (ops.log,)),
        ("_survival_function", (_rest, ops.log)),
        ("_log_survival", (ops.exp, _rest, ops.log)),
    ),
    "survival_function": (
        ("_survival_function", ()),
        ("_log_survival", (ops.exp,)),
        ("_cdf", (_rest,)),
        ("_log_cdf", (ops.exp, _rest)),
    ),
    "log_survival": (
        ("_log_survival", ()),
        ("_survival_function", (ops.log,)),
        ("_cdf", (_rest, ops.log)),
        ("_log_cdf", (ops.exp, _rest, ops.log)),
    ),
    "sd": (("_sd", ()), ("_var", (ops.sqrt,))),
    "var": (("_var", ()), ("_sd", (ops.square,))),
}
_QUESTIONS = (*_WAYS, "kl_loss", "cross_entropy", "mean", "mode", "entropy", "sample", "get_dist_args", "get_dist_type")


class Distribution(Parametrised):
    r"""A family of probability distributions, or one of it.

    A subclass has some of `_prob`, `_log_prob`, `_cdf`, `_log_cdf`, `_survival_function`, `_log_survival`, `_mean`,
    `_mode`, `_sd`, `_var`, `_entropy`, `_kl_loss`, `_cross_entropy`, `_sample`, `_get_dist_args` and
    `_get_dist_type`; what it has not follows from what it has where that is possible, as the standard deviation does
    from the variance, and raises NotImplementedError else. Its parameters are those given when it was made, or are
    given to each call as Tensors.

    Args:
        seed: from which it draws, an int; None for 0.
        dtype: the type of its values.
        name: what it is called.
        param: what it was made with; "param_dict" in it holds the parameters by name.

    Raises:
        TypeError: if `seed` or `name` has another type, or tensors among the parameters differ in theirs.
        ValueError: if `seed` is negative.

    Examples:
        >>> import dist_ms as ms
        >>> class Triangular(ms.nn.probability.distribution.Distribution):
        ...     def __init__(self):
        ...         super().__init__(0, ms.float32, "Triangular", {"param_dict": {}})
        ...     def _cdf(self, value):
        ...         return value * value
        >>> print(Triangular().survival_function(ms.Tensor(0.5)))
        0.75
    """

    _cross_entropy: Callable[..., Any]

    def __init__(self, seed: int | None, dtype: Any, name: str, param: Mapping[str, Any]) -> None:
        super().__init__(name, dtype, param, dtype)
        self._seed = check_non_negative_int(0 if seed is None else seed, "seed", type(self).__name__)
        self.default_parameters: list[Tensor | None] = []
        self.parameter_names: list[str] = []
        self._broadcast_shape = self._batch_shape

    @property
    def seed(self) -> int:
        """From which it draws."""
        return self._seed

    @property
    def broadcast_shape(self) -> tuple[int, ...] | None:
        """The shape of its parameters together with those of a bijector."""
        return self._broadcast_shape

    def extend_repr(self) -> str:
        """The parameters, or their shape."""
        if not self.parameter_names:
            return ""
        if not self.is_scalar_batch:
            return f"batch_shape = {self.batch_shape}"
        given = self._parameters["param_dict"]
        return ", ".join(f"{self._shown.get(name, name)} = {value}" for name, value in given.items())

    _shown: ClassVar[Mapping[str, str]] = {}

    def _add_parameter(self, value: Any, name: str) -> Tensor | None:
        """Note a parameter, and return it as a Tensor."""
        tensor = None if value is None else as_tensor(value, name, type(self).__name__, self.parameter_type)
        self.default_parameters.append(tensor)
        self.parameter_names.append(name)
        return tensor

    def _check_param_type(self, *given: Any) -> Any:
        """Return the parameters, of a call or as noted, in one type and shape; one alone as it is."""
        found = []
        for value, name, default in zip(given, self.parameter_names, self.default_parameters, strict=False):
            value = default if value is None else check_tensor(value, name, self.name)
            if value is None:
                raise TypeError(
                    f"For '{self.name}', '{name}' must be a Tensor, but got None; give it here or when the "
                    "distribution is made."
                )
            found.append(value.astype(self.parameter_type))
        return found[0] if len(found) == 1 else broadcast(*found)

    def _check_value(self, value: Any, name: str) -> Tensor:
        """Return a value if it is a Tensor; else raise TypeError."""
        return check_tensor(value, name, self.name)

    def _ask(self, question: str, *args: Any, **kwargs: Any) -> Any:
        for hook, steps in _WAYS.get(question, ((f"_{question}", ()),)):
            way = getattr(self, hook, None)
            if way is not None:
                result = way(*args, **kwargs)
                for step in steps:
                    result = step(result)
                return result
        raise NotImplementedError(f"For '{self.name}', '{question}' is not defined, nor what it could be found from.")

    def prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The probability, or its density, at values; further arguments are the distribution's parameters."""
        return self._ask("prob", value, *args, **kwargs)

    def log_prob(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `prob`."""
        return self._ask("log_prob", value, *args, **kwargs)

    def cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of what is not above values."""
        return self._ask("cdf", value, *args, **kwargs)

    def log_cdf(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `cdf`."""
        return self._ask("log_cdf", value, *args, **kwargs)

    def survival_function(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The probability of what is above values."""
        return self._ask("survival_function", value, *args, **kwargs)

    def log_survival(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of `survival_function`."""
        return self._ask("log_survival", value, *args, **kwargs)

    def mean(self, *args: Any, **kwargs: Any) -> Tensor:
        """The expected value."""
        return self._ask("mean", *args, **kwargs)

    def mode(self, *args: Any, **kwargs: Any) -> Tensor:
        """The likeliest value."""
        return self._ask("mode", *args, **kwargs)

    def sd(self, *args: Any, **kwargs: Any) -> Tensor:
        """The standard deviation."""
        return self._ask("sd", *args, **kwargs)

    def var(self, *args: Any, **kwargs: Any) -> Tensor:
        """The variance."""
        return self._ask("var", *args, **kwargs)

    def entropy(self, *args: Any, **kwargs: Any) -> Tensor:
        """The entropy, in nats."""
        return self._ask("entropy", *args, **kwargs)

    def kl_loss(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The Kullback-Leibler divergence from this to another one.

        Args:
            dist: the other's family, by name.
            args: its parameters, then those of this one.
            kwargs: the same by name.
        """
        return self._ask("kl_loss", dist, *args, **kwargs)

    def cross_entropy(self, dist: str, *args: Any, **kwargs: Any) -> Tensor:
        """The cross entropy of this and another one, whose arguments are as for `kl_loss`."""
        if hasattr(self, "_cross_entropy"):
            return self._cross_entropy(dist, *args, **kwargs)
        return self._ask("entropy", *args, **kwargs) + self._ask("kl_loss", dist, *args, **kwargs)

    def sample(self, *args: Any, **kwargs: Any) -> Tensor:
        """Draw values: of a shape, a tuple, before that of the parameters."""
        return self._ask("sample", *args, **kwargs)

    def get_dist_args(self, *args: Any, **kwargs: Any) -> tuple:
        """The parameters."""
        return self._ask("get_dist_args", *args, **kwargs)

    def get_dist_type(self) -> str:
        """The family, by name."""
        return self._ask("get_dist_type")

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """Call one of these methods by its name."""
        if name not in _QUESTIONS:
            raise NotImplementedError(f"For '{self.name}', '{name}' must be one of {', '.join(_QUESTIONS)}.")
        return getattr(self, name)(*args, **kwargs)
