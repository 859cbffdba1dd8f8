"""ProgressBar: shows steps, loss and metrics of a run on rank 0."""

from __future__ import annotations

from typing import Any

from dist_ms.communication import get_rank
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.outputs import number_of


class ProgressBar(Callback):
    """A bar over all steps of a run with the latest loss, and a line per evaluated epoch.

    On a terminal the bar moves; elsewhere (a log file, CI) one plain line per epoch is printed.
    Only rank 0 prints.

    Examples:
        >>> import dist_ms as ms
        >>> bar = ms.train.ProgressBar()
    """

    def __init__(self) -> None:
        super().__init__()
        self._progress: Any = None
        self._task: Any = None
        self._console: Any = None
        self._last_epoch = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        """Draw the empty bar.

        Args:
            run_context: the run.
        """
        if get_rank() != 0:
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

        run = run_context.original_args()
        self._last_epoch = run.get("initial_epoch", 0) + run["epoch_num"]
        self._console = Console()
        if not self._console.is_terminal or self._console.is_dumb_terminal:
            return
        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TimeElapsedColumn(),
            console=self._console,
        )
        steps = run["batch_num"] * run["epoch_num"] or None
        self._task = self._progress.add_task("training", total=steps, loss="-")
        self._progress.start()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Advance the bar.

        Args:
            run_context: the run.
        """
        if self._progress is None:
            return
        run = run_context.original_args()
        loss = number_of(run["net_outputs"])
        self._progress.update(
            self._task,
            advance=1,
            loss=f"{loss:.4f}" if isinstance(loss, float) else str(loss),
            description=f"epoch {run['cur_epoch_num']}/{self._last_epoch}",
        )

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Print a line where there is no terminal, or where there are metrics to tell.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        results = run.get("eval_results") or {}
        if self._console is None or (self._progress is not None and not results):
            return
        values = {"loss": number_of(run["net_outputs"])}
        values |= {f"eval_{name.removeprefix('eval_')}": value for name, value in results.items()}
        text = "  ".join(f"{k} {v:.4f}" if isinstance(v, float) else f"{k} {v}" for k, v in values.items())
        self._console.print(f"epoch {run['cur_epoch_num']}/{self._last_epoch}  {text}", highlight=False)

    def __exit__(self, *exc: Any) -> None:
        if self._progress is not None:
            self._progress.stop()
        self._progress = self._console = None
