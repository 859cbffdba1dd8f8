"""What the ranks of an elastic job do when one of them has died: all notice, and the others make a smaller world.

With ULFM (`mpirun --with-ft ulfm`) a dead process is an error of MPI's calls instead of the end of the job. Whoever
notices first revokes every communicator, by which those that wait for a living rank come out of it as well.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NoReturn

from dist_ms.communication.environment import value_of

_NEWS = 1.0  # seconds in which a death that has caused an error is known
_POLL = 0.005
FOLLOWED = 14  # what a rank ends with because another has; the launcher looks for the other


class RankFailedError(RuntimeError):
    """A rank of an elastic job has died, and this operation cannot be completed.

    Attributes:
        ranks: those that have died, by their numbers in the world that was.
    """

    def __init__(self, text: str, ranks: tuple[int, ...] = ()) -> None:
        super().__init__(text)
        self.ranks = ranks


def least_ranks(environ: dict[str, str] | None = None) -> int | None:
    """Return with how few ranks the job may go on: DIST_MS_ELASTIC, which the launcher sets; None: not at all.

    Args:
        environ: the environment; default: this process's.

    Raises:
        ValueError: if the variable is no number of 1 or more.

    Examples:
        >>> from dist_ms.communication.end.survivors import least_ranks
        >>> least_ranks({"DIST_MS_ELASTIC": "2"}), least_ranks({})
        (2, None)
    """
    text = value_of("DIST_MS_ELASTIC", environ)
    if not text:
        return None
    if not text.isdigit() or int(text) < 1:
        raise ValueError(
            "The environment variable DIST_MS_ELASTIC must be the least number of ranks, 1 or more, but got "
            f"{text!r}: 'dist-ms run --elastic --min-ranks M' sets it."
        )
    return int(text)


class Survivors:
    """The living ranks of one world.

    Args:
        mpi: mpi4py.MPI.
        channel: a communicator of all ranks.
        least: how few ranks may go on.

    Attributes:
        channel: as given.
        opened: the communicators of this world.
        rank: this process's number in it.
        size: how many there were.

    Raises:
        RuntimeError: if this MPI does not tell of dead processes.
    """

    def __init__(self, mpi: Any, channel: Any, least: int) -> None:
        self._mpi, self.channel, self.least = mpi, channel, least
        self._classes = (mpi.ERR_PROC_FAILED, mpi.ERR_PROC_FAILED_PENDING, mpi.ERR_REVOKED)
        self.opened: list[Any] = [channel]
        self.rank, self.size = channel.Get_rank(), channel.Get_size()
        try:
            channel.Get_failed().Free()
        except (NotImplementedError, mpi.Exception) as error:
            raise RuntimeError(
                f"[rank {self.rank} of {self.size}] For 'init', DIST_MS_ELASTIC needs an MPI with ULFM, started with "
                f"'mpirun --with-ft ulfm', but it is {mpi.Get_library_version().split(',')[0]}: use the Open MPI 5 of "
                "pip install 'dist_ms[mpi]', or run without --elastic."
            ) from error

    def dead(self) -> tuple[int, ...]:
        """Return the ranks that are known to have died."""
        failed = self.channel.Get_failed()
        count = failed.Get_size()
        found = failed.Translate_ranks(list(range(count)), self.channel.Get_group()) if count else ()
        failed.Free()
        return tuple(sorted(found))

    def check(self, what: str) -> None:
        """Raise if a rank has died, or another one has found that.

        Args:
            what: cannot be done then: the error's first words.

        Raises:
            RankFailedError: that names the ranks.
        """
        dead = self.dead()
        if dead or self.channel.Is_revoked():
            raise self.error(what, dead)

    def error(self, what: str, dead: tuple[int, ...]) -> RankFailedError:
        """Return the error that names ranks.

        Args:
            what: cannot be done: its first words.
            dead: the ranks; none where another rank has yet to say.
        """
        who = f"rank {', '.join(map(str, dead))} of {self.size}" if dead else f"another of {self.size} ranks"
        return RankFailedError(f"{what}: {who} has died.", dead)

    @contextmanager
    def noticing(self, what: str) -> Iterator[None]:
        """Meanwhile MPI's errors about dead processes become RankFailedError.

        Args:
            what: cannot be done then.
        """
        try:
            yield
        except self._mpi.Exception as error:
            if not self.tells(error):
                raise
            raise self.error(what, self.dead()) from error

    @contextmanager
    def passing_over(self) -> Iterator[None]:
        """Meanwhile MPI's errors about dead processes are none."""
        try:
            yield
        except self._mpi.Exception as error:
            if not self.tells(error):
                raise

    def acknowledge(self) -> set[int]:
        """Return the ranks that have died, and receive from the others all the same; for ranks that are at their end.

        Those that still train need this rank to make a smaller world. As it has nothing left to train with, it ends.
        """
        if self.channel.Is_revoked():
            follow()
        dead = self.dead()
        if dead:
            self.channel.Ack_failed()
        return set(dead)

    def tells(self, error: BaseException) -> bool:
        """Whether an error says by itself that a rank has died.

        Args:
            error: any.
        """
        if isinstance(error, self._mpi.Exception):
            return error.Get_error_class() in self._classes
        return isinstance(error, RankFailedError)

    def caused(self, error: BaseException) -> bool:
        """Whether a rank's death may be what has caused an error; waits a moment for the news.

        Args:
            error: any.
        """
        if self.tells(error):
            return True
        until = time.monotonic() + _NEWS
        while not (self.dead() or self.channel.Is_revoked()):
            if time.monotonic() > until:
                return False
            try:
                self.channel.Iprobe()  # has MPI look at what has come
            except self._mpi.Exception as news:
                return self.tells(news)
            time.sleep(_POLL)
        return True

    def revoke(self) -> None:
        """Have everybody's waits on this world's communicators end with an error."""
        for comm in self.opened:
            if comm != self._mpi.COMM_NULL and not comm.Is_revoked():
                comm.Revoke()

    def shrink(self, build: Callable[[Any], None]) -> None:
        """Make a world of those that are left; all of them come here.

        Args:
            build: makes it on a communicator of all of them, and appends what it opens to that world's `opened`. It is
                called again where one more dies meanwhile, on those that are left then.
        """
        channel, world = self.channel, self
        while True:
            world.revoke()
            channel = channel.Shrink()
            world = Survivors(self._mpi, channel, self.least)
            fine = True
            try:
                build(world)
            except Exception as error:
                if not world.caused(error):
                    raise
                fine = False
                world.revoke()
            with self.passing_over():
                if channel.Agree(int(fine)):
                    return


def flush_output() -> None:
    """Have what was printed written, where anybody reads."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            pass


def follow() -> NoReturn:
    """End this process, as another rank has ended the job; the launcher says which."""
    flush_output()
    os._exit(FOLLOWED)
