"""The categorical distribution."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms import ops
from dist_ms.common.checks import complaint
from dist_ms.common.dtype import int32
from dist_ms.common.tensor import Tensor
from dist_ms.nn.probability.distribution.hooks import ANY_NUMBER, Family, draws, of_parameters, of_two, of_value
from dist_ms.nn.probability.parameters import check_between

__all__ = ["Categorical"]


class Categorical(Family):
    """One of n classes, from 0.

    Args:
        probs: the probabilities of the classes (..., n), a list or a Tensor; None: given with each call.
        seed: from which it draws; None for 0.
        dtype: the type of its values, an int or float type.
        name: what it is called.

    Raises:
        TypeError: if an argument has another type.
        ValueError: if probabilities are not between 0 and 1 or do not add up to 1, or `probs` is a plain number.

    Examples:
        >>> import dist_ms as ms
        >>> classes = ms.nn.probability.distribution.Categorical([0.25, 0.75])
        >>> print(classes.prob(ms.Tensor([0.0, 1.0])), classes.mode())
        [0.25 0.75] 1
    """

    probs = Family.given("probs", "The probabilities.")

    def __init__(
        self, probs: Any = None, seed: int | None = None, dtype: Any = int32, name: str = "Categorical"
    ) -> None:
        super().__init__(seed, dtype, name, {"probs": probs}, ANY_NUMBER)
        if self.probs is not None:
            if not self.probs.ndim:
                raise ValueError(complaint("probs", name, "of one dimension or more", probs))
            check_between(self.probs, "probs", name)
            sums = self.probs.asnumpy().sum(-1)
            if not np.allclose(sums, 1, rtol=10 * np.finfo(sums.dtype).eps, atol=np.finfo(sums.dtype).eps):
                raise ValueError(complaint("probs", name, "probabilities that add up to 1", f"sums of {sums}"))

    def extend_repr(self) -> str:
        """The probabilities, or the shape of several sets of them."""
        if self.probs is None or self.probs.ndim == 1:
            return f"probs = {self._parameters['param_dict']['probs']}"
        return f"batch_shape = {self.probs.shape[:-1]}"

    def event_free_shape(self, found: tuple[Tensor, ...]) -> tuple[int, ...]:
        """The shape without that of the classes."""
        return found[0].shape[:-1]

    @of_parameters
    def _mean(self, probs: Tensor) -> Tensor:
        return (_classes(probs) * probs).sum(-1, keepdims=True)

    @of_parameters
    def _mode(self, probs: Tensor) -> Tensor:
        return ops.argmax(probs, -1).astype(int32)

    @of_parameters
    def _var(self, probs: Tensor) -> Tensor:
        away = _classes(probs) - (_classes(probs) * probs).sum(-1, keepdims=True)
        return (ops.square(away) * probs).sum(-1, keepdims=True)

    @of_parameters
    def _entropy(self, probs: Tensor) -> Tensor:
        return -(probs * _logits(probs)).sum(-1)

    @of_two
    def _kl_loss(self, probs_b: Tensor, probs: Tensor) -> Tensor:
        return (ops.softmax(_logits(probs), -1) * (_logits(probs) - _logits(probs_b))).sum(-1)

    @of_value
    def _log_prob(self, value: Tensor, probs: Tensor) -> Tensor:
        return self._at(value, _logits(probs))

    @of_value
    def _cdf(self, value: Tensor, probs: Tensor) -> Tensor:
        found = self._at(ops.clamp(value, 0.0, probs.shape[-1] - 1.0), ops.cumsum(probs, -1))
        none, every = ops.zeros_like(found), ops.ones_like(found)
        value = ops.broadcast_to(value, found.shape)
        return ops.select(value < 0.0, none, ops.select(value >= probs.shape[-1] - 1.0, every, found))

    def _at(self, value: Tensor, table: Tensor) -> Tensor:
        """The entries of a table (..., n) at values, NaN beyond it."""
        count, shape = table.shape[-1], np.broadcast_shapes(value.shape, table.shape[:-1])
        value = ops.broadcast_to(value, shape)
        places = ops.clamp(ops.floor(value), 0.0, count - 1.0).astype(int32)
        found = ops.gather_d(ops.broadcast_to(table, (*shape, count)), -1, places.expand_dims(-1)).squeeze(-1)
        outside = ops.logical_or(value < 0.0, value >= float(count))
        return ops.select(outside, ops.full_like(found, math.nan), found)

    @draws
    def _sample(self, shape: tuple[int, ...], probs: Tensor) -> Tensor:
        count, rows = probs.shape[-1], int(np.prod(probs.shape[:-1]))
        drawn = ops.multinomial(probs.reshape(rows, count), int(np.prod(shape)) // rows, True, self.seed)
        return ops.transpose(drawn, (1, 0)).reshape(shape)


def _classes(probs: Tensor) -> Tensor:
    return Tensor(np.arange(probs.shape[-1])).astype(probs.dtype)


def _logits(probs: Tensor) -> Tensor:
    """The logarithms of probabilities, which are kept off 0 and 1."""
    eps = float(np.finfo(probs.asnumpy().dtype).eps)
    return ops.log(ops.clamp(probs, eps, 1 - eps))
