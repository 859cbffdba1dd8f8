"""The program of the process that writes a checkpoint for `async_save="process"`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import BinaryIO

from dist_ms.train.checkpoint.sealed_file import Seal, write_file

_CHUNK_BYTES = 16 << 20


def main() -> None:
    """Read the order from standard input and write the file it names."""
    order = json.load(sys.stdin)
    key = bytes.fromhex(order["key"]) if order["key"] is not None else None
    with open(order["content"], "rb") as content:
        content.seek(0)
        write_file(order["path"], _chunks(content), Seal(key, order["mode"], order["crc"]))


def _chunks(content: BinaryIO) -> Iterator[bytes]:
    while chunk := content.read(_CHUNK_BYTES):
        yield chunk


if __name__ == "__main__":
    main()
