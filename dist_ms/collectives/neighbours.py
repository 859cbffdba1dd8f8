"""NeighborExchange and NeighborExchangeV2: messages between ranks that are next to each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dist_ms.collectives.arguments import WORLD, check_group_name, check_int, check_rank_in, check_shape, comm_for
from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_elements
from dist_ms.communication import Comm
from dist_ms.communication.wire.buffers import TAG_UB
from dist_ms.ops.primitive import Primitive

__all__ = ["NeighborExchange", "NeighborExchangeV2"]

# Not every rank takes part, so these messages are no collective; users seldom take the last tags. An edge has its
# direction's own tag: two ranks may be neighbours in several directions.
_TAGS = [TAG_UB - direction for direction in range(8)]


class NeighborExchange(Primitive):
    """Send tensors to some ranks and receive tensors from some.

    Differentiable: the gradients go the way back.

    Args:
        send_rank_ids: the rank in the group that each input goes to.
        recv_rank_ids: the rank that each output comes from.
        recv_shapes: the shapes of the outputs.
        send_shapes: the shapes of the inputs.
        recv_type: the type of all of them.
        group: the group; default: all ranks.

    Inputs:
        A tuple of Tensors.

    Returns:
        A tuple of Tensors.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if lists do not fit each other or the inputs, or there is no such rank.
        RuntimeError: before init(), or if another rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> exchange = ms.ops.NeighborExchange([0], [0], ([2],), ([2],), ms.float32)
        >>> print(exchange((ms.Tensor([1.0, 2.0]),))[0])
        [1. 2.]
    """

    keeps = ()

    def __init__(
        self,
        send_rank_ids: Sequence[int],
        recv_rank_ids: Sequence[int],
        recv_shapes: Sequence,
        send_shapes: Sequence,
        recv_type: Any,
        group: str = WORLD,
    ) -> None:
        super().__init__()
        self.send_rank_ids = [check_int(r, "send_rank_ids", self.name) for r in send_rank_ids]
        self.recv_rank_ids = [check_int(r, "recv_rank_ids", self.name) for r in recv_rank_ids]
        self.recv_shapes = [check_shape(shape, "recv_shapes", self.name) for shape in recv_shapes]
        self.send_shapes = [check_shape(shape, "send_shapes", self.name) for shape in send_shapes]
        for kind, ranks, shapes in (
            ("send", self.send_rank_ids, self.send_shapes),
            ("recv", self.recv_rank_ids, self.recv_shapes),
        ):
            if len(ranks) != len(shapes):
                raise ValueError(
                    f"For '{self.name}', '{kind}_shapes' must have one shape for each of '{kind}_rank_ids' {ranks}, "
                    f"but got {shapes}."
                )
        self.recv_type, self.group = recv_type, check_group_name(group, self.name)

    def __call__(self, tensor: Any) -> tuple:
        if not isinstance(tensor, (tuple, list)):
            raise TypeError(f"For '{self.name}', the input must be a tuple of Tensors, but got {tensor!r}.")
        return super().__call__(*tensor)

    def forward(self, *arrays: np.ndarray) -> tuple:
        """Exchange."""
        comm = comm_for(self.group, self.name)
        shapes = [array.shape for array in arrays]
        if shapes != self.send_shapes:
            raise ValueError(f"For '{self.name}', the inputs must have shapes {self.send_shapes}, but got {shapes}.")
        dtype = mstype.to_numpy(self.recv_type)
        outputs = [np.empty(shape, dtype) for shape in self.recv_shapes]
        outgoing = [(r, array, _TAGS[0]) for r, array in zip(self.send_rank_ids, arrays, strict=True)]
        incoming = [(r, array, _TAGS[0]) for r, array in zip(self.recv_rank_ids, outputs, strict=True)]
        _exchange(self.name, comm, outgoing, incoming)
        return tuple(outputs)

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """Every gradient goes back to where its tensor came from."""
        back = NeighborExchange(
            self.recv_rank_ids, self.send_rank_ids, self.send_shapes, self.recv_shapes, self.recv_type, self.group
        )
        return back(tuple(dout))


class NeighborExchangeV2(Primitive):
    """Exchange the edges of images with up to eight neighbours: what a convolution over a cut image needs.

    Differentiable: the gradients of the edges that came go back and are added where the edges were.

    Args:
        send_rank_ids: the ranks in the group that get this rank's edges: top, top right, right, bottom right,
            bottom, bottom left, left, top left; -1 for none.
        send_lens: how many rows and columns they get: top, bottom, left, right.
        recv_rank_ids: the ranks whose edges come, in the same order; -1 for none.
        recv_lens: how many rows and columns come.
        data_format: "NCHW".
        group: the group; default: all ranks.

    Inputs:
        A Tensor (N, C, H, W).

    Returns:
        A Tensor (N, C, H + top + bottom, W + left + right) by `recv_lens`; what no neighbour sends is 0.

    Raises:
        TypeError: if an argument is of the wrong type.
        ValueError: if a list has another length, an edge is larger than the image, or `data_format` is another.
        RuntimeError: before init(), or if another rank has ended.

    Examples:
        >>> import dist_ms as ms
        >>> ms.communication.init()
        >>> none = [-1] * 8
        >>> exchange = ms.ops.NeighborExchangeV2(none, [0] * 4, none, [0, 1, 0, 0], "NCHW")
        >>> print(exchange(ms.ops.ones((1, 1, 1, 2))))
        [[[[1. 1.]
           [0. 0.]]]]
    """

    keeps = ()

    def __init__(
        self,
        send_rank_ids: Sequence[int],
        send_lens: Sequence[int],
        recv_rank_ids: Sequence[int],
        recv_lens: Sequence[int],
        data_format: str,
        group: str = WORLD,
    ) -> None:
        super().__init__()
        self.send_rank_ids = _check_list(send_rank_ids, "send_rank_ids", self.name, 8, -1)
        self.recv_rank_ids = _check_list(recv_rank_ids, "recv_rank_ids", self.name, 8, -1)
        self.send_lens = _check_list(send_lens, "send_lens", self.name, 4, 0)
        self.recv_lens = _check_list(recv_lens, "recv_lens", self.name, 4, 0)
        if data_format != "NCHW":
            raise ValueError(f"For '{self.name}', 'data_format' must be 'NCHW', but got {data_format!r}.")
        self.data_format, self.group = data_format, check_group_name(group, self.name)

    def forward(self, x: np.ndarray) -> np.ndarray:
        """Exchange the edges."""
        if x.ndim != 4 or x.shape[2] < max(self.send_lens[:2]) or x.shape[3] < max(self.send_lens[2:]):
            raise ValueError(
                f"For '{self.name}', 'x' must have shape (N, C, H, W) with H and W at least the edges "
                f"{self.send_lens}, but got {x.shape}."
            )
        top, bottom, left, right = self.recv_lens
        n, c, h, w = x.shape
        out = np.zeros((n, c, h + top + bottom, w + left + right), x.dtype)
        out[:, :, top : top + h, left : left + w] = x
        places = _outside(out, self.recv_lens)
        came = {i: np.empty(places[i].shape, x.dtype) for i, r in enumerate(self.recv_rank_ids) if r >= 0}
        edges = _inside(x, self.send_lens)
        # My top edge is what my neighbour has at its bottom.
        outgoing = [(r, edges[i], _TAGS[i]) for i, r in enumerate(self.send_rank_ids) if r >= 0]
        incoming = [(self.recv_rank_ids[i], came[i], _TAGS[(i + 4) % 8]) for i in came]
        _exchange(self.name, comm_for(self.group, self.name), outgoing, incoming)
        for i, edge in came.items():
            places[i][...] = edge
        return out

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """The gradients of edges go back."""
        return (_EdgesBack(self)(dout),)


class _EdgesBack(Primitive):
    """The transpose of a NeighborExchangeV2, which is linear.

    Args:
        exchange: it.
    """

    keeps = ()

    def __init__(self, exchange: NeighborExchangeV2) -> None:
        super().__init__()
        self._exchange = exchange

    def forward(self, dy: np.ndarray) -> np.ndarray:
        """Send the outer gradients to where the edges came from, and add what comes to the inner ones."""
        e = self._exchange
        top, bottom, left, right = e.recv_lens
        dx = dy[:, :, top : dy.shape[2] - bottom, left : dy.shape[3] - right].copy()
        outer, edges = _outside(dy, e.recv_lens), _inside(dx, e.send_lens)
        came = {i: np.empty(edges[i].shape, dy.dtype) for i, r in enumerate(e.send_rank_ids) if r >= 0}
        outgoing = [(r, outer[i], _TAGS[i]) for i, r in enumerate(e.recv_rank_ids) if r >= 0]
        incoming = [(e.send_rank_ids[i], came[i], _TAGS[(i + 4) % 8]) for i in came]
        _exchange(e.name, comm_for(e.group, e.name), outgoing, incoming)
        for i, part in came.items():
            edges[i][...] += part
        return dx

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> tuple:
        """The transpose of the transpose."""
        return (self._exchange(dout),)


def _inside(x: np.ndarray, lens: Sequence[int]) -> list[np.ndarray]:
    """The eight edges of an image, clockwise from the top."""
    top, bottom, left, right = lens
    h, w = x.shape[2:]
    rows = slice(0, top), slice(0, h), slice(h - bottom, h)
    columns = slice(0, left), slice(0, w), slice(w - right, w)
    return _clockwise(x, rows, columns)


def _outside(x: np.ndarray, lens: Sequence[int]) -> list[np.ndarray]:
    """The eight strips around the middle of an image, clockwise from the top."""
    top, bottom, left, right = lens
    h, w = x.shape[2:]
    rows = slice(0, top), slice(top, h - bottom), slice(h - bottom, h)
    columns = slice(0, left), slice(left, w - right), slice(w - right, w)
    return _clockwise(x, rows, columns)


def _clockwise(x: np.ndarray, rows: tuple, columns: tuple) -> list[np.ndarray]:
    places = ((0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0), (0, 0))
    return [x[:, :, rows[r], columns[c]] for r, c in places]


def _exchange(owner: str, comm: Comm, outgoing: list[tuple], incoming: list[tuple]) -> None:
    for argument, pairs in (("send_rank_ids", outgoing), ("recv_rank_ids", incoming)):
        for rank, _, _ in pairs:
            check_rank_in(rank, argument, owner, comm)
    handles = [comm.post_exchange([(rank, array)], [], tag) for rank, array, tag in outgoing]
    handles += [comm.post_exchange([], [(rank, array)], tag) for rank, array, tag in incoming]
    for handle in handles:
        handle.wait()


def _check_list(value: Any, name: str, owner: str, length: int, least: int) -> list[int]:
    if len(check_elements(value, name, owner, int)) != length or min(value) < least:
        raise ValueError(
            f"For '{owner}', '{name}' must have {length} entries of at least {least}, but got {list(value)}."
        )
    return list(value)
