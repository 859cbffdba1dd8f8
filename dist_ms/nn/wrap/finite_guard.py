"""The non-finite guard: training ends, on every rank, at the first gradient that is infinite or NaN.

Unless asked to, it only warns, as soon as a loss is infinite or NaN.
"""

from __future__ import annotations

import logging
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms._ext import norms as kernels
from dist_ms.autograd.tree import tensors
from dist_ms.common.settings.environment import value_of
from dist_ms.common.tensor.scaled import pending, readable
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.communication import Comm, LocalComm
from dist_ms.ops.layout import converted, in_memory_order

VARIABLE = "DIST_MS_NON_FINITE"
_F32 = np.dtype(np.float32)
_log = logging.getLogger("dist_ms")


def checked_choice(value: Any, what: str) -> str | None:
    """Return what to do about numbers that are not finite: "raise", "warn" or nothing, None.

    Args:
        value: "raise" or "warn"; None and "ignore" stand for nothing.
        what: what errors call the value.

    Raises:
        ValueError: for something else.

    Examples:
        >>> from dist_ms.nn.wrap.finite_guard import checked_choice
        >>> checked_choice("raise", "'non_finite'"), checked_choice("ignore", "'non_finite'")
        ('raise', None)
    """
    if value in (None, "ignore"):
        return None
    if value not in ("raise", "warn"):
        raise ValueError(
            f"For 'TrainOneStepCell', {what} must be 'raise', 'warn', 'ignore' or None, but got {value!r}."
        )
    return value


def choice_from_environment() -> str | None:
    """Return what DIST_MS_NON_FINITE says: "warn" if nothing."""
    return checked_choice(value_of(VARIABLE) or "warn", f"the environment variable {VARIABLE}")


def warn_of_loss(loss: Any, comm: Comm | None = None) -> bool:
    """Tell, and return, whether a loss of one number is infinite or NaN on this rank.

    Args:
        loss: Tensors, nested or not; those of several numbers are passed over.
        comm: the ranks; None: this one alone.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.wrap.finite_guard import warn_of_loss
        >>> warn_of_loss(ms.Tensor(1.0))
        False
    """
    for x in tensors(loss):
        if x.size == 1 and not math.isfinite(value := float(x.array().reshape(()))):
            rank = f"[rank {comm.rank} of {comm.size}] " if comm is not None and comm.size > 1 else ""
            _log.warning(
                "%sFor 'TrainOneStepCell', the loss is %g, and training goes on. %s=raise ends it on every rank before "
                "a weight changes, and names the parameter; %s=ignore says nothing.",
                rank,
                value,
                VARIABLE,
                VARIABLE,
            )
            return True
    return False


def first_not_finite(grads: Sequence[Any]) -> int:
    """Return the index of the first gradient with an element that is infinite or NaN, -1 if there is none.

    Args:
        grads: Tensors, RowTensors or None.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.wrap.finite_guard import first_not_finite
        >>> first_not_finite([ms.Tensor([1.0]), ms.Tensor([float("nan")])])
        1
    """
    arrays, places = [], []
    for place, grad in enumerate(grads):
        if grad is None:
            continue
        values = grad.values if type(grad) is RowTensor else grad
        found = pending(values)
        if found is not None and abs(found[1]) <= 1:  # a product with such a factor is finite where the array is
            array = found[0]
        else:
            array = readable(values) if found is None else values.array()
        if array.dtype.itemsize == 2:
            array = converted(array, _F32)
        if array.dtype not in (np.float32, np.float64) or not array.flags.aligned:
            array = np.array([0.0 if np.isfinite(array).all() else np.nan])
        arrays.append(in_memory_order(array))
        places.append(place)
    at = kernels.first_not_finite(arrays)
    return places[at] if at >= 0 else -1


def refuse_not_finite(loss: Any, grads: Sequence[Any], weights: Sequence[Any], comm: Comm | None = None) -> None:
    """Raise if a gradient is not finite on any rank. All ranks call this.

    Args:
        loss: this rank's loss, for the report.
        grads: the reduced gradients.
        weights: their parameters.
        comm: the ranks; None: this one alone.

    Raises:
        FloatingPointError: on every rank, naming the parameter, and the ranks with their losses.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.wrap.finite_guard import refuse_not_finite
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> refuse_not_finite(ms.Tensor(1.0), [ms.Tensor([2.0])], [w])
    """
    comm = LocalComm() if comm is None else comm
    index = first_not_finite(grads)
    # The first parameter on any rank; slices and a rank's own parameters may be bad on one rank alone.
    last = len(grads)
    found = last - int(comm.all_reduce(np.array([last - index if index >= 0 else 0]), "max")[0])
    if found == last:
        return
    losses = comm.gather_objects(([float(x.array().astype(np.float64).mean()) for x in tensors(loss)], index == found))
    rows = ", ".join(
        f"rank {comm.ranks[r]}: loss {'/'.join(f'{x:g}' for x in values) or '-'}"
        for r, (values, _) in enumerate(losses)
    )
    ranks = ", ".join(str(comm.ranks[r]) for r, (_, bad) in enumerate(losses) if bad)
    raise FloatingPointError(
        f"[rank {comm.rank} of {comm.size}] For 'TrainOneStepCell', the gradient of parameter '{weights[found].name}' "
        f"must be finite, but it is infinite or NaN on ranks {ranks} ({rows}). No parameter was changed by this step. "
        "Lower the learning rate, clip the gradients, look at the data, or train with a loss scale, which "
        "skips such steps."
    )
