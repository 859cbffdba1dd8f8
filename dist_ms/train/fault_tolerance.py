"""TrainFaultTolerance: a checkpoint of the last whole step when training fails."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_callable, check_type, complaint
from dist_ms.common.settings.environment import value_of
from dist_ms.nn.optim import Optimizer
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.serialization import save_checkpoint

_FAILURES = ("TTP", "UCE", "ARF", "TSP", "HCCE")


class TrainFaultTolerance(Callback):
    """Save what was trained when an exception ends a run: the exception goes on, and a later run goes on from the file.

    MindSpore's switch turns it on: the environment variable MS_ENABLE_TFT is `{TTP:1}`. The other kinds of failures it
    may name are those of an Ascend device.

    Args:
        ckpt_save_path: where the checkpoint goes: `tft_saved_checkpoints-step_STEP/rank_RANK/EPOCH_STEP.ckpt`.
        kwargs: `ckpt_save_fn`, a function of the run's facts and of what is to be saved beside the weights, that saves
            instead; `initial_epoch`, accepted; `ckpt_load_fn`, accepted: no failed rank joins again.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if there is neither path nor function, if the switch is not on, or names other failures.

    Examples:
        >>> import os
        >>> import dist_ms as ms
        >>> os.environ["MS_ENABLE_TFT"] = "{TTP:1}"
        >>> tolerance = ms.TrainFaultTolerance("saved")
        >>> del os.environ["MS_ENABLE_TFT"]
    """

    def __init__(self, ckpt_save_path: str | None = None, **kwargs: Any) -> None:
        super().__init__()
        owner = "TrainFaultTolerance"
        save: Callable | None = kwargs.get("ckpt_save_fn")
        if ckpt_save_path is None and save is None:
            raise ValueError(complaint("ckpt_save_path", owner, "a path, or 'ckpt_save_fn' a function", None))
        check_type(ckpt_save_path, "ckpt_save_path", owner, (str, type(None)))
        if save is not None:
            check_callable(save, "ckpt_save_fn", owner)
        switch = value_of("MS_ENABLE_TFT")
        on = set(re.findall(r"(\w+):1", switch))
        if not on & set(_FAILURES):
            raise ValueError(complaint("MS_ENABLE_TFT", owner, "'{TTP:1}'", repr(switch)))
        if on - {"TTP"}:
            raise ValueError(complaint("MS_ENABLE_TFT", owner, "'{TTP:1}' on CPUs", sorted(on)))
        self.save_path, self._save = ckpt_save_path, save
        self._run: Any = None
        self._step, self._epoch = 0, 0
        self._between = False  # the weights are those after a whole step

    def begin(self, run_context: RunContext) -> None:
        """Look at the run, whose weights are whole.

        Args:
            run_context: the run.
        """
        self._run, self._between = run_context.original_args(), True

    def step_begin(self, run_context: RunContext) -> None:
        """Note where the run is.

        Args:
            run_context: the run.
        """
        self._run = run_context.original_args()

    def step_end(self, run_context: RunContext) -> None:
        """Note that a step is whole.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        self._step, self._epoch = run.cur_step_num, run.get("cur_epoch_num", 0)

    def __exit__(self, kind: Any = None, error: Any = None, traceback: Any = None) -> None:
        if not (isinstance(error, Exception) and self._between and self._step and self._run.mode == "train"):
            return
        beside = {"cur_epoch_num": self._epoch, "cur_step_num": self._step, "cur_rank": self._run.ranks.rank}
        if self._save is not None:
            self._save(self._run, beside)
            return
        assert self.save_path is not None
        folder = os.path.join(
            self.save_path, f"tft_saved_checkpoints-step_{self._step}", f"rank_{self._run.ranks.rank}"
        )
        os.makedirs(folder, exist_ok=True)
        in_epoch = (self._step - 1) % max(self._run.batch_num, 1) + 1
        file = os.path.join(folder, f"iteration-{self._step}_{self._epoch}_{in_epoch}.ckpt")
        save_checkpoint(self._run.train_network, file, append_dict=beside)

    @classmethod
    def get_optimizer_wrapper(cls, origin_opt_cls: type[Optimizer]) -> type[Optimizer]:
        """Return the class of an optimizer, which needs no wrapper.

        Args:
            origin_opt_cls: the class.

        Raises:
            TypeError: if it is none of an optimizer.
        """
        if not (isinstance(origin_opt_cls, type) and issubclass(origin_opt_cls, Optimizer)):
            raise TypeError(complaint("origin_opt_cls", "get_optimizer_wrapper", "an Optimizer class", origin_opt_cls))
        return origin_opt_cls
