"""What a pipeline gives does not depend on its workers, and goes on where it stood."""

import json
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import dist_ms.dataset as ds
from dist_ms.dataset import draws


class Uneven:
    """Rows that take longer the earlier they are."""

    def __len__(self):
        return 24

    def __getitem__(self, i):
        time.sleep(0.002 * (24 - i) / 24)
        return np.int64(i)


def jittered(x):
    return x * 1000 + draws.generator().integers(0, 1000)


def pipeline(workers, processes=False, batch=4, **options):
    options.setdefault("shuffle", True)
    data = ds.GeneratorDataset(
        Uneven(), ["x"], num_parallel_workers=workers, python_multiprocessing=processes, **options
    )
    return data.map(jittered, num_parallel_workers=workers).batch(batch)


def epoch(data):
    return [x.tolist() for (x,) in data.create_tuple_iterator(num_epochs=1, output_numpy=True)]


def flat(batches):
    return [x for batch in batches for x in batch]


@pytest.mark.parametrize("workers, processes", [(2, False), (5, False), (2, True)])
def test_rows_and_random_numbers_do_not_depend_on_the_workers(workers, processes):
    one, other = pipeline(1), pipeline(workers, processes)
    epochs = [epoch(one) for _ in range(2)]
    assert [epoch(other) for _ in range(2)] == epochs
    assert sorted(x // 1000 for x in flat(epochs[0])) == list(range(24))
    # Another epoch has another order and other numbers for a row.
    by_row = [dict(divmod(x, 1000) for x in flat(e)) for e in epochs]
    assert epochs[0] != epochs[1] and sum(by_row[0][i] == by_row[1][i] for i in range(24)) < 4


@pytest.mark.parametrize("shards", [1, 2, 4])
def test_the_order_over_all_ranks_is_one(shards):
    alone = flat(epoch(pipeline(2)))
    parts = [flat(epoch(pipeline(2, num_shards=shards, shard_id=k))) for k in range(shards)]
    dealt = [parts[i % shards][i // shards] for i in range(24)]
    assert dealt == alone


@pytest.mark.parametrize("given", [0, 1, 3, 6])
@pytest.mark.parametrize("processes", [False, True])
def test_an_epoch_goes_on_in_its_middle(given, processes):
    whole = [epoch(data := pipeline(2)), epoch(data)]
    data = pipeline(2)
    epoch(data)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    before = [next(rows)[0].tolist() for _ in range(given)] if given else []
    state = json.loads(json.dumps(data.state_dict()))
    again = pipeline(3 if processes else 1, processes)
    again.load_state_dict(state)
    assert before + epoch(again) == whole[1]
    assert again.state_dict()["epoch"] == 2


@pytest.mark.parametrize("before, after", [(1, 2), (2, 1), (2, 3), (4, 2)])
def test_other_ranks_go_on_with_the_rows_that_are_left(before, after):
    alone = flat(epoch(pipeline(1)))
    given, states = [], []
    for k in range(before):
        data = pipeline(2, batch=2, num_shards=before, shard_id=k)
        rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
        given.append(flat([next(rows)[0].tolist() for _ in range(2)]))
        states.append(data.state_dict())
    assert all(state == states[0] for state in states)
    parts = []
    for k in range(after):
        data = pipeline(2, batch=3, num_shards=after, shard_id=k)
        data.load_state_dict(states[0])
        with data.without_padding():
            parts.append(flat(epoch(data)))
    done = [row for part in given for row in part]
    assert sorted(done + flat(parts)) == sorted(alone)
    assert set(done) == set(alone[: 4 * before])


def test_a_filtered_pipeline_goes_on_but_not_on_other_shards():
    def data(**options):
        return pipeline(2, **options).filter(lambda x: x[0] % 2 == 0)

    whole = epoch(data())
    begun = data()
    next(begun.create_tuple_iterator(num_epochs=1, output_numpy=True))
    again = data()
    again.load_state_dict(begun.state_dict())
    assert epoch(again) == whole[1:]
    with pytest.raises(ValueError, match="only on as many shards as before, 1, but got 2"):
        data(num_shards=2, shard_id=0).load_state_dict(begun.state_dict())


def test_states_that_are_refused():
    data = pipeline(1)
    state = data.state_dict()
    for wrong in (3, {}, state | {"epoch": -1}, state | {"given": "1"}, state | {"rows": True}):
        with pytest.raises(TypeError, match="what state_dict"):
            data.load_state_dict(wrong)
    with pytest.raises(ValueError, match=r"set_seed\(7\)"):
        data.load_state_dict(state | {"seed": 7})


def test_epochs_and_steps_are_set():
    data = pipeline(1)
    epochs = [epoch(data) for _ in range(3)]
    data.set_epoch(2)
    assert epoch(data) == epochs[2]
    data.reset()
    assert epoch(data) == epochs[0]
    data.set_init_step(6 + 2)
    assert data.get_init_step() == 8
    assert epoch(data) == epochs[1][2:]
    with pytest.raises(ValueError, match="init_step"):
        data.set_init_step(-1)


def test_rows_wait_for_the_consumer():
    """Workers run ahead by no more than they may."""
    taken = []
    data = ds.GeneratorDataset(lambda: (taken.append(i) or i for i in range(1000)), ["x"]).batch(2)
    rows = data.create_tuple_iterator(num_epochs=1, output_numpy=True)
    next(rows)
    time.sleep(0.3)
    assert len(taken) <= 2 * (1 + 3 + 1)
    rows.stop()


def test_an_iteration_that_is_left_ends_its_threads():
    before = threading.active_count()
    for _ in range(5):
        next(pipeline(4).create_tuple_iterator(output_numpy=True))
    deadline = time.time() + 5
    while threading.active_count() > before and time.time() < deadline:
        time.sleep(0.02)
    assert threading.active_count() <= before


def test_a_process_ends_after_the_threads_of_an_iteration_that_it_left():
    code = """
import atexit, threading, time

left = lambda: print([t.name for t in threading.enumerate() if t.name.startswith("dist_ms data")])
atexit.register(left)  # runs last
import dist_ms.dataset as ds

slow = lambda x: (time.sleep(0.05), x)[1]
rows = iter(ds.NumpySlicesDataset([*range(99)], "a").map(slow, "a", num_parallel_workers=2))
next(rows)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_columns_and_the_whole_share_a_position():
    data = ds.NumpySlicesDataset({"a": [1, 2, 3], "b": [4, 5, 6]}, shuffle=False)
    rows = data.create_tuple_iterator(["b"], num_epochs=1, output_numpy=True)
    assert int(next(rows)[0]) == 4 and data.state_dict()["given"] == 1


@pytest.mark.parametrize("mode", ["RETURN", "REPLACE", "SKIP"])
@pytest.mark.parametrize("batched", [False, True])
def test_rows_that_fail(mode, batched):
    def fails(x):
        if int(x) in (2, 5):
            raise KeyError(int(x))
        return x

    ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode[mode])
    try:
        data = ds.NumpySlicesDataset(list(range(6)), shuffle=False).map(fails)
        data = data.batch(3) if batched else data
        if mode == "RETURN":
            with pytest.raises(RuntimeError, match="For 'map', .*fails raised KeyError: 2") as error:
                epoch(data)
            assert isinstance(error.value.__cause__, KeyError)
            assert any("row 2 of MapDataset" in note for note in error.value.__notes__)
        elif batched:
            assert epoch(data) == {"REPLACE": [[0, 1, 1], [3, 4, 4]], "SKIP": [[0, 1], [3, 4]]}[mode]
        elif mode == "SKIP":
            assert epoch(data) == [0, 1, 3, 4]
    finally:
        ds.config.set_error_samples_mode(ds.config.ErrorSamplesMode.RETURN)


def test_pipelines_are_shown_and_described():
    data = ds.NumpySlicesDataset(list(range(20)), num_shards=2, shard_id=1).map(abs, num_parallel_workers=3).batch(4)
    assert repr(data) == (
        "BatchDataset(4, False, None)\n"
        "  MapDataset(abs, None, None, 3)\n"
        "    NumpySlicesDataset(<list of 20>, num_shards=2, shard_id=1)  # shard 1 of 2"
    )
    with pytest.raises(TypeError, match="MapDataset was made of"):
        ds.serialize(data)
    plain = ds.NumpySlicesDataset({"a": [1, 2, 3, 4]}, sampler=ds.SubsetSampler([3, 1, 2])).batch(2).repeat(2)
    other = ds.NumpySlicesDataset({"b": [7, 8, 9, 6]}, shuffle=False).batch(2).take(3)
    joined = ds.zip((plain, other))
    again = ds.deserialize(json.loads(json.dumps(ds.serialize(joined))))
    assert again.get_col_names() == ["a", "b"] and ds.compare(joined, again)
    assert [[x.tolist() for x in row] for row in again.create_tuple_iterator(output_numpy=True)] == [
        [[3 + 1, 2], [7, 8]],
        [[3], [9, 6]],
    ]


@pytest.mark.parametrize(
    "wrong", [{}, {"stage": "os.system"}, {"stage": "BatchDataset", "arguments": [], "options": {}, "inputs": [3]}]
)
def test_descriptions_that_are_refused(wrong):
    with pytest.raises(ValueError, match="For 'deserialize'"):
        ds.deserialize(wrong)


def test_only_classes_of_this_package_are_made():
    description = ds.serialize(ds.NumpySlicesDataset([1, 2], sampler=ds.SequentialSampler()))
    description["options"]["sampler"]["object"] = "config.os.system"
    with pytest.raises(ValueError, match="must be one of dist_ms.dataset"):
        ds.deserialize(description)


def test_arrays_inside_columns_are_shown_by_shape():
    rows = np.zeros((9, 2), np.float32), np.arange(9)
    assert repr(ds.NumpySlicesDataset(rows)) == "NumpySlicesDataset((<float32 (9, 2)>, <int64 (9,)>))"
    assert repr(ds.NumpySlicesDataset({"a": rows[1]})) == "NumpySlicesDataset({'a': <int64 (9,)>})"


def rest(rows):
    return [int(row[0]) for row in rows]


def test_an_iteration_that_was_left_goes_on():
    """As MindSpore's: `break` does not end an epoch, and `iter` begins none while one is running."""
    data = ds.NumpySlicesDataset(np.arange(6), ["i"], shuffle=False)
    rows = data.create_tuple_iterator(num_epochs=2, output_numpy=True)
    assert int(next(rows)[0]) == 0 and int(next(iter(rows))[0]) == 1
    for (x,) in rows:
        if x == 3:
            break
    assert [rest(rows), rest(rows)] == [[4, 5], [0, 1, 2, 3, 4, 5]]
    with pytest.raises(StopIteration):
        next(rows)
    with pytest.raises(RuntimeError, match="num_epochs=2, which are over"):
        iter(rows)
    endless = data.create_dict_iterator()
    assert [int(next(endless)["i"]) for _ in range(6)] == list(range(6))
    with pytest.raises(StopIteration):
        next(endless)
    assert [int(row["i"]) for row in endless] == list(range(6)) and int(next(endless)["i"]) == 0


def test_an_iteration_goes_where_its_dataset_was_moved():
    data = ds.NumpySlicesDataset(np.arange(6), ["i"], shuffle=False)
    rows = data.create_tuple_iterator(num_epochs=6, output_numpy=True)
    next(rows)
    state = data.state_dict()
    next(rows)
    data.load_state_dict(state)
    assert rest(rows) == [1, 2, 3, 4, 5]
    next(rows)
    rows.leave_epoch()
    assert rest(rows) == list(range(6))
    next(rows)
    rows.stop()
    with pytest.raises(StopIteration):
        next(rows)
