"""Custom: an operation that a user writes in Python or C."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import complaint
from dist_ms.common.dtype import Number, from_numpy
from dist_ms.common.tensor import Tensor
from dist_ms.ops.primitive import Primitive

__all__ = ["Custom"]

_KINDS = ("pyfunc", "hybrid", "aot")


class Custom(Primitive):
    """An operation of the user's own.

    Args:
        func: with "pyfunc" and "hybrid" a function of NumPy arrays that returns an array or a tuple of them; with
            "aot" a str "<file>:<function>" that names a C function in a shared library, or in C++ source that
            is compiled first: int f(int nparam, void **params, int *ndims, int64_t **shapes, const char **dtypes,
            void *stream, void *extra). The arrays are the inputs', then the outputs'.
        out_shape: the shape of the output (a tuple of shapes for several), or a function of the inputs' shapes that
            returns it. "hybrid" may leave it out.
        out_dtype: the dtype, or a function of the inputs' dtypes; likewise.
        func_type: "pyfunc", "hybrid" (a function decorated with `kernel`) or "aot".
        bprop: the gradient: a function of the inputs, the output and its gradient that returns a gradient per
            input, or one for one input. None: the operation is not differentiable.
        reg_info: what `CustomRegOp` gives; kept.

    Call:
        Tensors and plain values, as `func` takes them.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `func_type` is another, or what `func` returns has another shape or dtype than was said.
        RuntimeError: if a C function is not there or fails.

    Examples:
        >>> import dist_ms as ms
        >>> def bprop(x, out, dout):
        ...     return dout * x * 2
        >>> square = ms.ops.Custom(lambda x: x * x, lambda x: x, lambda x: x, bprop=bprop)
        >>> print(square(ms.Tensor([1.0, 3.0])), ms.grad(square)(ms.Tensor([1.0, 3.0])))
        [1. 9.] [2. 6.]
    """

    keeps_output = True

    def __init__(
        self,
        func: Callable | str,
        out_shape: Any = None,
        out_dtype: Any = None,
        func_type: str = "pyfunc",
        bprop: Callable | None = None,
        reg_info: Any = None,
    ) -> None:
        if func_type not in _KINDS:
            raise ValueError(complaint("func_type", self.name, f"one of {', '.join(_KINDS)}", repr(func_type)))
        if func_type == "aot":
            if not isinstance(func, str):
                raise TypeError(complaint("func", self.name, "a str with func_type='aot'", type(func).__name__))
            from dist_ms.ops.custom.compiled import load

            self._compiled = load(func)
        elif not callable(func):
            raise TypeError(complaint("func", self.name, "a function", type(func).__name__))
        elif func_type == "hybrid" and not getattr(func, "is_hybrid", False):
            raise TypeError(complaint("func", self.name, "decorated with ops.kernel, for 'hybrid'", func.__name__))
        if func_type != "hybrid":
            if not callable(out_shape) and not isinstance(out_shape, (tuple, list)):
                wanted = "a tuple, a list or a function"
                raise TypeError(complaint("out_shape", self.name, wanted, type(out_shape).__name__))
            if not callable(out_dtype) and not isinstance(out_dtype, (tuple, list, Number)):
                wanted = "a dtype, a tuple of them or a function"
                raise TypeError(complaint("out_dtype", self.name, wanted, type(out_dtype).__name__))
        if bprop is not None and not callable(bprop):
            raise TypeError(complaint("bprop", self.name, "a function", type(bprop).__name__))
        self.func, self.func_type, self.reg_info = func, func_type, reg_info
        self._shape, self._dtype, self._bprop = out_shape, out_dtype, bprop

    def arguments(self, args: tuple, kwargs: dict) -> tuple:
        if kwargs:
            raise TypeError(f"For '{self.name}', inputs must be given by place, but got {', '.join(kwargs)} by name.")
        return args

    def _said(self, inputs: tuple) -> list[tuple[tuple, Number]] | None:
        """The shape and dtype of every output, as the user says; None where he does not."""
        if self._shape is None:
            return None
        arrays = [x for x in inputs if isinstance(x, np.ndarray)]
        shape, dtype = self._shape, self._dtype
        if callable(shape):
            shape = shape(*[x.shape for x in arrays])
        if callable(dtype):
            dtype = dtype(*[from_numpy(x.dtype) for x in arrays])
        if isinstance(dtype, Number):
            return [(tuple(shape), dtype)]
        if len(shape) != len(dtype):
            raise ValueError(
                complaint("out_dtype", self.name, f"one dtype for each of {len(shape)} outputs", len(dtype))
            )
        return [(tuple(s), d) for s, d in zip(shape, dtype)]

    def forward(self, *inputs: Any) -> Any:
        said = self._said(inputs)
        if self.func_type == "aot":
            outputs = [np.zeros(shape, dtype.np) for shape, dtype in said]
            self._compiled([x for x in inputs if isinstance(x, np.ndarray)], outputs)
            return outputs[0] if len(outputs) == 1 else tuple(outputs)
        found = self.func(*inputs)
        results = found if isinstance(found, (tuple, list)) else (found,)
        results = [np.asarray(result) for result in results]
        if said is not None:
            if len(said) != len(results):
                raise ValueError(complaint("func", self.name, f"a function of {len(said)} outputs", len(results)))
            for i, (result, (shape, dtype)) in enumerate(zip(results, said)):
                if result.shape != shape or result.dtype != dtype.np:
                    raise ValueError(
                        f"For '{self.name}', output {i} must have the shape and dtype that were said, {shape} and "
                        f"{dtype}, but got {result.shape} and {from_numpy(result.dtype)}."
                    )
        return tuple(results) if isinstance(found, (tuple, list)) else results[0]

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> Any:
        if self._bprop is None:
            raise RuntimeError(f"For '{self.name}', 'bprop' must be given for a gradient, but got None.")
        found = self._bprop(*inputs, output, dout)
        grads = tuple(found) if isinstance(found, (tuple, list)) else (found,)
        if len(grads) != len(inputs):
            raise RuntimeError(
                f"For '{self.name}', 'bprop' must return {len(inputs)} gradients, one for each input, but got "
                f"{len(grads)}."
            )
        return tuple([g if isinstance(x, Tensor) else None for g, x in zip(grads, inputs)])
