"""Open a checkpoint file, whatever its format and seal, and read what is in it."""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np

from dist_ms.train.checkpoint import ckpt_format, safetensors_format, shards
from dist_ms.train.checkpoint.crc import Checksummed, find_trailer
from dist_ms.train.checkpoint.encryption import Decrypted, mode_of
from dist_ms.train.checkpoint.sealed_file import Seal
from dist_ms.train.checkpoint.sources import FileSection

_log = logging.getLogger(__name__)
_NO_SEAL = Seal()


def read_entries(
    owner: str, file: Any, file_format: str, seal: Seal = _NO_SEAL
) -> Iterator[tuple[str, np.ndarray | str]]:
    """Yield the names with the arrays and texts of a file.

    Args:
        owner: the public function, named in errors.
        file: the path, of several safetensors files that of their index; for safetensors also an `io.BytesIO`.
        file_format: 'ckpt' or 'safetensors'.
        seal: the key, and whether to check the checksum.

    Raises:
        ValueError: if the file cannot be read, with the reason.
    """
    shown = file if isinstance(file, str) else "in memory"
    if isinstance(file, str) and not os.path.exists(file):
        raise ValueError(f"For '{owner}', the checkpoint file {file} does not exist: check 'ckpt_file_name'.")
    try:
        if isinstance(file, str) and file.endswith(shards.INDEX):
            yield from shards.read_entries(file)
            return
        if file_format == "safetensors":
            yield from safetensors_format.read_entries(file, seal.crc)
            return
        with open(file, "rb") as opened:
            yield from _read_ckpt(opened, seal)
    except OSError as error:
        reason = error.strerror or error
        raise ValueError(f"For '{owner}', failed to read the checkpoint file {shown}: {reason}.") from error
    except ValueError as error:
        raise ValueError(f"For '{owner}', failed to read the checkpoint file {shown}: {error}.") from error


def _read_ckpt(file: BinaryIO, seal: Seal) -> Iterator[tuple[str, np.ndarray | str]]:
    """Read a `.ckpt` file that may be encrypted or end with a checksum."""
    mode = mode_of(file)
    size, stored = find_trailer(file)
    if seal.key is not None:
        if mode is None:
            raise ValueError("it is not encrypted: leave 'dec_key' out")
        if mode != seal.mode:
            raise ValueError(f"it is encrypted with {mode}, but 'dec_mode' is '{seal.mode}'")
        # MindSpore can put a (meaningless) checksum behind the encrypted blocks.
        yield from ckpt_format.read_entries(Decrypted(FileSection(file, size), seal.key, mode))
        return
    if mode is not None:
        raise ValueError(f"it is encrypted with {mode}: give 'dec_key' and dec_mode='{mode}'")
    if not seal.crc:
        yield from ckpt_format.read_entries(FileSection(file, size))
        return
    source = Checksummed(FileSection(file, size))
    yield from ckpt_format.read_entries(source)
    if stored is None:
        _log.warning("The checkpoint file %s has no checksum, so there is none to check.", file.name)
    elif source.crc != stored:
        raise ValueError(
            f"the crc check has failed: the file states {stored:#010x}, but its content has {source.crc:#010x}"
        )
