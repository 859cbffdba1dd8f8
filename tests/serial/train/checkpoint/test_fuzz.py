"""Ten thousand damaged files: each loads, or is refused with a ValueError. Nothing else."""

import random

import numpy as np
import pytest

from dist_ms.common.tensor import Tensor
from dist_ms.train.checkpoint import ckpt_format, encryption
from dist_ms.train.serialization import load_checkpoint, save_checkpoint
from tests.serial.train.checkpoint.checkpoint_cases import FIXTURES, KEY, MODES, arrays_of_every_kind

FILES = 10_000
LENGTHS = [
    b"\xff" * 8,
    b"\xff\xff\xff\xff\x07",
    b"\x80" * 11,
    b"\x00" * 4,
    b"\xff\xff\xff\x7f",
    b"\x0a",
    b"\x12",
]


def originals(folder):
    """The content and reading options of intact files of every sort."""
    arrays = arrays_of_every_kind()
    tensors = {name: Tensor(a) for name, a in arrays.items()}
    small = {name: Tensor(a) for name, a in arrays.items() if a.dtype.kind != "c" and a.size < 7}
    cases = [({}, {}, tensors), ({"crc_check": True}, {"crc_check": True}, tensors)]
    cases += [({"enc_key": KEY, "enc_mode": m}, {"dec_key": KEY, "dec_mode": m}, tensors) for m in MODES]
    cases += [({"format": "safetensors"}, {"format": "safetensors"}, small)]
    for number, (saving, reading, items) in enumerate(cases):
        name = f"{folder}/{number}"
        save_checkpoint(items, name, append_dict={"step": 3, "note": "text"}, **saving)
        file = f"{name}.{saving.get('format', 'ckpt')}"
        assert load_checkpoint(file, **reading)
        with open(file, "rb") as opened:
            yield opened.read(), reading
    yield (FIXTURES / "lenet.ckpt").read_bytes(), {}


def mutated(data, rng):
    """Damage a file in one to four places."""
    data = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        place, length = rng.randrange(len(data) + 1), rng.choice([1, 1, 2, 4, 17, 200])
        if rng.random() < 0.5:
            place %= 120  # where the lengths and types of the first records stand
        kind = rng.randrange(8)
        if kind == 0:
            data[place:place] = rng.randbytes(length)
        elif kind == 1:
            del data[place : place + length]
        elif kind == 2:
            del data[place:]
        elif kind == 3:
            data[place : place + length] = data[:length]
        elif kind == 4:
            data[place:place] = data[place : place + length] * rng.randint(1, 3)
        elif kind == 5:
            forged = rng.choice(LENGTHS)
            data[place : place + rng.choice([0, len(forged)])] = forged
        else:
            for position in range(place, min(place + length, len(data))):
                data[position] ^= 1 << rng.randrange(8)
    return bytes(data)


@pytest.fixture
def small_pieces(monkeypatch):
    """Several records per tensor and blocks per file."""
    monkeypatch.setattr(ckpt_format, "SLICE_BYTES", 64)
    monkeypatch.setattr(encryption, "BLOCK_BYTES", 300)


def test_damaged_files_are_refused_clearly(tmp_path, small_pieces, caplog):
    rng = random.Random(20261121)
    files = list(originals(tmp_path))
    refused = 0
    for number in range(FILES):
        data, reading = files[number % len(files)]
        damaged = mutated(data, rng)
        path = tmp_path / f"damaged.{reading.get('format', 'ckpt')}"
        path.write_bytes(damaged)
        try:
            loaded = load_checkpoint(str(path), **reading)
        except ValueError as error:
            assert str(error).startswith("For 'load_checkpoint', "), repr(error)
            assert "damaged." in str(error)
            refused += 1
        else:
            held = sum(p.asnumpy().nbytes for p in loaded.values() if not isinstance(p, str))
            assert held <= len(damaged)
    assert refused > FILES // 2


def test_noise_is_refused(tmp_path):
    rng = random.Random(1)
    for length in range(1, 400):
        for format in ("ckpt", "safetensors"):
            path = tmp_path / f"noise.{format}"
            path.write_bytes(rng.randbytes(length))
            with pytest.raises(ValueError, match="^For 'load_checkpoint', "):
                load_checkpoint(str(path), format=format)


def test_a_bool_of_another_byte_is_refused_in_safetensors(tmp_path):
    save_checkpoint({"b": Tensor(np.array([True]))}, str(tmp_path / "b"), format="safetensors")
    data = (tmp_path / "b.safetensors").read_bytes()
    (tmp_path / "c.safetensors").write_bytes(data[:-1] + b"\x05")
    with pytest.raises(ValueError, match="'b' must hold only the bytes 0 and 1"):
        load_checkpoint(str(tmp_path / "c.safetensors"), format="safetensors")
