"""DistributedGradReducer: gradients summed or averaged over the ranks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms.common.tensor.scaled import scaled
from dist_ms.common.tensor.sparse_tensor import RowTensor
from dist_ms.nn.cell import Cell
from dist_ms.ops.reducing.clipping import square_sums
from dist_ms.parallel.divided_update import DividedUpdate
from dist_ms.parallel.mode import averages
from dist_ms.parallel.session import DataParallel, data_parallel
from dist_ms.parallel.shared_update import SharedUpdate
from dist_ms.parallel.virtual_shards import virtual_shards


class DistributedGradReducer(Cell):
    r"""Reduce gradients over the ranks: :math:`\sum_r g_r`, times 1/degree when averaging.

    Parameters with `layerwise_parallel=True` get their own gradient back. Under
    DATA_PARALLEL the first call also checks that all ranks have the same parameters and
    gives them rank 0's values (unless `parameter_broadcast=False`).

    Args:
        parameters: the parameters the gradients belong to, in order.
        mean: average instead of add; the context's `gradients_mean` by default.
        degree: the divisor; the context's `device_num` or the group's size by default.
        fusion_type: fusion group of the gradients, as `Parameter.comm_fusion` (MindSpore's default 1).
        group: the ranks; all of them by default.
        network: the cell whose parameters and buffers start equal; the parameters alone by default.
        reuse: write every step's gradients to the same memory; what was returned before changes.
        uneven: "exact": the mean is over samples, :math:`\\sum_r n_r g_r / \\sum_r n_r`, where rank r's
            gradients are the mean over its n_r samples; every call says how many they are, and 0 on
            a rank that has none. None: the mean is over ranks.
        optimizer: what the gradients are for; with `enable_parallel_optimizer` its update is divided
            among the ranks.
        overlap: let gradients travel while backward goes on, which pays between machines; None: there alone.

    Attributes:
        session: what owns the steps; a train step that has this reducer works with it.

    Raises:
        ValueError: if `degree` is not a positive int, or `uneven` not one of the two.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> reducer = ms.nn.DistributedGradReducer([w], mean=True)
        >>> print(reducer((ms.Tensor([2.0]),))[0])
        [2.]
    """

    def __init__(
        self,
        parameters: Any,
        mean: bool | None = None,
        degree: int | None = None,
        fusion_type: int = 1,
        group: str | None = None,
        network: Cell | None = None,
        reuse: bool = False,
        uneven: str | None = None,
        optimizer: Any = None,
        overlap: bool | None = None,
    ) -> None:
        super().__init__(auto_prefix=False)
        if mean is not None and not isinstance(mean, bool):
            raise TypeError(f"For 'DistributedGradReducer', 'mean' must be a bool, but got {type(mean).__name__}.")
        if degree is not None and (isinstance(degree, bool) or not isinstance(degree, int) or degree <= 0):
            raise ValueError(f"For 'DistributedGradReducer', 'degree' must be a positive int, but got {degree!r}.")
        if isinstance(fusion_type, bool) or not isinstance(fusion_type, int) or fusion_type < 0:
            raise ValueError(
                f"For 'DistributedGradReducer', 'fusion_type' must be an int of 0 or more, but got {fusion_type!r}."
            )
        if network is None and virtual_shards() is not None:
            raise ValueError(
                "For 'set_virtual_shards', gradients must be computed by a TrainOneStepCell of dist_ms, but got a "
                "DistributedGradReducer made by hand: it adds in another order."
            )
        weights = list(parameters)
        if fusion_type != 1:
            for p in weights:
                p.comm_fusion = fusion_type
        self.mean = averages() if mean is None else mean
        state = (lambda: network.get_parameters()) if network is not None else None
        buffers = (lambda: network.buffers()) if network is not None else None
        divided = None if optimizer is None else DividedUpdate.asked_for(optimizer)
        update = divided or (None if optimizer is None else SharedUpdate.fitting(optimizer))
        session = data_parallel(
            weights, state, buffers, mean=self.mean, degree=degree, group=group, reuse=reuse, divided=update
        )
        if session is None:  # outside DATA_PARALLEL a reducer made by hand reduces, and writes no parameter
            session = DataParallel(weights, mean=self.mean, degree=degree, broadcast=False, reuse=reuse, watch=False)
        self.session, self._divided = session, divided
        self.uneven, self.overlap = uneven, overlap
        self.allreduce = True

    def sink(self) -> Any:
        """The gradient sink of a training step."""
        return self.session.sink()

    def start(self) -> None:
        """Agree with the other ranks and start equal now, not in the first step; every rank calls it.

        After it the optimizer's states are this rank's slices, where the parallel optimizer divides them.
        """
        self.session.sink()

    def start_anew(self, before: int) -> None:
        """Do so once more in the next step, with the ranks that are left.

        Args:
            before: how many there were.
        """
        self.session.start_anew(before)

    def divided_names(self) -> frozenset[str]:
        """Return the names of the optimizer's states that the parallel optimizer cuts over the ranks."""
        return frozenset() if self._divided is None else self._divided.divided_names()

    def gathered_states(self) -> dict[str, Any]:
        """Return the optimizer's whole states, NumPy arrays by name, on every rank; every rank calls it.

        Raises:
            RuntimeError: if the optimizer's update is not divided: its states are whole already.
        """
        if self._divided is None:
            raise RuntimeError(
                "For 'DistributedGradReducer', 'gathered_states' needs 'enable_parallel_optimizer', which is off: the "
                "optimizer's own parameters are whole."
            )
        return self._divided.gathered_states()

    def global_norm(self, grads: Any) -> float:
        """Return the Euclidean norm of all gradients, the same on every rank; every rank calls it.

        A gradient that all ranks have counts once; those of a rank's own parameters, and slices, are
        added up over the ranks.

        Args:
            grads: what this reducer returned, or those times a factor.
        """
        rows = self.session.sink().plan
        total, own = 0.0, 0.0
        for grad, row in zip(grads, rows.weights, strict=True):
            if grad is None:
                continue
            square = float(square_sums([grad.summed().values if isinstance(grad, RowTensor) else grad])[0])
            if rows.rows[row].gradient in ("all_reduce", "all_gather"):
                total += square
            else:
                own += square
        return math.sqrt(total + float(self.comm.all_reduce(np.array([own]))[0]))

    def clip_by_global_norm(self, grads: Any, max_norm: float) -> tuple:
        """Return the gradients times  max_norm / norm  where their `global_norm` is larger.

        Args:
            grads: as for `global_norm`.
            max_norm: the largest norm, above 0.

        Raises:
            ValueError: if `max_norm` is not above 0.

        Examples:
            >>> import dist_ms as ms
            >>> reducer = ms.nn.DistributedGradReducer([ms.Parameter(ms.Tensor([0.0, 0.0]), name="w")])
            >>> print(reducer.clip_by_global_norm(reducer((ms.Tensor([3.0, 4.0]),)), 1.0)[0])
            [0.6 0.8]
        """
        if not max_norm > 0:
            raise ValueError(f"For 'clip_by_global_norm', 'max_norm' must be above 0, but got {max_norm!r}.")
        norm = self.global_norm(grads)
        if not (max_norm < norm < math.inf):  # what is not finite is left to the guard of the loss scale
            return tuple(grads)
        return tuple(_times(g, max_norm / norm) for g in grads)

    @property
    def degree(self) -> int:
        """What a mean is the sum divided by."""
        return self.session.degree

    @property
    def comm(self) -> Any:
        """The ranks that reduce together."""
        return self.session.comm

    @property
    def plan(self) -> Any:
        """What is done with each parameter; None before the first step."""
        return self.session.sink().plan if self.session.started else None

    @property
    def uneven(self) -> str | None:
        """How ranks with different numbers of samples are averaged: "exact" or None."""
        return self.session.uneven

    @uneven.setter
    def uneven(self, value: str | None) -> None:
        self.session.uneven = value

    @property
    def overlap(self) -> bool | None:
        """Whether gradients travel while backward goes on; None: between machines they do, within one they do not."""
        return self.session.overlap

    @overlap.setter
    def overlap(self, value: bool | None) -> None:
        self.session.overlap = value

    def register_comm_hook(self, hook: Any) -> None:
        """Have a function of yours add the gradients of each bucket over the ranks.

        Args:
            hook: called with a `parallel.GradBucket` for every bucket, in the same order on every rank.
                Returns the sum as an array, or None when it is in `bucket.array`, or a Handle: then it
                is there when the handle is done. The classes in `dist_ms.parallel.compression` are hooks.

        Raises:
            RuntimeError: after the first step.
            TypeError: if it cannot be called.

        Examples:
            >>> import dist_ms as ms
            >>> reducer = ms.nn.DistributedGradReducer([ms.Parameter(ms.Tensor([1.0]), name="w")])
            >>> reducer.register_comm_hook(lambda bucket: bucket.comm.all_reduce(bucket.array))
        """
        self.session.use_hook(hook)

    def run_state(self) -> dict[str, Any]:
        """What the next sum depends on: the state of a hook that has one, such as what compression has left over."""
        hook = self.session.hook
        return {"hook": hook.state_dict(), "ranks": self.comm.size} if hasattr(hook, "state_dict") else {}

    def load_run_state(self, state: dict[str, Any]) -> None:
        """Go back to what `run_state` returned, but for what other ranks than today's had left over."""
        hook: Any = self.session.hook
        if state.get("ranks") == self.comm.size and hasattr(hook, "load_state_dict"):
            hook.load_state_dict(state["hook"])

    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Within this, gradients stay on their rank and add up; the next call outside reduces the sum."""
        with self.session.sink().no_sync():
            yield

    def construct(self, grads: Any, samples: int | None = None) -> tuple:
        """Reduce gradients, given in the order of the parameters.

        Args:
            grads: the gradients; None for one that is zero.
            samples: how many samples they are the mean of, with uneven="exact".
        """
        return tuple(self.session.sink().reduce(list(grads), samples))


def _times(grad: Any, factor: float) -> Any:
    """Return a gradient times a factor, in its type."""
    if grad is None:
        return None
    if isinstance(grad, RowTensor):
        return grad.with_values(_times(grad.values, factor))
    return scaled(grad, factor)


__all__ = ["DistributedGradReducer"]
