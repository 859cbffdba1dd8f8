"""RunCheckpoint: saves everything that a run is while it trains, so that it can be resumed bit-equal."""

from __future__ import annotations

import os
import time
from typing import Any

from dist_ms.common.checks import check_bool, check_positive_int, check_string, complaint
from dist_ms.train.callback.callback import RunContext
from dist_ms.train.callback.monitored import Watching
from dist_ms.train.callback.ranks import Ranks, ranks_of
from dist_ms.train.checkpoint import background
from dist_ms.train.state import saving
from dist_ms.train.state.folder import Folder
from dist_ms.train.state.model_run import facts_of, stateful_of


class RunCheckpoint(Watching):
    """Save the whole state of a run every so many steps or seconds, after the best epoch, and at the end.

    Saved are parameters, buffers, the optimizer's states (slices and what servers hold included), the loss scale,
    step and epoch, the position in the data and the random streams of every rank, and what callbacks have counted.
    `Model.train(resume=directory)` goes on from it as if it had never stopped. Every rank is given the callback.
    Bits are equal where ranks and their threads are as many as before (`OMP_DYNAMIC=false` keeps threads on a busy
    machine), and functions of the data draw from `np.random` in worker processes only, or not at all.

    Args:
        directory: the folder of the states, which all ranks share; made if missing.
        every_steps: save after every so many steps.
        every_seconds: save when so many seconds have gone since the last save. Without both: after every epoch.
        keep: how many of the newest states to keep, besides the best; None: all.
        best: save after epochs that are better than all before, and keep that state: "loss", "eval_loss" or the
            name of a metric.
        mode: "min" or "max" of `best` is best; "auto" knows by the name.
        wait: training waits until the state is on the disk. By default the values are copied and written in
            the background; the next save waits for the last.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for numbers that are not positive, or ranks whose callbacks differ.

    Examples:
        >>> import tempfile
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> def model():
        ...     net = ms.nn.Dense(1, 1)
        ...     return ms.train.Model(net, ms.nn.MSELoss(), ms.nn.SGD(net.trainable_params(), 0.1))
        >>> folder, batch = tempfile.mkdtemp(), (np.ones((1, 1), np.float32), np.ones((1, 1), np.float32))
        >>> model().train(1, [batch, batch], callbacks=ms.train.RunCheckpoint(folder, every_steps=1))
        >>> model().train(2, [batch, batch], resume=folder)
    """

    comes_last = True
    state_names = ("best",)

    def __init__(
        self,
        directory: str,
        every_steps: int | None = None,
        every_seconds: float | None = None,
        keep: int | None = 3,
        best: str | None = None,
        mode: str = "auto",
        wait: bool = False,
    ) -> None:
        owner = "RunCheckpoint"
        super().__init__(best or "loss", mode, 0.0)
        self.directory = check_string(directory, "directory", owner)
        for value, name in ((every_steps, "every_steps"), (keep, "keep")):
            if value is not None:
                check_positive_int(value, name, owner)
        if every_seconds is not None and (
            isinstance(every_seconds, bool) or not isinstance(every_seconds, (int, float))
        ):
            raise TypeError(complaint("every_seconds", owner, "a number of seconds", type(every_seconds).__name__))
        if every_seconds is not None and every_seconds <= 0:
            raise ValueError(complaint("every_seconds", owner, "above 0", every_seconds))
        self.every_steps, self.every_seconds, self.keep = every_steps, every_seconds, keep
        self.watches = best is not None
        self.wait = check_bool(wait, "wait", owner)
        self._saved: int | None = None
        self.saved_steps: set[int] = set()
        self._last_time, self._alone = 0.0, False
        self._copies: dict[str, Any] = {}
        self._writing = False

    def introduce(self) -> tuple[Any, Any]:
        """Ranks save together, so all must save at the same steps, to the same folder."""
        settings = (self.every_steps, self.every_seconds, self.keep, self.watches and self.monitor, self.mode)
        return (*settings, os.path.realpath(self.directory)), None

    def on_train_begin(self, run_context: RunContext) -> None:
        """See that all ranks save, and start counting seconds.

        Args:
            run_context: the run.

        Raises:
            ValueError: if other ranks have no such callback.
        """
        ranks = ranks_of(run_context.original_args())
        if len(ranks.like(self)) < ranks.size or not ranks.alike:
            raise ValueError(
                f"[rank {ranks.rank} of {ranks.size}] For 'RunCheckpoint', all ranks must have the same callbacks that "
                "talk to each other, in the same order and made alike, but they differ: give every rank a "
                "RunCheckpoint of the same directory."
            )
        self._saved, self._last_time, self._alone = None, time.monotonic(), ranks.size == 1
        self.saved_steps = set()

    def save_beginning(self, run: Any, epoch: int) -> None:
        """Save the state before the first step, to which an elastic job may have to go back.

        Args:
            run: the run's facts.
            epoch: how many epochs are over.
        """
        facts = {"step": run["cur_step_num"], "epoch": epoch, "step_in_epoch": 0, "batches_over": False}
        self._save_facts(run, facts, None)

    def go_back(self, step: int, ranks: Ranks) -> None:
        """Go on from a saved state with fewer ranks.

        Args:
            step: the state's.
            ranks: those that are left.
        """
        self.saved_steps = {saved for saved in self.saved_steps if saved <= step}
        self._saved, self._last_time, self._alone, self._writing = step, time.monotonic(), ranks.size == 1, False

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Save if it is time.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if self._is_due(run["cur_step_num"], ranks_of(run)):
            self._save(run)
        elif self._writing and not background.running():
            saving.look()
            self._writing = False

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Save if the epoch was the best, or if no number of steps or seconds says when.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        value = self._value(run) if self.watches else None
        better = value is not None and self.is_improvement(value, self.best)
        if better:
            assert value is not None
            self.best = float(value)
        if better or (self.every_steps is None and self.every_seconds is None):
            self._save(run, (self.monitor, self.best) if better else None, epoch_over=True)

    def on_train_interrupted(self, run_context: RunContext) -> None:
        """Save the step at which a signal has stopped the run.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if self._saved != run["cur_step_num"]:
            self._save(run)
        run["saved_to"] = self.directory

    def on_train_end(self, run_context: RunContext) -> None:
        """Save unless the last step is saved, and wait until it is on the disk.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        last = run.get("resumed_step") if self._saved is None else self._saved
        if run["cur_step_num"] != last:
            self._save(run, epoch_over=run["epoch_over"])
        saving.finish(ranks_of(run).comm)

    def __exit__(self, *exc: Any) -> None:
        if self._alone:  # with other ranks, these may be gone
            background.finish()
        saving.look()

    def _is_due(self, step: int, ranks: Ranks) -> bool:
        if self.every_steps is not None and step % self.every_steps == 0:
            return True
        if self.every_seconds is None:
            return False
        return ranks.any(time.monotonic() - self._last_time >= self.every_seconds)

    def _save(self, run: Any, best: tuple[str, float] | None = None, epoch_over: bool = False) -> None:
        self._save_facts(run, facts_of(run, epoch_over), best)

    def _save_facts(self, run: Any, facts: dict[str, Any], best: tuple[str, float] | None) -> None:
        self._last_time = time.monotonic()
        self.saved_steps.add(facts["step"])
        folder, comm = Folder(self.directory), ranks_of(run).comm
        saving.save(folder, stateful_of(run), facts, comm, self.keep, best, wait=self.wait, copies=self._copies)
        self._saved, self._writing = facts["step"], not self.wait


__all__ = ["RunCheckpoint"]
