"""ReduceLROnPlateau: lowers the learning rate when a value has stopped to improve."""

from __future__ import annotations

import numpy as np

from dist_ms.common.checks import check_bool, check_float_range, check_non_negative_int, check_type
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.train.callback.callback import RunContext
from dist_ms.train.callback.monitored import Watching


class ReduceLROnPlateau(Watching):
    """Multiply the learning rate by a factor when a value has not improved for some epochs.

    The optimizer must have been made with one number as its learning rate. In a data-parallel job
    the mean of the value over the ranks counts. Epochs without the value do not count.

    Args:
        monitor: "loss" (of the epoch's last step), "eval_loss" or the name of a metric.
        factor: between 0 and 1, a float.
        patience: how many epochs without improvement to bear.
        verbose: print each change.
        mode: "min" or "max" of the value is best; "auto" knows by the name.
        min_delta: a smaller change is no improvement.
        cooldown: after a change, epochs that do not count.
        min_lr: the learning rate is never set below this.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another mode, a factor out of range or negative counts; during training, if
            the value is no number or the optimizer's learning rate not one number.

    Examples:
        >>> import dist_ms as ms
        >>> plateau = ms.train.ReduceLROnPlateau(monitor="acc", patience=3, factor=0.5)
    """

    state_names = ("best", "wait", "cooldown_counter")

    def __init__(
        self,
        monitor: str = "eval_loss",
        factor: float = 0.1,
        patience: int = 10,
        verbose: bool = False,
        mode: str = "auto",
        min_delta: float = 0.0001,
        cooldown: int = 0,
        min_lr: float = 0,
    ) -> None:
        super().__init__(monitor, mode, min_delta)
        owner = "ReduceLROnPlateau"
        self.factor = check_float_range(factor, "factor", owner, 0.0, 1.0, "()")
        self.patience = check_non_negative_int(patience, "patience", owner)
        self.verbose = check_bool(verbose, "verbose", owner)
        self.cooldown = check_non_negative_int(cooldown, "cooldown", owner)
        self.min_lr = check_type(min_lr, "min_lr", owner, (float, int))
        self.cooldown_counter = 0
        self.wait = 0

    def on_train_begin(self, run_context: RunContext) -> None:
        """Start anew.

        Args:
            run_context: the run.
        """
        self.cooldown_counter = 0
        self.wait = 0
        self.best = self._worst

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Look at the value of an epoch.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        rate = run["optimizer"].learning_rate
        if not isinstance(rate, Parameter):
            raise ValueError(
                "For 'ReduceLROnPlateau', the optimizer's learning rate must be one number, but got "
                f"{type(rate).__name__}: it changes by itself or differs between groups."
            )
        current = self._value(run)
        if current is None:
            return
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            self.wait = 0
        if self.is_improvement(current, self.best):
            self.best = current
            self.wait = 0
        elif self.cooldown_counter <= 0:
            self.wait += 1
            if self.wait >= self.patience:
                self._reduce(rate, run.get("cur_epoch_num"))
                self.cooldown_counter = self.cooldown
                self.wait = 0

    def _reduce(self, rate: Parameter, epoch: int) -> None:
        before = np.float32(rate.asnumpy().reshape(-1)[0])
        if before <= self.min_lr:
            return
        after = max(before * np.float32(self.factor), self.min_lr)
        rate.set_data(Tensor(np.float32(after)))
        if self.verbose:
            print(f"Epoch {epoch:05d}: ReduceLROnPlateau reducing learning rate to {after!s}.", flush=True)
