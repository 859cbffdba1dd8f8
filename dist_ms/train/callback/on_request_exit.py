"""OnRequestExit: a signal ends a run after the step, with everything saved."""

from __future__ import annotations

import json
import logging
import os
import signal
from typing import Any

from dist_ms.mindir.entry import write_mindir
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.checkpoint_files import make_folder
from dist_ms.train.callback.ranks import ranks_of
from dist_ms.train.callback.shares import own_names
from dist_ms.train.serialization import load_checkpoint, save_checkpoint

_OWNER = "OnRequestExit"
_KEY = "GracefulExit"
_log = logging.getLogger("dist_ms")


class OnRequestExit(Callback):
    """Save the network and end the run after the step in which a signal came.

    The files are `<directory>/rank_0/<file_name>_train.ckpt` and, when the signal came during
    evaluation, `..._eval.ckpt`, which are loaded when a run begins, and `....mindir` beside them: the
    network without its loss, for `load`. In a data-parallel job all ranks
    end after the same step, whichever of them got the signal; rank 0 writes what all ranks have, and
    each rank's own parameters go to `rank_<rank>`.

    Args:
        save_ckpt: save, and load when a run begins.
        save_mindir: export the network to MINDIR, with the sizes of the last batch; where it cannot be
            exported, or its layers are cut over the ranks, a warning says why.
        file_name: the start of the files' names.
        directory: where the `rank_...` folders are made.
        config_file: a JSON file that asks for the exit as well, with {"GracefulExit": 1}; it is
            looked at before every step.
        sig: the signal.

    Raises:
        TypeError: if `directory` is no str.
        ValueError: for other arguments of the wrong type, and for SIGKILL, which cannot be caught.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> leave = ms.train.OnRequestExit(file_name="lenet", directory=tempfile.mkdtemp())
    """

    meets_ranks = True
    stops_steps = True

    def __init__(
        self,
        save_ckpt: bool = True,
        save_mindir: bool = True,
        file_name: str = "Net",
        directory: str | None = "./",
        config_file: str | None = None,
        sig: int = signal.SIGTERM,
    ) -> None:
        super().__init__()
        for name, value in (("save_ckpt", save_ckpt), ("save_mindir", save_mindir)):
            if not isinstance(value, bool):
                raise ValueError(f"For '{_OWNER}', '{name}' must be a bool, but got {value!r}.")
        if not isinstance(sig, int):
            raise ValueError(f"For '{_OWNER}', 'sig' must be the number of a signal, but got {sig!r}.")
        if sig == signal.SIGKILL:
            raise ValueError(f"For '{_OWNER}', 'sig' must be a signal that can be caught, but got SIGKILL.")
        self.save_ckpt, self.save_mindir, self.sig = save_ckpt, save_mindir, sig
        self.remote_config_file = config_file
        self.exit = False
        self._file_name = file_name
        self._folder = os.path.abspath("." if directory is None else directory)
        make_folder(_OWNER, os.path.dirname(self._path(0, "")))
        self._handler: Any = None
        self._network: Any = None
        self._append: dict[str, Any] = {}

    def introduce(self) -> tuple[Any, Any]:
        """Ranks that save talk; they share the folder."""
        return self.save_ckpt, None

    # ---- asking
    def on_train_begin(self, run_context: RunContext) -> None:
        """Listen to the signal and load what an earlier run saved.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        self._listen(run["train_network"])
        self._load(run, "train")

    def on_train_step_begin(self, run_context: RunContext) -> None:
        """Look at the configuration file.

        Args:
            run_context: the run.
        """
        self.exit = self.exit or self._asked_by_file()

    def on_train_step_end(self, run_context: RunContext) -> None:
        """Ask to stop once the exit was asked for; `Model` has all ranks stop together.

        Args:
            run_context: the run.
        """
        if self.exit:
            run_context.request_stop()

    def on_train_interrupted(self, run_context: RunContext) -> None:
        """Save when another signal, or the launcher's, ends the run.

        Args:
            run_context: the run.
        """
        self.exit = True
        if self.save_ckpt:
            run_context.original_args()["saved_to"] = self._folder

    def on_train_end(self, run_context: RunContext) -> None:
        """Save if the run ends because the exit was asked for.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        self._append = {
            "epoch_num": run.get("cur_epoch_num", 0),
            "step_num": run["cur_step_num"],
            "batch_num": run["batch_num"],
        }
        if (manager := run.get("loss_scale_mananger")) is not None:
            self._append["loss_scale"] = manager.get_loss_scale()
        self._leave(run, "train")

    def on_eval_begin(self, run_context: RunContext) -> None:
        """Listen to the signal and load what an earlier run saved.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        self._listen(run["eval_network"])
        if not self._load(run, "eval"):
            self._load(run, "train")

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Ask to stop once the exit was asked for.

        Args:
            run_context: the run.
        """
        if self.exit:
            run_context.request_stop()

    def on_eval_end(self, run_context: RunContext) -> None:
        """Save if the exit was asked for.

        Args:
            run_context: the run.
        """
        self._append = {}
        self._leave(run_context.original_args(), "eval")

    def __exit__(self, *exc: Any) -> None:
        self._stop_listening()

    def _listen(self, network: Any) -> None:
        self._network = network
        self.exit = False
        if self._handler is None:
            self._handler = signal.signal(self.sig, self._asked_by_signal)

    def _stop_listening(self) -> None:
        if self._handler is not None:
            signal.signal(self.sig, self._handler)
            self._handler = None

    def _asked_by_signal(self, number: int, frame: Any) -> None:
        self.exit = True

    def _asked_by_file(self) -> bool:
        """Whether the configuration file asks; a file being written is looked at again later."""
        if self.remote_config_file is None or not os.path.exists(self.remote_config_file):
            return False
        try:
            with open(self.remote_config_file, encoding="utf-8") as file:
                asked = json.load(file)
        except ValueError as error:
            _log.warning("%s: %s is no JSON: %s", _OWNER, self.remote_config_file, error)
            return False
        return isinstance(asked, dict) and asked.get(_KEY) == 1

    # ---- saving
    def _path(self, rank: int, mode: str) -> str:
        return os.path.join(self._folder, f"rank_{rank}", f"{self._file_name}_{mode}")

    def _load(self, run: Any, mode: str) -> bool:
        """Load the shared file and this rank's own; return whether there was a shared one."""
        shared = self._path(0, mode) + ".ckpt"
        if not self.save_ckpt or not os.path.isfile(shared):
            return False
        rank = ranks_of(run).rank
        own = self._path(rank, mode) + ".ckpt"
        load_checkpoint(shared, net=self._network)
        if rank and os.path.isfile(own):
            load_checkpoint(own, net=self._network)
        return True

    def _leave(self, run: Any, mode: str) -> None:
        """Save on all ranks when any was asked to leave."""
        ranks = ranks_of(run)
        leaving = ranks.any(self.exit) if ranks.alike else self.exit
        self._stop_listening()
        if not leaving:
            return
        if self.save_ckpt:
            with ranks.agreeing():
                self._save(ranks.rank, mode)
        if self.save_mindir and ranks.rank == 0:
            self._export(run, mode)

    def _export(self, run: Any, mode: str) -> None:
        """Write the network's operations; the run ends in any case."""
        network, batch = run["network"], run[f"{mode}_dataset_element"]
        if batch is None:
            why: Any = "this rank's last step had no batch"
        elif own_names(network):
            why = "the ranks have different parts of it"
        else:
            inputs = batch if run.get("loss_fn") is None else batch[:-1]
            try:
                write_mindir(_OWNER, network, tuple(inputs), self._path(0, mode), alone=True)
                return
            except Exception as error:
                why = error
        _log.warning("%s: the network was not written to a file of MINDIR: %s", _OWNER, why)

    def _save(self, rank: int, mode: str) -> None:
        path, choice = self._path(rank, mode), None
        if rank:
            own = own_names(self._network)
            if not own:
                return
            choice = own.__contains__
        make_folder(_OWNER, os.path.dirname(path))
        save_checkpoint(self._network, path, append_dict=self._append, choice_func=choice)
