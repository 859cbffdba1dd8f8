"""Which server holds what: dense tensors cut by size, tables by rows. Pure: the same on every rank."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

WHOLE_BELOW = 4096  # elements of a dense tensor that is not worth cutting
BLOCK_ROWS = 4096  # rows of a table whose first values come from one seed, whoever holds them


@dataclass(frozen=True)
class RowPartition:
    """A table's rows dealt out to servers.

    Attributes:
        rows: the table's.
        servers: how many.
        how: "hash": row r lives on server r mod servers, which spreads rows that are looked up
            often; "range": a server has neighbouring rows.
    """

    rows: int
    servers: int
    how: str = "hash"

    def _bound(self, server: int) -> int:
        """The first row of a server under "range": a multiple of the seeds' blocks."""
        blocks = -(-self.rows // BLOCK_ROWS)
        return min(self.rows, blocks * server // self.servers * BLOCK_ROWS)

    def count(self, server: int) -> int:
        """How many rows a server holds.

        Examples:
            >>> from dist_ms.parallel.servers.partition import RowPartition
            >>> [RowPartition(5, 2).count(k) for k in range(2)]
            [3, 2]
        """
        if self.how == "hash":
            return (self.rows - server + self.servers - 1) // self.servers
        return self._bound(server + 1) - self._bound(server)

    def slice_of(self, server: int) -> slice:
        """The table's rows on a server, as a slice."""
        if self.how == "hash":
            return slice(server, self.rows, self.servers)
        return slice(self._bound(server), self._bound(server + 1))

    def split(self, ids: np.ndarray) -> list[tuple[np.ndarray | slice, np.ndarray]]:
        """Cut row numbers by server.

        Args:
            ids: int64 row numbers in [0, rows).

        Returns:
            Per server where its rows stand in `ids`, and their numbers on that server.

        Examples:
            >>> import numpy as np
            >>> from dist_ms.parallel.servers.partition import RowPartition
            >>> RowPartition(9, 2).split(np.array([4, 7, 8]))
            [(array([0, 2]), array([2, 4])), (array([1]), array([3]))]
        """
        if self.servers == 1:
            return [(slice(None), ids)]
        found: list[tuple[np.ndarray | slice, np.ndarray]] = []
        owners = ids % self.servers if self.how == "hash" else None
        for server in range(self.servers):
            if owners is not None:
                places = np.flatnonzero(owners == server)
                found.append((places, ids[places] // self.servers))
            else:
                low, high = self._bound(server), self._bound(server + 1)
                places = np.flatnonzero((ids >= low) & (ids < high))
                found.append((places, ids[places] - low))
        return found

    def blocks(self, server: int) -> list[tuple[int, int, slice, slice]]:
        """The seed blocks that a server has rows of.

        Returns:
            Per block its first row and number of rows in the table, which of these rows the server
            holds, and where they go among the server's rows.
        """
        found = []
        begin = 0 if self.how == "hash" else self._bound(server)
        end = self.rows if self.how == "hash" else self._bound(server + 1)
        at = 0
        for low in range(begin, end, BLOCK_ROWS):
            number = min(BLOCK_ROWS, self.rows - low)
            mine = slice((server - low) % self.servers, None, self.servers) if self.how == "hash" else slice(None)
            count = len(range(*mine.indices(number)))
            found.append((low, number, mine, slice(at, at + count)))
            at += count
        return found


@dataclass(frozen=True)
class Piece:
    """A part of a dense tensor on a server.

    Attributes:
        index: the tensor's place in the list that was cut.
        server: who holds it.
        start: its first element, of the flat tensor.
        stop: one past its last element.
    """

    index: int
    server: int
    start: int
    stop: int


def cut_dense(sizes: Sequence[int], servers: int, divisible: Sequence[bool] | None = None) -> list[Piece]:
    """Cut dense tensors so that every server has about as many elements.

    Large tensors are cut into equal ranges, one per server; small ones stay whole and go, largest
    first, to the server that has the least.

    Args:
        sizes: elements of each tensor.
        servers: how many servers there are.
        divisible: whether each may be cut; default: all.

    Examples:
        >>> from dist_ms.parallel.servers.partition import cut_dense
        >>> [(p.server, p.stop - p.start) for p in cut_dense([10000, 10, 20], 2)]
        [(0, 5000), (1, 5000), (1, 10), (0, 20)]
    """
    divisible = [True] * len(sizes) if divisible is None else divisible
    load = [0] * servers
    pieces = []
    whole = []
    for index, size in enumerate(sizes):
        if size < WHOLE_BELOW or not divisible[index] or servers == 1:
            whole.append(index)
            continue
        for server in range(servers):
            start, stop = size * server // servers, size * (server + 1) // servers
            pieces.append(Piece(index, server, start, stop))
            load[server] += stop - start
    for index in sorted(whole, key=lambda i: (-sizes[i], i)):
        server = load.index(min(load))
        pieces.append(Piece(index, server, 0, sizes[index]))
        load[server] += sizes[index]
    return sorted(pieces, key=lambda piece: (piece.index, piece.start))


def rows_in_words(name: str, shape: Sequence[int], dtype: np.dtype, count: int) -> str:
    """Say how much of a table a server holds."""
    size = count * shape[1] * dtype.itemsize / 1e6
    return f"{count} of the {shape[0]} rows of '{name}' ({shape[1]} {dtype.name} each, {size:.1f} MB)"


def pieces_in_words(
    names: Sequence[str], shapes: Sequence[Sequence[int]], dtype: np.dtype, pieces: Sequence[Piece]
) -> str:
    """Say which dense tensors, or parts of them, a server holds."""
    words = []
    for piece in pieces[:4]:
        whole = piece.stop - piece.start == math.prod(shapes[piece.index])
        words.append(f"'{names[piece.index]}'" + ("" if whole else f"[{piece.start}:{piece.stop}]"))
    if len(pieces) > 4:
        words.append(f"{len(pieces) - 4} more")
    size = sum(piece.stop - piece.start for piece in pieces) * dtype.itemsize / 1e6
    return f"{', '.join(words) or 'nothing'} ({size:.1f} MB)"
