"""Output of ranks on several machines: mpirun forwards it, and begins each line with its rank."""

from __future__ import annotations

import re

from dist_ms.launch.mpirun import LaunchError, MpiRun
from dist_ms.launch.output.rank_output import RankOutput
from dist_ms.launch.reports import Reports

_OPEN_MPI = re.compile(rb"\[\d+,(?P<rank>\d+)\]<std(?P<stream>out|err)>:")
_HYDRA = re.compile(rb"\[(?P<rank>\d+)\] ")


def tagging(launcher: MpiRun) -> list[str]:
    """Return the options with which mpirun tells the rank of each line.

    Args:
        launcher: the mpirun.

    Raises:
        LaunchError: if it is not known whose it is.
    """
    if launcher.vendor == "openmpi":
        return ["--output", "tag"] if launcher.major >= 5 else ["--tag-output"]
    if launcher.vendor == "unknown":
        raise LaunchError(
            f"--prefix and --log-dir must be left out with {launcher.path}, of which it is not known whose it is."
        )
    return ["-prepend-rank"]


class TaggedLines:
    r"""Takes the tags off mpirun's output.

    Args:
        launcher: the mpirun.
        ranks: how many there are.
        output: takes the ranks' lines.
        reports: takes what ranks tell of their end.

    Examples:
        >>> from dist_ms.launch.mpirun import MpiRun
        >>> from dist_ms.launch.output.rank_output import RankOutput
        >>> from dist_ms.launch.reports import Reports
        >>> from dist_ms.launch.output.tagged_lines import TaggedLines
        >>> lines = TaggedLines(MpiRun("mpirun", "openmpi", 5), 2, RankOutput(2), Reports(False, 2))
        >>> lines.feed(2, b"[1,0]<stderr>: half a l") + lines.feed(2, b"ine\nmpirun's own\n")
        b"mpirun's own\n"
    """

    def __init__(self, launcher: MpiRun, ranks: int, output: RankOutput, reports: Reports) -> None:
        self.output = output
        self._ranks, self._reports = ranks, reports
        self._pattern = _OPEN_MPI if launcher.vendor == "openmpi" else _HYDRA
        self._space = launcher.vendor == "openmpi" and launcher.major >= 5
        self._held = {1: b"", 2: b""}
        self._passing = {1: False, 2: False}  # a line of mpirun's own goes on

    def feed(self, source: int, data: bytes) -> bytes:
        """Hand on the ranks' lines, and return what mpirun itself has said.

        Args:
            source: 1 for mpirun's output, 2 for its errors.
            data: the next bytes.
        """
        *lines, rest = (self._held[source] + data).split(b"\n")
        own = b""
        for line in lines:
            own += line + b"\n" if self._passing[source] else self._line(source, line + b"\n")
            self._passing[source] = False
        self._passing[source] = self._passing[source] or (rest != b"" and not rest.startswith(b"["))
        self._held[source] = b"" if self._passing[source] else rest
        return own + rest if self._passing[source] else own

    def last(self) -> bytes:
        """Hand on the incomplete lines at the end, where several may stand together."""
        own = b""
        for source, held in self._held.items():
            begins = [found.start() for found in self._pattern.finditer(held)]
            for begin, end in zip([0, *begins], [*begins, len(held)], strict=True):
                own += self._line(source, held[begin:end])
            self._held[source] = b""
        return own

    def _line(self, source: int, line: bytes) -> bytes:
        found = self._pattern.match(line)
        if found is None or int(found["rank"]) >= self._ranks:
            return line
        text = line[found.end() :]
        if self._space:
            text = text.removeprefix(b" ")
        target = source if "stream" not in found.groupdict() else 1 + (found["stream"] == b"err")
        if target == 2:
            text = self._reports.strip(text)
        if text:
            self.output.write(int(found["rank"]), target, text)
        return b""
