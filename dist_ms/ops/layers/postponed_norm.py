"""BatchNorm that leaves writing its result to what reads it first, and ReLU's gradient likewise.

A network says `relu(bn(x))` or `relu(bn(x) + y)`. BatchNorm finds any statistics at once and
hands on a tensor whose array is made later. ReLU, or a sum and then ReLU, makes its own result
in that very pass over memory; anything else finds the usual array. In the sweep ReLU's gradient
waits for that of BatchNorm in the same way. What is recorded, and every bit, is as without this.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms._ext.tape import Later, is_only, postponed
from dist_ms.autograd.tape import recording
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.ops.kernels import batch_norm
from dist_ms.ops.layout import contiguous, converted, empty, empty_like, laid_out_like, working_type

# Elements from which on a saved pass over memory outweighs what postponing costs.
LEAST = 32768
_KINDS = ("float32", "bfloat16", "float16")


def can_wait(given: Any) -> bool:
    """Whether BatchNorm of `given`, whose array no caller has in a variable, may write its result later.

    Others that hold the array could write into it while it is still to be read, past `Tensor`.
    """
    return type(given) is Tensor and _is_worth(given.array()) and is_only(given)


def _is_worth(x: np.ndarray) -> bool:
    return x.size >= LEAST and x.dtype.name in _KINDS


def _lie_alike(x: np.ndarray, other: np.ndarray) -> bool:
    """Whether an array of the shape of `x`, perhaps of another type, has its elements in the same order."""
    return all(a * other.itemsize == b * x.itemsize for a, b in zip(x.strides, other.strides))


class NormLater(Later):
    """(x - mean) rstd gamma + beta, perhaps + addend, of which ReLU may follow.

    Args:
        x: (N, C, ...), in a layout that kernels read.
        vectors: gamma, beta, mean, rstd, (C,) each, which nobody writes any more.
        dtype: of the result.
        addend: None or an array like the result.
    """

    def __init__(self, x: np.ndarray, vectors: tuple, dtype: np.dtype, addend: np.ndarray | None = None) -> None:
        super().__init__(x.shape, dtype)
        self._x, self._vectors, self._addend = x, vectors, addend

    def array(self) -> np.ndarray:
        return self._written(False)

    def joined(self, primitive: Any, inputs: tuple) -> np.ndarray | NormLater | None:
        if primitive.joins == "relu":
            return self._written(True)
        if self._addend is not None:
            return None
        others = [x for x in inputs if not isinstance(x, Tensor) or x._later is not self]
        if not others or type(others[0]) is not Tensor or (recording.tape is None and not is_only(others[0])):
            return None
        addend = others[0]._held
        if (
            addend is None
            or addend.dtype != self.dtype
            or addend.shape != self.shape
            or not _lie_alike(self._x, addend)
        ):
            return None
        return self._with(addend)

    def _with(self, addend: np.ndarray) -> NormLater:
        return NormLater(self._x, self._vectors, self.dtype, addend)

    def _written(self, relu: bool) -> np.ndarray:
        out = empty_like(self._x, self.dtype)
        batch_norm.normalised(self._x, *self._vectors, self._addend, relu, out)
        return out


class InferLater(NormLater):
    """The same with the moving statistics: mean and variance.

    Args:
        eps: added to the variance.
        The others: as of NormLater, with the variance instead of rstd.
    """

    def __init__(
        self, eps: float, x: np.ndarray, vectors: tuple, dtype: np.dtype, addend: np.ndarray | None = None
    ) -> None:
        super().__init__(x, vectors, dtype, addend)
        self._eps = eps

    def _with(self, addend: np.ndarray) -> NormLater:
        return InferLater(self._eps, self._x, self._vectors, self.dtype, addend)

    def _written(self, relu: bool) -> np.ndarray:
        out = empty_like(self._x, self.dtype)
        batch_norm.forward_eval(self._x, *self._vectors, self._eps, out, self._addend, relu)
        return out


class MaskLater(Later):
    """ReLU's gradient: dy where y > 0, else 0.

    Args:
        make: gives that array of dy and y.
        dy, y: arrays of one type.
        direct: ReLU's input was the result of a BatchNorm and nothing else.
    """

    def __init__(self, make: Callable, dy: np.ndarray, y: np.ndarray, direct: bool) -> None:
        super().__init__(dy.shape, dy.dtype)
        self._make, self._dy, self._y, self._direct = make, dy, y, direct

    def array(self) -> np.ndarray:
        return self._make(self._dy, self._y)

    def gradients(self, given: Tensor, x: np.ndarray, vectors: tuple) -> tuple | None:
        """(dx, dgamma, dbeta) of BatchNorm, given this for its `dout`; None if this has to be made first.

        Args:
            given: the tensor that waits for this; gets its array where that is made on the way.
            x: BatchNorm's input.
            vectors: gamma, beta, mean, rstd.
        """
        y = self._y
        if x.dtype.name not in _KINDS or y.dtype not in (x.dtype, working_type(x.dtype)) or not _lie_alike(x, y):
            return None
        dy = laid_out_like(self._dy, y)
        work = vectors[2].dtype
        gamma, beta = [contiguous(v, work) for v in vectors[:2]]
        dx = empty_like(x)
        dgamma, dbeta = empty(gamma.shape, work), empty(gamma.shape, work)
        if self._direct:
            batch_norm.backward_of_relu(dy, x, gamma, beta, *vectors[2:], dx, dgamma, dbeta)
        else:
            masked = empty_like(dy)
            batch_norm.backward_of_sum(dy, x, gamma, *vectors[2:], y, dx, dgamma, dbeta, masked)
            given._data = masked
        return tuple([wrap(a) for a in (dx, *[converted(d, vectors[0].dtype) for d in (dgamma, dbeta)])])


def mask_later(relu_grad: Any, given: Tensor, output: Tensor, dout: Tensor) -> Tensor | None:
    """ReLU's gradient as a tensor that waits for BatchNorm's, if ReLU followed one; else None.

    Args:
        relu_grad: the operation that else makes it.
        given: what ReLU was given.
        output: its result.
        dout: the gradient of that.
    """
    how = _follows_norm(given._node.primitive, given._node.inputs, given.shape)
    dy, y = dout._held, output._held
    if not how or dy is None or y is None or recording.tape is not None or recording.policy is not None:
        return None
    if dy.dtype != y.dtype or dy.shape != y.shape or dy.size < LEAST:
        return None
    return postponed(MaskLater(relu_grad.forward, dy, y, how == "norm"))


def _follows_norm(primitive: Any, inputs: tuple, shape: tuple) -> str:
    """Whether an operation was a BatchNorm that may wait, "norm", or added to the result of one, "sum"; else ""."""
    if getattr(primitive, "may_wait", False):
        return "norm"
    if getattr(primitive, "joins", "") != "sum":
        return ""
    made = [x._node for x in inputs if isinstance(x, Tensor) and x._node is not None and x.shape == shape]
    return "sum" if any(getattr(node.primitive, "may_wait", False) for node in made) else ""
