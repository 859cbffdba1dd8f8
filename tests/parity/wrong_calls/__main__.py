"""Compare the errors of wrong calls in MindSpore and here.

    .venv/bin/python -m tests.parity.wrong_calls --python MINDSPORE_VENV/bin/python --folder FOLDER

The folder keeps what was found: right calls (right.jsonl, of MindSpore's examples; both run them), wrong ones drawn
of them (calls.jsonl), what MindSpore did (theirs.jsonl) and what we did (ours.jsonl); a file that is there is used
again. Remove ours.jsonl, or give `--only REGEX`, to run ours anew.
"""

from __future__ import annotations

import argparse
import collections
import contextlib
import json
import math
import re
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from tests.parity.wrong_calls.mutating import drawn

HERE = Path(__file__).parent
PATIENCE, START = 8, 40  # seconds that a call, and an interpreter's start, may take
LARGE = 20000  # elements of a tensor
SEEDS = 4  # right calls of one function
GROUPS = ("mint", "Tensor", "nn", "ops")


def read(path: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines."""
    return [json.loads(line) for line in path.read_text().splitlines()]


def write(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    """A file of JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


def run(python: str, calls: Path, out: Path) -> list[dict[str, Any]]:
    """What an interpreter does with each call; a call that ends it or hangs is remembered as that."""
    out.touch()
    total = len(read(calls))
    while (done := len(read(out))) < total:
        command = [python, str(HERE / "running.py"), str(calls.resolve()), str(out.resolve()), str(done)]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
            began = time.time()
            while process.poll() is None:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(1)
                if time.time() > max(began + START, out.stat().st_mtime + PATIENCE):
                    process.kill()
                    break
            end = process.wait()
        done = len(read(out))
        if done < total:
            with out.open("a") as file:
                file.write(json.dumps({"i": done, "error": "hang" if end == -9 else "crash", "text": str(end)}) + "\n")
    return read(out)


def right_calls(folder: Path, python: str) -> list[dict[str, Any]]:
    """Calls that succeed in both, a few of each function."""
    recorded, chosen = folder / "recorded.jsonl", folder / "right.jsonl"
    if not chosen.exists():
        if not recorded.exists():
            subprocess.run([python, str(HERE / "recording.py"), str(recorded)], check=True)
        rows = {json.dumps(row): row for row in with_kin(read(recorded)) if is_covered(row["path"])}
        called = {row["path"] for row in rows.values() if row["call"]}
        kept = [row for row in rows.values() if (row["call"] or row["path"] not in called) and is_small(row)]
        write(folder / "tried.jsonl", kept)
        theirs = run(python, folder / "tried.jsonl", folder / "tried_theirs.jsonl")
        ours = run(sys.executable, folder / "tried.jsonl", folder / "tried_ours.jsonl")
        fine = [
            row
            for row, a, b in zip(kept, theirs, ours, strict=True)
            if a.get("error", "") is b.get("error", "") is None
        ]
        count: collections.Counter[str] = collections.Counter()
        few = []
        for row in fine:
            count[row["path"]] += 1
            if count[row["path"]] <= SEEDS:
                few.append(row)
        write(chosen, few)
        print(f"{len(fine)} of {len(kept)} recorded calls succeed in both; of {len(count)} names")
    return read(chosen)


def with_kin(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The calls, and the same of the names that other modules have; those that fail are left out later."""
    found = list(rows)
    for row in rows:
        path, _, name = row["path"].rpartition(".")
        others = (
            ["nn", "mint.nn"] if row["make"] else ["ops", "mint", "mint.nn.functional", "mint.linalg", "mint.special"]
        )
        if not row["make"] and row["call"]["args"] and row["call"]["args"][0].startswith(("t(", "p(")):
            others.append("Tensor")
        found += [row | {"path": f"{other}.{name}"} for other in others if other != path]
    return found


def is_small(row: dict[str, Any]) -> bool:
    """Whether a call's tensors have few elements."""
    shapes = re.findall(r"\('\w+', \[([\d, ]*)\]", json.dumps(row["call"] or {}) + json.dumps(row["make"] or {}))
    return all(math.prod(int(n) for n in shape.split(", ") if n) <= LARGE for shape in shapes)


def is_covered(path: str) -> bool:
    """Whether a name is a function of ops, a name of mint, a method of Tensor, or a cell: the Primitives are not."""
    head, _, name = path.rpartition(".")
    return head != "ops" or name[:1].islower()


def verdict(theirs: dict[str, Any], ours: dict[str, Any]) -> str:
    """Equal, or how two outcomes differ."""
    if "unmade" in theirs or "unmade" in ours:
        return "unmade"
    if theirs["error"] == ours["error"]:
        return "equal"
    if theirs["error"] in ("crash", "hang"):
        return "MindSpore ends"
    if theirs["error"] is None:
        return "only ours raises"
    return "only MindSpore raises" if ours["error"] is None else "another class"


def report(calls: list[dict[str, Any]], theirs: list[dict[str, Any]], ours: list[dict[str, Any]], top: int) -> None:
    """Print the shares, and the most frequent disagreements."""
    counts: dict[str, collections.Counter[str]] = collections.defaultdict(collections.Counter)
    groups: dict[tuple, list[int]] = collections.defaultdict(list)
    for i, (call, a, b) in enumerate(zip(calls, theirs, ours, strict=True)):
        what = verdict(a, b)
        for group in (call["path"].split(".")[0], "all"):
            counts[group][what] += 1
            counts[group]["raised there"] += a.get("error") is not None
            counts[group]["raised equally"] += a.get("error") is not None and what == "equal"
        if what not in ("equal", "unmade", "MindSpore ends"):
            mutation = re.sub(r"\d+: ", ": ", call["what"], count=1)
            groups[call["path"], mutation, a["error"], b["error"]].append(i)
    for group in (*GROUPS, "all"):
        n = counts[group]
        total = sum(n[k] for k in ("equal", "only ours raises", "only MindSpore raises", "another class"))
        print(
            f"{group:7}{n['equal']:6} of {total:6} equal, {100 * n['equal'] / max(total, 1):.2f} %; "
            f"where MindSpore raised {n['raised equally']} of {n['raised there']}; "
            f"only ours raises {n['only ours raises']}, only MindSpore raises "
            f"{n['only MindSpore raises']}, another class {n['another class']}, MindSpore ends {n['MindSpore ends']}, "
            f"unmade {n['unmade']}"
        )
    for key, found in sorted(groups.items(), key=lambda g: -len(g[1]))[:top]:
        print(f"{len(found):5}  {key[0]:32} {key[1]:28} theirs {key[2]}, ours {key[3]}   #{found[0]}")


def main() -> None:
    """Find, draw, run and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--python", required=True, help="a Python that has MindSpore 2.10")
    parser.add_argument("--folder", required=True, type=Path)
    parser.add_argument("--count", default=30000, type=int)
    parser.add_argument("--seed", default=0, type=int)
    parser.add_argument("--only", default="", help="run only the calls of these names anew, in ours, and compare those")
    parser.add_argument("--top", default=60, type=int, help="how many disagreements to print")
    options = parser.parse_args()
    folder: Path = options.folder
    folder.mkdir(parents=True, exist_ok=True)
    calls = folder / "calls.jsonl"
    if not calls.exists():
        write(calls, drawn(right_calls(folder, options.python), options.count, options.seed))
    rows = read(calls)
    theirs = run(options.python, calls, folder / "theirs.jsonl")
    if options.only:
        chosen = [i for i, row in enumerate(rows) if re.search(options.only, row["path"])]
        write(folder / "some.jsonl", [rows[i] for i in chosen])
        (folder / "some_ours.jsonl").unlink(missing_ok=True)
        ours = run(sys.executable, folder / "some.jsonl", folder / "some_ours.jsonl")
        report([rows[i] for i in chosen], [theirs[i] for i in chosen], ours, options.top)
    else:
        report(rows, theirs, run(sys.executable, calls, folder / "ours.jsonl"), options.top)


if __name__ == "__main__":
    main()
