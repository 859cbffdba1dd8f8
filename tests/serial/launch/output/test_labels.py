"""Lines with their ranks: order, and what is put together."""

import random

from dist_ms.launch.output.labels import Labels


def test_each_rank_s_lines_stay_in_order_and_none_is_lost():
    said = [[random.Random(7 * r).choice(["a", "b", "c"]) + "\n" for _ in range(50)] for r in range(3)]
    written = []
    labels = Labels(3, lambda target, line: written.append(line.decode()))
    places, chance = [0, 0, 0], random.Random(1)
    while any(place < 50 for place in places):
        rank = chance.choice([r for r in range(3) if places[r] < 50])
        labels.add(rank, 1, said[rank][places[rank]].encode())
        places[rank] += 1
    labels.flush(at_once=True)
    for rank in range(3):
        mine = [line.split("] ")[1] for line in written if rank in expand(line[1 : line.index("]")])]
        assert mine == said[rank]
    assert len(written) < 150


def expand(text):
    for part in text.split(","):
        first, _, last = part.partition("-")
        yield from range(int(first), int(last or first) + 1)


def test_lines_wait_a_moment_for_others(monkeypatch):
    now, written = [100.0], []
    monkeypatch.setattr("time.monotonic", lambda: now[0])
    labels = Labels(2, lambda target, line: written.append((target, line)))
    labels.add(0, 1, b"one\n")
    labels.add(0, 2, b"one\n")
    labels.add(1, 2, b"one\n")
    assert written == []
    now[0] += 0.2
    labels.flush()
    assert written == [(1, b"[0] one\n"), (2, b"[0-1] one\n")]
