"""Heartbeats of several ranks in one process, and of one that is stopped."""

import os
import signal
import socket
import subprocess
import sys
import time

import pytest

from dist_ms._ext.heartbeat import KEY_BYTES, Heartbeat
from dist_ms.communication.end.heartbeat import silence

KEY, EVERY, LIMIT = b"k" * KEY_BYTES, 0.02, 0.5


def hearts(count, key=KEY):
    found = [Heartbeat(rank, count, True) for rank in range(count)]
    for heart in found:
        heart.begin(key, [one.address for one in found], EVERY, LIMIT)
    time.sleep(5 * EVERY)
    return found


def until(condition, seconds=10):
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.005)


@pytest.mark.parametrize("count", [2, 3, 5])
def test_all_ranks_learn_of_one_that_is_silent(count):
    found = hearts(count)
    time.sleep(1.2 * LIMIT)
    assert [heart.lost for heart in found] == [None] * count
    found[1].end()
    others = [heart for rank, heart in enumerate(found) if rank != 1]
    until(lambda: all(heart.lost == 1 for heart in others))


def test_a_rank_that_beats_again_is_not_lost():
    found = hearts(3)
    found[1].end()
    until(lambda: found[0].lost == 1 and found[2].lost == 1)
    again = Heartbeat(1, 3, True)
    again.begin(KEY, [found[0].address, again.address, found[2].address], EVERY, LIMIT)
    until(lambda: found[0].lost is None and found[2].lost is None)


def test_a_rank_that_was_never_heard_is_not_lost():
    one = Heartbeat(0, 2, True)
    one.begin(KEY, [one.address, Heartbeat(1, 2, True).address], EVERY, LIMIT)
    time.sleep(1.5 * LIMIT)
    assert one.lost is None


def test_other_datagrams_are_not_believed():
    found = hearts(3)
    news = [2, 1, 2]  # that rank 2 is lost, from rank 1
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for key in (b"x" * KEY_BYTES, KEY[:-1] + b"x"):
            message = key + b"".join(number.to_bytes(4, sys.byteorder) for number in news)
            for wrong in (message, message[:-1], b"", message + b"more", os.urandom(2000)):
                sender.sendto(wrong, ("127.0.0.1", found[0].address[0]))
        time.sleep(5 * EVERY)
        assert found[0].lost is None
        right = KEY + b"".join(number.to_bytes(4, sys.byteorder) for number in news)
        sender.sendto(right, ("127.0.0.1", found[0].address[0]))
        until(lambda: found[0].lost == 2)
    until(lambda: found[0].lost is None)  # news is forgotten that nobody repeats


def test_who_was_stopped_itself_gives_the_others_time():
    code = f"""
import sys
from dist_ms._ext.heartbeat import Heartbeat
one = Heartbeat(0, 2, True)
print(one.address[0], flush=True)
peers = [one.address, (int(input()), one.address[1])]
one.begin({KEY!r}, peers, {EVERY}, {LIMIT})
print("begun", flush=True)
seen = set()
while "end" not in seen:
    seen.add(one.lost)
    if sys.stdin in __import__("select").select([sys.stdin], [], [], 0.001)[0]:
        seen.add("end")
print(seen - {{"end"}})
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1
    )
    try:
        other = Heartbeat(1, 2, True)
        address = (int(child.stdout.readline()), other.address[1])
        child.stdin.write(f"{other.address[0]}\n")
        assert child.stdout.readline() == "begun\n"
        other.begin(KEY, [address, other.address], EVERY, LIMIT)
        time.sleep(10 * EVERY)
        other.end()
        os.kill(child.pid, signal.SIGSTOP)
        time.sleep(1.5 * LIMIT)
        os.kill(child.pid, signal.SIGCONT)
        time.sleep(0.3 * LIMIT)
        again = Heartbeat(1, 2, True)
        again.begin(KEY, [address, again.address], EVERY, LIMIT)
        time.sleep(1.5 * LIMIT)
        child.stdin.write("end\n")
        assert child.stdout.readline() == "{None}\n"
    finally:
        child.kill()
        child.communicate()


def test_a_forked_child_ends_without_its_parents_thread():
    found = hearts(2)
    child = os.fork()
    if child == 0:
        found[0].end()
        del found
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    time.sleep(1.2 * LIMIT)
    assert [heart.lost for heart in found] == [None, None]


@pytest.mark.parametrize("text", ["-1", "0.5", "nan", "inf", "x", ""])
def test_the_variable(text):
    with pytest.raises(ValueError, match="DIST_MS_HEARTBEAT must be 1 second or more, 0 for no heartbeat, but got"):
        silence({"DIST_MS_HEARTBEAT": text})
    assert silence({"DIST_MS_HEARTBEAT": "0"}) == 0


def test_what_it_needs():
    heart = Heartbeat(0, 2, True)
    for key, peers in ((b"short", [heart.address] * 2), (KEY, [heart.address])):
        with pytest.raises(ValueError, match="16 bytes and 2 addresses"):
            heart.begin(key, peers, EVERY, LIMIT)
