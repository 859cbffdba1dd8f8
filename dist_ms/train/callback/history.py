"""History: what a run gave, kept in lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.outputs import number_of


class History(Callback):
    """Keep the network's output (usually the loss) and the metrics of every epoch.

    Attributes:
        epoch: {"epoch": [1, 2, ...]}, of the latest run.
        history: {"net_output": [...]} (after the last step of each epoch) and, from `Model.fit`, a list per
            metric and "eval_loss"; of all runs.
        mean_loss: the mean over the steps of each epoch of this rank's loss; of all runs.
        evaluated: by name, after which epochs (counted over all runs) there was a value.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.5))
        >>> history = ms.train.History()
        >>> model.train(2, [(np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32))], callbacks=history)
        >>> print(history.epoch, history.history)
        {'epoch': [1, 2]} {'net_output': [1.0, 0.0]}
    """

    state_names = ("history", "epoch", "mean_loss", "evaluated", "_sum", "_steps")

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list] = {}
        self.epoch: Any = None
        self.mean_loss: list[float] = []
        self.evaluated: dict[str, list[int]] = {}
        self._sum, self._steps = 0.0, 0

    def begin(self, run_context: RunContext) -> None:
        """Count the epochs of this run alone; values of earlier runs stay.

        Args:
            run_context: the run.
        """
        self.epoch = {"epoch": []}
        self._sum, self._steps = 0.0, 0

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Add the step's loss to those of the epoch.

        Args:
            run_context: the run.
        """
        super().on_train_step_end(run_context)
        loss = number_of(run_context.original_args()["net_outputs"])
        if isinstance(loss, (int, float)):
            self._sum, self._steps = self._sum + loss, self._steps + 1

    def epoch_end(self, run_context: RunContext) -> None:
        """Keep the results of an epoch.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        self.epoch["epoch"].append(run.get("cur_epoch_num", 1))
        output = run["net_outputs"]
        if isinstance(output, (tuple, list)) and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = float(np.mean(output.asnumpy()))
        results = {**(run.get("metrics") or {})}
        if "eval_loss" in (run.get("eval_results") or {}):
            results["eval_loss"] = run["eval_results"]["eval_loss"]
        for name, value in {"net_output": output, **results}.items():
            self.history.setdefault(name, []).append(value)
        self.mean_loss.append(self._sum / self._steps if self._steps else math.nan)
        self._sum, self._steps = 0.0, 0
        for name in results:
            self.evaluated.setdefault(name, []).append(len(self.mean_loss))

    def plot(self, file_name: str | None = None) -> Any:
        """Draw the mean loss of each epoch, and beside it what was evaluated; needs the package matplotlib.

        Args:
            file_name: where to write the picture; its ending says the format.

        Returns:
            The matplotlib figure.

        Raises:
            RuntimeError: before the first epoch has ended.
            ImportError: if matplotlib is not installed.

        Examples:
            >>> import dist_ms as ms
            >>> history = ms.train.History()
            >>> history.mean_loss, history.history = [0.5, 0.25], {"net_output": [0.4, 0.2]}
            >>> len(history.plot().axes)
            1
        """
        if not self.mean_loss:
            raise RuntimeError("For 'History', 'plot' must be called after an epoch, but got none: train first.")
        try:
            from matplotlib.figure import Figure
            from matplotlib.ticker import MaxNLocator
        except ImportError as error:
            raise ImportError(
                "For 'History', the package 'matplotlib' must be installed for 'plot', but it was not found: "
                "pip install matplotlib."
            ) from error
        others = [name for name in self.evaluated if name not in ("eval_loss", "loss") and self._is_curve(name)]
        figure = Figure(figsize=(9.0 if others else 5.5, 4.0), layout="constrained")
        axes = figure.subplots(1, 2 if others else 1, squeeze=False)[0]
        axes[0].plot(range(1, len(self.mean_loss) + 1), self.mean_loss, marker=".", label="training, mean of an epoch")
        if "eval_loss" in self.evaluated:
            axes[0].plot(self.evaluated["eval_loss"], self.history["eval_loss"], marker=".", label="evaluation")
        axes[0].set_ylabel("loss")
        for name in others:
            axes[1].plot(self.evaluated[name], self.history[name], marker=".", label=name)
        for axis in axes:
            axis.set_xlabel("epoch")
            axis.xaxis.set_major_locator(MaxNLocator(integer=True))
            axis.legend()
        if file_name is not None:
            figure.savefig(file_name)
        return figure

    def _is_curve(self, name: str) -> bool:
        """Whether a metric is one number per evaluation."""
        return all(np.ndim(value) == 0 for value in self.history[name])
