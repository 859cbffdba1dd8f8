"""Updates by the compiled rules: all parameters of an optimizer in one call.

An optimizer names its rule and says which states and numbers go with a parameter. Parameters
in half types or in memory the kernel does not take go alone, in blocks of float32.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from dist_ms._ext.tape import set_low_copy, wants_low_copy
from dist_ms.autograd.tape import recording
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.scaled import pending
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.nn.optim.step.elementwise import prepare_to_write, run_compiled, work_type
from dist_ms.ops.kernels import optimizer as kernels
from dist_ms.ops.layout import contiguous, converted

if TYPE_CHECKING:
    from dist_ms.nn.optim.optimizer import Optimizer


class Batch:
    """The arguments of one call of the kernel."""

    def __init__(self) -> None:
        self.indices: list[int] = []
        self.arrays: list[tuple] = []
        self.numbers: list[tuple] = []
        self.copies: list[np.ndarray | None] = []
        self.rows: list[tuple | None] = []
        self.factors: list[float] = []
        self.by_rows = False

    def add(
        self,
        index: int,
        arrays: tuple,
        numbers: tuple,
        rows: tuple | None = None,
        copy: np.ndarray | None = None,
        factor: float = 1.0,
    ) -> None:
        """Add one parameter.

        Args:
            index: its place in the optimizer.
            arrays: its array, the gradient's, the states'.
            numbers: the rule's.
            rows: which rows the gradient has.
            copy: gets the new values as bfloat16.
            factor: what the gradient is multiplied with.
        """
        self.indices.append(index)
        self.arrays.append(arrays)
        self.numbers.append(numbers)
        self.copies.append(copy)
        self.rows.append(rows)
        self.factors.append(factor)
        if rows is not None:
            self.by_rows = True

    def run(self, rule: str) -> None:
        """Update."""
        if rule == "lamb":
            kernels.lamb(self.arrays, self.numbers, self.copies, self.factors)
        else:
            rows = self.rows if self.by_rows else None
            kernels.update(rule, self.arrays, self.numbers, self.copies, rows, self.factors)


def update_all(
    optimizer: Optimizer, indices: Iterable[int], gradients: Sequence, rates: Sequence[float], decays: Sequence[float]
) -> None:
    """Update parameters by the optimizer's compiled rule.

    Args:
        optimizer: has the rule.
        indices: which of its parameters.
        gradients: one per parameter of the optimizer, of its shape.
        rates, decays: alike.
    """
    params, states = optimizer._parameters, optimizer.rule_states
    shared = optimizer.shared_update
    if shared is not None:
        indices = list(indices)
        prepare_all([params[i] for i in indices])  # from here on other ranks may write to these
        shared.begin(gradients, indices, rates, decays)
    known: dict[tuple, tuple] = {}
    copied: dict[int, Any] = {}  # the types of copies of weights that ranks update together
    batch = Batch()
    for i in indices:
        param, grad, rate, decay = params[i], gradients[i], rates[i], decays[i]
        if optimizer.numbers_differ:
            numbers = optimizer.rule_numbers(i, rate, decay)
        elif (numbers := known.get((rate, decay))) is None:
            numbers = known[rate, decay] = optimizer.rule_numbers(i, rate, decay)
        if type(grad) is RowTensor:
            if param._data.dtype == grad.values.array().dtype == work_type(param._data) and optimizer.rule != "lamb":
                add_rows(batch, optimizer, i, grad, rate, decay)
                continue
            grad = grad.to_dense()
        copy = wants_low_copy(param, None if shared is None else shared.memory)
        data = param._data
        later = pending(grad)
        g, factor = (grad.array(), 1.0) if later is None or later[0].dtype != data.dtype else later
        found = data.dtype
        if (g.dtype is not found and g.dtype != found) or found.itemsize < 4:
            update_alone(optimizer, i, param, grad, numbers)
            continue
        if not g.flags.c_contiguous:
            g = contiguous(g)
        if shared is not None and i in shared:
            part = shared.part(i, g)
            if part is not None:
                batch.add(i, part, numbers, None, None, factor)
            if copy is not None:
                copied[i] = copy.dtype
            continue
        batch.add(i, (data, g, *[s._data for s in states(i)]), numbers, None, copy, factor)
    if batch.indices:
        run(optimizer, batch, gradients, rates, decays)
    if shared is not None:
        shared.end()
        for i, low in copied.items():
            set_low_copy(params[i], converted(params[i]._data, low))


def run(
    optimizer: Optimizer, batch: Batch, gradients: Sequence, rates: Sequence[float], decays: Sequence[float]
) -> None:
    """Run one call of the kernel; where it does not take some memory, update parameter by parameter."""
    params = optimizer._parameters
    if optimizer.shared_update is None:
        prepare_all([params[i] for i in batch.indices])
    try:
        batch.run(optimizer.rule)
    except (TypeError, ValueError):  # raised before anything is written: some memory is not contiguous
        if batch.by_rows:
            raise
        for i, arrays, factor in zip(batch.indices, batch.arrays, batch.factors):
            if optimizer.shared_update is not None and i in optimizer.shared_update:
                one = Batch()
                one.add(i, arrays, optimizer.rule_numbers(i, rates[i], decays[i]), factor=factor)
                one.run(optimizer.rule)
                continue
            update_alone(optimizer, i, params[i], gradients[i], optimizer.rule_numbers(i, rates[i], decays[i]))
        return
    for i, copy in zip(batch.indices, batch.copies):
        if copy is not None:
            set_low_copy(params[i], copy)


def prepare_all(params: Sequence[Parameter]) -> None:
    """Let gradients that saved values of these parameters keep them: they are about to change."""
    saved = recording.written is not None or len(recording.tapes)
    for param in params:
        if saved:
            prepare_to_write(param)
        elif param._plain_text:
            param.written()


def update_alone(optimizer: Optimizer, index: int, param: Parameter, grad: Tensor, numbers: tuple) -> None:
    """Update one parameter of any float type and memory layout."""
    prepare_to_write(param)
    rule = optimizer.rule
    states = optimizer.rule_states(index)
    if rule == "lamb":  # its norms are of the whole parameter
        widened = [np.ascontiguousarray(x._data, work_type(param._data)) for x in (param, grad, *states)]
        batch = Batch()
        batch.add(index, tuple(widened), numbers)
        batch.run(rule)
        for x, new in zip((param, *states), (widened[0], *widened[2:])):
            np.copyto(x._data, new, casting="same_kind")
        return
    run_compiled(rule, param, grad, states, numbers)


def add_rows(batch: Batch, optimizer: Optimizer, index: int, grad: RowTensor, rate: float, decay: float) -> None:
    """Add a parameter whose gradient is given by rows.

    The rows that are not there are left alone where the optimizer says so, or where a gradient of
    zeros changes nothing; else they have a gradient of zeros. Weight decay is for the rows that are
    there, unless the gradient stands for a dense one.
    """
    param = optimizer._parameters[index]
    grad = grad.summed()
    rows, values = grad.indices.array(), grad.values.array()
    whole = grad.whole
    apart = decay and not whole and not optimizer.decoupled_decay
    kept = decay and (whole or optimizer.decoupled_decay)
    if apart and not optimizer.lazy_rows:
        values = values + param._data[rows] * values.dtype.type(decay * optimizer.loss_scale)
        decay = 0.0
    alone = not kept and ((optimizer.lazy_rows and not whole) or optimizer.idle_without_gradient())
    numbers = optimizer.rule_numbers(index, rate, decay)
    arrays = (param._data, np.ascontiguousarray(values), *[s._data for s in optimizer.rule_states(index)])
    batch.add(index, arrays, numbers, (np.ascontiguousarray(rows, np.int64), not alone))


def takes_rows(optimizer: Any) -> bool:
    """Whether a step of this optimizer is the same for a gradient by rows as for the dense one it stands for."""
    return bool(getattr(optimizer, "compiled", None)) and optimizer.compiled() and optimizer.rule != "lamb"
