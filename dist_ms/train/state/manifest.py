"""The manifest of a saved run: which file has which part of which tensor, and everything that is no tensor."""

from __future__ import annotations

import json
import math
import re
import zlib
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype

FORMAT, VERSION = "dist_ms run", 1
FILE = "manifest.json"
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_MOST = 1 << 62
_MAX_DIMENSIONS = 64


class DamagedState(ValueError):
    """A saved run is not whole, or not what was saved."""


@dataclass(frozen=True)
class Part:
    """A part of a tensor in a file.

    Attributes:
        name: the tensor's.
        dtype: its type's name.
        shape: of the whole tensor.
        start, stop: which of its elements, counted in C order.
        own: every rank has a tensor of its own by this name.
        crc32: of the bytes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int
    stop: int
    own: bool
    crc32: int

    @property
    def nbytes(self) -> int:
        """The number of bytes in the file."""
        return (self.stop - self.start) * type_named(self.dtype).itemsize


@dataclass(frozen=True)
class Written:
    """What one rank has written.

    Attributes:
        rank: its number.
        file: the name of its file.
        parts: the tensors' parts, in the file's order.
        values: everything that is no tensor; see `tree.encode`.
    """

    rank: int
    file: str
    parts: tuple[Part, ...]
    values: Any = None


@dataclass(frozen=True)
class Manifest:
    """What a saved run consists of.

    Attributes:
        facts: epoch, step, versions, time and the like.
        writers: one per rank, in the order of the ranks.
        others: further files below the folder, with their length and CRC-32.
    """

    facts: dict[str, Any]
    writers: tuple[Written, ...]
    others: dict[str, tuple[int, int]] = field(default_factory=dict)

    @property
    def step(self) -> int:
        """The number of steps taken."""
        return self.facts["step"]

    @property
    def ranks(self) -> int:
        """How many ranks saved."""
        return len(self.writers)


def type_named(name: str) -> np.dtype:
    """Return NumPy's type of a name."""
    return np.dtype(getattr(mstype, name).np) if name in _TYPES else np.dtype(name)


_TYPES = frozenset({"bfloat16", "float8_e4m3fn", "float8_e5m2"} & set(dir(mstype)))
_OTHERS = frozenset({"bool", "complex64", "complex128", "float16", "float32", "float64"}) | {
    f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)
}


def type_name(dtype: np.dtype) -> str:
    """Return the name of a NumPy type, as `type_named` reads it."""
    return dtype.name


def to_json(manifest: Manifest) -> str:
    """Return a manifest as text, with its own checksum."""
    body = {
        "facts": manifest.facts,
        "writers": [written_to_json(w) for w in manifest.writers],
        "others": manifest.others,
    }
    return json.dumps({"format": FORMAT, "version": VERSION, "crc32": _crc32(body), "run": body})


def written_to_json(written: Written) -> dict[str, Any]:
    """Return what one rank wrote as JSON's dict."""
    parts = [[p.name, p.dtype, list(p.shape), p.start, p.stop, p.own, p.crc32] for p in written.parts]
    return {"rank": written.rank, "file": written.file, "parts": parts, "values": written.values}


def from_json(text: str) -> Manifest:
    """Return the manifest that a text says.

    Raises:
        DamagedState: if it says none.
    """
    try:
        found = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise DamagedState(f"its {FILE} is no JSON: {error}") from None
    _expect(isinstance(found, dict) and found.get("format") == FORMAT, f"its {FILE} is of another format")
    _expect(found.get("version") == VERSION, f"its {FILE} is of version {found.get('version')!r}, this reads {VERSION}")
    run = found.get("run")
    _expect(isinstance(run, dict) and _crc32(run) == found.get("crc32"), f"the checksum of its {FILE} differs")
    facts, writers, others = run.get("facts"), run.get("writers"), run.get("others")
    _expect(isinstance(facts, dict) and _count(facts.get("step")) and _count(facts.get("epoch")), "it has no step")
    _expect(isinstance(writers, list) and len(writers) > 0, "nobody has written to it")
    _expect(isinstance(others, dict), "its further files are no dict")
    assert isinstance(writers, list) and isinstance(others, dict) and isinstance(facts, dict)
    for name, about in others.items():
        plain = all(_PLAIN.fullmatch(part) for part in name.split("/"))
        _expect(plain, f"it names a file {name[:80]!r}")
        _expect(isinstance(about, list) and len(about) == 2 and all(map(_count, about)), f"{name} has no length")
    return Manifest(
        facts,
        tuple(written_from_json(w, rank) for rank, w in enumerate(writers)),
        {name: (about[0], about[1]) for name, about in others.items()},
    )


def written_from_json(found: Any, rank: int) -> Written:
    """Return what JSON's dict says that a rank wrote.

    Raises:
        DamagedState: if it says nothing of the kind.
    """
    _expect(isinstance(found, dict) and found.get("rank") == rank, f"what rank {rank} wrote is missing")
    file, parts = found.get("file"), found.get("parts")
    _expect(isinstance(file, str) and _PLAIN.fullmatch(file) is not None, f"rank {rank}'s file is {str(file)[:80]!r}")
    _expect(isinstance(parts, list), f"rank {rank}'s parts are no list")
    made = tuple(_part(part) for part in parts)
    _expect(len({p.name for p in made}) == len(made), f"rank {rank} has two parts of one name")
    return Written(rank, file, made, found.get("values"))


def _part(found: Any) -> Part:
    _expect(isinstance(found, list) and len(found) == 7, "a part of a tensor has not seven entries")
    name, dtype, shape, start, stop, own, crc32 = found
    _expect(isinstance(name, str) and 0 < len(name) < 4096, "a tensor has no name")
    _expect(isinstance(dtype, str) and dtype in _TYPES | _OTHERS, f"'{name}' is of the type {str(dtype)[:40]!r}")
    _expect(isinstance(shape, list) and len(shape) <= _MAX_DIMENSIONS, f"'{name}' has no shape")
    _expect(all(map(_count, shape)) and math.prod(shape) < _MOST, f"'{name}' has the shape {str(shape)[:80]}")
    whole = math.prod(shape)
    _expect(_count(start) and _count(stop) and start <= stop <= whole, f"'{name}' has elements beyond its shape")
    _expect(isinstance(own, bool) and (not own or stop - start == whole), f"'{name}' is not whole")
    _expect(_count(crc32), f"'{name}' has no checksum")
    return Part(name, dtype, tuple(shape), start, stop, own, crc32)


def _crc32(run: dict) -> int:
    return zlib.crc32(json.dumps(run).encode())


def _count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value < _MOST


def _expect(truth: bool, otherwise: str) -> None:
    if not truth:
        raise DamagedState(otherwise)
