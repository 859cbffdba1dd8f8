"""DistributedDataParallel: a network whose gradients are summed up over the ranks while they are computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_number, check_string, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.nn.cell import Cell
from dist_ms.nn.wrap.gradient_buffers import FlattenGradBuffer, comm_of_group

__all__ = ["DistributedDataParallel"]


class DistributedDataParallel(Cell):
    """A network for ranks that train together with a loop of one's own: its gradients are those of all ranks.

    Gradients of `value_and_grad`, `grad` and `backward` are averaged over the ranks, bucket by bucket. They add up
    until `zero_grad`, and what such a function returns is the sum, in the same memory in every step. All parameters
    that need a gradient must get one in every step.

    Args:
        module: the network.
        init_sync: give all ranks the values of the first one.
        process_group: the name of the ranks' group; all by default.
        bucket_cap_mb: how many MB a bucket has; 25 by default, with a first one of 1.
        find_unused_parameters: False; `nn.TrainOneStepCell` trains networks that leave parameters out.
        average_in_collective: divide after the sum, not before.
        static_graph: accepted: buckets are summed up in one order in any case.
        reducer_mode: "CppReducer" or "PythonReducer", which are one here.

    Raises:
        TypeError: for an argument of the wrong type.
        ValueError: with `find_unused_parameters`, or for another `reducer_mode`.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> from dist_ms.nn.wrap.distributed_data_parallel import DistributedDataParallel
        >>> net = DistributedDataParallel(nn.Dense(1, 1, weight_init="ones", has_bias=False))
        >>> step = ms.value_and_grad(lambda x: net(x).sum(), None, net.trainable_params())
        >>> for _ in range(2):
        ...     loss, grads = step(ms.Tensor([[3.0]]))
        >>> print(grads[0].asnumpy())
        [[6.]]
        >>> net.zero_grad()
        >>> print(grads[0].asnumpy())
        [[0.]]
    """

    def __init__(
        self,
        module: Cell,
        init_sync: bool = True,
        process_group: str | None = None,
        bucket_cap_mb: float | None = None,
        find_unused_parameters: bool = False,
        average_in_collective: bool = False,
        static_graph: bool = False,
        reducer_mode: str = "CppReducer",
    ) -> None:
        super().__init__(auto_prefix=False)
        owner = "DistributedDataParallel"
        check_type(module, "module", owner, Cell)
        for name, value in (
            ("init_sync", init_sync),
            ("find_unused_parameters", find_unused_parameters),
            ("average_in_collective", average_in_collective),
            ("static_graph", static_graph),
        ):
            check_bool(value, name, owner)
        check_string(reducer_mode, "reducer_mode", owner, ["CppReducer", "PythonReducer"])
        if find_unused_parameters:
            raise ValueError(
                f"For '{owner}', 'find_unused_parameters' must be False, but got True: nn.TrainOneStepCell under "
                "data_parallel trains networks that leave parameters out."
            )
        cap = 25 if bucket_cap_mb is None else check_positive_number(bucket_cap_mb, "bucket_cap_mb", owner)
        self.module, self.process_group = module, process_group
        self.average_in_collective, self.static_graph = average_in_collective, static_graph
        self.bucket_bytes_cap, self.buffer_issued = int(cap * (1 << 20)), 0
        self.buffers: list[FlattenGradBuffer] = []
        comm = comm_of_group(process_group)
        factor = 1.0 if average_in_collective else 1.0 / comm.size
        for kind in dict.fromkeys(p.dtype for p in module.trainable_params()):
            params = [p for p in module.trainable_params() if p.dtype is kind]
            made = FlattenGradBuffer(
                average_in_collective, kind, kind, params, process_group, self.bucket_bytes_cap, factor, self
            )
            self.buffers.append(made)
            for p, total in zip(params, made.grads):
                p.register_hook(_adding(made, p, total))
        if init_sync:
            self.broadcast_coalesced()

    def construct(self, *inputs: Any, **inputs_dict: Any) -> Any:
        """Run the network.

        Raises:
            RuntimeError: if the gradients of the step before lack some parameters.
        """
        missing = [name for buffer in self.buffers for name in buffer.missing()]
        empty = [b for b in self.buffers if not b.missing() and b.issued == 0 and self.buffer_issued]
        if missing or empty:
            raise RuntimeError(
                "For 'DistributedDataParallel', every parameter must get a gradient in every step, but in the last "
                f"one {missing or 'those of one type'} got none, and no rank has the others' gradients. Set "
                "'requires_grad' to False for parameters that are not used, or train with nn.TrainOneStepCell."
            )
        return self.module(*inputs, **inputs_dict)

    def final_grad_reduce(self) -> None:
        """Wait until all gradients are summed up."""
        for buffer in self.buffers:
            buffer.final_grad_reduce()
        self.buffer_issued = 0

    def zero_grad(self) -> None:
        """Set all gradients to zero."""
        for buffer in self.buffers:
            buffer.reset()
        self.buffer_issued = 0

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within this, gradients add up on their rank; the first step behind it sums all of them up over the ranks."""
        for buffer in self.buffers:
            buffer.sync_enabled = False
        try:
            yield
        finally:
            for buffer in self.buffers:
                buffer.sync_enabled = True

    def broadcast_coalesced(self) -> None:
        """Give all parameters the values that they have on the group's first rank."""
        comm = comm_of_group(self.process_group)
        for p in self.module.get_parameters():
            p.set_data(from_array(comm.broadcast(np.array(p.asnumpy(), order="C"))))


def _adding(buffer: FlattenGradBuffer, param: Parameter, total: Tensor) -> Callable[[Tensor], Tensor]:
    """What adds a parameter's gradient to its place in a buffer."""

    def add(grad: Tensor) -> Tensor:
        total._data[...] += grad.asnumpy()
        buffer.register_grad_ready(param)
        return total

    return add
