"""Backward: an operation that is the gradient of another, made of the gradients that are recorded."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, ClassVar

from dist_ms import ops
from dist_ms._ext.tape import recording
from dist_ms.common.checks import complaint
from dist_ms.common.tensor import Tensor
from dist_ms.ops.formula_gradient import formula_gradient
from dist_ms.ops.primitive import Primitive

if TYPE_CHECKING:
    from collections.abc import Iterator

REQUIRED = object()


@contextmanager
def _allowed() -> Iterator[None]:
    """A region in which gradients are taken even inside `no_grad`."""
    before, recording.refused = recording.refused, False
    try:
        yield
    finally:
        recording.refused = before


def swept(formula: Callable, inputs: Sequence[Tensor], dout: Any, owner: str = "") -> list[Tensor]:
    """The gradients of a formula with respect to each input, all of which are tensors.

    Args:
        formula: of the inputs.
        inputs: tensors; one that is among them twice counts as two.
        dout: the gradient of what the formula returns.
        owner: the operation that errors name.

    Raises:
        ValueError: if `dout` has not the shape of what the formula returns.
    """
    apart = [ops.reshape(x, x.shape) if any(x is y for y in inputs[:i]) else x for i, x in enumerate(inputs)]

    def checked(*given: Tensor) -> Any:
        output = formula(*given)
        if isinstance(dout, Tensor) and isinstance(output, Tensor) and output.shape != dout.shape:
            wanted = f"of the shape {output.shape} that the operation returns"
            raise ValueError(complaint("dout", owner, wanted, f"the shape {dout.shape}"))
        return output

    with _allowed():
        return formula_gradient(checked, apart, dout)


def pushed(formula: Callable, x: Tensor, tangent: Tensor, owner: str = "") -> Tensor:
    """How a formula's value moves when its input moves along `tangent`."""
    with _allowed():
        output = formula(x)
        return swept(lambda d: swept(formula, [x], d)[0], [ops.zeros_like(output)], tangent, owner)[0]


@functools.cache
def _tensors_of(cls: type[Backward]) -> tuple[inspect.Signature, list[str]]:
    """The parameters of an operation's `compute`, and which of them are tensors."""
    signature = inspect.signature(cls.compute)
    signature = signature.replace(parameters=list(signature.parameters.values())[1:])
    return signature, [name for name, p in signature.parameters.items() if p.annotation in ("Tensor", Tensor)]


class Backward(Primitive):
    """The gradient of an operation, as an operation.

    A subclass names its arguments in `options` and has `compute`, which is written with operations, so that the
    gradient of this gradient needs nothing more. The inputs are the parameters of `compute`.

    Attributes:
        options: the arguments of the constructor, in order, with their defaults; REQUIRED for those without.
    """

    options: ClassVar[dict[str, Any]] = {}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        given = dict(zip(self.options, args))
        extra = [name for name in kwargs if name not in self.options or name in given]
        if len(args) > len(self.options) or extra:
            raise TypeError(
                f"For '{self.name}', the arguments must be among ({', '.join(self.options)}), each once, "
                f"but got {len(args)} by position and {list(kwargs)}."
            )
        for name, default in self.options.items():
            value = {**given, **kwargs}.get(name, default)
            if value is REQUIRED:
                raise TypeError(f"For '{self.name}', '{name}' must be given, but got no value.")
            setattr(self, name, value)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        signature, tensors = _tensors_of(type(self))
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"For '{self.name}', {error}.") from None
        for name in tensors:
            if name in bound.arguments and not isinstance(bound.arguments[name], Tensor):
                found = type(bound.arguments[name]).__name__
                raise TypeError(complaint(name, self.name, "a Tensor", found))
        return self.compute(*bound.args, **bound.kwargs)

    def compute(self, *args: Any, **kwargs: Any) -> Any:
        """The gradients of the inputs."""
        raise NotImplementedError(f"For '{self.name}', compute is not defined.")

    def made(self) -> dict[str, Any]:
        """The options as they were given, for the constructor of the forward operation."""
        return {name: getattr(self, name) for name in self.options}

    def through(self, formula: Callable, inputs: Sequence[Tensor], dout: Any) -> list[Tensor]:
        """The gradients of a formula; errors name this operation."""
        return swept(formula, inputs, dout, self.name)
