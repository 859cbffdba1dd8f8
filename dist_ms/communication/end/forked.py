"""A process that was forked from a rank: it is no rank, and what it would send disturbs its parent's collectives.

MPI, the memory that ranks share and the connections belong to the process that started MPI. A forked
child has copies of all of them, so its collectives would count as its parent's, and all ranks would
wait until the deadline. Children that load data and use no collective are as legal as ever.
"""

from __future__ import annotations

import os


class Owner:
    """The process that may communicate.

    Attributes:
        process: its id.
        forked: whether this is another one, forked from it.
    """

    def __init__(self) -> None:
        self.process, self.forked = os.getpid(), False
        self._label = ""

    def watch(self, rank: int, size: int) -> None:
        """Have children know that they are; called once in a process, as nothing takes it back.

        Args:
            rank: of the owner.
            size: how many there are.
        """
        self._label = f"rank {rank} of {size}"
        os.register_at_fork(after_in_child=self._in_child)

    def _in_child(self) -> None:
        self.forked = True

    def check(self, verb: str) -> None:
        """Raise in a child.

        Args:
            verb: what was asked for.

        Raises:
            RuntimeError: naming the fork and the remedy.
        """
        if self.forked:
            raise RuntimeError(
                f"[process {os.getpid()}, forked from {self._label}] For '{verb}', the process must be the one that "
                f"called init(), {self.process}, but this one was forked from it by os.fork or multiprocessing, after "
                "init(): what it sends would be taken for its parent's. Train in the parent, and have children load "
                "data only; or fork before init()."
            )
