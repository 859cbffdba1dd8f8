"""Hooks on the values that operations save for their gradients."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from dist_ms.autograd.tape import Node, Tape, alias, paused, recording
from dist_ms.common.checks import check_callable
from dist_ms.common.tensor import Tensor


class saved_tensors_hooks:
    """A region, or a decorated function, whose operations save what `pack_hook` makes of tensors.

    Args:
        pack_hook: called with each tensor an operation saves; returns any object.
        unpack_hook: called with that object when the gradient is computed; returns the Tensor.

    Only the innermost region's hooks are called, and only while a gradient records.

    Raises:
        TypeError: if a hook is not callable.
        RuntimeError: in the gradient, if `unpack_hook` returns no Tensor.

    Examples:
        >>> import dist_ms as ms
        >>> def f(x):
        ...     with ms.saved_tensors_hooks(lambda t: t.asnumpy().astype("float16"),
        ...                                 lambda a: ms.Tensor(a, ms.float32)):
        ...         return x * x
        >>> print(ms.grad(f)(ms.Tensor([1.0, 3.0])))
        [2. 6.]
    """

    def __init__(self, pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            check_callable(hook, name, "saved_tensors_hooks")
        self.pack_hook = pack_hook
        self.unpack_hook = unpack_hook
        self._before: list[tuple[Tape | None, Any]] = []

    def __enter__(self) -> None:
        tape = recording.tape
        self._before.append((tape, None if tape is None else tape.pack))
        if tape is not None:
            tape.pack = self

    def __exit__(self, *exc: Any) -> None:
        tape, before = self._before.pop()
        if tape is not None:
            tape.pack = before

    def __call__(self, fn: Callable) -> Callable:
        @functools.wraps(fn)
        def call(*args: Any, **kwargs: Any) -> Any:
            with saved_tensors_hooks(self.pack_hook, self.unpack_hook):
                return fn(*args, **kwargs)

        return call

    def pack(self, node: Node) -> None:
        """Replace the data a node saved."""
        node.packed = []
        outputs = node.output if isinstance(node.output, tuple) else (node.output,)
        with paused():
            for saved in (*node.inputs, *outputs):
                if isinstance(saved, Tensor) and saved._data is not None:
                    value = alias(saved)
                    value._node = None
                    packed = self.pack_hook(value)
                    saved._shape, saved._dtype = saved._data.shape, saved._data.dtype
                    saved._data = None
                    node.packed.append((saved, packed, self.unpack_hook))


def register_saved_tensors_hooks(
    pack_hook: Callable[[Tensor], Any], unpack_hook: Callable[[Any], Tensor]
) -> saved_tensors_hooks:
    """Decorate a function so that it runs inside `saved_tensors_hooks(pack_hook, unpack_hook)`.

    Examples:
        >>> import dist_ms as ms
        >>> @ms.register_saved_tensors_hooks(lambda t: t + 1, lambda t: t)
        ... def f(x):
        ...     return x * x
        >>> print(ms.grad(f)(ms.Tensor(3.0)))
        8.0
    """
    return saved_tensors_hooks(pack_hook, unpack_hook)
