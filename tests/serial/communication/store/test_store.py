"""TCPStore: values over TCP, between threads that stand for processes; every wait ends."""

import datetime
import threading
import time

import pytest

from dist_ms.mint.distributed import TCPStore
from dist_ms.ops.communication import TCPStore as same_store

SHORT = datetime.timedelta(seconds=0.3)


def master(**options):
    return TCPStore("127.0.0.1", 0, is_master=True, **options)


def worker(store, **options):
    return TCPStore("127.0.0.1", store.port, **options)


def test_values_are_shared():
    store = master()
    other = worker(store)
    store.set("a", "text")
    other.set("b", b"\x00\xff" * 50000)
    assert other.get("a") == b"text" and store.get("b") == b"\x00\xff" * 50000 and TCPStore is same_store
    assert (store.add("n", 2), other.add("n", -5), store.get("n")) == (2, -3, b"-3")
    assert other.delete_key("a") is True and store.delete_key("a") is False


def test_get_waits_for_the_value():
    store = master()
    other = worker(store)
    threading.Timer(0.2, lambda: store.set("late", "x")).start()
    began = time.monotonic()
    assert other.get("late") == b"x" and time.monotonic() - began > 0.1


def test_sums_of_many_processes_miss_nothing():
    store = master()

    def count():
        mine = worker(store)
        for _ in range(50):
            mine.add("n", 1)

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert store.get("n") == b"200"


def test_waits_end():
    store = master()
    with pytest.raises(RuntimeError, match="'none' has no value after 0.3 s"):
        worker(store, timeout=SHORT).get("none")
    with pytest.raises(RuntimeError, match="2 processes must connect within 0.3 s, but got 1"):
        master(world_size=2, timeout=SHORT)
    with pytest.raises(RuntimeError, match="no master answers"):
        TCPStore("127.0.0.1", 1, timeout=SHORT)
    assert master(world_size=2, timeout=SHORT, wait_for_workers=False).add("n", 1) == 1


def test_the_master_waits_for_all():
    import socket

    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    found = []
    late = threading.Timer(0.2, lambda: found.append(TCPStore("127.0.0.1", port)))
    late.start()
    store = TCPStore("127.0.0.1", port, world_size=2, is_master=True, timeout=datetime.timedelta(seconds=10))
    late.join(10)
    found[0].set("here", "yes")
    assert store.get("here") == b"yes"


def test_a_master_that_is_gone():
    store = master()
    other = worker(store, timeout=SHORT)
    store._master.close()
    other._connection.close()
    with pytest.raises(RuntimeError, match="is gone"):
        other.get("a")


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda s: s.set(1, "a"), TypeError),
        (lambda s: s.set("a", 2), TypeError),
        (lambda s: s.get(1), TypeError),
        (lambda s: s.add("a", "1"), TypeError),
        (lambda s: s.delete_key(1), TypeError),
        (lambda s: (s.set("a", "x"), s.add("a", 1)), RuntimeError),
        (lambda s: TCPStore("127.0.0.1", 70000), ValueError),
        (lambda s: TCPStore(1, 0), TypeError),
        (lambda s: TCPStore("127.0.0.1", 0, timeout=3), TypeError),
        (lambda s: TCPStore("127.0.0.1", 0, is_master=1), TypeError),
    ],
)
def test_errors(call, error):
    with pytest.raises(error, match="TCPStore"):
        call(master())
