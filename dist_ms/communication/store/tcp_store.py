"""TCPStore: a few keys and values that processes share over TCP, without MPI."""

from __future__ import annotations

import datetime
import ipaddress
import secrets
import socket
import threading
import time
from typing import Any

from dist_ms.communication.start.launched import launched_local, launched_size
from dist_ms.communication.store.job_token import VARIABLE, job_token
from dist_ms.communication.store.master import (
    ANSWER,
    DONE,
    GREETING,
    LONGEST_WAIT,
    NONCE_BYTES,
    REFUSED,
    REQUEST,
    VALUE_BYTES,
    WAIT,
    WAIT_AND_COUNT,
    Master,
    exactly,
    too_long,
)
from dist_ms.communication.store.proof import PROOF_BYTES, proof, proves
from dist_ms.communication.world import current

__all__ = ["TCPStore"]


class _OtherToken(Exception):
    """The other side does not know this job's token."""


class TCPStore:
    """Keys and values that the processes of a job share.

    The processes prove to each other that they know the job's token: ranks do after `dist-ms run` or `init()`,
    child processes inherit it, and others are given the environment variable DIST_MS_JOB_TOKEN. The master
    listens at one interface: at that of `host_name`, and if all ranks are on one machine at its loopback.

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
        ValueError: if the port is out of range, or the master's host stands for all interfaces.
        RuntimeError: if the master can not be reached in time, is of another job, or not all processes come.

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
        self._seconds = min(max(timeout.total_seconds(), 0.0), LONGEST_WAIT)
        self._lock = threading.Lock()
        self.host, self._address = host_name, host_name
        self._master = self._listen(port) if is_master else None
        self.port = self._master.port if self._master else port
        if not is_master:
            self._address = _reached(host_name)
        self._connection = self._connect()
        if world_size is not None and wait_for_workers and is_master:
            assert self._master is not None
            if self._ask(b"w", b"", WAIT_AND_COUNT.pack(self._seconds, world_size))[0] != DONE:
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

    def _listen(self, port: int) -> Master:
        """Keep the values at one interface."""
        try:
            self._address, family = _interface(self.host)
            return Master(self._address, family, port, job_token())
        except OSError as error:
            raise RuntimeError(f"For 'TCPStore', the master can not listen at {self.host}:{port}: {error}.") from None

    def _connect(self) -> socket.socket:
        """A connection to the master, which may start later."""
        end = time.monotonic() + self._seconds
        while True:
            left = max(end - time.monotonic(), 0.1)
            connection = None
            try:
                connection = socket.create_connection((self._address, self.port), left)
                self._introduce(connection, time.monotonic() + left)
            except (OSError, _OtherToken) as error:
                if connection is not None:
                    connection.close()
                if isinstance(error, _OtherToken):
                    raise RuntimeError(
                        f"For 'TCPStore', {self.host}:{self.port} must be the master of this job, but {error}. Ranks "
                        "of one job know each other after 'dist-ms run' or init(); give other processes the same "
                        f"{VARIABLE}."
                    ) from None
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

    def _introduce(self, connection: socket.socket, end: float) -> None:
        """Prove that this process is of the job, and have the master prove it."""
        if exactly(connection, len(GREETING), end) != GREETING:
            raise _OtherToken("what listens there is none")
        theirs, mine = exactly(connection, NONCE_BYTES, end), secrets.token_bytes(NONCE_BYTES)
        connection.sendall(mine + proof(job_token(), b"member", theirs, mine))
        if exactly(connection, 1, end) != DONE:
            raise _OtherToken("it has another token")
        if not proves(exactly(connection, PROOF_BYTES, end), job_token(), b"master", mine, theirs):
            raise _OtherToken("it does not know the token")

    def _ask(self, what: bytes, key: bytes, value: bytes) -> tuple[bytes, bytes]:
        wrong = too_long(len(key), len(value))
        if wrong is not None:
            raise ValueError(f"For 'TCPStore', {wrong}.")
        with self._lock:
            try:
                self._connection.sendall(REQUEST.pack(what, len(key), len(value)) + key + value)
                status, length = ANSWER.unpack(exactly(self._connection, ANSWER.size))
                if length > VALUE_BYTES:
                    raise ConnectionError(f"it sends a value of {length} bytes")
                answer = exactly(self._connection, length)
            except OSError as error:
                raise RuntimeError(f"For 'TCPStore', the master at {self.host}:{self.port} is gone: {error}.") from None
        if status == REFUSED:
            raise RuntimeError(f"For 'TCPStore', {answer.decode(errors='replace')}")
        return status, answer

    def set(self, key: str, value: str | bytes) -> None:
        """Give a key a value.

        Raises:
            TypeError: if the key is no str, or the value neither str nor bytes.
            ValueError: if one is too long: a key may have 64 KiB, a value 64 MiB.
            RuntimeError: if the store is full.
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
        status, value = self._ask(b"g", key.encode(), WAIT.pack(self._seconds))
        if status != DONE:
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
        if status != DONE:
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
        master = getattr(self, "_master", None)
        if master is not None:
            master.close()


def _on_one_machine() -> bool:
    """Whether this process is one of several ranks, which all are on this machine."""
    world = current()
    if world is not None:
        return len(world.nodes) > 1 and len(set(world.nodes)) == 1
    size = launched_size()
    return size is not None and size[1] > 1 and launched_local()[1] == size[1]


def _resolved(host: str) -> tuple[str, socket.AddressFamily]:
    """Return a host's address and its family; IPv4 where it has both.

    Raises:
        OSError: if it has none.
    """
    found = socket.getaddrinfo(host or "0.0.0.0", None, type=socket.SOCK_STREAM)
    family, _, _, _, where = min(found, key=lambda one: one[0] != socket.AF_INET)
    return str(where[0]), family


def _is_here(host: str) -> bool:
    """Whether a host is this machine: only its own addresses can be bound."""
    try:
        address, family = _resolved(host)
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((address, 0))
    except OSError:
        return False
    return True


def _interface(host: str) -> tuple[str, socket.AddressFamily]:
    """Return the address at which a master listens, and its family.

    Raises:
        OSError: if the host has no address.
        ValueError: if it stands for all interfaces, and nothing tells which one the job uses.
    """
    address, family = _resolved(host)
    if _on_one_machine() and _is_here(host):
        return _loopback(family)
    if ipaddress.ip_address(address).is_unspecified:
        raise ValueError(
            "For 'TCPStore', 'host_name' must be the address of one interface, by which the job's processes reach the "
            f"master, but got {host!r}, which stands for all of them."
        )
    return address, family


def _reached(host: str) -> str:
    """Return where the master on a host is reached."""
    return _loopback(_resolved(host)[1])[0] if _on_one_machine() and _is_here(host) else host


def _loopback(family: socket.AddressFamily) -> tuple[str, socket.AddressFamily]:
    return ("127.0.0.1" if family == socket.AF_INET else "::1"), family
