"""`dist_ms._ext.board`: several ranks in one process, driven in any order, one step at a time."""

import numpy as np
import pytest

from dist_ms._ext.board import DIFFER, DONE, REDUCED, WAITING, Board, board_bytes
from dist_ms._ext.reduce import KINDS, OPS

SMALL, CHUNK = 256, 1024
FLOAT, SUM = KINDS["float32"], OPS["sum"]


def boards(size):
    memory = np.full(board_bytes(size, SMALL, CHUNK) + 64, 255, np.uint8)
    return [Board(memory, rank, size, SMALL, CHUNK) for rank in range(size)]


def blocks(ranks, length):
    """Give the boards a block; return each rank's part of it."""
    stride = 4 * length + 128
    memory = np.zeros(len(ranks) * stride, np.uint8)
    for board in ranks:
        board.add_block(memory, stride, stride)
    return [memory[r * stride : r * stride + 4 * length].view(np.float32) for r in range(len(ranks))]


def flat(array):
    return array.reshape(-1).view(np.uint8)


def drive(rng, queues):
    """Let ranks go on in random order until all exchanges are done; each drives its own in order."""
    for _ in range(100_000):
        rank = rng.integers(len(queues))
        for exchange in queues[rank]:
            exchange.advance(0)
        if all(e.advance(0) == DONE for queue in queues for e in queue):
            return
    raise AssertionError("the exchanges do not end")


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_any_order_of_steps_gives_the_same(size, seed):
    rng = np.random.default_rng(seed)
    ranks = boards(size)
    arrays, queues = [[] for _ in ranks], [[] for _ in ranks]
    for count in rng.choice([0, 1, 5, 64, 65, 300, 1000, 5000], 12):
        shared = blocks(ranks, count) if rng.random() < 0.5 else [np.empty(count, np.float32) for _ in ranks]
        for rank, array in enumerate(shared):
            array[:] = np.arange(count) + 10 * rank
            arrays[rank].append(array)
    for rank, board in enumerate(ranks):
        for i, array in enumerate(arrays[rank]):
            queues[rank].append(board.reduction(array, FLOAT, SUM, 0.5, i))
            queues[rank].append(board.meeting(100 + i))
    drive(rng, queues)
    for group in zip(*arrays, strict=True):
        want = (size * np.arange(len(group[0])) + 10 * sum(range(size))) * 0.5
        for array in group:
            assert (array == want).all()


@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.parametrize("seed", range(5))
def test_movements_among_reductions_in_any_order(size, seed):
    rng = np.random.default_rng(seed)
    ranks = boards(size)
    queues, checks = [[] for _ in ranks], []
    for mark, length in enumerate(rng.choice([0, 1, 3, 50, 64, 300, 1000, 5000], 12)):
        kind = ("gather", "parts", "broadcast", "scatter", "reduce", "reduction")[rng.integers(6)]
        root = int(rng.integers(size))
        parts = kind in ("parts", "scatter", "reduce")
        shape = (size, length) if parts else (length,)
        sent = [rng.integers(0, 1000, shape).astype(np.float32) for _ in ranks]
        if kind == "reduction":
            outs, wants = [np.empty_like(x) for x in sent], [sum(sent)] * size
        elif kind in ("gather", "parts"):
            outs = [np.empty((size, length), np.float32) for _ in ranks]
            wants = [np.stack([x[r] if parts else x for x in sent]) for r in range(size)]
        else:
            outs = [np.empty(length, np.float32) for _ in ranks]
            wants = [
                sum(x[r] for x in sent) if kind == "reduce" else sent[root][r] if parts else sent[root]
                for r in range(size)
            ]
        sender = root if kind in ("broadcast", "scatter") else -1
        for rank, board in enumerate(ranks):
            if kind == "reduction":
                exchange = board.reduction(outs[rank], FLOAT, SUM, 1, mark, 0, False, sent[rank])
            else:
                source = flat(sent[rank]) if sender in (-1, rank) else None
                exchange = board.movement(
                    source, flat(outs[rank]), 4 * length, mark, parts, sender, FLOAT if kind == "reduce" else -1, SUM
                )
            queues[rank].append(exchange)
        checks.append((kind, [x.copy() for x in sent], sent, outs, wants))
    drive(rng, queues)
    for kind, before, sent, outs, wants in checks:
        for out, want in zip(outs, wants, strict=True):
            np.testing.assert_array_equal(out, want, kind)
        for was, source in zip(before, sent, strict=True):
            np.testing.assert_array_equal(was, source, kind)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_direct_movements(size):
    ranks = boards(size)
    assert all(b.reads_others() for b in ranks)
    for board in ranks:
        board.read_directly(True)
    rng, length = np.random.default_rng(size), 600_001
    sent = [rng.integers(0, 256, (size, length), np.uint8) for _ in ranks]
    came = [np.empty((size, length), np.uint8) for _ in ranks]
    for parts, sender in ((True, -1), (False, -1), (True, size - 1), (False, size - 1)):
        outs = [flat(x) if sender < 0 else x[0] for x in came]
        exchanges = [
            [b.movement(flat(s) if parts else s[0], out, length, 1, parts, sender)]
            for b, s, out in zip(ranks, sent, outs, strict=True)
        ]
        drive(rng, exchanges)
        for rank, array in enumerate(came):
            want = [s[rank] if parts else s[0] for s in sent]
            if sender < 0:
                assert (array == np.stack(want)).all()
            else:
                assert (array[0] == want[sender]).all()


def test_a_broadcast_of_what_is_there_already():
    ranks = boards(3)
    arrays = [np.full(5000, rank, np.uint8) for rank in range(3)]
    drive(
        np.random.default_rng(0),
        [[b.movement(a, a, 5000, 1, False, 2)] for b, a in zip(ranks, arrays, strict=True)],
    )
    assert all((a == 2).all() for a in arrays)


def test_those_before_another_mark_end_well():
    ranks = boards(2)
    arrays = blocks(ranks, 1000)
    for array in arrays:
        array[:] = 1
    held = [b.reduction(a, FLOAT, SUM, 1, 1, 0, True) for b, a in zip(ranks, arrays, strict=True)]
    after = [b.meeting(2 + i) for i, b in enumerate(ranks)]
    for _ in range(3):
        assert [e.advance(0) for e in held][-1] in (WAITING, REDUCED)
        [e.advance(0) for e in after]
    for e in held:
        e.release()
    drive(np.random.default_rng(0), [[e] for e in held])
    assert [e.advance(0) for e in after] == [DIFFER] * 2
    assert all((a == 2).all() for a in arrays)


def test_nobody_leaves_before_all_have_come():
    ranks = boards(3)
    waiting = [ranks[0].meeting(5), ranks[1].meeting(5)]
    assert [e.advance(0) for e in waiting] == [WAITING, WAITING]
    assert waiting[0].advance(0.01) == WAITING
    last = ranks[2].meeting(5)
    assert last.advance(0) == DONE
    assert [e.advance(0) for e in waiting] == [DONE, DONE]


def test_another_mark_is_seen_by_all_and_the_next_exchange_works():
    ranks = boards(3)
    for first in (lambda b: b.meeting(1), lambda b: b.reduction(np.ones(2000, np.float32), FLOAT, SUM, 1, 1)):
        exchanges = [first(ranks[0]), ranks[1].meeting(2), ranks[2].meeting(2)]
        for e in exchanges:
            e.advance(0)
        assert [e.advance(0) for e in exchanges] == [DIFFER] * 3
        arrays = [np.full(3000, 1, np.float32) for _ in ranks]
        drive(
            np.random.default_rng(0),
            [[b.reduction(a, FLOAT, SUM, 1, 9)] for b, a in zip(ranks, arrays, strict=True)],
        )
        assert all((a == 3).all() for a in arrays)


def test_other_places_in_shared_memory_differ():
    ranks = boards(2)
    parts = blocks(ranks, 1000)
    exchanges = [ranks[r].reduction(parts[r][r : r + 900], FLOAT, SUM, 1, 1) for r in range(2)]
    for e in exchanges:
        e.advance(0)
    assert [e.advance(0) for e in exchanges] == [DIFFER] * 2


@pytest.mark.parametrize("parts", [1, 2, 3])
def test_a_held_reduction_waits_for_its_release(parts):
    ranks = boards(3)
    arrays = blocks(ranks, 1000)
    for rank, array in enumerate(arrays):
        array[:] = np.arange(1000) + rank
    held = [b.reduction(a, FLOAT, SUM, 0.5, 1, parts, True) for b, a in zip(ranks, arrays, strict=True)]
    for e in held:
        e.advance(0)
    assert [e.advance(0) for e in held] == [REDUCED] * 3
    covered = []
    for rank, e in enumerate(held):
        start, stop = e.part
        covered.extend(range(start, stop))
        assert (arrays[rank][start:stop] == 3 * np.arange(start, stop) + 3).all()
        arrays[rank][start:stop] += 1  # what another machine has
        e.release()
    assert covered == list(range(1000))
    drive(np.random.default_rng(1), [[e] for e in held])
    for array in arrays:
        assert (array == (3 * np.arange(1000) + 4) * 0.5).all()


def test_what_is_wrong_is_named():
    memory = np.zeros(100, np.uint8)
    with pytest.raises(ValueError, match="'memory' must have"):
        Board(memory, 0, 2, SMALL, CHUNK)
    with pytest.raises(ValueError, match=r"'rank' must be in \[0, 1\], but got 2"):
        Board(memory, 2, 2, SMALL, CHUNK)
    with pytest.raises(ValueError, match="positive multiples of 64"):
        Board(memory, 0, 2, 100, CHUNK)
    with pytest.raises(TypeError, match="contiguous array of uint8"):
        Board(np.zeros(100), 0, 2, SMALL, CHUNK)
    board = boards(1)[0]
    with pytest.raises(ValueError, match="with elements of 4 bytes"):
        board.reduction(np.ones(3), FLOAT, SUM, 1, 0)
    with pytest.raises(ValueError, match="must be C-contiguous"):
        board.reduction(np.ones((3, 4), np.float32).T, FLOAT, SUM, 1, 0)
    with pytest.raises(ValueError, match="must lie in shared memory"):
        board.reduction(np.ones(3, np.float32), FLOAT, SUM, 1, 0, 0, True)
    with pytest.raises(ValueError, match="'parts' must be at most 1, but got 2"):
        board.reduction(np.ones(3, np.float32), FLOAT, SUM, 1, 0, 2)
    with pytest.raises(ValueError, match="'source' must be C-contiguous, of 12 bytes, but got 8"):
        board.reduction(np.ones(3, np.float32), FLOAT, SUM, 1, 0, 0, False, np.ones(2, np.float32))
    with pytest.raises(ValueError, match="'source' must be C-contiguous, of 8 bytes, but got 4"):
        board.movement(np.zeros(4, np.uint8), np.zeros(8, np.uint8), 8, 0)
    with pytest.raises(ValueError, match="'out' must be C-contiguous, of 8 bytes, but got 4"):
        board.movement(np.zeros(8, np.uint8), np.zeros(4, np.uint8), 8, 0)
    with pytest.raises(ValueError, match="'source' must have 8 bytes, but got None"):
        board.movement(None, np.zeros(8, np.uint8), 8, 0)
    with pytest.raises(ValueError, match="must be whole elements, but got 6 bytes"):
        board.movement(np.zeros(6, np.uint8), np.zeros(6, np.uint8), 6, 0, True, -1, FLOAT, SUM)
    with pytest.raises(ValueError, match="is too small"):
        board.add_block(np.zeros(10, np.uint8), 16, 16)
    assert WAITING == 0
