"""ProgressBar: shows steps, loss, metrics and speed of a run on rank 0."""

from __future__ import annotations

import sys
from typing import Any

from dist_ms.communication import get_rank
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.outputs import number_of
from dist_ms.train.callback.progress.lines import in_lines
from dist_ms.train.callback.progress.rates import Counts, Meter, counts

_EVERY = 1.0  # seconds: how often the speed is found anew


class ProgressBar(Callback):
    """A bar over all steps of a run with loss, samples/s of all ranks and time left; a line per evaluated epoch.

    The bar has the loss of the last step, the line the mean over the epoch's steps, both of rank 0's batches.
    Below the bar is what the ranks wait for, if it is 1 % of the time or more: batches, each other, and the rank that
    the others wait for. On a terminal the bar moves; elsewhere (a log file, a notebook) one plain line per epoch is
    printed. Only rank 0 prints. Ranks of other machines are taken to be as fast as those of rank 0's.

    Examples:
        >>> import dist_ms as ms
        >>> bar = ms.train.ProgressBar()
    """

    def __init__(self) -> None:
        super().__init__()
        self._bar: Any = None
        self._console: Any = None
        self._last_epoch = 0
        self._losses: list[float] = []  # of the epoch's steps
        self._of_epoch = self._recent = Meter()
        self._at_step: Counts = counts()

    def on_train_begin(self, run_context: RunContext) -> None:
        """Draw the empty bar.

        Args:
            run_context: the run.
        """
        if get_rank() != 0:
            return
        from rich.console import Console

        run = run_context.original_args()
        self._last_epoch = run.get("initial_epoch", 0) + run["epoch_num"]
        # FORCE_COLOR is for colours, and a notebook has it set: neither moves what was printed.
        self._console = Console(force_jupyter=False, force_terminal=sys.stdout.isatty())
        self._recent = Meter()
        if self._console.is_terminal and not self._console.is_dumb_terminal:
            from dist_ms.train.callback.progress.display import Bar

            self._bar = Bar(self._console, run["batch_num"] * run["epoch_num"] or None)

    def on_train_epoch_begin(self, run_context: RunContext) -> None:
        """Measure from now on.

        Args:
            run_context: the run.
        """
        if self._console is not None:
            self._of_epoch, self._losses = Meter(), []

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Advance the bar.

        Args:
            run_context: the run.
        """
        if self._console is None:
            return
        self._at_step = counts()
        run = run_context.original_args()
        loss = number_of(run["net_outputs"])
        if isinstance(loss, (int, float)):
            self._losses.append(loss)
        if self._bar is None:
            return
        text = f"{loss:.4f}" if isinstance(loss, float) else str(loss)
        self._bar.step(f"epoch {run['cur_epoch_num']}/{self._last_epoch}", text)
        if self._at_step.time - self._recent.begun >= _EVERY:
            if rates := self._recent.rates(self._at_step):
                self._bar.tell(rates)
            self._recent.start()

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print a line where there is no terminal, or where there are metrics to tell.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        results = run.get("eval_results") or {}
        if self._console is None or (self._bar is not None and not results):
            return
        mean = sum(self._losses) / len(self._losses) if self._losses else number_of(run["net_outputs"])
        values = {"loss": mean}
        values |= {f"eval_{name.removeprefix('eval_')}": value for name, value in results.items()}
        parts = [f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in values.items()]
        if rates := self._of_epoch.rates(self._at_step):
            parts.append(str(rates))
        parts.insert(0, f"epoch {run['cur_epoch_num']}/{self._last_epoch}")
        text = "  ".join(parts) if self._bar is None else in_lines(parts, self._console.width)
        self._console.print(text, highlight=False, markup=False, soft_wrap=True)
        self._recent.start()

    def __exit__(self, *exc: Any) -> None:
        if self._bar is not None:
            self._bar.stop()
        self._bar = self._console = None
