"""The plan: for every parameter, what happens to it at the start, in a step and when saved.

A pure function of plain attributes, without communication. It alone decides by the flags `layerwise_parallel`,
`is_param_ps`, `sliced` and `comm_fusion`; broadcast, reducer and checkpoints follow its rows. Nothing unordered
decides an order here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dist_ms.parallel.fusion import Fusion, group_gradients


@dataclass(frozen=True)
class Row:
    """What happens to one parameter.

    Attributes:
        name: the parameter's name.
        shape: its shape on this rank.
        dtype: its element type's name.
        start: "broadcast" (from rank 0), "keep" or "server".
        gradient: "all_reduce", "reduce_scatter" (each rank gets and updates a slice), "all_gather"
            (rows of a sparse gradient), "keep" (each rank its own), "none" or "server".
        saved_by: "rank 0", "every rank" or "server".
        bucket: the bucket its gradient travels in.
        reason: why, in words.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str
    start: str
    gradient: str
    saved_by: str
    bucket: int | None
    reason: str

    @property
    def signature(self) -> str:
        """What must be equal on every rank. A rank's own slice may have its own shape."""
        shape = "own" if self.start == "keep" else str(list(self.shape))
        bucket = "-" if self.bucket is None else str(self.bucket)
        return "|".join((self.name, shape, self.dtype, self.start, self.gradient, self.saved_by, bucket))


@dataclass(frozen=True)
class Slot:
    """A gradient's place in its bucket.

    Attributes:
        weight: its index among the plan's weights.
        start: the first element.
        stop: one past the last element.
        shape: the gradient's shape.
    """

    weight: int
    start: int
    stop: int
    shape: tuple[int, ...]


@dataclass(frozen=True)
class Bucket:
    """Gradients that are reduced together.

    Attributes:
        dtype: the parameters' element type.
        size: number of elements; with several shards rounded up to a multiple of them.
        slots: the gradients' places, without gaps.
        shards: into how many equal slices the sum is scattered, one per rank; 1: every rank gets all.
    """

    dtype: np.dtype
    size: int
    slots: tuple[Slot, ...]
    shards: int = 1

    def slice_of(self, slot: Slot, rank: int) -> tuple[int, int]:
        """Return which of a gradient's elements, counted from its own first, are in a rank's slice.

        Args:
            slot: one of the bucket's.
            rank: the slice's number.
        """
        share, length = self.size // self.shards, slot.stop - slot.start
        first = rank * share - slot.start
        return min(max(first, 0), length), min(max(first + share, 0), length)


@dataclass(frozen=True)
class Sharding:
    """What the parallel optimizer divides.

    Attributes:
        shards: the number of ranks that update a slice each; 1: nothing is divided.
        threshold: parameters of fewer bytes stay whole.
        whole: names of parameters that stay whole whatever their size.
    """

    shards: int = 1
    threshold: int = 0
    whole: frozenset[str] = frozenset()


@dataclass(frozen=True)
class SyncPlan:
    """Rows and buckets.

    Attributes:
        rows: one per parameter, in order of registration; tied parameters once.
        buckets: in the order in which they are posted.
        weights: per weight given to `make_plan` the index of its row.
    """

    rows: tuple[Row, ...]
    buckets: tuple[Bucket, ...]
    weights: tuple[int, ...]

    @cached_property
    def hash(self) -> bytes:
        """SHA-256 over what must be equal on every rank, 32 bytes."""
        lines = [*(row.signature for row in self.rows), ",".join(map(str, self.weights))]
        return hashlib.sha256("\n".join(lines).encode()).digest()

    def __str__(self) -> str:
        """The plan as a table."""
        head = ("parameter", "shape", "dtype", "start", "gradient", "bucket", "saved by", "reason")
        lines = [head]
        for row in self.rows:
            number = "-" if row.bucket is None else str(row.bucket)
            shape = "(" + ", ".join(map(str, row.shape)) + ")"
            lines.append((row.name, shape, row.dtype, row.start, row.gradient, number, row.saved_by) + (row.reason,))
        widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
        table = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines
        ]
        for i, bucket in enumerate(self.buckets):
            size = bucket.size * bucket.dtype.itemsize
            count = f"{len(bucket.slots)} gradient{'s' * (len(bucket.slots) != 1)}"
            cut = f", in {bucket.shards} slices of {size // bucket.shards:,}" * (bucket.shards > 1)
            table.append(f"bucket {i}: {count}, {bucket.dtype.name}, {size:,} bytes{cut}")
        return "\n".join(table)


def make_plan(
    parameters: Iterable[Any],
    weights: Sequence[Any] | None = None,
    *,
    servers: bool = False,
    fusion: Fusion | None = None,
    sharding: Sharding | None = None,
    sparse: Collection[str] = (),
) -> SyncPlan:
    """Decide for every parameter.

    | requires_grad | layerwise | sliced | ps | start | gradient | saved by |
    |---|---|---|---|---|---|---|
    | yes | no | no | no | broadcast | all_reduce | rank 0 |
    | no | no | no | no | broadcast | none | rank 0 |
    | any | yes | any | no | keep | keep | every rank |
    | any | no | yes | no | keep | keep | every rank |
    | yes | no | no | yes | server | server | server |

    The parallel optimizer turns "all_reduce" into "reduce_scatter", a sparse gradient into
    "all_gather".

    Args:
        parameters: everything to keep equal, in order of registration: Parameters, or objects
            with the same attributes. An object that comes twice counts once.
        weights: those whose gradients are computed, in the order of the gradients; default: all
            that require a gradient. They are added to `parameters` where missing.
        servers: whether the job has parameter servers; without, `is_param_ps` changes nothing.
        fusion: how gradients share buckets.
        sharding: what the parallel optimizer divides: a trained weight that the ranks have in
            common then has the gradient "reduce_scatter".
        sparse: names of weights whose gradients come as rows: "all_gather".

    Returns:
        The plan. The same arguments give the same plan, whatever the rank.

    Raises:
        ValueError: if two parameters have one name, or one has flags that contradict each other.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.plan import make_plan
        >>> w = ms.Parameter(np.ones((2, 3), np.float32), name="w")
        >>> plan = make_plan([w])
        >>> plan.rows[0].start, plan.rows[0].gradient, plan.buckets[0].size
        ('broadcast', 'all_reduce', 6)
    """
    parameters = list(parameters)
    weights = [p for p in parameters if p.requires_grad] if weights is None else list(weights)
    unique = list({id(p): p for p in [*parameters, *weights]}.values())
    places = {id(p): i for i, p in enumerate(unique)}
    _check_names(unique)
    given = {id(w): i for i, w in reversed(list(enumerate(weights)))}
    sharding = sharding or Sharding()
    actions = [_gradient(p, _actions(p, id(p) in given, servers), sharding, sparse) for p in unique]
    reduced = [(p, a[1]) for p, a in zip(unique, actions, strict=True) if a[1] in ("all_reduce", "reduce_scatter")]
    groups = group_gradients(
        [_bytes(p) for p, _ in reduced],
        [_kind(p, verb) for p, verb in reduced],
        fusion or Fusion(),
    )
    bucket_of = {id(reduced[i][0]): b for b, group in enumerate(groups) for i in group}
    rows = tuple(
        Row(p.name, tuple(p.shape), _dtype(p).name, *a[:3], bucket_of.get(id(p)), a[3])
        for p, a in zip(unique, actions, strict=True)
    )
    buckets = tuple(_bucket([reduced[i] for i in group], given, sharding.shards) for group in groups)
    return SyncPlan(rows, buckets, tuple(places[id(w)] for w in weights))


def may_have_rows(plan: SyncPlan) -> bool:
    """Return whether a gradient in a bucket may be that of a table, and come by rows.

    Args:
        plan: the plan.
    """
    return any(len(slot.shape) > 1 and bucket.dtype.kind != "c" for bucket in plan.buckets for slot in bucket.slots)


def _actions(parameter: Any, is_weight: bool, servers: bool) -> tuple[str, str, str, str]:
    """Return the start, gradient and saving of a parameter, and the reason."""
    trained = is_weight and parameter.requires_grad
    apart = [flag for flag in ("layerwise_parallel", "sliced") if getattr(parameter, flag)]
    if apart and parameter.is_param_ps:
        raise ValueError(
            f"For 'make_plan', parameter '{parameter.name}' must not have both '{apart[0]}' and "
            "'is_param_ps': a rank's own values cannot live on a server. Unset one of them."
        )
    if apart:
        why = {"layerwise_parallel": "layerwise_parallel: each rank has its own"}
        reason = why.get(apart[0], "sliced: this rank holds a slice")
        return "keep", "keep" if trained else "none", "every rank", reason
    if parameter.is_param_ps and servers:
        if not parameter.requires_grad:
            raise ValueError(
                f"For 'make_plan', parameter '{parameter.name}' is on a server, so its "
                "'requires_grad' must be True, but got False."
            )
        return "server", "server", "server", "is_param_ps: the server updates it"
    if trained:
        return "broadcast", "all_reduce", "rank 0", "trained alike on every rank"
    reason = "not among the trained weights" if parameter.requires_grad else "not trained"
    return "broadcast", "none", "rank 0", reason


def _gradient(
    parameter: Any, actions: tuple[str, str, str, str], sharding: Sharding, sparse: Collection[str]
) -> tuple[str, str, str, str]:
    """Return the actions with another gradient where rows are sent, or slices are updated."""
    start, gradient, saved_by, reason = actions
    if gradient != "all_reduce":
        return actions
    if parameter.name in sparse:
        return start, "all_gather", saved_by, "trained alike on every rank, by rows"
    if sharding.shards == 1:
        return actions
    if parameter.name in sharding.whole:
        return start, gradient, saved_by, f"{reason}; its update needs the whole gradient"
    if _bytes(parameter) < max(sharding.threshold, 1):
        return start, gradient, saved_by, f"{reason}; under the parallel optimizer's threshold"
    return start, "reduce_scatter", saved_by, f"each of {sharding.shards} ranks updates a slice"


def _bucket(parameters: list[tuple[Any, str]], given: dict[int, int], shards: int) -> Bucket:
    """Lay gradients out one after the other."""
    slots, start = [], 0
    for p, _ in parameters:
        stop = start + _elements(p)
        slots.append(Slot(given[id(p)], start, stop, tuple(p.shape)))
        start = stop
    first, verb = parameters[0]
    shards = shards if verb == "reduce_scatter" else 1
    return Bucket(_dtype(first), -(-start // shards) * shards, tuple(slots), shards)


def _kind(parameter: Any, verb: str) -> tuple[str, int, str] | None:
    """Return what gradients of one bucket have in common; None: `comm_fusion` 0 asks for none."""
    fusion = parameter.comm_fusion
    return None if fusion == 0 else (_dtype(parameter).name, fusion, verb)


def _bytes(parameter: Any) -> int:
    """Return the size of a parameter's values."""
    return _elements(parameter) * _dtype(parameter).itemsize


def _dtype(parameter: Any) -> np.dtype:
    """Return a parameter's NumPy type."""
    return np.dtype(getattr(parameter.dtype, "np", parameter.dtype))


def _elements(parameter: Any) -> int:
    """Return a parameter's number of elements."""
    n = 1
    for length in parameter.shape:
        n *= length
    return n


def _check_names(parameters: list[Any]) -> None:
    """Raise if two parameters have one name: ranks tell parameters apart by name."""
    seen: dict[str, Any] = {}
    for p in parameters:
        if p.name in seen:
            raise ValueError(
                f"For 'make_plan', each parameter must have a name of its own, but '{p.name}' is "
                f"the name of two, of shapes {tuple(seen[p.name].shape)} and {tuple(p.shape)}. "
                "Please set a unique name for the parameter."
            )
        seen[p.name] = p
