"""Pipelines drawn at random: what they give does not depend on workers, and goes on where it stood.

DIST_MS_DRAWN_PIPELINES says how many are drawn (24), DIST_MS_DRAWN_FROM which is the first (0).
"""

import json
import os
import random
from collections import Counter

import numpy as np
import pytest

import dist_ms.dataset as ds
from dist_ms.dataset import draws
from dist_ms.mindrecord import FileWriter

FIRST = int(os.environ.get("DIST_MS_DRAWN_FROM", "0"))
COUNT = int(os.environ.get("DIST_MS_DRAWN_PIPELINES", "24"))


class Rows:
    """Rows that any worker can read."""

    def __init__(self, first, count):
        self.first, self.count = first, count

    def __len__(self):
        return self.count

    def __getitem__(self, i):
        if not 0 <= i < self.count:
            raise IndexError(i)
        return (np.int64(self.first + i),)


class InTurn:
    """Rows that are read in turn."""

    def __init__(self, first, count):
        self.first, self.count = first, count

    def __iter__(self):
        return iter([(np.int64(self.first + i),) for i in range(self.count)])


def jittered(x):
    return x * 1000 + draws.generator().integers(0, 1000)


def negated(x):
    return -x


def sometimes(x):
    return bool((x // 3).sum() % 3)


def in_columns(x, info):
    return [v * 2 + info.get_batch_num() for v in x]


class Drawn:
    """One drawn pipeline, which can be built for any workers and shards."""

    def __init__(self, seed, folder):
        self.seed, self.folder = seed, folder
        draw = random.Random(seed)
        self.sources = [(draw.choice(["slices", "rows", "turns", "records"]), draw.randint(1, 40), draw.random() < 0.6)]
        self.stages = []
        batched = False
        for _ in range(draw.randint(0, 5)):
            kind = draw.choice(["shuffle", "map", "map", "batch", "repeat", "skip", "take", "filter", "concat", "zip"])
            if batched and kind in ("batch", "concat", "zip"):
                continue
            batched = batched or kind == "batch"
            number = draw.randint(1, 3) if kind == "repeat" else draw.randint(1, 9)
            self.stages.append((kind, number, draw.random() < 0.5))
            if kind in ("concat", "zip"):
                self.sources.append((draw.choice(["slices", "rows"]), draw.randint(1, 40), draw.random() < 0.6))
        self.epoch, self.part = draw.randint(0, 1), draw.random()
        self.workers, self.others = draw.choice([1, 2, 4]), draw.choice([1, 2, 4])
        self.processes = draw.random() < 0.1
        self.shards = draw.randint(2, 3)

    def source(self, which, column, workers, processes, shards):
        kind, count, shuffle = self.sources[which]
        first = 100 * which
        options = {"shuffle": shuffle, **shards}
        if kind == "slices":
            numbers = np.arange(first, first + count)
            return ds.NumpySlicesDataset(numbers, [column], num_parallel_workers=workers, **options)
        if kind == "records":
            path = self.folder / f"{count}.mindrecord"
            if not path.exists():
                writer = FileWriter(str(path))
                writer.add_schema({"x": {"type": "int64"}})
                writer.write_raw_data([{"x": first + i} for i in range(count)])
                writer.commit()
            return ds.MindDataset(str(path), num_parallel_workers=workers, **options)
        if kind == "turns":
            options["shuffle"] = None if shards else False
            return ds.GeneratorDataset(InTurn(first, count), [column], **({} if shards else options))
        return ds.GeneratorDataset(
            Rows(first, count), [column], num_parallel_workers=workers, python_multiprocessing=processes, **options
        )

    def build(self, workers=1, processes=False, **shards):
        ds.config.set_seed(self.seed + 1)
        data = self.source(0, "x", workers, processes, shards)
        others = 0
        for kind, number, flag in self.stages:
            if kind == "shuffle":
                data = data.shuffle(number + 1)
            elif kind == "map":
                columns = ["x"]
                data = data.map(
                    jittered if flag else negated, columns, num_parallel_workers=workers,
                    python_multiprocessing=processes,
                )  # fmt: skip
            elif kind == "batch":
                options = {"per_batch_map": in_columns, "input_columns": ["x"]} if number > 5 else {}
                data = data.batch(number, flag, num_parallel_workers=workers, **options)
            elif kind in ("repeat", "skip", "take"):
                data = getattr(data, kind)(number)
            elif kind == "filter":
                data = data.filter(sometimes, ["x"])
            else:
                others += 1
                other = self.source(others, "x" if kind == "concat" else f"y{others}", workers, processes, shards)
                if kind == "concat":
                    columns = data.get_col_names()
                    data = data + (other if columns == ["x"] else data)
                else:
                    data = ds.zip((data, other))
        return data

    def __repr__(self):
        return f"{self.seed}: {self.sources} {self.stages}"


def epoch(data):
    return [[c.tolist() for c in row] for row in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("drawn")


@pytest.fixture(autouse=True)
def seed_of_before():
    seed = ds.config.get_seed()
    yield
    ds.config.set_seed(seed)


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_rows_do_not_depend_on_workers_nor_on_where_they_were_stopped(seed, folder):
    drawn = Drawn(seed, folder)
    whole = drawn.build()
    epochs = [epoch(whole) for _ in range(3)]
    data = drawn.build(drawn.workers, drawn.processes)
    for k in range(drawn.epoch):
        assert epoch(data) == epochs[k], drawn
    rows = epochs[drawn.epoch]
    given = round(drawn.part * len(rows))
    running = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    assert [[c.tolist() for c in next(running)] for _ in range(given)] == rows[:given], drawn
    state = json.loads(json.dumps(data.state_dict()))
    del running
    again = drawn.build(drawn.others)
    again.load_state_dict(state)
    assert epoch(again) == rows[given:], drawn
    assert epoch(again) == epochs[drawn.epoch + 1], drawn


def values(rows):
    """How often each value was given, by column and whatever the batches."""
    return Counter((k, x) for row in rows for k, column in enumerate(row) for x in np.ravel(column).tolist())


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_shards_have_every_row_once(seed, folder):
    drawn = Drawn(seed, folder)
    by_row = ("map", "shuffle", "repeat", "filter", "concat")  # stages that do not count rows
    drawn.stages = [stage for stage in drawn.stages if stage[0] in by_row]
    drawn.sources[0] = (drawn.sources[0][0].replace("turns", "rows"), *drawn.sources[0][1:])
    parts = []
    for k in range(drawn.shards):
        data = drawn.build(drawn.workers, num_shards=drawn.shards, shard_id=k)
        with data.without_padding():
            parts += epoch(data)
    # Random numbers follow from a row's place in the order of all shards, so even these are the same.
    assert values(parts) == values(epoch(drawn.build())), drawn


@pytest.mark.parametrize("seed", range(FIRST, FIRST + COUNT))
def test_other_shards_go_on_with_the_rows_that_are_left(seed, folder):
    drawn = Drawn(seed, folder)
    drawn.stages = [stage for stage in drawn.stages if stage[0] == "map"][:2]
    drawn.sources[0] = (drawn.sources[0][0].replace("turns", "rows"), *drawn.sources[0][1:])
    before, after = drawn.shards, 1 + (drawn.shards + seed) % 4
    given = round(drawn.part * (drawn.sources[0][1] // before))
    rows, states = [], []
    for k in range(before):
        data = drawn.build(drawn.workers, num_shards=before, shard_id=k)
        for _ in range(drawn.epoch):
            epoch(data)
        running = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        rows += [[c.tolist() for c in next(running)] for _ in range(given)]
        states.append(json.loads(json.dumps(data.state_dict())))
    assert all(state == states[0] for state in states)
    ahead = []
    for k in range(after):
        data = drawn.build(drawn.others, num_shards=after, shard_id=k)
        data.load_state_dict(states[0])
        with data.without_padding():
            rows += epoch(data)
            ahead += epoch(data)
    whole = drawn.build()
    epochs = [epoch(whole) for _ in range(drawn.epoch + 2)]
    assert values(rows) == values(epochs[drawn.epoch]), drawn
    assert values(ahead) == values(epochs[-1]), drawn
