"""Functions as layers."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from dist_ms.mint.nn import functional
from dist_ms.nn.cell import Cell


class FunctionLayer(Cell):
    """A function of `mint.nn.functional`, with the arguments that follow its inputs as attributes of their names.

    Args:
        options: these arguments.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.mint.nn.function_layer import FunctionLayer
        >>> class Softmax(FunctionLayer):
        ...     def __init__(self, dim=None):
        ...         super().__init__(dim=dim)
        >>> print(Softmax(0)(ms.Tensor([1.0, 1.0])))
        [0.5 0.5]
    """

    _function: str
    _options: tuple[str, ...]

    def __init_subclass__(cls, of: str = "", inputs: str = "", **kwargs: Any) -> None:
        """Note the function's name, by default the class's in small letters, and what `construct` calls its inputs."""
        super().__init_subclass__(**kwargs)
        cls._function = of or cls.__name__.lower()
        if inputs:
            cls.construct = _taking(inputs.split())  # type: ignore[method-assign]

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = tuple(options)
        for name, value in options.items():
            setattr(self, name, value)

    def construct(self, input: Any) -> Any:
        """Call the function."""
        return self._call(input)

    def _call(self, *inputs: Any) -> Any:
        return getattr(functional, self._function)(*inputs, **{n: getattr(self, n) for n in self._options})


def _taking(names: list[str]) -> Callable[..., Any]:
    """A `construct` whose inputs have these names."""
    kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
    signature = inspect.Signature([inspect.Parameter(name, kind) for name in ("self", *names)])

    def construct(self: FunctionLayer, *inputs: Any, **named: Any) -> Any:
        """Call the function."""
        return self._call(*(signature.bind(self, *inputs, **named).args[1:] if named else inputs))

    construct.__signature__ = signature  # type: ignore[attr-defined]
    return construct
