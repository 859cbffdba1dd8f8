"""TCPStore: a few keys and values that processes share over TCP, without MPI.

A request is one byte for what to do, the key's and the value's length and both; an answer a status
byte, a length and a value. The master's thread keeps the values; a `get` of a key that is not there
yet is answered when it comes.
"""

from __future__ import annotations

import datetime
import socket
import struct
import threading
import time
from typing import Any

__all__ = ["TCPStore"]

_REQUEST, _ANSWER = struct.Struct("!cII"), struct.Struct("!cI")


def _exactly(connection: socket.socket, count: int) -> bytes:
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise ConnectionError("the other side closed the connection")
        data += part
    return data


class _Master:
    """The values, and a thread for every connection."""

    def __init__(self, host: str, port: int) -> None:
        self.values: dict[bytes, bytes] = {}
        self.changed = threading.Condition()
        self.connected = 0
        self._server = socket.create_server((host, port))
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="TCPStore").start()

    def _accept(self) -> None:
        while True:
            try:
                connection, _ = self._server.accept()
            except OSError:
                return
            with self.changed:
                self.connected += 1
                self.changed.notify_all()
            threading.Thread(target=self._serve, args=(connection,), daemon=True, name="TCPStore").start()

    def _serve(self, connection: socket.socket) -> None:
        with connection:
            try:
                while True:
                    what, key_length, length = _REQUEST.unpack(_exactly(connection, _REQUEST.size))
                    key, value = _exactly(connection, key_length), _exactly(connection, length)
                    status, answer = self._do(what, key, value)
                    connection.sendall(_ANSWER.pack(status, len(answer)) + answer)
            except (ConnectionError, OSError):
                return

    def _do(self, what: bytes, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        with self.changed:
            if what == b"g":
                wait = struct.unpack("!d", value)[0]
                there = self.changed.wait_for(lambda: key in self.values, wait)
                return (b"+", self.values[key]) if there else (b"-", b"")
            if what == b"w":
                wait, count = struct.unpack("!dI", value)
                return (b"+" if self.changed.wait_for(lambda: self.connected >= count, wait) else b"-"), b""
            if what == b"d":
                return b"+", b"1" if self.values.pop(key, None) is not None else b"0"
            if what == b"a":
                try:
                    value = str(int(self.values.get(key, b"0")) + int(value)).encode()
                except ValueError:
                    return b"-", b""
            self.values[key] = value
            self.changed.notify_all()
            return b"+", value if what == b"a" else b""

    def close(self) -> None:
        """Take no more connections."""
        self._server.close()


class TCPStore:
    """Keys and values that processes share.

    Args:
        host_name: where the master is.
        port: the master's port; 0 lets the master choose one, `port` says which.
        world_size: how many processes there are, the master too; None not to wait for them.
        is_master: whether this process keeps the values.
        timeout: how long anything may take, a timedelta.
        wait_for_workers: whether the master waits here until all are connected.
        multi_tenant, master_listen_fd, use_libuv: accepted.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if the port is out of range.
        RuntimeError: if the master can not be reached in time, or not all processes come.

    Examples:
        >>> from dist_ms.mint.distributed import TCPStore
        >>> store = TCPStore("127.0.0.1", 0, is_master=True)
        >>> store.set("name", "value")
        >>> store.get("name"), store.add("count", 2), store.delete_key("name")
        (b'value', 2, True)
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: datetime.timedelta = datetime.timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        self._check("host_name", host_name, str)
        self._check("port", port, int)
        self._check("is_master", is_master, bool)
        self._check("wait_for_workers", wait_for_workers, bool)
        self._check("timeout", timeout, datetime.timedelta)
        if world_size is not None:
            self._check("world_size", world_size, int)
        if not 0 <= port <= 65535:
            raise ValueError(f"For 'TCPStore', 'port' must be in [0, 65535], but got {port}.")
        self._seconds = timeout.total_seconds()
        self._lock = threading.Lock()
        self._master = _Master(host_name, port) if is_master else None
        self.host, self.port = host_name, self._master.port if self._master else port
        self._connection = self._connect()
        if world_size is not None and wait_for_workers and is_master:
            if self._ask(b"w", b"", struct.pack("!dI", self._seconds, world_size))[0] != b"+":
                raise RuntimeError(
                    f"For 'TCPStore', {world_size} processes must connect within {self._seconds:g} s, but got "
                    f"{self._master.connected}."
                )

    @staticmethod
    def _check(name: str, value: Any, kind: type | tuple) -> None:
        kinds = kind if isinstance(kind, tuple) else (kind,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            wanted = " or ".join(k.__name__ for k in kinds)
            raise TypeError(f"For 'TCPStore', '{name}' must be of type {wanted}, but got {type(value).__name__}.")

    def _connect(self) -> socket.socket:
        """A connection to the master, which may start later."""
        end = time.monotonic() + self._seconds
        while True:
            try:
                connection = socket.create_connection((self.host, self.port), max(end - time.monotonic(), 0.1))
            except OSError as error:
                if time.monotonic() >= end:
                    raise RuntimeError(
                        f"For 'TCPStore', no master answers at {self.host}:{self.port} within "
                        f"{self._seconds:g} s: {error}."
                    ) from None
                time.sleep(0.05)
                continue
            # The master answers a wait in time; a little longer means that it is gone.
            connection.settimeout(self._seconds + 10)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return connection

    def _ask(self, what: bytes, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        with self._lock:
            try:
                self._connection.sendall(_REQUEST.pack(what, len(key), len(value)) + key + value)
                status, length = _ANSWER.unpack(_exactly(self._connection, _ANSWER.size))
                return status, _exactly(self._connection, length)
            except OSError as error:
                raise RuntimeError(f"For 'TCPStore', the master at {self.host}:{self.port} is gone: {error}.") from None

    def set(self, key: str, value: str | bytes) -> None:
        """Give a key a value.

        Raises:
            TypeError: if the key is no str, or the value neither str nor bytes.
        """
        self._check("key", key, str)
        self._check("value", value, (str, bytes))
        self._ask(b"s", key.encode(), value.encode() if isinstance(value, str) else value)

    def get(self, key: str) -> bytes:
        """Return the value of a key; wait until it has one.

        Raises:
            TypeError: if the key is no str.
            RuntimeError: if it has none in time.
        """
        self._check("key", key, str)
        status, value = self._ask(b"g", key.encode(), struct.pack("!d", self._seconds))
        if status != b"+":
            raise RuntimeError(f"For 'TCPStore', the key {key!r} has no value after {self._seconds:g} s.")
        return value

    def add(self, key: str, amount: int) -> int:
        """Add to the whole number of a key, 0 before, and return the sum.

        Raises:
            TypeError: if the key is no str, or the amount no int.
            RuntimeError: if the value is no whole number.
        """
        self._check("key", key, str)
        self._check("amount", amount, int)
        status, value = self._ask(b"a", key.encode(), str(amount).encode())
        if status != b"+":
            raise RuntimeError(f"For 'TCPStore', the value of {key!r} must be a whole number to add to it.")
        return int(value)

    def delete_key(self, key: str) -> bool:
        """Take a key away, and tell whether it was there.

        Raises:
            TypeError: if it is no str.
        """
        self._check("key", key, str)
        return self._ask(b"d", key.encode(), b"")[1] == b"1"

    def __del__(self) -> None:
        if getattr(self, "_connection", None) is not None:
            self._connection.close()
        if getattr(self, "_master", None) is not None:
            self._master.close()
