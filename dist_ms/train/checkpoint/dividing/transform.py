"""Checkpoints of several ranks, put together and divided anew, as strategy files say."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np

from dist_ms.common.checks import check_choice, check_elements, check_positive_int, check_string, check_type, complaint
from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.train.checkpoint import ckpt_format, safetensors_format
from dist_ms.train.checkpoint.arguments import format_of, seal_of
from dist_ms.train.checkpoint.dividing.strategy import Strategy, read_strategy
from dist_ms.train.checkpoint.file_reading import read_entries
from dist_ms.train.checkpoint.load_into_net import load_param_into_net
from dist_ms.train.checkpoint.sealed_file import Seal, write_file

Divisions = Strategy | None
_FORMATS = ("ckpt", "safetensors")


def rank_list_for_transform(
    rank_id: int, src_strategy_file: str | None = None, dst_strategy_file: str | None = None
) -> list[int]:
    """Tell the ranks whose checkpoints are needed to make that of a rank.

    Args:
        rank_id: the rank in the new division.
        src_strategy_file: MindSpore's strategy file of the checkpoints; None: every one is whole.
        dst_strategy_file: that of the new division; None: nothing is divided.

    Returns:
        All ranks of the old division; [0] where nothing was divided.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is none of strategies.

    Examples:
        >>> import dist_ms as ms
        >>> ms.rank_list_for_transform(1)
        [0]
    """
    owner = "rank_list_for_transform"
    source = read_strategy(src_strategy_file, "src_strategy_file", owner)
    target = read_strategy(dst_strategy_file, "dst_strategy_file", owner)
    _check_rank(owner, rank_id, target)
    return list(range(ranks_of(source)))


def transform_checkpoint_by_rank(
    rank_id: int,
    checkpoint_files_map: dict[int, str],
    save_checkpoint_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Make a rank's checkpoint of a new division from those of the old one.

    Args:
        rank_id: the rank in the new division.
        checkpoint_files_map: the file of each rank of the old one.
        save_checkpoint_file_name: the file to write, '.ckpt' or '.safetensors'.
        src_strategy_file: MindSpore's strategy file of the checkpoints; None: every one is whole.
        dst_strategy_file: that of the new division; None: nothing is divided.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is missing, is none of strategies, or does not fit the strategies.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> ms.save_checkpoint({"w": ms.Tensor([1.0])}, f"{folder}/a.ckpt")
        >>> try:
        ...     ms.transform_checkpoint_by_rank(0, {0: f"{folder}/a.ckpt"}, f"{folder}/b.ckpt")
        ... except ValueError as error:
        ...     print(str(error)[:73])
        For 'transform_checkpoint_by_rank', 'src_strategy_file' must be given, or
    """
    owner = "transform_checkpoint_by_rank"
    source, target = strategies(owner, src_strategy_file, dst_strategy_file)
    files, name = (
        ("checkpoint_files_map", checkpoint_files_map),
        ("save_checkpoint_file_name", save_checkpoint_file_name),
    )
    write_one_rank(owner, rank_id, files, name, (".ckpt", ".safetensors"), source, target)


def transform_checkpoints(
    src_checkpoints_dir: str,
    dst_checkpoints_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
    process_num: int = 1,
    output_format: str = "ckpt",
) -> None:
    """Make the checkpoints of all ranks of a new division from those of the old one.

    Args:
        src_checkpoints_dir: a folder with sub-folders `rank_0`, `rank_1` ...; of each the last file by name is read.
        dst_checkpoints_dir: the folder to write to, made if missing: `rank_<i>/<prefix><i>.<format>`.
        ckpt_prefix: what the new files' names begin with.
        src_strategy_file: MindSpore's strategy file of the checkpoints; None: every one is whole.
        dst_strategy_file: that of the new division; None: nothing is divided, and one file is written.
        process_num: how many files to write at a time (in threads).
        output_format: 'ckpt' or 'safetensors'.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is missing, is none of strategies, or does not fit the strategies.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> try:
        ...     ms.transform_checkpoints(tempfile.mkdtemp(), tempfile.mkdtemp(), "new", "gone.ckpt")
        ... except ValueError as error:
        ...     print(error)
        For 'transform_checkpoints', 'src_strategy_file' must be an existing strategy file, but got 'gone.ckpt'.
    """
    owner = "transform_checkpoints"
    check_string(src_checkpoints_dir, "src_checkpoints_dir", owner)
    check_string(dst_checkpoints_dir, "dst_checkpoints_dir", owner)
    check_string(ckpt_prefix, "ckpt_prefix", owner)
    check_positive_int(process_num, "process_num", owner)
    check_choice(output_format, "output_format", owner, _FORMATS)
    source, target = strategies(owner, src_strategy_file, dst_strategy_file)
    whole = assembled(owner, files_of_ranks(src_checkpoints_dir, "src_checkpoints_dir", owner), source)

    def write(rank: int) -> None:
        folder = os.path.join(os.path.abspath(dst_checkpoints_dir), f"rank_{rank}")
        os.makedirs(folder, exist_ok=True)
        write_part(owner, os.path.join(folder, f"{ckpt_prefix}{rank}.{output_format}"), whole, target, rank)

    with ThreadPoolExecutor(process_num) as pool:
        list(pool.map(write, range(ranks_of(target))))


def load_distributed_checkpoint(
    network: Any,
    checkpoint_filenames: list[str] | None = None,
    predict_strategy: Any = None,
    train_strategy_filename: str | None = None,
    strict_load: bool = False,
    dec_key: bytes | None = None,
    dec_mode: str = "AES-GCM",
    format: str = "ckpt",
    unified_safetensors_dir: str | None = None,
    dst_safetensors_dir: str | None = None,
    rank_id: int | None = None,
    output_format: str = "safetensors",
    name_map: dict[str, str] | None = None,
    max_process_num: int = 64,
    return_param_dict: bool = False,
) -> dict[str, Parameter | str] | None:
    """Load the checkpoints of all ranks, put together, into a network, which is whole on every rank.

    Args:
        network: the network to load into.
        checkpoint_filenames: the files of all ranks in order.
        predict_strategy: must be None: `network` is not divided.
        train_strategy_filename: MindSpore's strategy file of the checkpoints; None: every one is whole.
        strict_load: see `load_param_into_net`.
        dec_key: see `load_checkpoint`.
        dec_mode: see there.
        format: 'ckpt' or 'safetensors'; need not be given if the files' names end with '.safetensors'.
        unified_safetensors_dir: must be None: give the folder's files, or load them with
            `load_checkpoint`.
        dst_safetensors_dir: must be None: `transform_checkpoints` writes.
        rank_id: must be None, or the rank's own: all ranks load the same.
        output_format: accepted; belongs to `dst_safetensors_dir`.
        name_map: new names for parameters, from the old ones.
        max_process_num: accepted; one process reads.
        return_param_dict: return what was loaded.

    Returns:
        Name to Parameter, with `return_param_dict`; else None.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is missing or does not fit the strategy, or an argument is not supported.
        RuntimeError: if a shape or type does not fit the network.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> net, file = ms.nn.Dense(2, 1), tempfile.mkdtemp() + "/a.ckpt"
        >>> ms.save_checkpoint(net, file)
        >>> list(ms.load_distributed_checkpoint(net, [file], return_param_dict=True))
        ['weight', 'bias']
    """
    owner = "load_distributed_checkpoint"
    refused = {
        "predict_strategy": (predict_strategy, "the network is whole on every rank"),
        "unified_safetensors_dir": (unified_safetensors_dir, "use load_checkpoint on the folder's files"),
        "dst_safetensors_dir": (dst_safetensors_dir, "use transform_checkpoints to write"),
    }
    for name, (value, remedy) in refused.items():
        if value is not None:
            raise ValueError(complaint(name, owner, "None", repr(value)[:80], f"{remedy[0].upper()}{remedy[1:]}."))
    names: list[str] = check_elements(checkpoint_filenames, "checkpoint_filenames", owner, str, list)
    source = read_strategy(train_strategy_filename, "train_strategy_filename", owner)
    if len(names) < ranks_of(source):
        wanted = f"a list of {ranks_of(source)} files, one per rank"
        raise ValueError(complaint("checkpoint_filenames", owner, wanted, len(names)))
    seal = seal_of(owner, "dec", dec_key, dec_mode, False, format_of(names[0], format))
    whole = assembled(owner, dict(enumerate(names)), source, seal)
    loaded: dict[str, Parameter | str] = {}
    for old, value in whole.items():
        name = (name_map or {}).get(old, old)
        loaded[name] = value if isinstance(value, str) else Parameter(Tensor(value), name=name)
    load_param_into_net(network, loaded, strict_load)
    return loaded if return_param_dict else None


# MindSpore's other names for the same.
rank_list_for_convert = rank_list_for_transform
convert_checkpoint_by_rank = transform_checkpoint_by_rank
convert_checkpoints = transform_checkpoints


def write_one_rank(
    owner: str,
    rank_id: Any,
    files: tuple[str, Any],
    path: tuple[str, Any],
    endings: tuple[str, ...],
    source: Divisions,
    target: Divisions,
) -> None:
    """Make a rank's file from those of the old division.

    Args:
        owner: who is asked.
        rank_id: the rank in the new division.
        files: the argument's name, and the file of each rank of the old one.
        path: the argument's name, and the file to write.
        endings: what this file's name may end with.
        source: the old division.
        target: the new one.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is missing or does not fit the strategies.
    """
    _check_rank(owner, rank_id, target)
    check_type(files[1], files[0], owner, dict)
    for rank, file in files[1].items():
        if isinstance(rank, bool) or not isinstance(rank, int) or not isinstance(file, str):
            raise ValueError(complaint(files[0], owner, "a dict from int to str", f"{rank!r}: {file!r}"))
    name = check_string(path[1], path[0], owner)
    if not name.endswith(endings):
        raise ValueError(complaint(path[0], owner, f"a name that ends with '{endings[0]}'", f"'{name}'"))
    write_part(owner, os.path.abspath(name), assembled(owner, files[1], source), target, rank_id)


def strategies(owner: str, src: Any, dst: Any) -> tuple[Divisions, Divisions]:
    """The divisions that two strategy files state, of which one may be missing.

    Raises:
        ValueError: if both are, or a file is none of strategies.
    """
    source, target = read_strategy(src, "src_strategy_file", owner), read_strategy(dst, "dst_strategy_file", owner)
    if source is None and target is None:
        raise ValueError(
            f"For '{owner}', 'src_strategy_file' must be given, or 'dst_strategy_file', but both are None: use "
            "ckpt_to_safetensors or safetensors_to_ckpt to convert whole checkpoints."
        )
    return source, target


def ranks_of(divisions: Divisions) -> int:
    """How many ranks a division has."""
    return next(iter(divisions.values())).ranks if divisions else 1


def _check_rank(owner: str, rank: Any, target: Divisions) -> None:
    if isinstance(rank, bool) or not isinstance(rank, int):
        raise TypeError(complaint("rank_id", owner, "an int", type(rank).__name__))
    if rank < 0 or (target is not None and rank >= ranks_of(target)):
        raise ValueError(complaint("rank_id", owner, f"a rank below {ranks_of(target)}", rank))


def files_of_ranks(
    folder: str, name: str, owner: str, endings: tuple[str, ...] = (".ckpt", ".safetensors")
) -> dict[int, str]:
    """The last file by name of each sub-folder `rank_<i>`.

    Raises:
        ValueError: if there is none.
    """
    found = {}
    for inside in os.listdir(folder) if os.path.isdir(folder) else ():
        rank, path = inside.removeprefix("rank_"), os.path.join(folder, inside)
        if inside.startswith("rank_") and rank.isdecimal() and os.path.isdir(path):
            for file in sorted(f for f in os.listdir(path) if f.endswith(endings)):
                found[int(rank)] = os.path.join(path, file)
    if not found:
        raise ValueError(complaint(name, owner, "a folder with checkpoints in rank_0, rank_1 ...", f"'{folder}'"))
    return found


def assembled(owner: str, files: dict[int, str], source: Divisions, seal: Seal | None = None) -> dict[str, Any]:
    """Every parameter whole, and the texts, from the files of the ranks.

    Raises:
        ValueError: if a file is damaged, or parts are missing.
    """
    if not files:
        raise ValueError(
            f"For '{owner}', the files must be those of one rank at least, but got none of the ranks meant."
        )
    whole: dict[str, Any] = {}
    filled: dict[str, set[tuple]] = {}
    for rank, file in sorted(files.items()):
        for name, value in read_entries(owner, file, format_of(file, "ckpt"), seal or Seal()):
            division = source.get(name) if source else None
            if division is None or isinstance(value, str):
                whole.setdefault(name, value)
                continue
            shape = division.whole(value.shape)
            target = whole.setdefault(name, np.empty(shape, value.dtype))
            if target.shape != shape or target.dtype != value.dtype:
                raise ValueError(f"For '{owner}', the parts of '{name}' in {file} and before it are not of one tensor.")
            place = division.place(rank, shape)
            target[place] = value
            filled.setdefault(name, set()).add(tuple((s.start, s.stop) for s in place))
    for name, places in filled.items():
        count = sum(int(np.prod([stop - start for start, stop in place], dtype=np.int64)) for place in places)
        if count < whole[name].size:
            raise ValueError(
                f"For '{owner}', the files of the ranks {sorted(files)} must hold all parts of '{name}', but some are "
                "missing."
            )
    return whole


def _parts(owner: str, whole: dict[str, Any], target: Divisions, rank: int) -> Iterator[tuple[str, Any]]:
    for name, value in whole.items():
        division = target.get(name) if target else None
        if division is None or isinstance(value, str):
            yield name, value
            continue
        try:
            yield name, value[division.place(rank, value.shape)]
        except ValueError as error:
            raise ValueError(f"For '{owner}', 'dst_strategy_file' does not fit '{name}': {error}.") from None


def write_part(owner: str, path: str, whole: dict[str, Any], target: Divisions, rank: int) -> None:
    """Write a rank's part of everything.

    Raises:
        ValueError: if the division does not fit.
    """
    writer = ckpt_format if path.endswith("ckpt") else safetensors_format
    write_file(path, writer.write_entries(list(_parts(owner, whole, target, rank))), Seal())
