"""TrainOneStepCell: forward, gradients, reduction over the ranks, update.

The step has no branch for distribution: a session says where gradients go. Made once, it is that of a rank
alone, or of the ranks that train together.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from dist_ms.autograd.differentiate import Graph, no_rows
from dist_ms.autograd.grad_operation import GradOperation
from dist_ms.autograd.tape import recording
from dist_ms.autograd.tree import map_tensors
from dist_ms.common.checks import check_bool, check_type
from dist_ms.common.settings.parallel_context import ParallelMode, get_auto_parallel_context
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell import Cell
from dist_ms.nn.layer.basic import Identity
from dist_ms.nn.optim.optimizer import Optimizer
from dist_ms.nn.optim.step.updates import takes_rows
from dist_ms.nn.wrap.finite_guard import checked_choice, choice_from_environment, refuse_not_finite, warn_of_loss
from dist_ms.nn.wrap.grad_reducer import DistributedGradReducer
from dist_ms.nn.wrap.shard_steps import ShardSteps
from dist_ms.ops.creating.creation import full_like
from dist_ms.ops.reducing.clipping import clip_by_global_norm
from dist_ms.parallel import Reducer
from dist_ms.parallel.mode import is_data_parallel, tell_alone
from dist_ms.parallel.servers import served
from dist_ms.parallel.session import Session


class TrainOneStepCell(Cell):
    """One training step: `construct(*inputs)` runs the network, updates its parameters, returns the loss.

    Under `set_auto_parallel_context(parallel_mode="data_parallel")` with more than one
    rank, the first step broadcasts rank 0's parameters and optimizer state, and each
    step all-reduces the gradients. With `enable_parallel_optimizer=True` each rank gets a slice of the
    sums, keeps the optimizer's states of that slice alone, and updates it; then weights are gathered.

    Args:
        network: a Cell that returns the loss (several outputs: their gradients add up).
        optimizer: updates the parameters it was made with.
        sens: the gradient of the loss to start from; 1.0 by default.
        return_grad: also return the gradients, a dict by parameter name.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.WithLossCell(nn.Dense(1, 1, weight_init="ones", has_bias=False), nn.MSELoss())
        >>> step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
        >>> print(step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]])))
        1.0
    """

    clip_norm: float | None = None  # the largest norm of all gradients together that the optimizer is given

    def __init__(
        self, network: Cell, optimizer: Optimizer, sens: float | None = None, return_grad: bool = False
    ) -> None:
        super().__init__(auto_prefix=False)
        check_type(network, "network", "TrainOneStepCell", Cell)
        if not isinstance(optimizer, Cell):
            raise TypeError(
                f"For 'TrainOneStepCell', 'optimizer' must be an Optimizer, but got {type(optimizer).__name__}."
            )
        check_bool(return_grad, "return_grad", "TrainOneStepCell")
        if isinstance(sens, (int, float)) and sens == 0:
            raise ValueError("For 'TrainOneStepCell', 'sens' must not be 0, but got 0: all gradients would be 0.")
        self.network = network
        self.network.set_grad()
        self.optimizer = optimizer
        self.weights = optimizer.parameters
        self.grad = GradOperation(get_by_list=True, sens_param=True)
        self.grad_no_sens = GradOperation(get_by_list=True)
        self.sens = 1.0 if sens is None else sens
        self.return_grad = return_grad
        self.parallel_mode = get_auto_parallel_context("parallel_mode")
        local = getattr(optimizer, "local", False)
        self.reducer_flag = not local and is_data_parallel(self.weights)
        self.grad_reducer: Any = Identity()
        self._alone = Session(self.weights)
        self._summing = False
        self._non_finite = choice_from_environment()
        self._told = False
        check_parallel_optimizer(self.parallel_mode, return_grad)
        if self.reducer_flag:
            self.grad_reducer = DistributedGradReducer(
                self.weights, network=self, reuse=not return_grad, optimizer=optimizer
            )
        elif not local:
            tell_alone()
        self.mean, self.degree = self.session.mean, self.session.degree
        self._shards = ShardSteps.asked_for(self)

    def construct(self, *inputs: Any) -> Any:
        """Train on one batch and return the loss (and gradients)."""
        loss, grads = self._gradients(inputs, self.sens)
        return self._update(loss, grads)

    def _update(self, loss: Any, grads: list[Tensor]) -> Any:
        """Update the parameters, unless gradients are being summed up, and return the step's results."""
        if not self._summing:
            if self._non_finite is not None and not self._told:
                comm = self.session.comm
                if self._non_finite == "raise":
                    refuse_not_finite(loss, grads, self.weights, comm)
                else:
                    self._told = warn_of_loss(loss, comm)
            self.optimizer(tuple(self._clipped(grads)))
        if self.return_grad:
            return loss, {p.name: g for p, g in zip(self.weights, grads)}
        return loss

    def _clipped(self, grads: list[Tensor]) -> Any:
        """The gradients, scaled down where their norm over all ranks' parts is above `clip_norm`."""
        if self.clip_norm is None:
            return grads
        scale = getattr(self.optimizer, "loss_scale", 1.0)  # the optimizer divides what it gets by this
        return clip_by_global_norm(grads, float(self.clip_norm * scale))

    @property
    def session(self) -> Session:
        """What owns the steps: that of the reducer, or of this rank alone."""
        return getattr(self.grad_reducer, "session", self._alone)

    @property
    def non_finite(self) -> str | None:
        """What becomes of a step with an infinite or NaN gradient: "raise" on every rank, or it is taken.

        "warn" tells once that a loss is infinite or NaN; None ("ignore") says nothing. Default: the environment
        variable DIST_MS_NON_FINITE, else "warn". A step with a loss scale skips such steps instead.
        """
        return self._non_finite

    @non_finite.setter
    def non_finite(self, value: str | None) -> None:
        self._non_finite, self._told = checked_choice(value, "'non_finite'"), False

    def start_anew(self, before: int) -> None:
        """Agree and start equal once more in the next step, with the ranks that are left of those that trained.

        Args:
            before: how many there were.

        Raises:
            ValueError: if virtual shards cannot be dealt to so many.
        """
        self.session.start_anew(before)
        self.degree = self.session.degree
        if self._shards is not None:
            self._shards = ShardSteps.asked_for(self)

    # ---- what a saved run needs beside parameters
    def run_state(self) -> dict[str, Any]:
        """What the next step depends on beside parameters and random streams."""
        return {"shard_steps": 0 if self._shards is None else self._shards.count}

    def load_run_state(self, state: dict[str, Any]) -> None:
        """Go back to what `run_state` returned."""
        if self._shards is not None:
            self._shards.count = int(state["shard_steps"])

    # ---- several sweeps, one update
    @contextmanager
    def no_sync(self) -> Iterator[None]:
        """Steps within this only add up gradients, without communication and without an update.

        The next step outside adds its own gradients to the sum, reduces it over the ranks and
        updates the parameters with it: as one step on all the batches, if the losses are divided
        by their number (`sens=1 / count`), or if `uneven` is "exact", which takes the mean itself.

        Examples:
            >>> import dist_ms as ms
            >>> from dist_ms import nn
            >>> net = nn.WithLossCell(nn.Dense(1, 1, weight_init="ones", has_bias=False), nn.L1Loss("sum"))
            >>> step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
            >>> with step.no_sync():
            ...     _ = step(ms.Tensor([[1.0]]), ms.Tensor([[0.0]]))
            >>> _ = step(ms.Tensor([[2.0]]), ms.Tensor([[0.0]]))
            >>> print(net.trainable_params()[0].asnumpy())
            [[-0.5]]
        """
        before = self._summing
        with self._reducer().no_sync():
            self._summing = True
            try:
                yield
            finally:
                self._summing = before

    def _reducer(self) -> Reducer:
        """The sink that can sum gradients up; alone a step needs it for nothing else."""
        if self._shards is not None:
            raise ValueError(
                "For 'set_virtual_shards', gradients must be computed in one step, but got one of several sweeps or "
                "without a batch: no_sync, gradient accumulation and idle_step add up in another order."
            )
        return self.session.sink()

    # ---- ranks with different numbers of samples
    @property
    def uneven(self) -> str | None:
        """What the gradients are a mean of: "exact": of all ranks' samples; None: of the ranks' means.

        "exact" needs a loss that is the mean over the samples of a batch; it makes ranks with
        batches of different sizes, and ranks that have run out of batches, train like one process
        on all samples. Set before the first step.
        """
        return self.session.uneven

    @uneven.setter
    def uneven(self, value: str | None) -> None:
        if value is not None and self._shards is not None:
            raise ValueError("For 'set_virtual_shards', 'uneven' must be None: all ranks have equal batches.")
        self.session.uneven = value

    def samples(self, inputs: tuple) -> int:
        """Return how many samples a batch has: the length of its first Tensor's first axis.

        Override it where the loss is the mean over something else, such as tokens.

        Args:
            inputs: what the step was called with.
        """
        return next((len(x) for x in inputs if isinstance(x, Tensor) and x.ndim), 1)

    def idle_step(self, loss: Any = None) -> Any:
        """Take part in a step of the other ranks without a batch of one's own.

        Args:
            loss: what to return as this rank's loss.

        Raises:
            NotImplementedError: if a class of its own `construct` does not define it.
        """
        self._check_idle()
        grads = self._reducer().reduce([None] * len(self.weights), samples=0)
        return self._update(loss, self._filled(grads))

    def _check_idle(self) -> None:
        """Raise unless a step without a batch does what `construct` does."""
        ours = type(self).construct.__module__.startswith("dist_ms.")
        if not ours and type(self).idle_step.__module__.startswith("dist_ms."):
            raise NotImplementedError(
                f"For '{type(self).__name__}', 'idle_step' must be defined to train with uneven=\"exact\", as "
                "'construct' is its own: it is what a rank does that has no batch left."
            )

    def _filled(self, grads: list[Tensor | None]) -> list[Tensor]:
        """Zeros where a rank's own parameter got no gradient."""
        return [
            (no_rows(w) if w.elsewhere else full_like(w, 0)) if g is None else g for w, g in zip(self.weights, grads)
        ]

    def _gradients(self, inputs: tuple, sens: Any) -> tuple[Any, list[Tensor]]:
        """The loss and the gradients, reduced over the ranks."""
        if self._shards is not None:
            return self._shards.gradients(inputs, sens, seed_of)
        served.hand_over(self.optimizer)
        sink = self.session.sweep_sink()
        if sink is not None and self.uneven == "exact":
            sink.samples.set(self.samples(inputs))
        graph = Graph(self.network, inputs, weights=self.weights)
        loss = graph.outputs
        by_rows = sink is None or sink.wants_rows
        recording.rows = by_rows and not self.return_grad and takes_rows(self.optimizer)
        try:
            _, grads = graph.sweep(loss, seed_of(loss, sens), sink)
        finally:
            recording.rows = False
        return loss, grads


def check_parallel_optimizer(mode: str, return_grad: bool) -> None:
    """Raise if the parallel optimizer is asked for where it cannot be.

    Args:
        mode: the parallel mode.
        return_grad: whether the step returns gradients.

    Raises:
        RuntimeError: outside of data-parallel training.
        ValueError: with `return_grad`.
    """
    if not get_auto_parallel_context("enable_parallel_optimizer"):
        return
    if mode == ParallelMode.STAND_ALONE:
        raise RuntimeError(
            "For 'set_auto_parallel_context', 'enable_parallel_optimizer' needs parallel_mode='data_parallel', but got "
            f"{mode!r}."
        )
    if return_grad:
        raise ValueError(
            "For 'TrainOneStepCell', 'return_grad' must be False with 'enable_parallel_optimizer', but got True: a "
            "rank has only slices of the gradients."
        )


def seed_of(outputs: Any, sens: Any) -> Any:
    """The gradient of the outputs, `sens` everywhere; None means ones."""
    if isinstance(sens, (int, float)) and sens == 1.0:
        return None
    value = sens.asnumpy().item() if isinstance(sens, Tensor) else sens
    return map_tensors(lambda x: full_like(x, value), outputs)
