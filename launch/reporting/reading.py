"""Reading what ranks wrote, and merging it into one trace."""

from __future__ import annotations

import gzip
import json
import os
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dist_ms.launch.mpirun import LaunchError


@dataclass(frozen=True)
class RankTrace:
    """What one rank wrote.

    Attributes:
        facts: of the rank and its process.
        events: Chrome's trace events, in us.
    """

    facts: dict[str, Any]
    events: list[dict[str, Any]]

    @property
    def rank(self) -> int:
        """Its number."""
        return self.facts["rank"]

    def spans(self, lane: str) -> list[dict[str, Any]]:
        """The spans of a lane in the order of their beginning."""
        return sorted((e for e in self.events if e["ph"] == "X" and e["cat"] == lane), key=lambda e: e["ts"])


def prepare(folder: str) -> None:
    """Make a folder for what ranks will write, without what those of an earlier run wrote there.

    Args:
        folder: of `dist-ms run --trace`.

    Raises:
        LaunchError: if nothing can be written there.
    """
    try:
        os.makedirs(folder, exist_ok=True)
        for path in Path(folder).glob("rank_*.json.gz*"):
            path.unlink(missing_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass
    except OSError as error:
        raise LaunchError(f"--trace must be a folder to write to, but got {folder!r}: {error.strerror}.") from None


def read_ranks(folder: str) -> list[RankTrace]:
    """Read the files of all ranks.

    Args:
        folder: of `dist-ms run --trace`.

    Raises:
        LaunchError: if there is none, or one is damaged.
    """
    found = []
    for path in sorted(Path(folder).glob("rank_*.json.gz")):
        try:
            with gzip.open(path, "rt", encoding="utf-8") as file:
                content = json.load(file)
            found.append(RankTrace(content["otherData"], content["traceEvents"]))
        except (OSError, EOFError, ValueError, KeyError) as error:
            raise LaunchError(f"{path} must be a rank's trace, but it cannot be read: {error}") from error
    if not found:
        fault = "it has no rank_K.json.gz" if Path(folder).is_dir() else "it is none"
        raise LaunchError(
            f"DIR must be the folder of a 'dist-ms run --trace DIR', but got {folder!r}, and {fault}: run the job with "
            "--trace first."
        )
    return sorted(found, key=lambda one: one.rank)


def write_whole(path: Path, text: str) -> None:
    """Write a file aside, and then under its name."""
    aside = path.with_name(f".{path.name}.{os.getpid()}")
    aside.write_text(text, encoding="utf-8")
    aside.replace(path)


def merge(ranks: Sequence[RankTrace]) -> dict[str, Any]:
    """Return one trace of all ranks, which begins at 0 us.

    Examples:
        >>> from dist_ms.launch.reporting.reading import RankTrace, merge
        >>> event = {"name": "forward", "ph": "X", "ts": 7.0, "dur": 1.0, "pid": 0, "tid": 2}
        >>> merge([RankTrace({"rank": 0}, [event])])["traceEvents"][0]["ts"]
        0.0
    """
    zero = min((e["ts"] for one in ranks for e in one.events if "ts" in e), default=0.0)
    events = [{**e, "ts": round(e["ts"] - zero, 3)} if "ts" in e else e for one in ranks for e in one.events]
    events.sort(key=lambda e: (e["ph"] != "M", e.get("ts", 0.0)))
    facts = [{name: value for name, value in one.facts.items() if name != "operations"} for one in ranks]
    return {"traceEvents": events, "displayTimeUnit": "ms", "otherData": {"ranks": facts}}
