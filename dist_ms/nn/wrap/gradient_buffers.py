"""Gradients in flat memory, cut into buckets that are summed up over the ranks when they are full."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor, from_array
from dist_ms.communication import Handle
from dist_ms.communication.comm import Comm
from dist_ms.communication.groups.creation import get_comm
from dist_ms.parallel.mode import world_comm

__all__ = ["Bucket", "FlattenGradBuffer"]

DEFAULT_BUCKET_SIZE, MIN_BUCKET_SIZE = 25 << 20, 1 << 20


def comm_of_group(group: str | None) -> Comm:
    """The ranks of a group; all of them without a name."""
    return get_comm(group) if group else world_comm()


class Bucket:
    """The gradients of some parameters, in one piece of memory.

    Args:
        average_in_collective: divide by the number of ranks after they are summed up.
        params: the parameters.
        grad_data: their gradients' memory.
        offset: where it begins in the buffer.
        numel_unpadded: how many numbers it has.
        data_parallel_group: the ranks, by their group's name; all without one.
        data_parallel_world_size: how many ranks.
        gradient_scaling_factor: what is multiplied with before the sum.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.nn.wrap.gradient_buffers import Bucket
        >>> w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
        >>> bucket = Bucket(False, [w], ms.Tensor([4.0, 6.0]), 0, 2, None, 1, 0.5)
        >>> bucket.register_grad_ready(w)
        True
        >>> bucket.final_grad_reduce()
        >>> print(bucket.grad_data)
        [2. 3.]
    """

    waits = False  # whoever owns it says when it is to be summed up

    def __init__(
        self,
        average_in_collective: bool,
        params: Sequence[Parameter],
        grad_data: Tensor,
        offset: int,
        numel_unpadded: int,
        data_parallel_group: str | None,
        data_parallel_world_size: int,
        gradient_scaling_factor: float,
    ) -> None:
        self.average_in_collective = average_in_collective
        self.params_list = list(params)
        self.grad_data, self.grad_data_numel = grad_data, grad_data.size
        self.offset, self.numel_unpadded = offset, numel_unpadded
        self.data_parallel_group = data_parallel_group
        self.data_parallel_world_size = data_parallel_world_size
        self.gradient_scaling_factor = gradient_scaling_factor
        self._names = {id(p): p.name for p in params}
        self.reset()

    def reset(self) -> None:
        """Forget which gradients are there."""
        self._ready: set[int] = set()
        self.is_reduce_issued = False
        self._handle: Handle | None = None

    @property
    def full(self) -> bool:
        """Whether all gradients are there."""
        return len(self._ready) == len(self._names)

    def missing(self) -> list[str]:
        """The names of the parameters whose gradients are not there."""
        return [name for key, name in self._names.items() if key not in self._ready]

    def register_grad_ready(self, param: Parameter) -> bool:
        """Note that the gradient of a parameter is there; return whether it was the last one.

        Args:
            param: the parameter.

        Raises:
            ValueError: if it is not in the bucket, or was there already.
        """
        if id(param) not in self._names:
            raise ValueError(
                f"For 'Bucket', 'param' must be one of {list(self._names.values())}, but got {param.name}."
            )
        if id(param) in self._ready:
            raise ValueError(f"For 'Bucket', the gradient of {param.name} must come once in a step, but came twice.")
        self._ready.add(id(param))
        if self.full and not self.waits:
            self.issue_grad_reduce()
        return self.full

    def issue_grad_reduce(self) -> None:
        """Start to sum up over the ranks.

        Raises:
            RuntimeError: if it was started already.
        """
        if self.is_reduce_issued:
            raise RuntimeError("For 'Bucket', a sum must be started once in a step, but was started twice.")
        data = self.grad_data._data
        if self.gradient_scaling_factor != 1.0:
            data *= np.asarray(self.gradient_scaling_factor, data.dtype)
        if self.data_parallel_world_size > 1:
            self._handle = comm_of_group(self.data_parallel_group).post_all_reduce(data)
        self.is_reduce_issued = True

    def final_grad_reduce(self) -> None:
        """Wait for the sum.

        Raises:
            RuntimeError: if it was not started.
        """
        if not self.is_reduce_issued:
            raise RuntimeError(f"For 'Bucket', all gradients must be there, but those of {self.missing()} are not.")
        if self._handle is not None:
            self._handle.wait()
            self._handle = None
        if self.average_in_collective and self.data_parallel_world_size > 1:
            data = self.grad_data._data
            data /= np.asarray(self.data_parallel_world_size, data.dtype)

    def __repr__(self) -> str:
        return f"Bucket (offset={self.offset}, param_lens={len(self.params_list)})"


class FlattenGradBuffer:
    """The gradients of parameters of one type, in buckets that are summed up from the last to the first.

    Args:
        average_in_collective, data_parallel_group, gradient_scaling_factor: as for `Bucket`.
        param_dtype: the parameters' type.
        grad_dtype: the type of their gradients.
        params: the parameters.
        bucket_size: how many bytes a bucket has, and more up to a parameter's end; with 25 MB the first has 1 MB.
        ddp_handle: its `buffer_issued` counts the buffers that are summed up, and its `final_grad_reduce` is called
            with the last one of its `buffers`; or None, then the buffer waits for its own sums.

    Attributes:
        grads: the gradient of each parameter, in their order: pieces of the memory.
    """

    def __init__(
        self,
        average_in_collective: bool,
        param_dtype: mstype.Number,
        grad_dtype: mstype.Number,
        params: Sequence[Parameter],
        data_parallel_group: str | None,
        bucket_size: int,
        gradient_scaling_factor: float,
        ddp_handle: Any,
    ) -> None:
        self.param_dtype, self.grad_dtype, self.ddp_handle = param_dtype, grad_dtype, ddp_handle
        self.data_parallel_group = data_parallel_group
        self.data_parallel_world_size = comm_of_group(data_parallel_group).size
        self.gradient_scaling_factor = gradient_scaling_factor
        self.average_in_collective = average_in_collective
        self.numel = self.numel_unpadded = sum(p.size for p in params)
        self.grad_data = Tensor(np.zeros(self.numel, grad_dtype.np))
        self.sync_enabled, self.issued = True, 0
        self.buckets: list[Bucket] = []
        self._bucket: dict[int, Bucket] = {}
        self.grads: list[Tensor] = []
        flat, start = self.grad_data._data, 0
        for number, part in enumerate(_parts(params, bucket_size, grad_dtype.np.itemsize)):
            size = sum(p.size for p in part)
            made = Bucket(
                *(average_in_collective, part, from_array(flat[start : start + size]), start, size),
                *(data_parallel_group, self.data_parallel_world_size, gradient_scaling_factor),
            )
            made.waits, made.number = True, number  # type: ignore[attr-defined]
            self.buckets.append(made)
            for p in part:
                self._bucket[id(p)] = made
                self.grads.append(from_array(flat[start : start + p.size].reshape(p.shape)))
                start += p.size

    def reset(self) -> None:
        """Set all gradients to zero, and forget which are there."""
        self.grad_data._data[...] = 0
        for bucket in self.buckets:
            bucket.reset()
        self.sync_enabled, self.issued = True, 0

    def register_grad_ready(self, param: Parameter) -> None:
        """Note that the gradient of a parameter is there; full buckets are summed up in one order on all ranks.

        Args:
            param: the parameter.
        """
        if not self.sync_enabled:
            return
        self._bucket[id(param)].register_grad_ready(param)
        while self.issued < len(self.buckets) and self.buckets[-1 - self.issued].full:
            self.buckets[-1 - self.issued].issue_grad_reduce()
            self.issued += 1
        if self.issued == len(self.buckets):
            self._done()

    def _done(self) -> None:
        """Wait for the sums, of this buffer or, with the last one, of all."""
        handle = self.ddp_handle
        if handle is None:
            self.final_grad_reduce()
            return
        handle.buffer_issued += 1
        if handle.buffer_issued == len(handle.buffers):
            handle.final_grad_reduce()

    def final_grad_reduce(self) -> None:
        """Wait for the sums of all buckets, which then begin anew.

        Raises:
            RuntimeError: if one was not started.
        """
        for bucket in self.buckets:
            bucket.final_grad_reduce()
        for bucket in self.buckets:
            bucket.reset()
        self.issued = 0

    def missing(self) -> list[str]:
        """The names of the parameters whose gradients are not there, where others are."""
        waiting = [bucket.missing() for bucket in self.buckets]
        whole = sum(len(bucket.params_list) for bucket in self.buckets)
        names = [name for part in waiting for name in part]
        return names if 0 < len(names) < whole else []

    def __repr__(self) -> str:
        return f"Buffer has buckets: {self.buckets}"


def _parts(params: Sequence[Parameter], bucket_size: int, item: int) -> list[list[Parameter]]:
    """The parameters of each bucket."""
    parts: list[list[Parameter]] = [[]]
    held = 0
    for p in params:
        first = len(parts) == 1 and bucket_size == DEFAULT_BUCKET_SIZE
        if parts[-1] and held >= (MIN_BUCKET_SIZE if first else bucket_size):
            parts.append([])
            held = 0
        parts[-1].append(p)
        held += p.size * item
    return [part for part in parts if part]
