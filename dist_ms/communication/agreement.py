"""Errors that every rank raises, not only the one that found them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from dist_ms.communication.comm import Comm


def agree(comm: Comm, error: Exception | None = None) -> None:
    """Raise on every rank when any rank has an error.

    Every rank of the communicator calls this, with None when all is well there.

    Args:
        comm: the ranks that must agree.
        error: what went wrong on this rank.

    Raises:
        Exception: of the type that the lowest failing rank has (RuntimeError when it cannot be
            made anew elsewhere), with a text that names the ranks.

    Examples:
        >>> from dist_ms.communication.agreement import agree
        >>> from dist_ms.communication.local import LocalComm
        >>> agree(LocalComm())
        >>> agree(LocalComm(), ValueError("no data"))
        Traceback (most recent call last):
        ...
        ValueError: no data
    """
    if comm.size == 1:
        if error is not None:
            raise error
        return
    found = comm.gather_objects(None if error is None else _portable(error))
    ranks_of: dict[str, list[int]] = {}
    for rank, item in enumerate(found):
        if item is not None:
            ranks_of.setdefault(item[1], []).append(rank)
    if not ranks_of:
        return
    kind = next(item[0] for item in found if item is not None)
    lines = [f"{_label(ranks, comm.size)} {text}" for text, ranks in ranks_of.items()]
    raise _make(kind, "\n".join(lines)) from error


@contextmanager
def agreeing(comm: Comm) -> Iterator[None]:
    """Run a block on every rank; when it fails on any, it fails on all.

    The block must not communicate: a rank that left it early is not there to take part.

    Args:
        comm: the ranks that must agree.

    Raises:
        Exception: as `agree`.

    Examples:
        >>> from dist_ms.communication.agreement import agreeing
        >>> from dist_ms.communication.local import LocalComm
        >>> with agreeing(LocalComm()):
        ...     x = 1
    """
    error = None
    try:
        yield
    except Exception as caught:
        error = caught
    agree(comm, error)


def _portable(error: Exception) -> tuple[type[Exception] | None, str]:
    """Return what another rank needs to raise the error too."""
    kind = type(error)
    importable = "<" not in kind.__qualname__ and kind.__module__ != "__main__"
    text = str(error.args[0]) if isinstance(error, KeyError) and error.args else str(error)
    return (kind if importable else None), text or kind.__name__


def _make(kind: type[Exception] | None, text: str) -> Exception:
    """Make an exception of the type, where the type takes a text alone."""
    try:
        return RuntimeError(text) if kind is None else kind(text)
    except TypeError:
        return RuntimeError(text)


def _label(ranks: list[int], size: int) -> str:
    """Name ranks."""
    if len(ranks) == 1:
        return f"[rank {ranks[0]} of {size}]"
    if len(ranks) == size:
        return f"[all {size} ranks]"
    return f"[ranks {', '.join(map(str, ranks))} of {size}]"
