"""The bar on a terminal."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console, RenderableType
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn
from rich.text import Text

from dist_ms.train.callback.progress.rates import Rates


class _WithWaits(Progress):
    """Bars, and a line below them."""

    waits = ""

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.waits:
            yield Text(self.waits, style="dim", no_wrap=True, overflow="ellipsis")


class Bar:
    """A bar that moves.

    Args:
        console: of a terminal.
        steps: how many there are in all; None if that is not known.
    """

    def __init__(self, console: Console, steps: int | None) -> None:
        self._progress = _WithWaits(
            TextColumn("{task.description}"),
            BarColumn(bar_width=None),
            MofNCompleteColumn(),
            TextColumn("loss {task.fields[loss]}"),
            TextColumn("{task.fields[speed]}"),
            TimeRemainingColumn(elapsed_when_finished=True),
            console=console,
            expand=True,
        )
        self._task = self._progress.add_task("training", total=steps, loss="-", speed="")
        self._progress.start()

    def step(self, epoch: str, loss: str) -> None:
        """Advance by a step.

        Args:
            epoch: which of how many.
            loss: of the step.
        """
        self._progress.update(self._task, advance=1, description=epoch, loss=loss)

    def tell(self, rates: Rates) -> None:
        """Show how fast the job is.

        Args:
            rates: of the last seconds.
        """
        self._progress.waits = f"waiting {rates.waits}" if rates.waits else ""
        self._progress.update(self._task, speed=rates.speed)

    def stop(self) -> None:
        """Leave the bar as it is."""
        self._progress.waits = ""
        self._progress.stop()
