"""The base class of bijectors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from dist_ms.common.checks import check_bool, complaint
from dist_ms.common.dtype import float32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.parameters import FLOATS, as_tensor, check_tensor
from dist_ms.nn.probability.parametrised import Parametrised

__all__ = ["Bijector"]


class Bijector(Parametrised):
    """A function that can be turned back, with the logarithms of its slope.

    A subclass has `_forward`, `_inverse`, `_forward_log_jacobian` and `_inverse_log_jacobian`.

    Args:
        is_constant_jacobian: whether it has one slope everywhere.
        is_injective: whether it makes different numbers of different ones.
        name: what it is called.
        dtype: the type of values; None for any float type.
        param: what it was made with; "param_dict" in it holds the parameters by name.

    Raises:
        TypeError: if an argument has another type.

    Examples:
        >>> import dist_ms as ms
        >>> class Cube(ms.nn.probability.bijector.Bijector):
        ...     def __init__(self):
        ...         super().__init__(name="Cube", param={})
        ...     def _forward(self, x):
        ...         return x * x * x
        >>> print(Cube().forward(ms.Tensor([2.0])))
        [8.]
    """

    _forward: Callable[..., Any]
    _inverse: Callable[..., Any]
    _forward_log_jacobian: Callable[..., Any]
    _inverse_log_jacobian: Callable[..., Any]

    def __init__(
        self, is_constant_jacobian: bool = False, is_injective: bool = True, name: str | None = None,
        dtype: Any = None, param: Mapping[str, Any] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(name, dtype, {} if param is None else param, float32)
        owner = type(self).__name__
        self._is_constant_jacobian = check_bool(is_constant_jacobian, "is_constant_jacobian", owner)
        self._is_injective = check_bool(is_injective, "is_injective", owner)
        given = self._parameters.get("param_dict")
        self._is_scalar_batch = self._is_scalar_batch and given is not None
        if given is not None and not given:
            self._batch_shape = ()

    @property
    def is_constant_jacobian(self) -> bool:
        """Whether it has one slope everywhere."""
        return self._is_constant_jacobian

    @property
    def is_injective(self) -> bool:
        """Whether it makes different numbers of different ones."""
        return self._is_injective

    def extend_repr(self) -> str:
        """The parameters, or their shape."""
        given = self._parameters.get("param_dict")
        if not given:
            return ""
        if not self.is_scalar_batch:
            return f"batch_shape = {self.batch_shape}"
        return ", ".join(f"{name} = {value}" for name, value in given.items())

    def _add_parameter(self, value: Any, name: str) -> Tensor:
        """Return a parameter as a Tensor."""
        return as_tensor(value, name, type(self).__name__, self.parameter_type)

    def cast_param_by_value(self, value: Tensor, para: Tensor) -> Tensor:
        """Return a parameter in the type of a value."""
        return para.astype(value.dtype)

    def _given(self, value: Any) -> Tensor:
        value = check_tensor(value, "value", self.name)
        if value.dtype not in (FLOATS if self._dtype is None else (self._dtype,)):
            raise TypeError(complaint("value", self.name, "a Tensor of float16, float32 or float64", value.dtype))
        return value

    def forward(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Apply it."""
        return self._forward(self._given(value), *args, **kwargs)

    def inverse(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """Turn it back."""
        return self._inverse(self._given(value), *args, **kwargs)

    def forward_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of its slope at a value."""
        return self._forward_log_jacobian(self._given(value), *args, **kwargs)

    def inverse_log_jacobian(self, value: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        """The logarithm of the slope of the way back."""
        return self._inverse_log_jacobian(self._given(value), *args, **kwargs)

    def construct(self, name: str, *args: Any, **kwargs: Any) -> Tensor:
        """Call one of these methods by its name."""
        known = ("forward", "inverse", "forward_log_jacobian", "inverse_log_jacobian")
        if name not in known:
            raise ValueError(complaint("name", self.name, f"one of {', '.join(known)}", name))
        return getattr(self, name)(*args, **kwargs)
