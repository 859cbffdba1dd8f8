"""Encrypted MindRecord files: the plain file in blocks of 64 MiB, each encrypted alone.

    length of a block (4 bytes, big-endian) | block | ... | 0 (4 bytes) | the mode's 7 letters | ENCRYPT

A block of AES-GCM has, with little-endian numbers: d8 5e 3a 7f | tag | length of the rest | 16 | 16 random bytes, of
which the first 12 are the nonce | length of the ciphertext | ciphertext.
"""

from __future__ import annotations

import io
import os
import struct
import tempfile
import weakref
from collections.abc import Callable
from typing import Any, BinaryIO

__all__ = ["set_dec_mode", "set_enc_key", "set_enc_mode"]

_END, _GCM, _OWN = b"ENCRYPT", "AES-GCM", "UDF-ENC"
_BLOCK_BYTES = 64 << 20
_MAGIC = b"\xd8\x5e\x3a\x7f"
_TAG_BYTES, _RANDOM_BYTES, _NONCE_BYTES = 16, 16, 12
_INT = struct.Struct("<i")
_KEY_BYTES = (16, 24, 32)

# What the user has set.
_set: dict[str, Any] = {"key": None, "enc_mode": _GCM, "dec_mode": None}


def set_enc_key(enc_key: str | None) -> None:
    """Encrypt the files that are written from now on, and expect those that are read to be.

    Args:
        enc_key: a text of 16, 24 or 32 characters; None for plain files.

    Raises:
        ValueError: if it is no such text.

    Examples:
        >>> from dist_ms import mindrecord
        >>> mindrecord.set_enc_key("0123456789012345")
        >>> mindrecord.set_enc_key(None)
    """
    if enc_key is not None:
        if not isinstance(enc_key, str):
            raise ValueError(f"For 'set_enc_key', 'enc_key' must be a str or None, but got {type(enc_key).__name__}.")
        if len(enc_key) not in _KEY_BYTES:
            raise ValueError(f"For 'set_enc_key', 'enc_key' must have 16, 24 or 32 characters, but got {len(enc_key)}.")
    _set["key"] = enc_key


def set_enc_mode(enc_mode: str | Callable = _GCM) -> None:
    """Choose how files are encrypted.

    Args:
        enc_mode: "AES-GCM", or a function of the plain file, its size, the file to write, and the key.

    Raises:
        ValueError: if it is neither.

    Examples:
        >>> from dist_ms import mindrecord
        >>> mindrecord.set_enc_mode("AES-GCM")
    """
    _set["enc_mode"] = _checked(enc_mode, "enc_mode", "set_enc_mode")


def set_dec_mode(dec_mode: str | Callable | None = _GCM) -> None:
    """Choose how files are decrypted.

    Args:
        dec_mode: "AES-GCM"; a function of the encrypted file, its size without the last seven bytes, the file to write,
            and the key; or None for what `set_enc_mode` says.

    Raises:
        ValueError: if it is none of these.

    Examples:
        >>> from dist_ms import mindrecord
        >>> mindrecord.set_dec_mode("AES-GCM")
    """
    _set["dec_mode"] = None if dec_mode is None else _checked(dec_mode, "dec_mode", "set_dec_mode")


def _checked(mode: Any, name: str, owner: str) -> Any:
    if callable(mode) or mode == _GCM:
        return mode
    raise ValueError(f"For '{owner}', '{name}' must be 'AES-GCM' or a function, but got {mode!r}.")


def enabled() -> bool:
    """Whether a key is set."""
    return _set["key"] is not None


def _letters(mode: Any) -> bytes:
    return (_OWN if callable(mode) else mode).encode()


def encrypt(path: str) -> None:
    """Encrypt a file in place with the key that is set."""
    mode, key = _set["enc_mode"], _set["key"]
    with open(path, "rb") as plain, open(path + ".encrypt", "wb") as out:
        if callable(mode):
            mode(plain, os.path.getsize(path), out, key)
        else:
            while content := plain.read(_BLOCK_BYTES):
                block = _encrypted(content, key.encode())
                out.write(len(block).to_bytes(4, "big") + block)
        out.write(bytes(4) + _letters(mode) + _END)
    os.chmod(path + ".encrypt", 0o600)
    os.replace(path + ".encrypt", path)


def _is_encrypted(path: str) -> bool:
    """Whether a file is encrypted.

    Raises:
        RuntimeError: if a key is set and it is not, or the other way round.
    """
    with open(path, "rb") as file:
        file.seek(max(os.path.getsize(path) - len(_END), 0))
        found = file.read() == _END
    if found == enabled():
        return found
    if found:
        raise RuntimeError(f"{path} is encrypted: call mindrecord.set_enc_key with its key first.")
    raise RuntimeError(f"{path} is not encrypted, but a key is set: call mindrecord.set_enc_key(None) first.")


def _decrypt_into(path: str, out: BinaryIO) -> None:
    mode = _set["dec_mode"]
    if mode is None:
        mode = _set["enc_mode"]
        if callable(mode):
            raise RuntimeError("A function encrypts, so set_dec_mode must name the one that decrypts.")
    size = os.path.getsize(path)
    with open(path, "rb") as file:
        file.seek(max(size - 2 * len(_END), 0))
        letters = file.read(len(_END))
        if letters != _letters(mode):
            raise RuntimeError(f"{path} is encrypted by {letters.decode(errors='replace')!r}, not by {mode!r}.")
        file.seek(0)
        if callable(mode):
            mode(file, size - len(_END), out, _set["key"])
            return
        at = 0
        while length := int.from_bytes(file.read(4), "big"):
            block = file.read(length) if length <= size - at else b""
            if len(block) != length:
                raise RuntimeError(f"{path}: the encrypted block at byte {at} is cut short: the file is damaged.")
            out.write(_decrypted(block, _set["key"].encode(), path))
            at += 4 + length


def plain_bytes(path: str) -> bytes | None:
    """The content of a file if it is encrypted, else None."""
    if not _is_encrypted(path):
        return None
    out = io.BytesIO()
    _decrypt_into(path, out)
    return out.getvalue()


def plain_file(path: str, owner: Any) -> str:
    """The path itself, or of an encrypted file that of a decrypted one, removed together with its `owner`."""
    if not _is_encrypted(path):
        return path
    folder = os.path.dirname(os.path.abspath(path))
    handle, copy = tempfile.mkstemp(prefix=".decrypt_mindrecord-", dir=folder)
    weakref.finalize(owner, _remove, copy)
    with os.fdopen(handle, "wb") as out:
        _decrypt_into(path, out)
    return copy


def decrypt_in_place(path: str) -> None:
    """Replace an encrypted file by its content."""
    if (content := plain_bytes(path)) is not None:
        with open(path, "wb") as out:
            out.write(content)


def _remove(path: str) -> None:
    if os.path.exists(path):
        os.remove(path)


def _cipher() -> Any:
    try:
        from cryptography.hazmat.primitives.ciphers.aead import AESGCM
    except ImportError:
        raise ImportError(
            "Encrypted MindRecord files need the package 'cryptography': pip install dist_ms[crypto]"
        ) from None
    return AESGCM


def _encrypted(plain: bytes, key: bytes) -> bytes:
    random = os.urandom(_RANDOM_BYTES)
    sealed = _cipher()(key).encrypt(random[:_NONCE_BYTES], plain, None)
    text, tag = sealed[:-_TAG_BYTES], sealed[-_TAG_BYTES:]
    rest = _INT.pack(_RANDOM_BYTES) + random + _INT.pack(len(text))
    return b"".join((_MAGIC, tag, _INT.pack(len(rest) + len(text)), rest, text))


def _decrypted(block: bytes, key: bytes, path: str) -> bytes:
    cipher = _cipher()(key)
    from cryptography.exceptions import InvalidTag

    tag_end = len(_MAGIC) + _TAG_BYTES
    random = tag_end + 2 * _INT.size
    text = random + _RANDOM_BYTES + _INT.size
    try:
        if block[: len(_MAGIC)] != _MAGIC:
            raise InvalidTag
        sealed = block[text:] + block[len(_MAGIC) : tag_end]
        return cipher.decrypt(block[random : random + _NONCE_BYTES], sealed, None)
    except InvalidTag:
        raise RuntimeError(f"{path} cannot be decrypted: the key is another one, or the file was changed.") from None
