"""`dist-ms ckpt`: looks at the states of a run: ls, verify, diff, export."""

from __future__ import annotations

import argparse
import os
import re
import signal
import sys
from collections.abc import Sequence

import numpy as np

from dist_ms.common.tensor import from_array
from dist_ms.train.serialization import save_checkpoint
from dist_ms.train.state.folder import Folder
from dist_ms.train.state.manifest import DamagedState, Manifest
from dist_ms.train.state.reading import VALUES, SavedState

_STATE = re.compile(r"step-(\d{8,18})")


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of the command."""
    parser = argparse.ArgumentParser(
        prog="dist-ms ckpt", description="Look at the states that RunCheckpoint and save_run wrote."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    ls = commands.add_parser("ls", help="list the states of a run")
    verify = commands.add_parser("verify", help="read states whole, and compare all checksums")
    diff = commands.add_parser("diff", help="compare the tensors of two states")
    export = commands.add_parser("export", help="write the tensors of a state to one .ckpt or .safetensors file")
    for command in (ls, verify, export):
        command.add_argument("directory", help="the folder of a run, or one of its states (default: the newest)")
    diff.add_argument("first", help="the folder of a run (its newest state), or a state")
    diff.add_argument("second", help="likewise")
    export.add_argument("file", help="the file to write, with its ending: .ckpt or .safetensors")
    export.add_argument("--rank", type=int, default=0, help="whose tensors, of those that each rank has for itself")
    export.add_argument("--part", default="", help="only tensors whose names begin so, for example model/")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command and return its exit code: 0, 1 for damage or a difference, 2 for what cannot be done.

    Args:
        argv: the arguments; default: those of this process.
    """
    options = make_parser().parse_args(argv)
    try:
        signal.signal(signal.SIGINT, signal.default_int_handler)  # the launcher starts this with interrupts ignored
        if options.command == "ls":
            return _ls(options.directory)
        if options.command == "verify":
            return _verify(options.directory)
        if options.command == "diff":
            return _diff(*_open(options.first), *_open(options.second))
        return _export(*_open(options.directory), options.file, options.rank, options.part)
    except (OSError, ValueError) as error:
        print(f"dist-ms ckpt {options.command}: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        return 128 + signal.SIGINT


def _states(path: str) -> tuple[Folder, list[int]]:
    """Return the run's folder and the states meant: all, or the one that a path names."""
    path = os.path.abspath(path)
    if found := _STATE.fullmatch(os.path.basename(path)):
        return Folder(os.path.dirname(path)), [int(found[1])]
    folder = Folder(path)
    steps = folder.steps()
    if not steps:
        fault = "there is no state in it" if os.path.isdir(path) else "it is no folder"
        raise ValueError(
            f"the directory must be one that RunCheckpoint or save_run writes, but got {path!r}, and {fault}"
        )
    return folder, steps


def _open(path: str) -> tuple[SavedState, str]:
    """Return the newest state meant, and its name."""
    folder, steps = _states(path)
    return SavedState(folder, steps[-1]), f"{path} (step {steps[-1]})"


def _ls(path: str) -> int:
    folder, steps = _states(path)
    best = folder.best() or {}
    rows: list[tuple[str, ...]] = [("step", "epoch", "ranks", "tensors", "bytes", "created", "")]
    for step in steps:
        try:
            manifest = folder.manifest(step)
        except DamagedState as damage:
            rows.append((str(step), "", "", "", "", "", f"damaged: {damage}"))
            continue
        note = f"best {best.get('metric', '')}: {best['value']:g}" if step == best.get("step") else ""
        facts = manifest.facts
        whole = (
            step,
            facts["epoch"],
            manifest.ranks,
            len(_names(manifest)),
            _bytes(manifest),
            facts.get("created", ""),
        )
        rows.append((*map(str, whole), note))
    widths = [max(len(row[i]) for row in rows) for i in range(5)]
    for row in rows:
        print(" ".join([*(cell.rjust(width) for cell, width in zip(row, widths)), *row[5:]]).rstrip())
    return 0


def _verify(path: str) -> int:
    folder, steps = _states(path)
    damaged = 0
    for step in steps:
        try:
            manifest = folder.verify(step)
        except DamagedState as damage:
            damaged += 1
            print(f"step {step}: damaged: {damage}")
        else:
            print(f"step {step}: whole, {len(_names(manifest))} tensors, {_bytes(manifest)} bytes")
    return 1 if damaged else 0


def _diff(first: SavedState, first_name: str, second: SavedState, second_name: str) -> int:
    print(f"- {first_name}\n+ {second_name}")
    equal = differ = 0
    for name in sorted({*first.tensors, *second.tensors}):
        if name not in second.tensors or name not in first.tensors:
            print(f"{'-' if name in first.tensors else '+'} {name}")
            differ += 1
            continue
        a, b = first.whole(name), second.whole(name)
        if (a.shape, a.dtype) != (b.shape, b.dtype):
            print(f"  {name}: {a.dtype}{a.shape} | {b.dtype}{b.shape}")
        elif a.tobytes() != b.tobytes():
            wide = np.promote_types(a.dtype, np.float64) if a.dtype.kind != "b" else np.float64
            apart = np.abs(a.astype(wide) - b.astype(wide))
            print(f"  {name}: {np.count_nonzero(apart)} of {a.size} elements differ, by {np.max(apart):.3g} at most")
        else:
            equal += 1
            continue
        differ += 1
    print(f"{equal} tensors are equal, {differ} differ")
    return 1 if differ else 0


def _export(state: SavedState, name: str, file: str, rank: int, part: str) -> int:
    ending = os.path.splitext(file)[1][1:]
    if ending not in ("ckpt", "safetensors"):
        raise ValueError(f"the file must end in .ckpt or .safetensors, but got {file!r}")
    if not 0 <= rank < state.manifest.ranks:
        raise ValueError(f"--rank must be below {state.manifest.ranks}, but got {rank}")
    names = [tensor for tensor in state.tensors if tensor.startswith(part)]
    plain = [tensor.split("/", 1)[-1] for tensor in names]
    if not names or len(set(plain)) < len(plain):
        twice = sorted({tensor for tensor in plain if plain.count(tensor) > 1})
        parts = sorted({tensor.split("/", 1)[0] + "/" for tensor in state.tensors})
        reason = f"two tensors are called {twice[0]!r}" if twice else f"no tensor begins with {part!r}"
        raise ValueError(f"{reason}: choose by --part, one of {', '.join(parts)}")
    entries = [{"name": p, "data": from_array(state.whole(n, rank))} for n, p in zip(names, plain, strict=True)]
    save_checkpoint(entries, file, format=ending)
    print(f"{file}: {len(entries)} tensors of {name}")
    return 0


def _names(manifest: Manifest) -> set[str]:
    return {part.name for written in manifest.writers for part in written.parts if not part.name.startswith(VALUES)}


def _bytes(manifest: Manifest) -> int:
    parts = sum(part.nbytes for written in manifest.writers for part in written.parts)
    return parts + sum(length for length, _ in manifest.others.values())


if __name__ == "__main__":
    sys.exit(main())
