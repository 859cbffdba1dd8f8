"""The value that EarlyStopping and ReduceLROnPlateau watch, and when it is better than another."""

from __future__ import annotations

import logging
from typing import Any

import numpy as np

from dist_ms.common.checks import check_string, check_type
from dist_ms.train.callback.callback import Callback
from dist_ms.train.callback.outputs import number_of
from dist_ms.train.callback.ranks import ranks_of

_log = logging.getLogger("dist_ms")
_SMALLER_IS_BETTER = {
    "eval_loss",
    "hausdorff_distance",
    "loss",
    "mae",
    "mean_surface_distance",
    "mse",
    "perplexity",
    "root_mean_square_distance",
}


class Watching(Callback):
    """A callback that watches one value from epoch to epoch; all ranks see the mean over the ranks.

    Args:
        monitor: "loss" for the training loss of the epoch's last step, "eval_loss" for that of
            the evaluation in `Model.fit`, or the name of a metric.
        mode: "min" or "max" of the value is best; "auto" knows by the name.
        min_delta: a smaller change does not count.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: for another mode.
    """

    meets_ranks = True

    def __init__(self, monitor: str, mode: str, min_delta: float) -> None:
        super().__init__()
        owner = type(self).__name__
        self.monitor = check_string(monitor, "monitor", owner)
        check_string(mode, "mode", owner)
        self.mode = check_string(mode, "mode", owner, ("auto", "min", "max"))
        self.min_delta = abs(check_type(min_delta, "min_delta", owner, (float, int)))
        self._smaller = mode == "min" or (mode == "auto" and monitor in _SMALLER_IS_BETTER)
        self.best = self._worst

    def introduce(self) -> tuple[Any, Any]:
        """Ranks that watch the same value talk."""
        return self.monitor, None

    @property
    def _worst(self) -> float:
        return np.inf if self._smaller else -np.inf

    def is_improvement(self, value: float, than: float) -> bool:
        """Return whether a value is better than another, by more than `min_delta`.

        Args:
            value: the new one.
            than: the old one.
        """
        return value < than - self.min_delta if self._smaller else value > than + self.min_delta

    def _value(self, run: Any) -> float | None:
        """Return the value of this epoch; None, with a warning, where there is none."""
        candidates = run.get("eval_results") or {}
        value = number_of(run["net_outputs"]) if self.monitor == "loss" else candidates.get(self.monitor)
        owner = type(self).__name__
        if value is None:
            _log.warning("%s watches '%s', which is not among %s.", owner, self.monitor, ["loss", *candidates])
            return None
        if np.shape(value) != ():
            raise ValueError(
                f"For '{owner}', the value of 'monitor' must be a number, but '{self.monitor}' has shape "
                f"{np.shape(value)}."
            )
        ranks = ranks_of(run)
        return ranks.mean(float(value)) if ranks.alike else float(value)
