"""BackupAndRestore: an interrupted run goes on from its last backup."""

from __future__ import annotations

import os
from typing import Any

from dist_ms.common.checks import check_bool, check_positive_int
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.callback.checkpoint_files import make_folder
from dist_ms.train.callback.ranks import Ranks, ranks_of
from dist_ms.train.callback.shares import shares
from dist_ms.train.serialization import load_checkpoint, save_checkpoint

_OWNER = "BackupAndRestore"
_FILE = "backup.ckpt"


class BackupAndRestore(Callback):
    """Save the training network after epochs, load it when a run begins, delete it when one ends well.

    In a data-parallel job all ranks may be given the same folder: the lowest of them writes what
    all ranks have, and each rank's own parameters go to `rank_<rank>` inside it.

    Args:
        backup_dir: the folder, made if missing; the file in it is `backup.ckpt`.
        save_freq: "epoch", or save after every so many epochs.
        delete_checkpoint: delete the file at the end of training.

    Raises:
        TypeError: for arguments of the wrong type.
        ValueError: if the folder's name is blank or `save_freq` is not above 0; when a run begins,
            if only some ranks find a backup.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> backup = ms.train.BackupAndRestore(tempfile.mkdtemp(), delete_checkpoint=False)
    """

    meets_ranks = True

    def __init__(self, backup_dir: str, save_freq: str | int = "epoch", delete_checkpoint: bool = True) -> None:
        super().__init__()
        self._folder = make_folder(_OWNER, backup_dir)
        self.backup_file = os.path.join(self._folder, _FILE)
        self.save_freq = 1 if save_freq == "epoch" else check_positive_int(save_freq, "save_freq", _OWNER)
        self.delete_checkpoint = check_bool(delete_checkpoint, "delete_checkpoint", _OWNER)

    def introduce(self) -> tuple[Any, Any]:
        """Ranks that save at the same epochs talk; others must know the folder."""
        return self.save_freq, os.path.realpath(self._folder)

    def on_train_begin(self, run_context: RunContext) -> None:
        """Load a backup if there is one.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        ranks = ranks_of(run)
        found = os.path.exists(self.backup_file)
        if ranks.alike:
            everyone = ranks.gather(found)
            if len(set(everyone)) > 1:
                without = [rank for rank, has in enumerate(everyone) if not has]
                raise ValueError(
                    f"For '{_OWNER}', all ranks must find the backup or none, but ranks {without} do not see "
                    f"{self.backup_file}. Give a folder that all nodes share, or delete it on all."
                )
        if not found:
            return
        load_checkpoint(self.backup_file, net=run["train_network"])
        for path in self._files(run, ranks):
            if path != self.backup_file and os.path.exists(path):
                load_checkpoint(path, net=run["train_network"])

    def on_train_epoch_end(self, run_context: RunContext) -> None:
        """Save if it is time.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if run["cur_epoch_num"] % self.save_freq:
            return
        ranks = ranks_of(run)
        with ranks.agreeing():
            for path, chooses in self._files(run, ranks).items():
                make_folder(_OWNER, os.path.dirname(path))
                save_checkpoint(run["train_network"], path, choice_func=chooses)

    def on_train_end(self, run_context: RunContext) -> None:
        """Delete the backup, unless the run was interrupted.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        if self.delete_checkpoint and not run.get("interrupted"):
            for path in self._files(run, ranks_of(run)):
                if os.path.exists(path):
                    os.remove(path)

    def _files(self, run: Any, ranks: Ranks) -> dict[str, Any]:
        """Return the files that this rank writes, with what says which parameters are in each."""
        folders = ranks.like(self)
        if len(folders) == 1:
            return {self.backup_file: None}
        found = shares(folders, ranks.rank, run["train_network"])
        return {os.path.join(share.folder, _FILE): share.chooses for share in found}
