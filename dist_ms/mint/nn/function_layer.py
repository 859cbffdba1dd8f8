"""Functions as layers."""

from __future__ import annotations

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

    def __init_subclass__(cls, of: str = "", **kwargs: Any) -> None:
        """Note the function's name, by default the class's in small letters."""
        super().__init_subclass__(**kwargs)
        cls._function = of or cls.__name__.lower()

    def __init__(self, **options: Any) -> None:
        super().__init__()
        self._options = tuple(options)
        for name, value in options.items():
            setattr(self, name, value)

    def construct(self, *inputs: Any, **named: Any) -> Any:
        """Call the function."""
        return getattr(functional, self._function)(*inputs, **named, **{n: getattr(self, n) for n in self._options})
