"""Write a checkpoint's pieces into its file: encrypted or with a checksum, replaced atomically."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from dist_ms.common.atomic_file import replacing
from dist_ms.train.checkpoint.crc import with_trailer
from dist_ms.train.checkpoint.encryption import encrypted


@dataclasses.dataclass(frozen=True)
class Seal:
    """What is done to the plain bytes of a `.ckpt` file.

    Attributes:
        key: encrypt with this key, or None.
        mode: the mode of the encryption.
        crc: end the file with a checksum.
    """

    key: bytes | None = dataclasses.field(default=None, repr=False)
    mode: str = "AES-GCM"
    crc: bool = False


def write_file(path: str, pieces: Iterable[bytes | memoryview], seal: Seal) -> None:
    """Write the pieces to a file that appears, whole and read-only, at the end.

    Raises:
        OSError: if it cannot be written; an old file of that name is then still there.
    """
    if seal.key is not None:
        pieces = encrypted(pieces, seal.key, seal.mode)
    elif seal.crc:
        pieces = with_trailer(pieces)
    with replacing(path) as file:
        for piece in pieces:
            file.write(piece)
