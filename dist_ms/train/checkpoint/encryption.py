"""MindSpore's encrypted checkpoint: the plain bytes in blocks of 64 MiB, each encrypted alone.

A block is, with every number a little-endian int32:

    magic number (names the mode) | GCM only: 16 bytes tag | length of the rest of the block |
    16 | 16 random bytes | length of the ciphertext | ciphertext

GCM takes the first 12 of the random bytes as its nonce; CBC takes all 16 as its first vector
and pads the last cipher block (PKCS#7). CBC has no authentication: a changed file may go
unnoticed. Prefer AES-GCM.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from dist_ms.common.checks import check_choice
from dist_ms.train.checkpoint.sources import FileSection, read_exactly

BLOCK_BYTES = 64 << 20
_RANDOM_BYTES = 16
_NONCE_BYTES = 12
_TAG_BYTES = 16
_PADDING_BITS = 128
_INT = struct.Struct("<i")
MAGIC = {
    "AES-GCM": b"\xd8\x5e\x3a\x7f",
    "AES-CBC": b"\xd9\x5e\x3a\x7f",
    "SM4-CBC": b"\xda\x5e\x3a\x7f",
}
_KEY_BYTES = {"AES-GCM": (16, 24, 32), "AES-CBC": (16, 24, 32), "SM4-CBC": (16,)}


def check_key(caller: str, key_name: str, key: Any, mode_name: str, mode: Any) -> None:
    """Check a key and a mode given by the user; a key of None is no encryption.

    Raises:
        ValueError: if the key is not bytes or of the wrong length, or the mode is unknown.
    """
    if key is not None and not isinstance(key, bytes):
        raise ValueError(f"For '{caller}', '{key_name}' must be None or bytes, but got {type(key).__name__}.")
    if not isinstance(mode, str):
        raise ValueError(f"For '{caller}', '{mode_name}' must be a str, but got {type(mode).__name__}.")
    if key is None:
        return
    check_choice(mode, mode_name, caller, MAGIC)
    if len(key) not in _KEY_BYTES[mode]:
        wanted = " or ".join(str(n) for n in _KEY_BYTES[mode])
        raise ValueError(f"For '{caller}', '{key_name}' must have {wanted} bytes for {mode}, but got {len(key)}.")


def encrypted(pieces: Iterable[bytes | memoryview], key: bytes, mode: str) -> Iterator[bytes]:
    """Yield the encrypted blocks of a stream of plain bytes."""
    plain = bytearray()
    for piece in pieces:
        rest = memoryview(piece)
        while len(rest) > 0:
            free = BLOCK_BYTES - len(plain)
            plain += rest[:free]
            rest = rest[free:]
            if len(plain) == BLOCK_BYTES:
                yield _encrypt_block(plain, key, mode)
                plain.clear()
    if plain:
        yield _encrypt_block(plain, key, mode)


def _encrypt_block(plain: bytearray, key: bytes, mode: str) -> bytes:
    """Return one block of the file."""
    random = os.urandom(_RANDOM_BYTES)
    cipher = _cipher(key, mode, random).encryptor()
    if mode == "AES-GCM":
        text = cipher.update(plain) + cipher.finalize()
        tag = cipher.tag
    else:
        padder = _padding().padder()
        text = cipher.update(padder.update(bytes(plain)) + padder.finalize()) + cipher.finalize()
        tag = b""
    rest = _INT.pack(_RANDOM_BYTES) + random + _INT.pack(len(text))
    return b"".join((MAGIC[mode], tag, _INT.pack(len(rest) + len(text)), rest, text))


def mode_of(file: BinaryIO) -> str | None:
    """Return the mode in which a file is encrypted, or None if it is not."""
    file.seek(0)
    head = file.read(4)
    return next((mode for mode, magic in MAGIC.items() if magic == head), None)


class Decrypted:
    """The plain bytes of an encrypted file, decrypted block by block as they are read.

    Args:
        source: the whole encrypted file.
        key: the key it was encrypted with.
        mode: 'AES-GCM', 'AES-CBC' or 'SM4-CBC'.
    """

    def __init__(self, source: FileSection, key: bytes, mode: str) -> None:
        self._source, self._key, self._mode = source, key, mode
        self._plain = memoryview(b"")

    @property
    def remaining(self) -> int:
        """At most this many plain bytes are left."""
        return len(self._plain) + self._source.remaining

    def read(self, count: int) -> bytes:
        """Read `count` bytes, or fewer at the end.

        Raises:
            ValueError: if a block is damaged or the key is another one.
        """
        parts = []
        while count > 0 and (len(self._plain) or self._source.remaining):
            if not len(self._plain):
                self._plain = memoryview(self._next_block())
            part = self._plain[:count]
            parts.append(part)
            self._plain = self._plain[len(part) :]
            count -= len(part)
        return b"".join(parts)

    def _next_block(self) -> bytes:
        """Read and decrypt one block."""
        if self._source.read(len(MAGIC[self._mode])) != MAGIC[self._mode]:
            raise ValueError("a block of the encrypted file does not begin as one: the file is damaged")
        tag = read_exactly(self._source, _TAG_BYTES, "an encrypted block") if self._mode == "AES-GCM" else None
        rest_bytes, random_bytes = self._length(), self._length()
        random = read_exactly(self._source, _RANDOM_BYTES, "an encrypted block")
        text_bytes = self._length()
        if random_bytes != _RANDOM_BYTES or rest_bytes != 2 * _INT.size + _RANDOM_BYTES + text_bytes:
            raise ValueError("the lengths in an encrypted block contradict each other: the file is damaged")
        if not 0 < text_bytes <= BLOCK_BYTES + _RANDOM_BYTES:
            raise ValueError(
                f"an encrypted block must have at most {BLOCK_BYTES} bytes, "
                f"but the file states {text_bytes}: it is damaged"
            )
        return self._decrypt(read_exactly(self._source, text_bytes, "an encrypted block"), random, tag)

    def _length(self) -> int:
        return _INT.unpack(read_exactly(self._source, _INT.size, "a length in an encrypted block"))[0]

    def _decrypt(self, text: bytes, random: bytes, tag: bytes | None) -> bytes:
        from cryptography.exceptions import InvalidTag

        cipher = _cipher(self._key, self._mode, random, tag).decryptor()
        try:
            plain = cipher.update(text) + cipher.finalize()
            if tag is None:
                unpadder = _padding().unpadder()
                plain = unpadder.update(plain) + unpadder.finalize()
        except (InvalidTag, ValueError):
            raise ValueError(
                "the content cannot be decrypted: 'dec_key' is not the key it was encrypted with, "
                "or the file was changed"
            ) from None
        return plain


def _padding() -> Any:
    """The padding of the CBC modes."""
    from cryptography.hazmat.primitives.padding import PKCS7

    return PKCS7(_PADDING_BITS)


def _cipher(key: bytes, mode: str, random: bytes, tag: bytes | None = None) -> Any:
    """Return the cipher of one block.

    Raises:
        ImportError: if the package `cryptography` is missing.
        ValueError: if its OpenSSL does not offer the mode.
    """
    try:
        from cryptography.exceptions import UnsupportedAlgorithm
        from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
    except ImportError as error:
        raise ImportError(
            "Encrypted checkpoints need the package 'cryptography': run 'pip install dist_ms[crypto]'."
        ) from error
    try:
        if mode == "AES-GCM":
            return Cipher(algorithms.AES(key), modes.GCM(random[:_NONCE_BYTES], tag))
        algorithm = algorithms.AES if mode == "AES-CBC" else algorithms.SM4
        return Cipher(algorithm(key), modes.CBC(random))
    except UnsupportedAlgorithm:
        raise ValueError(f"This machine's OpenSSL does not offer {mode}: use 'AES-GCM'.") from None
