"""The MPIs' words at the end of a failed job; from Open MPI's comes a line that names the rank where no rank told."""

from __future__ import annotations

import re
from collections.abc import Callable

from dist_ms.launch.reports import who

_DASHES = b"-" * 74
_EQUALS = b"=" * 83  # MPICH and Intel MPI, whose words name whom they ended themselves: nothing is learnt from them
_SHORT_DASHES = b"-" * 60  # of Open MPI 5's daemons
_FENCES = (_DASHES, _EQUALS, _SHORT_DASHES)
_BANNERS = (
    re.compile(rb"MPI_ABORT was invoked on rank (?P<rank>\d+) .*Errorcode: (?P<code>-?\d+)", re.S),
    re.compile(
        rb"process rank (?P<rank>\d+) with PID \d+ on node (?P<node>\S+)\s+exited on\s+"
        rb"signal (?P<signal>\d+) \((?P<what>[^)]*)\)",
        re.S,
    ),
    re.compile(rb"Process name: \[\S+,(?P<rank>\d+)\]\s+Exit code:\s+(?P<code>\d+)", re.S),
    re.compile(rb'due to process rank (?P<rank>\d+) .*calling\s+"abort"', re.S),
)
_DAEMONS = (b"A daemon failed to report back ", b"PRTE has lost communication with a remote daemon")
_UNTESTED = b"WARNING: The selected '"  # with ULFM: that a component was not tested with it
_STARTS = (
    _UNTESTED,
    b"MPI_ABORT was invoked",
    b"prterun ",
    b"mpirun ",
    b"Primary job ",
    b"An MPI communication peer process ",
    b"=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES",
    *_DAEMONS,
)
_LOST = re.compile(rb"peer process has unexpectedly disconnected.*Peer host: +(?P<lost>\S+)", re.S)
_NOISE = re.compile(
    rb"\[[^\]]+\] PMIX ERROR: PMIX_ERR_UNREACH in file |\[warn\] Epoll (ADD|MOD|DEL)\(\d+\) on fd |"
    rb"YOUR APPLICATION TERMINATED WITH THE EXIT STRING: .* \(signal \d+\)|"
    rb"\d+ more process(es)? ha(s|ve) sent help message help-mpi-ft\.txt|"
    rb"This typically refers to a problem with your application\.$|"
    rb"Please see the FAQ page for debugging suggestions$"
)
_BROKEN = re.compile(
    rb"NBC_Progress: an error \d+ was found during schedule "
)  # a rank's, with ULFM; a blank line follows
# After this one mpirun may end with 0.
_DAEMON = re.compile(rb"(?:Remote host:\s+|Remote daemon:.* on node )(?P<daemon>\S+)", re.S)
LOST = 14  # what Open MPI aborts with when a connection breaks
_CLOSED = re.compile(rb"\[[^\]]+\] \*\*\* An error occurred in Socket closed")
_STARS = re.compile(rb"\[[^\]]+\] \*\*\* ")


class BannerFilter:
    """Passes stderr on, but for mpirun's banners about ranks that ended.

    Everything else goes out at once, incomplete lines too: a progress bar keeps moving. Only a
    line that may be a banner's row of dashes waits for its end.

    Args:
        write: takes the bytes that are passed on.

    Attributes:
        failure: what the first banner told: "rank", and "code" or "signal"; "lost" is whom a rank lost.
    """

    def __init__(self, write: Callable[[bytes], object]) -> None:
        self._write = write
        self._line = b""  # the beginning of a line that is held back
        self._passing = False  # the current line is being passed on
        self._block: list[bytes] | None = None  # the lines of a banner so far
        self._closed = False  # the lines about a closed connection go on
        self._broken = self._untested = False  # of ULFM's words, which of them were the last, and whether some came
        self.failure: dict[str, str] = {}

    def feed(self, data: bytes) -> None:
        """Take what mpirun wrote."""
        for piece in data.splitlines(keepends=True):
            if self._passing:
                self._write(piece)
                self._passing = not piece.endswith(b"\n")
                continue
            self._line += piece
            if self._line.endswith(b"\n"):
                line, self._line = self._line, b""
                self._whole_line(line)
            elif self._block is None and not self._may_matter(self._line):
                self._write(self._line)
                self._line, self._passing = b"", True

    def close(self) -> None:
        """Pass on what is still held back. A banner leaves a zero byte behind."""
        self._give_up()
        self._write(self._line.lstrip(b"\0") if self.failure or self._untested else self._line)
        self._line = b""

    @staticmethod
    def _may_matter(start: bytes) -> bool:
        """Whether an incomplete line may become dashes or noise."""
        start = start.lstrip(b"\0")
        return start[:1] in b"[YTPN" or any(fence.startswith(start[: len(fence)]) for fence in _FENCES)

    def _whole_line(self, line: bytes) -> None:
        text = line.strip(b"\0 \r\n")
        if self._block is None:
            if text in _FENCES:
                self._block = [line]
                return
            if _CLOSED.match(text):
                self._closed = True
                self.failure.setdefault("lost", "another rank")
            elif not _STARS.match(text):
                self._closed = False
            broken, self._broken = self._broken, _BROKEN.match(text) is not None
            if not (self._closed or _NOISE.match(text) or self._broken or (broken and not text)):
                self._write(line)
            return
        self._block.append(line)
        if len(self._block) == 2 and not text.startswith(_STARTS):
            self._give_up()
        elif text == _EQUALS and self._block[0].startswith(_EQUALS):
            self._block = None
        elif text in (_DASHES, _SHORT_DASHES) and self._block[0].strip(b"\0 \r\n") == text:
            self._end_block()

    def _end_block(self) -> None:
        """Learn from a banner, or pass it on when it is another one."""
        text = b"".join(self._block or [])
        if text.split(b"\n", 1)[1].startswith(_UNTESTED):
            self._block, self._untested = None, True
            return
        if _CLOSED.search(text):  # another process's lines came between those of the banner
            self.failure.setdefault("lost", "another rank")
        if lost := _LOST.search(text):
            self._block = None
            self.failure["lost"] = f"a rank on {lost['lost'].decode()}"
            return
        if text.split(None, 1)[1].startswith(_DAEMONS) and (daemon := _DAEMON.search(text)):
            self._block = None
            self.failure.setdefault("daemon", daemon["daemon"].decode())
            return
        found = next(filter(None, (banner.search(text) for banner in _BANNERS)), None)
        if found is None:
            self._give_up()
            return
        self._block = None
        if not self.failure.keys() - {"lost", "daemon"}:
            self.failure |= {k: v.decode() for k, v in found.groupdict().items() if v}

    def _give_up(self) -> None:
        """Pass the held lines on: they are no banner."""
        for line in self._block or []:
            self._write(line)
        self._block = None


def describe(failure: dict[str, str], ranks: int, code: int, servers: int = 0) -> str:
    """Say in one line which rank ended the job, and how.

    Args:
        failure: what the banners told.
        ranks: the number of ranks.
        code: the job's exit code.
        servers: how many of the ranks, the last ones, are parameter servers.

    Examples:
        >>> from dist_ms.launch.banner import describe
        >>> describe({"rank": "1", "code": "3"}, 4, 3)
        'dist-ms: rank 1 of 4 ended with exit code 3; the job was stopped.'
        >>> describe({"rank": "3", "code": "3"}, 4, 3, servers=2)
        'dist-ms: rank 3 of 4 (server 1 of 2) ended with exit code 3; the job was stopped.'
    """
    if "daemon" in failure and "rank" not in failure:
        where = failure["daemon"]
        return f"dist-ms: mpirun does not reach {where}, or its daemon there has ended; the job was stopped."
    if "signal" in failure:
        how = f"was ended by signal {failure['signal']} ({failure.get('what', '?')})"
    else:
        ended = failure.get("code", str(code))
        how = f"ended with exit code {ended}"
        if "lost" in failure and ended == str(LOST):
            how = f"lost its connection to {failure['lost']}, which has ended or cannot be reached"
    one = who(int(failure["rank"]), ranks, servers) if "rank" in failure else f"one of {ranks} ranks"
    return f"dist-ms: {one} {how}; the job was stopped."


def failure_code(failure: dict[str, str]) -> int:
    """Return the exit code of a job that ended so: 128 + the signal's number for a signal.

    Args:
        failure: as for `describe`.

    Examples:
        >>> from dist_ms.launch.banner import failure_code
        >>> failure_code({"rank": "1", "code": "3"}), failure_code({"rank": "0", "signal": "9"})
        (3, 137)
    """
    if "signal" in failure:
        return 128 + int(failure["signal"])
    return int(failure.get("code", 1)) or 1
