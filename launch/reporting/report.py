"""`dist-ms report DIR`: the ranks' files become trace.json and report.html."""

from __future__ import annotations

import json
from pathlib import Path

from dist_ms.launch.reporting.links import links, slowest
from dist_ms.launch.reporting.page import page
from dist_ms.launch.reporting.phases import phases, verdict
from dist_ms.launch.reporting.reading import merge, read_ranks, write_whole


def report(folder: str) -> str:
    """Write both files, and return what bounds the run, in words.

    Args:
        folder: of `dist-ms run --trace`.

    Raises:
        LaunchError: if it holds no readable trace.
    """
    ranks = read_ranks(folder)
    found = phases(ranks)
    words = verdict(found, ranks[0].facts["ranks"], slowest(links(ranks)))
    write_whole(Path(folder) / "trace.json", json.dumps(merge(ranks)))
    write_whole(Path(folder) / "report.html", page(ranks, found, words))
    return words
