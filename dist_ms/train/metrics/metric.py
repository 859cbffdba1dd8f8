"""Metric: counters filled batch by batch, put together over the ranks, evaluated at the end."""

from __future__ import annotations

import functools
from abc import ABCMeta, abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor


def rearrange_inputs(func: Callable) -> Callable:
    """Decorate an `update` so that it gets the inputs that `set_indexes` chose.

    Args:
        func: a method that takes `*inputs`, of an object with the attribute `indexes`.

    Returns:
        The decorated method.

    Examples:
        >>> from dist_ms.train import rearrange_inputs
        >>> class Pair:
        ...     indexes = [1, 0]
        ...     @rearrange_inputs
        ...     def update(self, *inputs):
        ...         return inputs
        >>> Pair().update("a", "b")
        ('b', 'a')
    """

    @functools.wraps(func)
    def update(self: Any, *inputs: Any) -> Any:
        return func(self, *(inputs if not self.indexes else [inputs[i] for i in self.indexes]))

    return update


class Metric(metaclass=ABCMeta):
    """Base class of metrics.

    `Model.eval` evaluates a metric over the batches of all ranks when the class says how the
    ranks' counters become one. A class that says nothing is evaluated on each rank's own batches.

    Attributes:
        sums: names of attributes, numbers or arrays, that are added over the ranks.
        largest: names of attributes of which the largest counts (class numbers, flags).
        rows: names of arrays that are put one after the other along their first axis.
        latest: names of attributes taken from the last rank that has seen something (whose
            `_is_update` is True).
        needs_loss: `update` takes the loss, not (output, label).

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> class MeanError(ms.train.Metric):
        ...     sums = ("total", "count")
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.clear()
        ...     def clear(self):
        ...         self.total, self.count = 0.0, 0
        ...     def update(self, *inputs):
        ...         self.total += float(np.abs(inputs[0] - inputs[1]).sum())
        ...         self.count += inputs[0].size
        ...     def eval(self):
        ...         return self.total / self.count
        >>> MeanError()(np.array([1.0, 2.0]), np.array([1.0, 3.0]))
        0.5
    """

    sums: tuple[str, ...] = ()
    largest: tuple[str, ...] = ()
    rows: tuple[str, ...] = ()
    latest: tuple[str, ...] = ()
    needs_loss = False
    _indexes: list | None = None

    def __init__(self) -> None:
        self._indexes = None

    @abstractmethod
    def clear(self) -> None:
        """Forget everything seen."""

    @abstractmethod
    def update(self, *inputs: Any) -> None:
        """See one batch."""

    @abstractmethod
    def eval(self) -> Any:
        """Return the value over everything seen."""

    def __call__(self, *inputs: Any) -> Any:
        """Evaluate one batch alone."""
        self.clear()
        self.update(*inputs)
        return self.eval()

    @property
    def indexes(self) -> list | None:
        """Which of the inputs `update` uses, in order; None for all."""
        return self._indexes

    def set_indexes(self, indexes: list) -> Metric:
        """Choose which of the inputs `update` uses.

        Args:
            indexes: the positions, in the order in which `update` takes them.

        Returns:
            The metric itself.

        Raises:
            ValueError: if `indexes` is no list of ints.
        """
        if not isinstance(indexes, list) or not all(isinstance(i, int) for i in indexes):
            raise ValueError(f"For 'set_indexes', 'indexes' must be a list of ints, but got {indexes}.")
        self._indexes = indexes
        return self

    def _expect(self, inputs: tuple, *what: str) -> tuple:
        """Return the inputs, raising unless there is one for each name."""
        if len(inputs) != len(what):
            raise ValueError(
                f"For '{type(self).__name__}.update', it needs {len(what)} inputs "
                f"({', '.join(what)}), but got {len(inputs)}."
            )
        return inputs

    def _need(self, seen: Any) -> None:
        """Raise unless something was seen."""
        if not seen:
            raise RuntimeError(
                f"The '{type(self).__name__}' can not be calculated: no sample was seen. Call "
                "'update' before 'eval', with inputs that are not empty."
            )

    @staticmethod
    def _convert_data(data: Any) -> np.ndarray:
        """Return the array that a batch gave."""
        if isinstance(data, Tensor):
            data = data.asnumpy()
        elif isinstance(data, list):
            data = np.array(data)
        elif not isinstance(data, np.ndarray):
            raise TypeError(
                "For 'Metric' and what derives from it, the inputs of 'update' must be Tensors, "
                f"lists or numpy.ndarrays, but got {type(data).__name__}."
            )
        return data.astype(np.float32) if data.dtype.name == "bfloat16" else data


class MeanMetric(Metric):
    """A metric that is a sum over a count: `sums` names the two."""

    def __init__(self) -> None:
        super().__init__()
        self.clear()

    def clear(self) -> None:
        """Forget everything seen."""
        total, count = self.sums
        setattr(self, total, 0.0)
        setattr(self, count, 0)

    def _add(self, amount: float, number: int) -> None:
        """Add to the sum, and to the count."""
        for name, more in zip(self.sums, (amount, number)):
            setattr(self, name, getattr(self, name) + more)

    def eval(self) -> float:
        """Return the value so far.

        Raises:
            RuntimeError: if nothing was seen.
        """
        total, count = (getattr(self, name) for name in self.sums)
        self._need(count)
        return total / count
