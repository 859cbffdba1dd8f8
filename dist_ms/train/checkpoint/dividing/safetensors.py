"""The safetensors files of several ranks, divided anew: for one rank, and for a stage of a pipeline."""

from __future__ import annotations

import os

from dist_ms.common.checks import check_string, complaint
from dist_ms.train.checkpoint.dividing.transform import (
    assembled,
    files_of_ranks,
    ranks_of,
    strategies,
    write_one_rank,
    write_part,
)

__all__ = ["transform_safetensors_by_rank", "transform_safetensors_by_stage"]


def transform_safetensors_by_rank(
    rank_id: int,
    safetensor_files_map: dict[int, str],
    save_safetensor_file_name: str,
    src_strategy_file: str | None = None,
    dst_strategy_file: str | None = None,
) -> None:
    """Make a rank's safetensors file of a new division from those of the old one.

    Args:
        rank_id: the rank in the new division.
        safetensor_files_map: the file of each rank of the old one.
        save_safetensor_file_name: the file to write, '.safetensors'.
        src_strategy_file: MindSpore's strategy file of the checkpoints; None: every one is whole.
        dst_strategy_file: that of the new division; None: nothing is divided.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is missing, is none of strategies, or does not fit the strategies.

    Examples:
        >>> from dist_ms.parallel.transform_safetensors import transform_safetensors_by_rank
        >>> try:
        ...     transform_safetensors_by_rank(0, {0: "a.safetensors"}, "b.safetensors")
        ... except ValueError as error:
        ...     print(str(error)[:74])
        For 'transform_safetensors_by_rank', 'src_strategy_file' must be given, or
    """
    owner = "transform_safetensors_by_rank"
    source, target = strategies(owner, src_strategy_file, dst_strategy_file)
    files, name = (
        ("safetensor_files_map", safetensor_files_map),
        ("save_safetensor_file_name", save_safetensor_file_name),
    )
    write_one_rank(owner, rank_id, files, name, (".safetensors",), source, target)


def transform_safetensors_by_stage(
    src_safetensors_dir: str,
    dst_safetensors_dir: str,
    ckpt_prefix: str,
    src_strategy_file: str,
    dst_strategy_file: str | None = None,
) -> None:
    """Make the safetensors files of a pipeline's stage of a new division from those of the old one.

    Args:
        src_safetensors_dir: a folder with sub-folders `rank_<i>`: those of stage s with n ranks are s * n to
            s * n + n - 1. Of each the last file by name is read.
        dst_safetensors_dir: the folder to write to, made if missing: `rank_<i>/<prefix><i>_part<s>.safetensors`,
            where i counts the stage's ranks.
        ckpt_prefix: what the new files' names begin with.
        src_strategy_file: MindSpore's strategy file of one stage, which tells its number.
        dst_strategy_file: that of the new division; None: nothing is divided, and one file is written.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is missing, is none of one stage's strategies, or does not fit the strategies.

    Examples:
        >>> from dist_ms.parallel.transform_safetensors import transform_safetensors_by_stage
        >>> try:
        ...     transform_safetensors_by_stage("src", "dst", "new", "gone.ckpt")
        ... except ValueError as error:
        ...     print(str(error)[:80])
        For 'transform_safetensors_by_stage', 'src_strategy_file' must be an existing st
    """
    owner = "transform_safetensors_by_stage"
    check_string(src_safetensors_dir, "src_safetensors_dir", owner)
    check_string(dst_safetensors_dir, "dst_safetensors_dir", owner)
    check_string(ckpt_prefix, "ckpt_prefix", owner)
    if os.path.basename(ckpt_prefix) != ckpt_prefix:
        raise ValueError(complaint("ckpt_prefix", owner, "a part of a file's name", f"'{ckpt_prefix}'"))
    check_string(src_strategy_file, "src_strategy_file", owner)
    source, target = strategies(owner, src_strategy_file, dst_strategy_file)
    assert source is not None
    ranks, found = (
        ranks_of(source),
        files_of_ranks(src_safetensors_dir, "src_safetensors_dir", owner, (".safetensors",)),
    )
    first = source.stage * ranks
    files = {rank - first: file for rank, file in found.items() if first <= rank < first + ranks}
    whole = assembled(owner, files, source)
    for rank in range(ranks_of(target)):
        folder = os.path.join(os.path.abspath(dst_safetensors_dir), f"rank_{rank}")
        os.makedirs(folder, exist_ok=True)
        name = f"{ckpt_prefix}{rank}_part{source.stage}.safetensors"
        write_part(owner, os.path.join(folder, name), whole, target, rank)
