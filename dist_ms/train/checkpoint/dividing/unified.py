"""The safetensors files of several ranks as one, whole."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.common.checks import check_bool, check_positive_int, check_string, complaint
from dist_ms.train.checkpoint import safetensors_format
from dist_ms.train.checkpoint.dividing.strategy import read_strategy
from dist_ms.train.checkpoint.dividing.transform import assembled, files_of_ranks
from dist_ms.train.checkpoint.sealed_file import Seal, write_file

_FILE, _INDEX = "part0.safetensors", "param_name_map.json"


def unified_safetensors(
    src_dir: str,
    src_strategy_file: str | None,
    dst_dir: str,
    merge_with_redundancy: bool = True,
    file_suffix: str | None = None,
    max_process_num: int = 64,
    choice_func: Callable[[str], bool | str] | None = None,
    split_dst_file: tuple[int, ...] = (),
) -> None:
    """Put the ranks' safetensors files together: `part0.safetensors`, and `param_name_map.json`, which names it.

    Args:
        src_dir: a folder with sub-folders `rank_0`, `rank_1` ...; of each the last file by name is read.
        src_strategy_file: MindSpore's strategy file of the checkpoints; None: every one is whole. Parameters that it
            does not state are whole, too.
        dst_dir: the folder to write to, made if missing.
        merge_with_redundancy: accepted; a part is taken from any rank that has it.
        file_suffix: read only files whose names end so, before '.safetensors'.
        max_process_num: accepted; one process reads.
        choice_func: told a name, says whether to keep it, or its new name.
        split_dst_file: must be (): one call writes all.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if a file is missing or does not fit the strategy, or two parameters would get one name.

    Examples:
        >>> import os, tempfile
        >>> import dist_ms as ms
        >>> folder = tempfile.mkdtemp()
        >>> for rank, name in enumerate("ab"):
        ...     os.makedirs(f"{folder}/rank_{rank}")
        ...     values = {name: ms.Tensor([1.0])}
        ...     ms.save_checkpoint(values, f"{folder}/rank_{rank}/net", format="safetensors")
        >>> ms.unified_safetensors(folder, None, f"{folder}/whole")
        >>> list(ms.load_checkpoint(f"{folder}/whole/part0.safetensors"))
        ['a', 'b']
    """
    owner = "unified_safetensors"
    check_string(src_dir, "src_dir", owner)
    check_string(dst_dir, "dst_dir", owner)
    check_bool(merge_with_redundancy, "merge_with_redundancy", owner)
    check_positive_int(max_process_num, "max_process_num", owner)
    if file_suffix is not None:
        check_string(file_suffix, "file_suffix", owner)
    if choice_func is not None and not callable(choice_func):
        raise TypeError(complaint("choice_func", owner, "a function or None", type(choice_func).__name__))
    if split_dst_file != ():
        raise ValueError(complaint("split_dst_file", owner, "()", repr(split_dst_file), "One call writes all."))
    source = read_strategy(src_strategy_file, "src_strategy_file", owner)
    files = files_of_ranks(src_dir, "src_dir", owner, (f"{file_suffix or ''}.safetensors",))
    kept: dict[str, Any] = {}
    for name, value in assembled(owner, files, source).items():
        chosen = True if choice_func is None else choice_func(name)
        if not isinstance(chosen, (bool, str)):
            raise TypeError(complaint("choice_func", owner, "one that returns a bool or a str", repr(chosen)[:80]))
        if chosen is False:
            continue
        new = name if chosen is True else chosen
        if new in kept:
            raise ValueError(complaint("choice_func", owner, "one that keeps names apart", f"'{new}' twice"))
        kept[new] = value
    folder = os.path.abspath(dst_dir)
    os.makedirs(folder, exist_ok=True)
    write_file(os.path.join(folder, _FILE), safetensors_format.write_entries(list(kept.items())), Seal())
    arrays = {name: value for name, value in kept.items() if isinstance(value, np.ndarray)}
    index = {
        "metadata": {"total_size": sum(array.nbytes for array in arrays.values())},
        "weight_map": dict.fromkeys(arrays, _FILE),
    }
    write_file(os.path.join(folder, _INDEX), [json.dumps(index, indent=4).encode()], Seal())
