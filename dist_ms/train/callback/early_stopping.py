"""EarlyStopping: ends a run whose monitored value has stopped to improve."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_non_negative_int, check_type
from dist_ms.common.tensor import Tensor
from dist_ms.train.callback.callback import RunContext
from dist_ms.train.callback.monitored import Watching


class EarlyStopping(Watching):
    """Stop when a value has not improved for some epochs.

    In a data-parallel job the mean of the value over the ranks counts, and all ranks stop
    together. Epochs without the value (`Model.fit` evaluates only some) do not count.

    Args:
        monitor: "loss" (of the epoch's last step), "eval_loss" or the name of a metric.
        min_delta: a smaller change is no improvement.
        patience: stop when this many epochs have passed since the best; with 0 the first epoch
            that has the value is the last one, as in MindSpore.
        verbose: print when it stopped.
        mode: "min" or "max" of the value is best; "auto" knows by the name.
        baseline: an epoch that is not better than this does not start the counting anew.
        restore_best_weights: give the network the parameters of the best epoch when it stops.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another mode or a negative `patience`; during training, if the value is
            no number.

    Examples:
        >>> import dist_ms as ms
        >>> stopping = ms.train.EarlyStopping(monitor="acc", patience=3, verbose=True)
    """

    state_names = ("best", "wait", "stopped_epoch", "best_weights_param_dict")

    def __init__(
        self,
        monitor: str = "eval_loss",
        min_delta: float = 0,
        patience: int = 0,
        verbose: bool = False,
        mode: str = "auto",
        baseline: float | None = None,
        restore_best_weights: bool = False,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        owner = "EarlyStopping"
        self.patience = check_non_negative_int(patience, "patience", owner)
        self.verbose = check_bool(verbose, "verbose", owner)
        self.baseline = None if baseline is None else check_type(baseline, "baseline", owner, (float, int))
        self.restore_best_weights = check_bool(restore_best_weights, "restore_best_weights", owner)
        self.wait = 0
        self.stopped_epoch = 0
        self.best_weights_param_dict: dict[str, np.ndarray] | None = None

    def on_train_begin(self, run_context: RunContext) -> None:
        """Start anew.

        Args:
            run_context: the run.
        """
        self.wait = 0
        self.stopped_epoch = 0
        self.best = self._worst
        self.best_weights_param_dict = None

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Look at the value of an epoch.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        current = self._value(run)
        if current is None:
            return
        if self.best_weights_param_dict is None:
            self._keep_weights(run)
        self.wait += 1
        if self.is_improvement(current, self.best):
            self.best = current
            self._keep_weights(run)
            if self.baseline is None or self.is_improvement(current, self.baseline):
                self.wait = 0
        if self.wait >= self.patience:
            self.stopped_epoch = run.get("cur_epoch_num")
            run_context.request_stop()
            self._restore_weights(run)

    def on_train_end(self, run_context: RunContext) -> None:
        """Tell when it stopped.

        Args:
            run_context: the run.
        """
        if self.stopped_epoch > 0 and self.verbose:
            print(f"Epoch {self.stopped_epoch:05d}: early stopping", flush=True)

    def _keep_weights(self, run: Any) -> None:
        if self.restore_best_weights:
            parameters = run["train_network"].parameters_dict()
            self.best_weights_param_dict = {name: p.asnumpy().copy() for name, p in parameters.items()}

    def _restore_weights(self, run: Any) -> None:
        if self.best_weights_param_dict is None:
            return
        if self.verbose:
            print("Restoring model weights from the end of the best epoch.", flush=True)
        for name, parameter in run["train_network"].parameters_dict().items():
            parameter.set_data(Tensor(self.best_weights_param_dict[name]))
