"""What every communicator can do: the verbs, and the rules their arrays follow.

An array that a verb changes must be C-contiguous, writeable and of native byte order: a hidden
copy would be changed in its place. An array that is only read may have any layout.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

OPS = ("sum", "max", "min", "prod")
Names = Callable[[], Sequence[str]]
_REDUCED: set[tuple[np.dtype, str, bool]] = set()  # types, operations and whether there is a scale, found to be right


class Handle(ABC):
    """An operation under way. The arrays in it must not be touched before it is done."""

    @abstractmethod
    def test(self) -> bool:
        """Drive the operation and return whether it is done. Never waits."""

    @abstractmethod
    def wait(self) -> None:
        """Wait until the operation is done.

        Raises:
            TimeoutError: if that takes longer than DIST_MS_TIMEOUT seconds.
        """


class Done(Handle):
    """The handle of an operation that was over at once."""

    def test(self) -> bool:
        """Return True."""
        return True

    def wait(self) -> None:
        """Return at once."""


DONE = Done()


class Comm(ABC):
    """A group of ranks that work together.

    Attributes:
        name: the group's name.
        rank: this process's place in the group, 0 to size - 1.
        size: the number of ranks in the group.
        ranks: the world rank of each member.
        one_node: whether all members share a machine's memory.
        waited: seconds that this process has spent in collectives of all groups, waiting for other ranks above all.
    """

    name: str
    rank: int
    size: int
    waited: float = 0.0
    ranks: tuple[int, ...]
    one_node: bool

    def check_process(self, verb: str) -> None:  # noqa: B027  (a world of one may fork)
        """Raise in a process that was forked from a rank.

        Args:
            verb: what the group is to be used for.

        Raises:
            RuntimeError: with the remedy.
        """

    @abstractmethod
    def barrier(self) -> None:
        """Wait until every rank is here."""

    def broadcast(self, array: np.ndarray, root: int = 0, source: np.ndarray | None = None) -> np.ndarray:
        """Overwrite every rank's array with rank `root`'s, bit for bit; return the array.

        With a `source`, of the array's shape and type, it is rank `root`'s source that every array gets.
        """
        self.post_broadcast(array, root, source, True)
        return array

    @abstractmethod
    def post_broadcast(
        self, array: np.ndarray, root: int = 0, source: np.ndarray | None = None, wait: bool = False
    ) -> Handle:
        """Start a `broadcast` and return at once; with `wait` when it is done. Ranks post in the same order."""

    def shared_buffer(self, size: int, dtype: Any) -> np.ndarray:
        """Return a flat array, not initialised, that `all_reduce` reduces without a copy.

        Where ranks share a machine's memory it lies there; else it is ordinary memory. All ranks
        call this in the same order with the same arguments. The memory is used again when the
        array and its views are gone on every rank. `all_reduce` of a C-contiguous part of it
        wants the same part on every rank.

        Args:
            size: the number of elements.
            dtype: their NumPy type.
        """
        check_buffer(size, dtype, "shared_buffer")
        return np.empty(size, dtype)

    def beside(self, buffer: np.ndarray) -> list[np.ndarray] | None:
        """Return every rank's array of one `shared_buffer`; None where not all ranks share memory.

        Who reads another rank's array, or writes to it, sees by `meet` that it is the time.

        Args:
            buffer: what `shared_buffer` returned.
        """
        return None

    @abstractmethod
    def all_reduce(
        self,
        array: np.ndarray,
        op: str = "sum",
        scale: float = 1.0,
        names: Names | None = None,
        source: np.ndarray | None = None,
    ) -> np.ndarray:
        """Overwrite the array with `scale` times the element-wise `op` over all ranks; return it.

        float16 and bfloat16 are reduced in float32 and rounded once; booleans as logical or
        ("sum", "max") and and ("min", "prod"). A scale is for floating point and complex arrays.
        Every rank gets the same bits. `names` returns what lies in the array, for errors. With a `source`,
        of the array's shape and type, the sources are reduced, and stay as they are.
        """

    @abstractmethod
    def post_all_reduce(
        self, array: np.ndarray, op: str = "sum", scale: float = 1.0, names: Names | None = None
    ) -> Handle:
        """Start an `all_reduce` and return at once. Ranks post in the same order."""

    def all_gather(self, array: np.ndarray) -> np.ndarray:
        """Return every rank's array, stacked along a new first axis. Shapes are equal."""
        return self.post_all_gather(array, True)[0]

    @abstractmethod
    def post_all_gather(self, array: np.ndarray, wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Start an `all_gather` as `post_broadcast` does; its result is complete when the handle is done."""

    def reduce_scatter(self, array: np.ndarray, op: str = "sum") -> np.ndarray:
        """Reduce over all ranks and return this rank's part of the first axis, cut evenly."""
        return self.post_reduce_scatter(array, op, True)[0]

    @abstractmethod
    def post_reduce_scatter(self, array: np.ndarray, op: str = "sum", wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Start a `reduce_scatter`, likewise."""

    def all_to_all(self, array: np.ndarray) -> np.ndarray:
        """Cut the first axis evenly, send part r to rank r, and return what comes, in rank order."""
        return self.post_all_to_all(array, True)[0]

    @abstractmethod
    def post_all_to_all(self, array: np.ndarray, wait: bool = False) -> tuple[np.ndarray, Handle]:
        """Start an `all_to_all`, likewise."""

    @abstractmethod
    def send(self, array: np.ndarray, dest: int, tag: int = 0) -> None:
        """Send an array to rank `dest`; return when it may be changed again."""

    @abstractmethod
    def recv(self, array: np.ndarray, source: int, tag: int = 0) -> np.ndarray:
        """Overwrite the array with the one that rank `source` sends; return the array."""

    @abstractmethod
    def meet(self, verb: str, array: np.ndarray | None = None, more: str = "") -> None:
        """Wait until every rank is here for the same thing: verb, type and size of the array, and `more`.

        Raises:
            RuntimeError: on every rank, with a table of what each was about to do, if they differ.
        """

    @abstractmethod
    def post_exchange(
        self,
        outgoing: Sequence[tuple[int, np.ndarray]],
        incoming: Sequence[tuple[int, np.ndarray]],
        tag: int = 0,
        collective: bool = False,
    ) -> Handle:
        """Start to send arrays to ranks and to receive arrays from ranks; return at once.

        Between two ranks messages of one tag arrive in the order in which they were posted.

        Args:
            outgoing: (rank, array) pairs; this rank itself may be among them.
            incoming: (rank, array) pairs; the arrays are overwritten.
            tag: tells messages apart, 0 to 32767.
            collective: every rank of the group takes part, and has met: the messages cannot mix with others.
        """

    def exchange(
        self,
        verb: str,
        outgoing: Sequence[tuple[int, np.ndarray]],
        incoming: Sequence[tuple[int, np.ndarray]],
        array: np.ndarray | None = None,
        more: str = "",
    ) -> Handle:
        """Meet for the collective `verb` and start its messages; return the handle.

        Args:
            verb: what errors call it.
            outgoing: as for `post_exchange`.
            incoming: as for `post_exchange`.
            array: what must have the same type and size on every rank.
            more: what else must be the same.
        """
        self.meet(verb, array, more)
        return self.post_exchange(outgoing, incoming, collective=True)

    @abstractmethod
    def gather_objects(self, value: Any) -> list[Any]:
        """Return every rank's value, in rank order. For small things that pickle."""

    @abstractmethod
    def subgroup(self, ranks: list[int], name: str) -> Comm:
        """Return the communicator of some of this one's ranks, in the order given.

        Called by exactly those ranks.
        """

    @abstractmethod
    def of_this_machine(self) -> Comm:
        """Return the communicator of those of these ranks that share this one's memory; all ranks come together."""

    @abstractmethod
    def free(self) -> None:
        """Give the communicator back; it must not be used again."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(name={self.name!r}, rank={self.rank}, size={self.size})"


def check_op(op: str, verb: str) -> None:
    """Raise unless `op` is a reduction."""
    if op not in OPS:
        raise ValueError(f"For '{verb}', 'op' must be one of {', '.join(OPS)}, but got {op!r}.")


def check_rank(rank: int, argument: str, verb: str, size: int) -> None:
    """Raise unless `rank` is a rank of the group."""
    if isinstance(rank, bool) or not isinstance(rank, (int, np.integer)):
        raise TypeError(f"For '{verb}', '{argument}' must be an int, but got {rank!r}.")
    if not 0 <= rank < size:
        raise ValueError(f"For '{verb}', '{argument}' must be in [0, {size - 1}], but got {rank}.")


def check_array(array: Any, verb: str, changed: bool) -> None:
    """Raise unless the verb can take the array; `changed` ones must be writeable in place."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"For '{verb}', 'array' must be a numpy.ndarray, but got {type(array).__name__}.")
    if array.dtype.hasobject:
        raise TypeError(
            f"For '{verb}', 'array' must hold numbers, but got dtype {array.dtype}; "
            "use gather_objects for Python objects."
        )
    if not array.dtype.isnative:
        raise TypeError(
            f"For '{verb}', 'array' must be of native byte order, but got {array.dtype.str}; "
            "convert it with astype(dtype.newbyteorder('='))."
        )
    if not changed:
        return
    if not array.flags.c_contiguous:
        raise ValueError(
            f"For '{verb}', 'array' must be C-contiguous, as it is changed in place, but got shape "
            f"{array.shape} with strides {array.strides}; use numpy.ascontiguousarray."
        )
    if not array.flags.writeable:
        raise ValueError(
            f"For '{verb}', 'array' must be writeable, as it is changed in place, but got a read-only one."
        )


def check_buffer(size: Any, dtype: Any, verb: str) -> None:
    """Raise unless an array of numbers can be made."""
    if isinstance(size, bool) or not isinstance(size, (int, np.integer)):
        raise TypeError(f"For '{verb}', 'size' must be an int, but got {size!r}.")
    if size < 0:
        raise ValueError(f"For '{verb}', 'size' must not be negative, but got {size}.")
    if np.dtype(dtype).hasobject:
        raise TypeError(f"For '{verb}', 'dtype' must be of numbers, but got {np.dtype(dtype)}.")


def check_reduced(array: Any, verb: str, op: str, scale: float = 1.0) -> None:
    """Raise unless the verb can reduce the array in place. What was right before costs next to nothing."""
    if type(array) is np.ndarray and type(op) is str and array.flags.carray:
        key = array.dtype, op, scale != 1
        if key in _REDUCED:
            return
    check_array(array, verb, changed=True)
    check_reducible(array, verb, op, scale)
    _REDUCED.add((array.dtype, op, scale != 1))


def check_reducible(array: np.ndarray, verb: str, op: str, scale: float = 1.0) -> None:
    """Raise unless the reduction has a meaning for the array's type."""
    check_op(op, verb)
    if scale != 1 and array.dtype.kind in "biu":
        raise TypeError(f"For '{verb}', 'scale' must be 1 for an array of {array.dtype}, but got {scale!r}.")
    kind = array.dtype.kind
    if kind == "c" and op in ("max", "min"):
        raise TypeError(f"For '{verb}', 'op' must be 'sum' or 'prod' for complex numbers, but got {op!r}.")
    if kind not in "biufc" and array.dtype.name not in ("bfloat16",):
        raise TypeError(f"For '{verb}', 'array' must hold numbers, but got dtype {array.dtype}.")
    if array.dtype in (np.longdouble, np.clongdouble):
        raise TypeError(f"For '{verb}', 'array' must be of at most double precision, but got {array.dtype}.")


def check_source(source: Any, verb: str, array: np.ndarray) -> np.ndarray:
    """Return the source, C-contiguous; raise unless it can be read in the place of the array, which is checked."""
    if type(source) is np.ndarray and source.dtype is array.dtype and source.shape == array.shape:
        return source if source.flags.c_contiguous else np.ascontiguousarray(source)
    check_array(source, verb, changed=False)
    if source.dtype != array.dtype or source.shape != array.shape:
        raise ValueError(
            f"For '{verb}', 'source' must be of the array's type and shape {array.dtype}{list(array.shape)}, but got "
            f"{source.dtype}{list(source.shape)}."
        )
    return np.ascontiguousarray(source)


def check_parts(array: np.ndarray, verb: str, size: int) -> None:
    """Raise unless the first axis can be cut into `size` equal parts."""
    if array.ndim == 0 or array.shape[0] % size:
        raise ValueError(
            f"For '{verb}', the first axis of 'array' must be a multiple of the group's size "
            f"{size}, but got shape {array.shape}."
        )
