"""The master's side of TCPStore: the values, and a thread for every connection.

Whoever connects first proves that it knows the job's token. Then a request is one byte for what to do,
the key's and the value's length and both; an answer a status byte, a length and a value: "+" done, "-" not
done, "!" refused, and the value says why. A `get` of a key that is not there yet is answered when it
comes. Whatever else is sent is answered with "!" or the connection is closed, and nothing else happens.
"""

from __future__ import annotations

import secrets
import socket
import struct
import threading
import time
from collections.abc import Callable

from dist_ms.communication.store.proof import PROOF_BYTES, proof, proves

GREETING, NONCE_BYTES = b"dist_ms TCPStore 1\n", 16
REQUEST, ANSWER = struct.Struct("!cII"), struct.Struct("!cI")
WAIT, WAIT_AND_COUNT = struct.Struct("!d"), struct.Struct("!dI")
DONE, NOT_DONE, REFUSED = b"+", b"-", b"!"

KEY_BYTES, VALUE_BYTES = 64 << 10, 64 << 20
KEYS, TOTAL_BYTES = 1 << 20, 1 << 30
CONNECTIONS = 4096  # each has a thread
UNPROVEN = 128  # connections that have not shown yet that they know the token
LONGEST_WAIT = 1e8  # seconds
_PROVING = 10.0  # seconds that a connection has to prove itself
_PART = 1 << 20  # bytes that are read at once: what is announced is not yet there


class _Refused(Exception):
    """A request that is answered with the reason why nothing is done."""


def exactly(connection: socket.socket, count: int, end: float | None = None) -> bytes:
    """Read so many bytes.

    Args:
        connection: from where.
        count: how many.
        end: the time of time.monotonic() by which they must be there; None: as the connection's timeout says.

    Raises:
        OSError: if they do not come.
    """
    data = bytearray()
    while len(data) < count:
        if end is not None:
            connection.settimeout(max(end - time.monotonic(), 1e-3))
        part = connection.recv(min(count - len(data), _PART))
        if not part:
            raise ConnectionError("the other side closed the connection")
        data += part
    return bytes(data)


class Master:
    """What keeps the values.

    Args:
        address: where it listens, and nowhere else.
        family: the address's.
        port: 0 for any.
        token: the job's.

    Attributes:
        port: where it listens.
        connected: how many connections have proved that they know the token.
    """

    def __init__(self, address: str, family: socket.AddressFamily, port: int, token: str) -> None:
        self.values: dict[bytes, bytes] = {}
        self.changed = threading.Condition()
        self.connected = 0
        self._token = token
        self._open = self._unproven = self._bytes = 0
        self._closed = False
        self._actions: dict[bytes, Callable[[bytes, bytes], tuple[bytes, bytes]]] = {
            b"s": self._set,
            b"g": self._get,
            b"a": self._add,
            b"d": self._delete,
            b"w": self._wait_for_all,
        }
        self._server = socket.create_server((address, port), family=family, backlog=UNPROVEN)
        self.port = self._server.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True, name="TCPStore").start()

    def close(self) -> None:
        """Take no more connections."""
        self._closed = True
        try:
            self._server.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
        except OSError:
            pass
        self._server.close()

    # ---- connections
    def _accept(self) -> None:
        while not self._closed:
            try:
                connection, _ = self._server.accept()
            except OSError:  # perhaps the process has too many files open for the moment
                time.sleep(0.05)
                continue
            with self.changed:
                welcome = self._open < CONNECTIONS and self._unproven < UNPROVEN
                if welcome:
                    self._open, self._unproven = self._open + 1, self._unproven + 1
            try:
                if welcome:
                    threading.Thread(target=self._serve, args=(connection,), daemon=True, name="TCPStore").start()
                    continue
            except RuntimeError:  # the system gives no more threads
                self._leave(proved=False)
            connection.close()

    def _serve(self, connection: socket.socket) -> None:
        proved = False
        try:
            with connection:
                proved = self._knows_the_token(connection)
                if proved:
                    with self.changed:
                        self._unproven, self.connected = self._unproven - 1, self.connected + 1
                        self.changed.notify_all()
                    self._answer_requests(connection)
        except OSError:  # it is gone, or too slow
            pass
        finally:
            self._leave(proved)

    def _leave(self, proved: bool) -> None:
        with self.changed:
            self._open, self._unproven = self._open - 1, self._unproven - (not proved)

    def _knows_the_token(self, connection: socket.socket) -> bool:
        """Have the other side prove that it is of the job, and prove it to that side."""
        end = time.monotonic() + _PROVING
        connection.settimeout(_PROVING)
        mine = secrets.token_bytes(NONCE_BYTES)
        connection.sendall(GREETING + mine)
        theirs, given = exactly(connection, NONCE_BYTES, end), exactly(connection, PROOF_BYTES, end)
        if not proves(given, self._token, b"member", mine, theirs):
            connection.sendall(NOT_DONE)
            return False
        connection.sendall(DONE + proof(self._token, b"master", theirs, mine))
        connection.settimeout(None)
        return True

    # ---- requests
    def _answer_requests(self, connection: socket.socket) -> None:
        while True:
            what, key_length, length = REQUEST.unpack(exactly(connection, REQUEST.size))
            reason = None
            if what not in self._actions:
                reason = f"a request must be one of {b', '.join(self._actions).decode()}, but got {what!r}"
            elif key_length > KEY_BYTES or length > VALUE_BYTES:
                reason = too_long(key_length, length)
            if reason is not None:  # where the next request begins is not known any more
                _send(connection, REFUSED, f"{reason}.".encode())
                return
            key, value = exactly(connection, key_length), exactly(connection, length)
            try:
                status, answer = self._actions[what](key, value)
            except _Refused as error:
                status, answer = REFUSED, str(error).encode()
            _send(connection, status, answer)

    def _get(self, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        (wait,) = _numbers(WAIT, value)
        with self.changed:
            there = self.changed.wait_for(lambda: key in self.values, wait)
            return (DONE, self.values[key]) if there else (NOT_DONE, b"")

    def _wait_for_all(self, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        wait, count = _numbers(WAIT_AND_COUNT, value)
        with self.changed:
            return DONE if self.changed.wait_for(lambda: self.connected >= count, wait) else NOT_DONE, b""

    def _set(self, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        with self.changed:
            self._keep(key, value)
        return DONE, b""

    def _add(self, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        with self.changed:
            try:
                total = str(int(self.values.get(key, b"0")) + int(value)).encode()
            except ValueError:
                return NOT_DONE, b""
            self._keep(key, total)
        return DONE, total

    def _delete(self, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        with self.changed:
            found = self.values.pop(key, None)
            if found is not None:
                self._bytes -= len(key) + len(found)
        return DONE, b"0" if found is None else b"1"

    def _keep(self, key: bytes, value: bytes) -> None:
        """Give a key a value if there is room."""
        old = self.values.get(key)
        if old is None and len(self.values) >= KEYS:
            raise _Refused(f"the store must have at most {KEYS} keys; delete some (delete_key).")
        total = self._bytes + len(value) - len(old) if old is not None else self._bytes + len(key) + len(value)
        if total > TOTAL_BYTES:
            raise _Refused(f"keys and values must have at most {TOTAL_BYTES} bytes together, but got {total}.")
        self.values[key], self._bytes = value, total
        self.changed.notify_all()


def too_long(key_length: int, length: int) -> str | None:
    """Say what is wrong with the sizes of a key and a value; None if nothing is."""
    for name, found, most in (("key", key_length, KEY_BYTES), ("value", length, VALUE_BYTES)):
        if found > most:
            return f"'{name}' must have at most {most} bytes, but got {found}"
    return None


def _numbers(form: struct.Struct, value: bytes) -> tuple:
    """Unpack a number of seconds and what follows it."""
    if len(value) != form.size:
        raise _Refused(f"a wait must be written in {form.size} bytes, but got {len(value)}.")
    found = form.unpack(value)
    if not 0 <= found[0] <= LONGEST_WAIT:
        raise _Refused(f"a wait must be in [0, {LONGEST_WAIT:g}] seconds, but got {found[0]}.")
    return found


def _send(connection: socket.socket, status: bytes, value: bytes) -> None:
    connection.sendall(ANSWER.pack(status, len(value)) + value)
