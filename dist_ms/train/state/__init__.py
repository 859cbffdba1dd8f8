"""The state of a run: everything that decides its next step, saved by all ranks and loaded on any number of them."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_non_negative_int, check_positive_int, check_string
from dist_ms.parallel.job import data_parallel_comm
from dist_ms.train.state import loading, saving
from dist_ms.train.state.collecting import Stateful
from dist_ms.train.state.folder import Folder

__all__ = ["load_run", "save_run"]


def save_run(
    directory: str, step: int, epoch: int = 0, keep: int | None = 3, wait: bool = True, **objects: Any
) -> None:
    """Save all that decides the next step of a training loop: every rank calls it after the same step.

    The random streams of the process are saved without being named. The state is a folder `step-<step>` of
    safetensors files, one per rank, and a manifest with shapes, places and checksums; it is written aside, synced
    and gets its name when it is whole. `dist-ms ckpt verify` looks at it.

    Args:
        directory: the folder of the run's states, which all ranks share; made if missing.
        step: how many steps were taken.
        epoch: how many epochs are over, for those who read the state.
        keep: how many states to keep; None: all.
        wait: return when the state is on the disk. Otherwise the values are copied, and written in the
            background; a failure is then raised by the next save.
        objects: what makes up the run, by names of your choice: networks, optimizers or train steps, Parameters,
            Tensors, Generators, datasets and all else that has `state_dict` and `load_state_dict`; lists and
            dicts of these.

    Raises:
        TypeError: if an object has no state.
        ValueError: if two parameters of an object have one name.
        RuntimeError: if the ranks do not share the folder, or a save in the background failed.
        OSError: if the folder cannot be written.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> net = ms.nn.Dense(2, 1)
        >>> optimizer = ms.nn.Adam(net.trainable_params())
        >>> folder = tempfile.mkdtemp()
        >>> ms.train.save_run(folder, step=1, net=net, optimizer=optimizer)
        >>> ms.train.load_run(folder, net=net, optimizer=optimizer)["step"]
        1
    """
    owner = "save_run"
    facts = {
        "step": check_non_negative_int(step, "step", owner),
        "epoch": check_non_negative_int(epoch, "epoch", owner),
    }
    if keep is not None:
        check_positive_int(keep, "keep", owner)
    check_bool(wait, "wait", owner)
    folder, comm = Folder(check_string(directory, "directory", owner)), data_parallel_comm()
    saving.save(folder, Stateful(objects, owner), facts, comm, keep, wait=wait)


def load_run(directory: str, step: int | None = None, **objects: Any) -> dict[str, Any] | None:
    """Load what `save_run` or a RunCheckpoint saved: every rank calls it before its first step.

    It may have been saved by another number of ranks, with another division of the optimizer's states, or with
    other servers. On the same number of ranks each goes on with its own random streams; on another, ranks whose
    streams were equal go on with them, others with streams that follow from rank 0's.

    Args:
        directory: the folder of the run's states.
        step: the state after this step; None: the newest that is whole. A damaged one is passed over, with a
            warning.
        objects: as given to `save_run`, by the same names.

    Returns:
        dict: "step", "epoch", "ranks", "created", "versions" of the state; None if there is no state.

    Raises:
        FileNotFoundError: if there is no state of this step.
        ValueError: if the state does not fit the objects, or all states are damaged.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> print(ms.train.load_run(tempfile.mkdtemp(), net=ms.nn.Dense(2, 1)))
        None
    """
    owner = "load_run"
    if step is not None:
        check_non_negative_int(step, "step", owner)
    folder = Folder(check_string(directory, "directory", owner))
    return loading.load(folder, Stateful(objects, owner), data_parallel_comm(), step)
