"""The directions in which the weights of several checkpoints differ most, and each rank's share of them in a file."""

from __future__ import annotations

import math
import os
import time
from pathlib import Path

import numpy as np

from dist_ms.common.atomic_file import replacing
from dist_ms.communication.comm import Comm
from dist_ms.nn.cell import Cell

DONE = "save_pca_end.txt"  # there when all files are


def principal_components(data: np.ndarray, count: int) -> np.ndarray:
    """Return the first principal components of rows, a row each, the largest part of each row's weights positive.

    Args:
        data: the rows.
        count: how many components, at most as many as there are rows.

    Raises:
        ValueError: if there are fewer rows.
    """
    if len(data) < count:
        raise ValueError(
            f"For 'dim_reduce', 'n_components' must be at most the number of checkpoints, {len(data)}, but got "
            f"{count}: save more of them in 'weight_load_dir'."
        )
    weights, _, components = np.linalg.svd(data - data.mean(axis=0), full_matrices=False)
    largest = np.abs(weights).argmax(axis=0)
    signs = np.sign(weights[largest, np.arange(weights.shape[1])])
    signs[signs == 0] = 1
    return (components * signs[:, None])[:count]


def rank_file(path: Path, rank: int) -> Path:
    """The file of a rank's share."""
    return path.with_name(f"{path.stem}_rank_{rank}.npy")


def save_shares(components: np.ndarray, path: Path, ranks: int) -> None:
    """Write each rank's share of the components to its file: equal numbers of rows, the last ones filled with zeros.

    Args:
        components: all of them.
        path: the file of all; the shares' names come from it.
        ranks: how many ranks.
    """
    share = math.ceil(len(components) / ranks)
    filled = np.zeros((share * ranks, components.shape[1]))
    filled[: len(components)] = components
    for rank in range(ranks):
        with replacing(str(rank_file(path, rank))) as file:
            np.save(file, filled[rank * share : (rank + 1) * share])
    path.with_name(DONE).touch()


def load_share(path: str | os.PathLike, timeout: float) -> np.ndarray:
    """Return a rank's share, once all are written.

    Args:
        path: the rank's file.
        timeout: how many seconds to wait at most.

    Raises:
        RuntimeError: if it takes longer.
    """
    until = time.monotonic() + timeout
    while not Path(path).with_name(DONE).exists():
        if time.monotonic() > until:
            raise RuntimeError(f"For 'dim_reduce', {path} must be written within 'timeout', but took over {timeout} s.")
        time.sleep(0.05)
    return np.load(path)


def prepare(
    weight_load_dir: str | None, pca_mat_path: str | None, count: int, device_number: int, network: Cell, comm: Comm
) -> str:
    """Have rank 0 write the shares of the components, and return the path of this rank's. Every rank calls it.

    Args:
        weight_load_dir: a folder of checkpoints to find the components of.
        pca_mat_path: a .npy file with all components, or None.
        count: how many components.
        device_number: how many neighbouring ranks see one folder; the first of them writes.
        network: the network; the checkpoints hold its trainable parameters.
        comm: all ranks.

    Raises:
        ValueError: if there is neither a file nor a folder.
    """
    given = pca_mat_path is not None and pca_mat_path.endswith(".npy") and os.path.isfile(pca_mat_path)
    if not given and (weight_load_dir is None or not os.path.isdir(weight_load_dir)):
        raise ValueError(
            f"For 'dim_reduce', 'weight_load_dir' must be a folder of checkpoints, but got {weight_load_dir!r}."
        )
    path = Path(pca_mat_path) if given else Path(str(weight_load_dir), "pca_mat_temp.npy")  # type: ignore[arg-type]
    writes = comm.rank % device_number == 0
    if writes:
        path.with_name(DONE).unlink(missing_ok=True)
    comm.barrier()  # nobody may find the shares of an earlier run
    if writes:
        components = np.load(path) if given else principal_components(_weights(str(weight_load_dir), network), count)
        if not given:
            with replacing(str(path)) as file:
                np.save(file, components)
        save_shares(components, path, comm.size)
    return str(rank_file(path, comm.rank))


def _weights(folder: str, network: Cell) -> np.ndarray:
    """The trainable parameters of each checkpoint of a folder, a row each."""
    from dist_ms.train.serialization import load_checkpoint

    names = [p.name for p in network.trainable_params()]
    rows = []
    for path in sorted(Path(folder).glob("*.ckpt")):
        found = load_checkpoint(str(path))
        rows.append(np.concatenate([found[name].asnumpy().ravel() for name in names]))
    return np.stack(rows) if rows else np.zeros((0, 0))
