"""Messages between a pipeline and its worker processes, with descriptors of shared memory."""

from __future__ import annotations

import io
import pickle
import socket
import struct
from typing import Any

_LENGTH = struct.Struct("<QI")  # bytes that follow, and how many descriptors come with them


class Channel:
    """One end of a socket that carries pickled messages.

    Args:
        end: a connected socket of this machine.
    """

    def __init__(self, end: socket.socket) -> None:
        self.end = end

    def send(self, message: Any, descriptors: list[int] | None = None) -> None:
        """Send a message.

        Raises:
            ConnectionError: if nobody is at the other end any more.
        """
        text = dumped(message)
        fds = descriptors or []
        head = _LENGTH.pack(len(text), len(fds))
        if fds:
            socket.send_fds(self.end, [head], fds)
        else:
            self.end.sendall(head)
        self.end.sendall(text)

    def receive(self) -> tuple[Any, list[int]]:
        """The next message and its descriptors.

        Raises:
            EOFError: if nobody is at the other end any more.
        """
        try:
            head, fds, _, _ = socket.recv_fds(self.end, _LENGTH.size, 8)
            if not head:
                raise EOFError
            head += self._exactly(_LENGTH.size - len(head))
            return pickle.loads(self._exactly(_LENGTH.unpack(head)[0])), list(fds)
        except ConnectionError as error:
            raise EOFError from error

    def _exactly(self, size: int) -> bytes:
        parts = bytearray(size)
        view, got = memoryview(parts), 0
        while got < size:
            n = self.end.recv_into(view[got:])
            if not n:
                raise EOFError
            got += n
        return bytes(parts)

    def close(self) -> None:
        """Leave."""
        self.end.close()


class StaysHereError(TypeError):
    """What cannot be sent to another process."""


class _ByName(pickle.Pickler):
    """Pickles values whose classes and functions the other process finds by their names."""

    def reducer_override(self, obj: Any) -> Any:
        if getattr(obj, "__module__", None) == "__main__":
            raise pickle.PicklingError  # each process has its own script
        return NotImplemented


def dumped(value: Any) -> bytes:
    """A value pickled; functions and classes of the user's script go by value.

    Raises:
        StaysHereError: if something in it cannot be pickled.
    """
    text = io.BytesIO()
    try:
        _ByName(text, protocol=5).dump(value)
        return text.getvalue()
    except Exception:
        from dist_ms.common.by_value import dumped_by_value

        try:
            return dumped_by_value(value)
        except Exception as error:
            raise StaysHereError(
                f"For worker processes, all that a pipeline's functions use must be picklable, but {error}. Open files "
                "and connections where they are used, or read in threads with python_multiprocessing=False."
            ) from error
