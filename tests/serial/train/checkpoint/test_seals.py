"""Encryption in MindSpore's layout, and the checksum of both formats."""

import os
import struct
import zlib

import numpy as np
import pytest

from dist_ms.common.tensor import Tensor
from dist_ms.train.checkpoint import ckpt_format, encryption
from dist_ms.train.checkpoint.sources import FileSection
from dist_ms.train.serialization import load_checkpoint, save_checkpoint
from tests.serial.train.checkpoint.checkpoint_cases import KEY, MODES, assert_same, parameter

W = np.arange(50, dtype=np.float32)


@pytest.fixture(autouse=True)
def in_tmp_path(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def save(**options):
    save_checkpoint([parameter("w", W)], "a.ckpt", **options)
    with open("a.ckpt", "rb") as file:
        return file.read()


def put(data):
    with open("b.ckpt", "wb") as file:
        file.write(data)


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("block", [16, 77, 1 << 20])
def test_blocks_of_an_encrypted_file(mode, block, monkeypatch):
    monkeypatch.setattr(encryption, "BLOCK_BYTES", block)
    plain, data = save(), save(enc_key=KEY, enc_mode=mode)
    position, plain_bytes = 0, 0
    while position < len(data):
        assert data[position : position + 4] == encryption.MAGIC[mode]
        position += 4 + (16 if mode == "AES-GCM" else 0)
        rest, random = struct.unpack_from("<ii", data, position)
        (text,) = struct.unpack_from("<i", data, position + 8 + random)
        assert random == 16 and rest == 8 + random + text
        position += 4 + rest
        plain_bytes += text
        assert text <= block if mode == "AES-GCM" else text % 16 == 0
    assert position == len(data)
    assert plain_bytes == len(plain) or mode != "AES-GCM"
    assert_same(load_checkpoint("a.ckpt", dec_key=KEY, dec_mode=mode)["w"], W)


def test_gcm_is_authenticated_and_never_repeats_its_nonce():
    first, second = save(enc_key=KEY), save(enc_key=KEY)
    assert first[28:44] != second[28:44]
    beyond_the_nonce = range(40, 44)  # MindSpore writes 16 random bytes and uses 12
    for position in set(range(len(first))) - set(beyond_the_nonce):
        put(first[:position] + bytes([first[position] ^ 1]) + first[position + 1 :])
        with pytest.raises(ValueError, match="failed to read the checkpoint file"):
            load_checkpoint("b.ckpt", dec_key=KEY)


@pytest.mark.parametrize("mode", MODES)
def test_wrong_key_mode_or_none(mode):
    save(enc_key=KEY, enc_mode=mode)
    with pytest.raises(ValueError, match=f"it is encrypted with {mode}: give 'dec_key'"):
        load_checkpoint("a.ckpt")
    other = MODES[MODES.index(mode) - 1]
    with pytest.raises(ValueError, match=f"encrypted with {mode}, but 'dec_mode' is '{other}'"):
        load_checkpoint("a.ckpt", dec_key=KEY, dec_mode=other)
    for number in range(20):
        with pytest.raises(ValueError, match="failed to read the checkpoint file"):
            load_checkpoint("a.ckpt", dec_key=bytes([number]) * 16, dec_mode=mode)


def test_a_key_for_a_plain_file():
    save()
    with pytest.raises(ValueError, match="it is not encrypted: leave 'dec_key' out"):
        load_checkpoint("a.ckpt", dec_key=KEY)


@pytest.mark.parametrize(
    ("key", "mode", "text"),
    [
        ("text", "AES-GCM", "'enc_key' must be None or bytes, but got str"),
        (5, "AES-GCM", "'enc_key' must be None or bytes, but got int"),
        (b"", "AES-GCM", "must have 16 or 24 or 32 bytes for AES-GCM, but got 0"),
        (b"1" * 33, "AES-CBC", "must have 16 or 24 or 32 bytes for AES-CBC, but got 33"),
        (b"1" * 32, "SM4-CBC", "must have 16 bytes for SM4-CBC, but got 32"),
        (KEY, "AES-XTS", "'enc_mode' must be one of .* but got 'AES-XTS'"),
        (KEY, 5, "'enc_mode' must be a str, but got int"),
    ],
)
def test_keys_and_modes(key, mode, text):
    with pytest.raises(ValueError, match=text):
        save(enc_key=key, enc_mode=mode)
    with pytest.raises(ValueError, match=text.replace("enc_", "dec_")):
        load_checkpoint("a.ckpt", dec_key=key, dec_mode=mode)
    assert os.listdir() == []


@pytest.mark.parametrize("size", [16, 24, 32])
def test_key_lengths(size):
    save(enc_key=b"k" * size)
    assert_same(load_checkpoint("a.ckpt", dec_key=b"k" * size)["w"], W)


def test_a_key_excludes_a_checksum_and_safetensors():
    with pytest.raises(ValueError, match="'enc_key' and 'crc_check' exclude each other"):
        save(enc_key=KEY, crc_check=True)
    with pytest.raises(ValueError, match="'enc_key' must be None with format='safetensors'"):
        save(enc_key=KEY, format="safetensors")
    with pytest.raises(ValueError, match="'dec_key' must be None with format='safetensors'"):
        load_checkpoint("a.safetensors", dec_key=KEY, format="safetensors")


def test_a_missing_cryptography_package_is_named(monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "cryptography.hazmat.primitives.ciphers", None)
    with pytest.raises(ImportError, match=r"pip install dist_ms\[crypto\]"):
        save(enc_key=KEY)
    assert os.listdir() == []


def test_forged_block_lengths_read_nothing(monkeypatch):
    data = save(enc_key=KEY)
    reads = []
    read = FileSection.read
    monkeypatch.setattr(FileSection, "read", lambda self, n: reads.append(n) or read(self, n))
    for rest, text in ((1 << 30, (1 << 30) - 24), (24 - 5, -5), (24, 0), (70, 1), (-1, 46)):
        put(data[:20] + struct.pack("<i", rest) + data[24:44] + struct.pack("<i", text) + data[48:])
        with pytest.raises(ValueError, match="contradict each other|at most 67108864 bytes"):
            load_checkpoint("b.ckpt", dec_key=KEY)
    assert max(reads) <= 16


def test_the_checksum_trailer():
    plain = save()
    assert save(crc_check=True) == plain + b"crc_num" + bytes(6) + struct.pack(">I", zlib.crc32(plain))
    for options in ({}, {"crc_check": True}):
        assert_same(load_checkpoint("a.ckpt", **options)["w"], W)


def test_damage_shows_in_the_checksum():
    data = bytearray(save(crc_check=True))
    data[-30] ^= 1
    put(data)
    assert list(load_checkpoint("b.ckpt")) == ["w"]
    with pytest.raises(ValueError, match="the crc check has failed"):
        load_checkpoint("b.ckpt", crc_check=True)


def test_a_file_without_checksum_is_loaded_with_a_warning(caplog):
    save()
    assert list(load_checkpoint("a.ckpt", crc_check=True)) == ["w"]
    assert "has no checksum" in caplog.text


@pytest.mark.parametrize("number", [-5, 3, 70000, 2**40])
def test_damage_shows_in_a_safetensors_checksum(number):
    items = {"w": Tensor(W), "n": Tensor(np.array(number))}
    save_checkpoint(items, "a", format="safetensors", crc_check=True)
    reading = {"format": "safetensors", "crc_check": True}
    assert int(load_checkpoint("a.safetensors", **reading)["n"].asnumpy()) == number
    with open("a.safetensors", "rb") as file:
        data = bytearray(file.read())
    data[-3] ^= 1
    with open("b.safetensors", "wb") as file:
        file.write(data)
    with pytest.raises(ValueError, match="the crc check has failed"):
        load_checkpoint("b.safetensors", **reading)
    reading["crc_check"] = False
    assert list(load_checkpoint("b.safetensors", **reading)) == ["n", "w"]


def test_a_file_that_mindspore_sealed_twice_is_read():
    """MindSpore lets a key and a checksum pass, and cannot read the file itself."""
    put(save(enc_key=KEY) + b"crc_num" + bytes(10))
    assert_same(load_checkpoint("b.ckpt", dec_key=KEY)["w"], W)


def test_the_longest_slice_fits_a_message():
    assert ckpt_format.SLICE_BYTES < ckpt_format._MESSAGE_LIMIT
