"""ModelCheckpoint: saves the network while it trains."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Callable, Collection
from typing import Any, cast

from dist_ms.common.tensor import Tensor
from dist_ms.nn.wrap.grad_reducer import DistributedGradReducer
from dist_ms.train.callback._checkpoint import CheckpointConfig
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.checkpoint_files import CheckpointFiles, free_prefix, make_folder
from dist_ms.train.callback.ranks import Ranks, ranks_of
from dist_ms.train.callback.shares import Share, shares
from dist_ms.train.checkpoint import background
from dist_ms.train.serialization import save_checkpoint

_OWNER = "ModelCheckpoint"
_log = logging.getLogger("dist_ms")


class ModelCheckpoint(Callback):
    """Save the training network every so many steps or seconds, and at the end.

    Files are named `<prefix>-<epoch>_<step in the epoch>.ckpt`; when the folder has such files
    from an earlier run already, `_1`, `_2` ... is added to the prefix. A new file is whole before
    the oldest is deleted.

    In a data-parallel job all ranks may be given the same folder: the lowest of them writes what
    all ranks have, and each rank's own parameters (layerwise_parallel) go to a file of the same
    name in `rank_<rank>` inside it. Ranks with folders of their own write everything there. It
    also works on some ranks only, such as rank 0. States that the parallel optimizer cuts over the ranks are
    gathered and written whole, so that any number of ranks goes on from them; with `integrated_save=False` or
    `remove_redundancy=True`, and where not all ranks save, each rank's slices count as its own.

    Args:
        prefix: the start of the files' names, without "/"; or a function of the run's facts that
            returns the name without extension at each step.
        directory: the folder, made if missing (default: the current one); or a function likewise.
        config: when to save and what to keep; by default every step, keeping 5 files.

    Raises:
        TypeError: if `config` is no CheckpointConfig or `directory` no str.
        ValueError: if `prefix` has a "/" or is no str, or `directory` is blank.

    Examples:
        >>> import os, tempfile
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(1, 1)
        >>> model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
        >>> folder = tempfile.mkdtemp()
        >>> saver = ms.train.ModelCheckpoint("net", folder, ms.train.CheckpointConfig(keep_checkpoint_max=2))
        >>> batch = (np.ones((1, 1), np.float32), np.ones((1, 1), np.float32))
        >>> model.train(1, [batch, batch, batch], callbacks=saver)
        >>> sorted(os.listdir(folder))
        ['net-1_2.ckpt', 'net-1_3.ckpt']
    """

    meets_ranks = True

    def __init__(
        self,
        prefix: str | Callable[[Any], str] = "CKP",
        directory: str | Callable[[Any], str] | None = None,
        config: CheckpointConfig | None = None,
    ) -> None:
        super().__init__()
        self._prefix_func = prefix if callable(prefix) else None
        self._directory_func = directory if callable(directory) else None
        if self._prefix_func is None:
            _check_prefix(prefix)
        if config is not None and not isinstance(config, CheckpointConfig):
            raise TypeError(f"For '{_OWNER}', 'config' must be a CheckpointConfig, but got {type(config).__name__}.")
        self._config = config or CheckpointConfig()
        self._prefix = self._exception_prefix = cast(Any, prefix)
        self._whole: dict[str, Any] = {}
        self._directory = cast(Any, os.getcwd() if directory is None else directory)
        if self._directory_func is None:
            self._directory = make_folder(_OWNER, self._directory)
            if self._prefix_func is None:
                self._prefix = free_prefix(self._directory, self._prefix)
        self._manager = CheckpointFiles(self._config.format)
        self._append_dict = dict(self._config.append_dict or {})
        self._append_epoch_num = self._append_dict.get("epoch_num", 0)
        self._append_step_num = self._append_dict.get("step_num", 0)
        self._last_time = time.time()
        self._last_triggered_step = 0
        self._latest_ckpt_file_name = ""
        self._run: Any = None

    @property
    def latest_ckpt_file_name(self) -> str:
        """The path of the file that was saved last; in a data-parallel job, of the shared one."""
        return self._latest_ckpt_file_name

    def introduce(self) -> tuple[Any, Any]:
        """Ranks that save at the same steps talk; others must know the folder and the prefix."""
        config = self._config
        folder = None if self._directory_func else os.path.realpath(self._directory)
        prefix = None if self._prefix_func else self._prefix
        return (config.save_checkpoint_steps, config.save_checkpoint_seconds), (folder, prefix)

    def on_train_begin(self, run_context: RunContext) -> None:
        """Start counting steps.

        Args:
            run_context: the run.
        """
        self._run = run_context.original_args()
        self._last_triggered_step = 0
        self.begin(run_context)

    def step_end(self, run_context: RunContext) -> None:
        """Save if it is time.

        Args:
            run_context: the run.
        """
        run = self._run = run_context.original_args()
        self._call_functions(run)
        ranks = ranks_of(run)
        if self._is_due(run, ranks):
            self._save(run, ranks)

    def end(self, run_context: RunContext) -> None:
        """Save unless the last step is saved, and wait for a save in the background.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        ranks = ranks_of(run)
        if run["cur_step_num"] != self._last_triggered_step:
            self._save(run, ranks)
        if self._config.async_save:
            background.finish()
            self._clean(self._shares(run, ranks))

    def on_eval_step_end(self, run_context: RunContext) -> None:
        """Do nothing: only training changes the network."""

    def on_eval_end(self, run_context: RunContext) -> None:
        """Do nothing: only training changes the network."""

    def __exit__(self, *exc: Any) -> None:
        run, self._run = self._run, None
        if exc and exc[0] is not None and run is not None and self._config.exception_save:
            self._save_breakpoint(run)

    def _call_functions(self, run: Any) -> None:
        """Ask for the prefix and the folder of this step."""
        if self._prefix_func is not None:
            self._prefix = _check_prefix(self._prefix_func(run))
        if self._directory_func is not None:
            self._directory = make_folder(_OWNER, self._directory_func(run))

    def _is_due(self, run: Any, ranks: Ranks) -> bool:
        config, step = self._config, run["cur_step_num"]
        if config.save_checkpoint_steps:
            return step >= self._last_triggered_step + config.save_checkpoint_steps
        if not config.save_checkpoint_seconds:
            return False
        due = time.time() - self._last_time > config.save_checkpoint_seconds
        if ranks.alike:  # clocks differ, so the first rank whose time has come decides for all
            due = ranks.any(due)
        return due

    def _shares(self, run: Any, ranks: Ranks) -> list[Share]:
        """Return the files that this rank writes now, with the prefix that the writer chose."""
        folders = {rank: folder or self._directory for rank, (folder, _) in ranks.like(self).items()}
        if ranks.size == 1 and self._config.remove_redundancy:
            raise TypeError(
                f"For '{_OWNER}', 'remove_redundancy' must be False outside of data-parallel jobs with several ranks, "
                "but got True: there is nothing redundant."
            )
        if self._prefix_func is None and self._directory_func is None:
            first = min(rank for rank, folder in folders.items() if folder == folders[ranks.rank])
            self._prefix = ranks.like(self)[first][1]
        if len(folders) == 1:
            return [Share(self._directory, None)]
        return shares(folders, ranks.rank, self._network(run), self._config.remove_redundancy, frozenset(self._whole))

    def _gather(self, run: Any, ranks: Ranks) -> dict[str, Tensor]:
        """Return the states that the parallel optimizer cuts over the ranks, whole."""
        reducer = getattr(run["train_network"], "grad_reducer", None)
        if not isinstance(reducer, DistributedGradReducer):
            return {}
        cut = reducer.divided_names()
        cut &= {p.name for p in self._network(run).get_parameters()}
        if not cut or not self._config.integrated_save or self._config.remove_redundancy:
            return {}
        if not ranks.alike:
            _log.warning(
                "For '%s', the parallel optimizer's states are saved in slices, as not all ranks save: give every "
                "rank the same callback to have them whole.",
                _OWNER,
            )
            return {}
        return {name: Tensor(array) for name, array in reducer.gathered_states().items() if name in cut}

    def _network(self, run: Any) -> Any:
        return self._config.saved_network or run["train_network"]

    def _save(self, run: Any, ranks: Ranks) -> None:
        """Write this rank's files and delete the oldest."""
        self._last_time = time.time()
        self._last_triggered_step = run["cur_step_num"]
        step = (run["cur_step_num"] - 1) % run["batch_num"] + 1
        self._whole = self._gather(run, ranks)
        files = self._shares(run, ranks)
        name = self._prefix if self._prefix_func else f"{self._prefix}-{run['cur_epoch_num']}_{step}"
        name = f"{name}.{self._config.format}"
        if "epoch_num" in self._append_dict:
            self._append_dict["epoch_num"] = self._append_epoch_num + run["cur_epoch_num"]
        if "step_num" in self._append_dict:
            self._append_dict["step_num"] = self._append_step_num + run["cur_step_num"]
        with ranks.agreeing():
            try:
                self._write(run, files, name)
            finally:
                self._whole = dict.fromkeys(self._whole)  # the names tell later which files there are
        self._latest_ckpt_file_name = os.path.join(self._directory, name)

    def _write(self, run: Any, files: list[Share], name: str) -> None:
        config = self._config
        if config.async_save:
            background.finish()
            self._clean(files)
        for share in files:
            make_folder(_OWNER, share.folder)
            whole = {n: v for n, v in self._whole.items() if share.chooses is None or share.chooses(n)}
            save_checkpoint(
                self._network(run),
                os.path.join(share.folder, name),
                config.integrated_save,
                config.async_save,
                {**self._append_dict, **whole},
                config.enc_key,
                config.enc_mode,
                _without(share.chooses, whole),
                config.crc_check,
                config.format,
                remove_redundancy=config.remove_redundancy,
            )
        if not config.async_save:  # else the new file is not there yet
            self._clean(files)

    def _clean(self, files: list[Share]) -> None:
        """Delete the files that are too many."""
        for share in files:
            if not os.path.isdir(share.folder):
                continue
            self._manager.update_ckpoint_filelist(share.folder, self._prefix)
            if self._config.keep_checkpoint_max:
                self._manager.keep_newest(self._config.keep_checkpoint_max)
            elif self._manager.ckpoint_num:
                self._keep_by_minutes()

    def _keep_by_minutes(self) -> None:
        """Keep the newest file and, of those before it, the oldest of the last minutes."""
        newest = max(self._manager.ckpoint_filelist, key=os.path.getmtime)
        self._manager.ckpoint_filelist.remove(newest)
        self._manager.keep_one_ckpoint_per_minutes(self._config.keep_checkpoint_per_n_minutes or 0, time.time())

    def _save_breakpoint(self, run: Any) -> None:
        """Save everything this rank has; other ranks may be gone, so it asks none of them."""
        ranks = ranks_of(run)
        folder = self._directory if self._directory_func is None else make_folder(_OWNER, os.getcwd())
        peers = [r for r, (other, _) in ranks.like(self).items() if other == self.introduce()[1][0]]
        if ranks.rank != min(peers, default=ranks.rank):
            folder = make_folder(_OWNER, os.path.join(folder, f"rank_{ranks.rank}"))
        prefix = self._exception_prefix if self._prefix_func is None else "CKP"
        epoch, total = run.get("cur_epoch_num", 0), run["cur_step_num"]
        step = (total - 1) % run["batch_num"] + 1 if total and run["batch_num"] else 0
        name = f"{free_prefix(folder, prefix, breakpoint=True)}-{epoch}_{step}_breakpoint.ckpt"
        append = dict(self._append_dict)
        if "epoch_num" in append:
            append["epoch_num"] = self._append_epoch_num + epoch
        if "step_num" in append:
            append["step_num"] = self._append_step_num + step
        config = self._config
        save_checkpoint(
            run["train_network"],
            os.path.join(folder, name),
            config.integrated_save,
            False,
            append,
            config.enc_key,
            config.enc_mode,
        )


def _without(chooses: Callable[[str], bool] | None, names: Collection[str]) -> Callable[[str], bool] | None:
    """Return a choice that leaves names out."""
    if not names:
        return chooses
    return lambda name: name not in names and (chooses is None or chooses(name))


def _check_prefix(prefix: Any) -> str:
    """Return a prefix.

    Raises:
        ValueError: if it is no str or has a "/".
    """
    if not isinstance(prefix, str) or "/" in prefix:
        raise ValueError(f"For '{_OWNER}', 'prefix' must be a str without '/' or a function, but got {prefix!r}.")
    return prefix
