"""A train step's gradients in virtual shards: bit-identical whatever the number of ranks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from dist_ms._ext import busy_cores
from dist_ms._ext.hashing import hash_memory
from dist_ms.autograd.differentiate import Graph
from dist_ms.autograd.tree import map_tensors, tensors
from dist_ms.common.random.random_state import stream
from dist_ms.common.random.seed import get_seed
from dist_ms.common.settings.parallel_context import get_auto_parallel_context
from dist_ms.common.tensor import Tensor, wrap
from dist_ms.communication import Comm, agreeing
from dist_ms.ops.layers.dropout import offsets_from
from dist_ms.parallel.plan import SyncPlan
from dist_ms.parallel.replicas.desync import memory
from dist_ms.parallel.virtual_shards import VirtualShards, mean_over_shards, virtual_shards

_CALLS = 1 << 20  # dropout calls of one seed in a shard's forward run, at most


class ShardSteps:
    """Runs a train step's network on one virtual shard after the other.

    Args:
        step: the train step.
        shards: how the global batch is cut.
    """

    def __init__(self, step: Any, shards: VirtualShards) -> None:
        self._step, self._shards = step, shards
        self._comm: Comm = step.session.comm
        self._plan: SyncPlan | None = None
        self._count = 0
        problem = self._problem()
        if problem:
            raise ValueError(f"For 'set_virtual_shards', {problem}")
        self._parts = shards.count // self._comm.size

    @classmethod
    def asked_for(cls, step: Any) -> ShardSteps | None:
        """Return the shards' runs if virtual shards are asked for.

        Args:
            step: the train step.

        Raises:
            ValueError: if the step cannot be computed in virtual shards.
        """
        shards = virtual_shards()
        busy_cores.keep_number("virtual shards", shards is not None)
        return None if shards is None else cls(step, shards)

    def _problem(self) -> str | None:
        """Say why a step cannot be computed in virtual shards."""
        step, size = self._step, self._comm.size
        if self._shards.count % size:
            return (
                f"'count' must be a multiple of the number of ranks, {size}, but got {self._shards.count}: "
                "each rank computes the same number of shards."
            )
        if not type(step).construct.__module__.startswith("dist_ms."):
            return (
                f"the train step must be one of dist_ms, but got '{type(step).__name__}' with a 'construct' of its own,"
                " which takes its batch at once."
            )
        if get_auto_parallel_context("enable_parallel_optimizer"):
            return "'enable_parallel_optimizer' must be False, but got True: it adds gradients in the ranks' order."
        session = step.session
        if not (session.mean and session.degree == size):
            return (
                "'gradients_mean' must be True and 'device_num' the number of ranks, but got "
                f"{session.mean} and {session.degree}: the result is the mean over all samples."
            )
        return None

    def gradients(self, inputs: tuple, sens: Any, seed_of: Any) -> tuple[Any, list[Tensor]]:
        """Return the mean of this rank's losses, and the mean of all shards' gradients.

        Args:
            inputs: this rank's batch.
            sens: what the loss' gradient starts from.
            seed_of: makes that gradient.

        Raises:
            ValueError: on every rank, if the batch cannot be cut evenly, or the network keeps statistics.
        """
        step, comm, parts = self._step, self._comm, self._parts
        sink = step.session.sink()
        if self._plan is None:
            self._start(sink)
        length = self._length(inputs)
        before = self._state_hash() if self._count == 0 else None
        losses, found = [], []
        for place, number in enumerate(self._shards.of_rank(comm.rank, comm.size)):
            chosen = self._shards.samples(place, parts, length)
            part = map_tensors(lambda x, chosen=chosen: _cut(x, chosen), inputs)
            with self._streams(number):
                graph = Graph(step.network, part, weights=step.weights)
                losses.append(graph.outputs)
                found.append(graph.sweep(graph.outputs, seed_of(graph.outputs, sens))[1])
        if before is not None:
            self._refuse_statistics(before)
        self._count += 1
        grads = mean_over_shards(self._plan, comm, self._shards, found)
        if sink.watch is not None:
            sink.watch()
        flat = [tensors(loss) for loss in losses]
        means = iter([wrap(_mean([x.array() for x in same])) for same in zip(*flat, strict=True)])
        return map_tensors(lambda x: next(means), losses[0]), grads

    @property
    def count(self) -> int:
        """How many steps were taken; random numbers follow from it."""
        return self._count

    @count.setter
    def count(self, value: int) -> None:
        self._count = value

    def _start(self, sink: Any) -> None:
        """Take the plan and the seed that all ranks have in common."""
        plan = sink.plan
        with agreeing(self._comm):
            if sink.hook is not None:
                raise ValueError(
                    "For 'set_virtual_shards', there must be no communication hook: it adds in its own order."
                )
            own = [row.name for row in plan.rows if row.gradient not in ("all_reduce", "none")]
            if own:
                raise ValueError(
                    f"For 'set_virtual_shards', all trained parameters must be the same on all ranks, but '{own[0]}' "
                    "is each rank's own (layerwise_parallel or sliced) or a server's (is_param_ps)."
                )
        self._seed = self._comm.gather_objects(get_seed() or 0)[0]
        self._plan = plan

    def _length(self, inputs: tuple) -> int:
        """Return how many samples each rank has; raise on every rank if that cannot be cut evenly."""
        comm, parts = self._comm, self._parts
        with agreeing(comm):
            lengths = [len(x) for x in tensors(inputs) if x.ndim]
            if not lengths or len(set(lengths)) > 1:
                raise ValueError(
                    "For 'set_virtual_shards', all Tensors of a batch must have the samples along their first axis, "
                    f"but got the lengths {lengths}."
                )
            if not lengths[0] or lengths[0] % parts:
                raise ValueError(
                    f"For 'set_virtual_shards', the batch must be a multiple of the {parts} shards of a rank, but got "
                    f"{lengths[0]} samples."
                )
        found = comm.gather_objects(lengths[0])
        if len(set(found)) > 1:
            by_rank = ", ".join(f"rank {r}: {n}" for r, n in enumerate(found))
            raise ValueError(f"For 'set_virtual_shards', all ranks must have batches of one size, but got {by_rank}.")
        return lengths[0]

    def _state_hash(self) -> dict[str, int]:
        """Return hashes of what the network holds beside the weights."""
        weights = {id(w) for w in self._step.weights}
        return {
            p.name: hash_memory(memory(p.array())) for p in self._step.network.get_parameters() if id(p) not in weights
        }

    def _refuse_statistics(self, before: dict[str, int]) -> None:
        """Raise on every rank if the forward runs have changed a parameter."""
        with agreeing(self._comm):
            changed = [name for name, value in self._state_hash().items() if before[name] != value]
            if changed:
                raise ValueError(
                    f"For 'set_virtual_shards', a forward run must change no parameter, but it changed '{changed[0]}'. "
                    "Moving statistics depend on which rank saw which samples: use GroupNorm or LayerNorm, or "
                    "use_batch_statistics=False."
                )

    @contextmanager
    def _streams(self, number: int) -> Iterator[None]:
        """Random numbers that follow from the seed, the step and the shard alone."""
        turn = self._count * self._shards.count + number
        with stream(self._seed, self._count, number), offsets_from(turn * _CALLS):
            yield


def _cut(x: Tensor, chosen: slice) -> Tensor:
    """Return some samples; a Tensor without axes whole."""
    return wrap(np.ascontiguousarray(x.array()[chosen])) if x.ndim else x


def _mean(arrays: list[np.ndarray]) -> np.ndarray:
    """Return the mean of equally shaped arrays."""
    return np.asarray(sum(arrays) / len(arrays)).astype(arrays[0].dtype)
