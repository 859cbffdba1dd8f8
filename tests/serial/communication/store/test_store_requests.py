"""TCPStore against requests that no store sends: answered or dropped, and everyone else is served as before."""

import contextlib
import datetime
import re
import socket
import struct
import threading
import time

import numpy as np
import pytest

from dist_ms.communication.store import master as master_file
from dist_ms.communication.store import tcp_store as store_file
from dist_ms.communication.store.job_token import job_token
from dist_ms.communication.store.proof import proof
from dist_ms.communication.world import World
from dist_ms.mint.distributed import TCPStore

SHORT = datetime.timedelta(seconds=0.5)
INFINITE, NEGATIVE, NOT_A_NUMBER = (struct.pack("!d", x) for x in (float("inf"), -1.0, float("nan")))


@pytest.fixture
def store():
    return TCPStore("127.0.0.1", 0, is_master=True)


def dial(store):
    """A connection that has shown nothing yet, and the master's number."""
    connection = socket.create_connection(("127.0.0.1", store.port), 10)
    greeting = master_file.exactly(connection, len(master_file.GREETING) + master_file.NONCE_BYTES)
    return connection, greeting[len(master_file.GREETING) :]


def member(store):
    """A connection that has proved itself."""
    connection, theirs = dial(store)
    mine = bytes(master_file.NONCE_BYTES)
    connection.sendall(mine + proof(job_token(), b"member", theirs, mine))
    assert master_file.exactly(connection, 1) == master_file.DONE
    master_file.exactly(connection, master_file.PROOF_BYTES)
    return connection


def ask(connection, what, key=b"", value=b"", lengths=None):
    """Send a request; the answer's status and text."""
    connection.sendall(struct.pack("!cII", what, *(lengths or (len(key), len(value)))) + key + value)
    status, length = struct.unpack("!cI", master_file.exactly(connection, 5))
    return status, master_file.exactly(connection, length).decode()


def is_dropped(connection):
    """Whether the other side has closed."""
    connection.settimeout(10)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True


def eventually(true):
    end = time.monotonic() + 10
    while not true():
        assert time.monotonic() < end
        time.sleep(0.01)


@pytest.mark.parametrize(
    "what, value, text",
    [
        (b"g", b"", "a wait must be written in 8 bytes, but got 0"),
        (b"g", b"1234567", "in 8 bytes, but got 7"),
        (b"w", b"12345678", "in 12 bytes, but got 8"),
        (b"g", NOT_A_NUMBER, r"a wait must be in \[0, 1e\+08\] seconds, but got nan"),
        (b"g", INFINITE, "but got inf"),
        (b"g", NEGATIVE, "but got -1.0"),
    ],
)
def test_a_wrong_request_is_answered_and_the_next_one_too(store, what, value, text):
    with member(store) as connection:
        status, answer = ask(connection, what, b"key", value)
        assert status == b"!" and re.search(text, answer), answer
        assert ask(connection, b"s", b"key", b"value") == (b"+", "")
    assert store.get("key") == b"value"


@pytest.mark.parametrize(
    "what, lengths, text",
    [
        (b"x", (0, 0), "must be one of s, g, a, d, w, but got b'x'"),
        (b"s", (65537, 0), "'key' must have at most 65536 bytes, but got 65537"),
        (b"s", (0, 2**32 - 1), "'value' must have at most 67108864 bytes, but got 4294967295"),
    ],
)
def test_after_what_cannot_be_followed_the_connection_ends(store, what, lengths, text):
    with member(store) as connection:
        status, answer = ask(connection, what, lengths=lengths)
        assert status == b"!" and text in answer
        assert is_dropped(connection)
    assert store.add("n", 1) == 1 and store._master.values == {b"n": b"1"}


@pytest.mark.parametrize("digits", [b"", b"one", b"\xff", b"9" * 5000])
def test_what_is_no_number_is_not_added(store, digits):
    with member(store) as connection:
        assert ask(connection, b"a", b"n", digits)[0] == b"-"
    assert store.add("n", 1) == 1


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("proved", [False, True])
def test_random_bytes_change_nothing(store, seed, proved):
    random = np.random.default_rng(seed)
    store.set("kept", "here")
    for _ in range(60):
        connection = member(store) if proved else dial(store)[0]
        data = random.bytes(random.integers(0, 300))
        if proved and random.random() < 0.5:  # a request with one thing wrong; "s" would be right
            lengths = struct.pack("!II", *random.integers(0, 40, 2))
            data = random.choice([b"g", b"a", b"d", b"w", b"?"]).item() + lengths + data
        with connection, contextlib.suppress(OSError):
            connection.sendall(data)
            if random.random() < 0.5:
                connection.shutdown(socket.SHUT_WR)
                connection.settimeout(0.02)
                connection.recv(100)
    assert store.get("kept") == b"here" and store.add("n", 3) == 3
    assert set(store._master.values) == {b"kept", b"n"}


def test_who_does_not_know_the_token_is_refused(store, monkeypatch):
    eventually(lambda: store._master.connected == 1)
    monkeypatch.setenv("DIST_MS_JOB_TOKEN", "of another job")
    with pytest.raises(RuntimeError, match=r"must be the master of this job, but it has another token.*JOB_TOKEN"):
        TCPStore("127.0.0.1", store.port)
    assert store._master.connected == 1


@pytest.mark.parametrize("answer", [bytes(33), b"+" + bytes(32), b"-"])
def test_a_right_proof_of_one_is_no_proof_of_another(store, answer):
    with dial(store)[0] as connection:
        connection.sendall(bytes(16) + proof(job_token(), b"member", bytes(16), bytes(16)))
        assert master_file.exactly(connection, 1) == b"-" and is_dropped(connection)

    def pretend():
        with listener, listener.accept()[0] as taken:
            taken.sendall(master_file.GREETING + bytes(16))
            master_file.exactly(taken, 48)
            taken.sendall(answer)

    listener = socket.create_server(("127.0.0.1", 0))
    port = listener.getsockname()[1]
    thread = threading.Thread(target=pretend)
    thread.start()
    with pytest.raises(RuntimeError, match="must be the master of this job, but it "):
        TCPStore("127.0.0.1", port, timeout=SHORT)
    thread.join(10)


def test_another_program_at_the_port_is_no_master():
    def greet():
        with listener.accept()[0] as taken:
            taken.sendall(b"220 mail at your service\r\n")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=greet)
        thread.start()
        with pytest.raises(RuntimeError, match="must be the master of this job, but what listens there is none"):
            TCPStore("127.0.0.1", listener.getsockname()[1])
        thread.join(10)


def test_the_silent_are_dropped_and_keep_nobody_out(monkeypatch):
    monkeypatch.setattr(master_file, "UNPROVEN", 3)
    monkeypatch.setattr(master_file, "_PROVING", 2.0)
    store = TCPStore("127.0.0.1", 0, is_master=True)
    assert store.add("n", 1) == 1  # its own connection has shown who it is
    silent = [dial(store)[0] for _ in range(3)]
    with socket.create_connection(("127.0.0.1", store.port), 10) as fourth:
        assert is_dropped(fourth)
    late = TCPStore("127.0.0.1", store.port, timeout=datetime.timedelta(seconds=10))  # tries until there is room
    assert late.add("n", 1) == 2
    assert all(is_dropped(connection) for connection in silent)
    for connection in silent:
        connection.close()
    eventually(lambda: store._master._unproven == 0)


def test_there_are_so_many_connections(monkeypatch):
    monkeypatch.setattr(master_file, "CONNECTIONS", 2)
    store = TCPStore("127.0.0.1", 0, is_master=True)
    second = TCPStore("127.0.0.1", store.port)
    with pytest.raises(RuntimeError, match="no master answers"):
        TCPStore("127.0.0.1", store.port, timeout=SHORT)
    second._connection.close()
    assert TCPStore("127.0.0.1", store.port).add("n", 1) == 1


def test_sizes_are_limited(store, monkeypatch):
    monkeypatch.setattr(master_file, "KEY_BYTES", 10)
    monkeypatch.setattr(master_file, "VALUE_BYTES", 100)
    with pytest.raises(ValueError, match="'key' must have at most 10 bytes, but got 11"):
        store.set("k" * 11, "")
    with pytest.raises(ValueError, match="'value' must have at most 100 bytes, but got 101"):
        store.set("k", b"v" * 101)
    store.set("k" * 10, b"v" * 100)
    assert store.get("k" * 10) == b"v" * 100


def test_room_is_limited(store, monkeypatch):
    monkeypatch.setattr(master_file, "KEYS", 2)
    monkeypatch.setattr(master_file, "TOTAL_BYTES", 20)
    store.set("a", "1234")
    store.add("b", 5)
    with pytest.raises(RuntimeError, match="the store must have at most 2 keys"):
        store.set("c", "")
    with pytest.raises(RuntimeError, match="at most 20 bytes together, but got 21"):
        store.set("a", "x" * 18)
    store.set("a", "x" * 17)  # 1 + 17 and 1 + 1
    assert store.delete_key("a") and store.delete_key("b")
    store.set("c", "x" * 19)
    assert store.get("c") == b"x" * 19


def on_machines(monkeypatch, *nodes):
    monkeypatch.setattr(store_file, "current", lambda: World(None, nodes))


@pytest.mark.parametrize("host", ["0.0.0.0", "", "::"])
def test_a_master_listens_at_one_interface(monkeypatch, host):
    for nodes in ((0,), (0, 1)):
        on_machines(monkeypatch, *nodes)
        with pytest.raises(ValueError, match="'host_name' must be the address of one interface"):
            TCPStore(host, 0, is_master=True)
    on_machines(monkeypatch, 0, 0)
    store = TCPStore(host, 0, is_master=True, timeout=SHORT)
    assert store._master._server.getsockname()[0] in ("127.0.0.1", "::1")
    assert TCPStore(host, store.port).add("n", 1) == 1


def test_ranks_of_one_machine_use_its_loopback(monkeypatch):
    # Loopback has many addresses; this one stands for an interface that others reach.
    for nodes, address in (((0, 1), "127.0.0.9"), ((0, 0), "127.0.0.1")):
        on_machines(monkeypatch, *nodes)
        store = TCPStore("127.0.0.9", 0, is_master=True)
        assert store._master._server.getsockname()[0] == address
        assert TCPStore("127.0.0.9", store.port).add("n", 1) == 1


def test_before_init_the_launcher_tells_how_many_machines_there_are(monkeypatch):
    monkeypatch.setattr(store_file, "current", lambda: None)
    monkeypatch.setattr(store_file, "launched_size", lambda: ("SIZE", 4))
    for local, address in ((2, "127.0.0.9"), (4, "127.0.0.1")):
        monkeypatch.setattr(store_file, "launched_local", lambda local=local: (0, local))
        store = TCPStore("127.0.0.9", 0, is_master=True)
        assert store._master._server.getsockname()[0] == address


def test_a_host_of_others_is_refused():
    with pytest.raises(RuntimeError, match=r"the master can not listen at 192\.0\.2\.1:0"):
        TCPStore("192.0.2.1", 0, is_master=True)


def test_a_store_that_is_gone_listens_no_more():
    store = TCPStore("127.0.0.1", 0, is_master=True)
    port = store.port
    store._master.close()
    with pytest.raises(RuntimeError, match="no master answers"):
        TCPStore("127.0.0.1", port, timeout=SHORT)
