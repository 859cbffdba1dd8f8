"""The ranks' lines in what mpirun forwards from several machines."""

import pytest

from dist_ms.launch.mpirun import LaunchError, MpiRun
from dist_ms.launch.output.rank_output import RankOutput
from dist_ms.launch.output.tagged_lines import TaggedLines, tagging
from dist_ms.launch.reports import Reports


def lines_of(vendor, major, written, monkeypatch):
    monkeypatch.setattr(
        "dist_ms.launch.output.rank_output.write_all", lambda target, data: written.append((target, data.decode()))
    )
    reports = Reports(False, 2)
    return TaggedLines(MpiRun("mpirun", vendor, major), 2, RankOutput(2), reports), reports


@pytest.mark.parametrize("size", [1, 7, 1000])
@pytest.mark.parametrize(
    ("vendor", "major", "tags"),
    [
        ("openmpi", 5, ("[1,0]<stdout>: ", "[1,1]<stderr>: ")),
        ("openmpi", 4, ("[1,0]<stdout>:", "[1,1]<stderr>:")),
        ("mpich", 0, ("[0] ", "[1] ")),
    ],
)
def test_tags_are_taken_off(monkeypatch, vendor, major, tags, size):
    written = []
    lines, reports = lines_of(vendor, major, written, monkeypatch)
    out = f"{tags[0]} two spaces\n{tags[0]}a\rb\n{tags[0]}{tags[1]}not mine\nno rank's\n{tags[0]}the end"
    err = f"own: {tags[1]}x\n{tags[1]}bad\x1edist-ms rank=1 host=b status=3\n[9,x] own\n[7] own\n"
    own = b""
    for source, text in ((1, out), (2, err)):
        for begin in range(0, len(text), size):
            own += lines.feed(source, text.encode()[begin : begin + size])
    own += lines.last()
    kept = [(1, " two spaces\n"), (1, "a\rb\n"), (1, f"{tags[1]}not mine\n")]
    assert written == [*kept, (2, "bad"), (1, "the end")]
    assert own.decode() == f"no rank's\nown: {tags[1]}x\n[9,x] own\n[7] own\n"
    assert [(report.rank, report.what) for report in reports.told] == [(1, "3")]


def test_an_unknown_mpirun_is_refused():
    with pytest.raises(LaunchError, match="--prefix and --log-dir must be left out with /x/mpirun"):
        tagging(MpiRun("/x/mpirun", "unknown"))
