"""The owner of training steps: a gradient sink, with the model made equal on all ranks before the first step."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, NamedTuple

from dist_ms.common.checks import check_callable
from dist_ms.common.settings import parallel_context
from dist_ms.communication import Comm, LocalComm, agreeing, get_comm
from dist_ms.parallel.agreement import agree_on_plan
from dist_ms.parallel.broadcast import broadcast_parameters
from dist_ms.parallel.divided_update import DividedUpdate
from dist_ms.parallel.errors import VARIABLE
from dist_ms.parallel.fusion import Fusion, fusion_from_context
from dist_ms.parallel.mode import averages, is_data_parallel, refuse_automatic, tell_sum, world_comm
from dist_ms.parallel.plan import Sharding, SyncPlan, make_plan, may_have_rows
from dist_ms.parallel.plan_command import show_plan
from dist_ms.parallel.reduction.gradient_hook import GradHook
from dist_ms.parallel.reduction.reducer import Reducer
from dist_ms.parallel.replicas.desync import DesyncDetector, steps_between
from dist_ms.parallel.servers.roles import is_worker
from dist_ms.parallel.shared_update import SharedUpdate


class Reduction(NamedTuple):
    """What becomes of a weight's gradient, and who watches the weight, since the first step of a session, gone or not.

    Attributes:
        comm: the ranks that reduce it.
        kind: how, as the plan has it.
        detector: watches the weight; None where nobody is to.
    """

    comm: Comm
    kind: str
    detector: DesyncDetector | None


class Session:
    """The training steps of one set of weights: this one is that of a rank that trains for itself.

    Args:
        weights: the parameters whose gradients are computed, in the order of the gradients.

    Attributes:
        weights: the same.
        comm: the ranks that train them together.
        mean: whether the gradients' sum over the ranks is divided by `degree`.
        degree: the divisor.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.session import Session
        >>> session = Session([ms.Parameter(ms.Tensor([1.0]), name="w")])
        >>> session.comm.size, session.sweep_sink() is None
        (1, True)
    """

    mean = True

    def __init__(self, weights: Sequence[Any], comm: Comm | None = None, degree: int | None = None) -> None:
        self.weights = list(weights)
        self.comm = LocalComm() if comm is None else comm
        self.degree = self.comm.size if degree is None else degree
        self._weighted = False
        self._overlap: bool | None = None
        self._reducer: Reducer | None = None

    def sink(self) -> Reducer:
        """Return the sink that can sum the gradients of several sweeps up; several ranks agree the first time.

        Raises:
            PlanMismatchError: on every rank, if the ranks do not have the same parameters.
            ValueError: on every rank, if the plan cannot be made on one.
        """
        if self._reducer is None:
            self._reducer = self._start()
        return self._reducer

    def sweep_sink(self) -> Reducer | None:
        """Return the sink of one sweep; None where its gradients need nothing but to be stored."""
        return self._reducer

    def _start(self) -> Reducer:
        return Reducer(make_plan(self.weights), self.comm, mean=self._weighted, weighted=self._weighted)

    def start_anew(self, before: int) -> None:
        """Agree and start equal once more in the next step, with the ranks that `comm` has now; alone: go on.

        Args:
            before: how many ranks there were.
        """

    @property
    def started(self) -> bool:
        """Whether there is a sink: its options cannot change any more."""
        return self._reducer is not None

    @property
    def uneven(self) -> str | None:
        """What gradients are a mean of: "exact": of all ranks' samples; None: of the ranks' means.

        Raises:
            ValueError: if something else is assigned.
            RuntimeError: if it changes after the first step.
        """
        return "exact" if self._weighted else None

    @uneven.setter
    def uneven(self, value: str | None) -> None:
        if value not in (None, "exact"):
            raise ValueError(f"For 'TrainOneStepCell', 'uneven' must be None or 'exact', but got {value!r}.")
        weighted = value == "exact"
        if self.started and weighted != self._weighted:
            raise RuntimeError(
                f"For 'TrainOneStepCell', 'uneven' must be set before the first step, but {value!r} came after it."
            )
        self._weighted = weighted

    @property
    def overlap(self) -> bool | None:
        """Whether gradients travel while backward goes on; None: between machines they do, within one they do not.

        Raises:
            TypeError: if something else is assigned.
        """
        return self._overlap

    @overlap.setter
    def overlap(self, value: bool | None) -> None:
        if value is not None and not isinstance(value, bool):
            raise TypeError(
                f"For 'DistributedGradReducer', 'overlap' must be a bool or None, but got {type(value).__name__}."
            )
        self._overlap = value
        if self._reducer is not None:
            self._reducer.overlap = not self.comm.one_node if value is None else value


class DataParallel(Session):
    """The ranks that train one model together.

    Args:
        weights: the parameters whose gradients are computed, in the order of the gradients.
        parameters: called before the first step; returns all parameters to keep equal, optimizer
            state included. Default: the weights.
        buffers: called before the first step; returns Tensors that are to start equal as well.
        mean: divide the summed gradients by `degree`.
        degree: default: the number of ranks.
        broadcast: start with rank 0's values.
        comm: the ranks; default: the world.
        fusion: how gradients share buckets.
        overlap: as for `Reducer`.
        reuse: as for `Reducer`.
        divided: the update that ranks divide, on purpose or on one machine; None: every rank updates all.
        watch: see that the weights stay the same on all ranks; see `DesyncDetector`.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms.parallel.session import DataParallel
        >>> w = ms.Parameter(np.ones(2, np.float32), name="w")
        >>> sink = DataParallel([w]).sink()
        >>> print([str(g) for g in sink.reduce([ms.Tensor([1.0, 2.0])])])
        ['[1. 2.]']
    """

    def __init__(
        self,
        weights: Sequence[Any],
        parameters: Callable[[], Iterable[Any]] | None = None,
        buffers: Callable[[], Iterable[Any]] | None = None,
        *,
        mean: bool = False,
        degree: int | None = None,
        broadcast: bool = True,
        comm: Comm | None = None,
        fusion: Fusion | None = None,
        overlap: bool | None = None,
        reuse: bool = True,
        divided: DividedUpdate | SharedUpdate | None = None,
        watch: bool = True,
    ) -> None:
        super().__init__(weights, world_comm() if comm is None else comm, degree)
        self.mean, self.broadcast, self.divided = mean, broadcast, divided
        self.plan: SyncPlan | None = None
        self._parameters = parameters or (lambda: self.weights)
        self._buffers = buffers or (lambda: ())
        self._fusion, self._reuse = fusion, reuse
        self.overlap = overlap
        self._watch, self._steps = watch, 0
        self._hook: GradHook | None = None

    def sink(self) -> Reducer:
        """Return the sink for this step's gradients; the first time, agree and broadcast."""
        self.comm.check_process("DistributedGradReducer")
        return super().sink()

    def sweep_sink(self) -> Reducer:
        """Return the same."""
        return self.sink()

    @property
    def hook(self) -> GradHook | None:
        """What adds the buckets in place of this session; None: it does so itself."""
        return self._hook

    def use_hook(self, hook: GradHook) -> None:
        """Have a hook add the buckets.

        Args:
            hook: the same on every rank.

        Raises:
            RuntimeError: after the first step.
            TypeError: if it cannot be called.
        """
        if self.started:
            raise RuntimeError("For 'register_comm_hook', a hook must be given before the first step, but it is over.")
        check_callable(hook, "hook", "register_comm_hook")
        self._hook = hook

    def _start(self) -> Reducer:
        """Make the plan, see that all ranks have the same, and start with equal values."""
        comm = self.comm
        with agreeing(comm):
            parameters = list({id(p): p for p in [*self._parameters(), *self.weights]}.values())
            sharding = Sharding() if self.divided is None else self.divided.sharding(comm)

            def plan_with(sparse: Collection[str] = ()) -> SyncPlan:
                return make_plan(
                    parameters,
                    self.weights,
                    servers=is_worker(),
                    fusion=self._fusion,
                    sharding=sharding,
                    sparse=sparse,
                )

            plan = plan_with()
            self._check_hook(plan)
            self._steps = steps_between() if self._watch and comm.size > 1 else 0
        agree_on_plan(plan, comm)
        show_plan(plan, comm)
        self._agree_on_sums(sharding)
        with agreeing(comm):
            reducer = Reducer(
                plan,
                comm,
                mean=self.mean,
                degree=self.degree,
                overlap=self._overlap,
                reuse=self._reuse,
                weighted=self._weighted,
                replan=plan_with if may_have_rows(plan) and sharding.shards == 1 else None,
            )
            reducer.hook = self._hook
            buffers = list(self._buffers())
        if self.broadcast:
            broadcast_parameters(plan, parameters, comm, buffers)
        with agreeing(comm):
            if self.divided is not None:
                self.divided.divide(plan, reducer)
            detector = DesyncDetector(plan, parameters, comm, self._steps) if self._steps else None
            reducer.watch = None if detector is None else detector.step
        if not self.mean and comm.size > 1 and comm.rank == 0:
            tell_sum(comm.size)
        self.plan = plan
        for weight, row in zip(self.weights, plan.weights, strict=True):
            weight.reduction = Reduction(comm, plan.rows[row].gradient, detector)
        return reducer

    def start_anew(self, before: int) -> None:
        """Do so."""
        self._reducer = self.plan = None
        if self.degree == before:
            self.degree = self.comm.size
        if self.divided is not None:
            self.divided.undo()

    def _check_hook(self, plan: SyncPlan) -> None:
        if self._hook is not None and any(b.shards > 1 for b in plan.buckets):
            raise ValueError(
                "For 'register_comm_hook', the parallel optimizer must be off, but 'enable_parallel_optimizer' is "
                "True: a hook returns whole sums, not slices."
            )

    def _agree_on_sums(self, sharding: Sharding) -> None:
        """Raise on every rank if the ranks add gradients in different ways."""
        name = None if self._hook is None else getattr(self._hook, "__qualname__", type(self._hook).__qualname__)
        mine = {
            "a hook": name,
            "weights by samples": self._weighted,
            "a mean": self.mean,
            "the degree": self.degree,
            "the parallel optimizer": "on" if sharding.shards > 1 else "off",
            VARIABLE: self._steps,
        }
        found = self.comm.gather_objects(mine)
        for what in mine:
            if len({str(one[what]) for one in found}) > 1:
                by_rank = ", ".join(f"rank {r}: {one[what]}" for r, one in enumerate(found))
                raise ValueError(
                    f"For 'DistributedGradReducer', {what} must be the same on all ranks, but got {by_rank}."
                )


def data_parallel(
    weights: Sequence[Any],
    parameters: Callable[[], Iterable[Any]] | None = None,
    buffers: Callable[[], Iterable[Any]] | None = None,
    *,
    mean: bool | None = None,
    degree: int | None = None,
    group: str | None = None,
    reuse: bool = True,
    divided: DividedUpdate | SharedUpdate | None = None,
) -> DataParallel | None:
    """Return what the parallel context asks for; None when it asks for no parallel training.

    The context is read now, once.

    Args:
        weights: as for `DataParallel`.
        parameters: as for `DataParallel`.
        buffers: as for `DataParallel`.
        mean: default: `gradients_mean`.
        degree: default: `device_num` where it is set, else the number of ranks.
        group: the ranks; default: all.
        reuse: as for `DataParallel`.
        divided: as for `DataParallel`.

    Raises:
        RuntimeError: if the parallel mode is semi_auto_parallel or auto_parallel, or init() has
            not been called in one of several ranks.

    Examples:
        >>> from dist_ms.parallel.session import data_parallel
        >>> data_parallel([]) is None
        True
    """
    refuse_automatic()
    if not is_data_parallel(weights):
        return None
    get = parallel_context.get_auto_parallel_context
    given = parallel_context.is_set
    if degree is None and given("device_num"):
        degree = get("device_num")
    return DataParallel(
        weights,
        parameters,
        buffers,
        mean=averages() if mean is None else mean,
        degree=degree,
        broadcast=get("parameter_broadcast") if given("parameter_broadcast") else True,
        comm=None if group is None else get_comm(group),
        fusion=fusion_from_context(get("comm_fusion"), get("all_reduce_fusion_config")),
        reuse=reuse,
        divided=divided,
    )
