"""Elastic jobs: ranks are killed, and the others go on in the same processes."""

import re
import shutil
import subprocess
import time
from itertools import chain

import pytest

from tests.jobs.conftest import processes
from tests.jobs.resuming.test_elastic import placed, words_of

# The arguments: a folder, then "rank:step" for each rank that is killed after a step, and words.
TRAINS = """
import hashlib, os, sys, time
import numpy as np
import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import elastic, nn
from dist_ms.communication import get_group_size, get_rank, init
init()
me, (folder, *words) = get_rank(), sys.argv[1:]
kills = dict(map(int, word.split(":")) for word in words if ":" in word)
resume = folder if "resume" in words or "again" in words else None
zero = "zero" in words
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True, enable_parallel_optimizer=zero)
if zero:
    ms.set_auto_parallel_context(parallel_optimizer_config={"parallel_optimizer_threshold": 0})
ds.config.set_seed(3)

def train():
    ms.set_seed(2)
    rank, size = get_rank(), get_group_size()
    net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(16, 1))
    x = np.random.RandomState(0).rand(96, 6).astype(np.float32)
    data = ds.NumpySlicesDataset((x, x[:, :1], np.arange(96)), shuffle=True, num_shards=size, shard_id=rank).batch(3)

    class Loss(nn.Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.net = net
        def construct(self, x, y, i):
            return ((self.net(x) - y) ** 2).mean()

    class Told(ms.train.Callback):
        def on_train_step_end(self, run_context):
            run = run_context.original_args()
            ids = " ".join(str(i) for i in run.train_dataset_element[2].asnumpy())
            about = f"{get_group_size()} {run.cur_epoch_num} {run.cur_step_num} at {time.time():.2f}"
            print(f"rows {about} ids {ids}", flush=True)
            if run.cur_step_num == kills.get(me):
                if "late" in words:
                    time.sleep(0.5)  # until the last state is written
                print(f"killed {me} at {time.time():.2f}", flush=True)
                os.kill(os.getpid(), 9)

    callbacks = [Told()]
    if "unsaved" not in words:
        # of the killing step, too: then some ranks are saving when another one dies
        callbacks.append(ms.train.RunCheckpoint(folder, every_steps=4, keep=None))
    model = ms.train.Model(Loss(), None, nn.Adam(net.trainable_params(), 0.05))
    model.train(3, data, callbacks=callbacks, resume=resume)
    bits = hashlib.sha256(b"".join(p.asnumpy().tobytes() for p in net.get_parameters())).hexdigest()
    print("bits", get_group_size(), bits, flush=True)

elastic.run(train) if "again" in words else train()
"""
OPTIONS = ["--threads", "1", "--elastic"]


def each_row_comes_once(out, back):
    """Of steps that were made again only the last time counts: there the ranks were fewer."""
    rows = [
        (int(size), int(epoch), int(step), list(map(int, ids.split())))
        for size, epoch, step, ids in re.findall(r"rows (\d) (\d) (\d+) at [\d.]+ ids ([\d ]+)\n", out)
    ]
    for epoch in (1, 2, 3):
        kept = (
            ids
            for size, e, step, ids in rows
            if e == epoch and all(step <= start for fewer, start in back.items() if fewer < size)
        )
        assert sorted(chain.from_iterable(kept)) == list(range(96)), epoch


def went_back(err):
    """After which step so many ranks went on."""
    found = re.findall(r"dist_ms: rank .* of \d has died; (\d) ranks? goe?s? on after step (\d+), in epoch \d\.\n", err)
    return {int(size): int(step) for size, step in found}


def bits(out):
    return re.findall(r"bits (\d) (\w+)", out)


def test_a_killed_rank_leaves_three_that_go_on_from_the_newest_state(run, tmp_path):
    done = run(TRAINS, "states", "2:14", "late", options=OPTIONS, ranks=4)
    assert done.code == 0, done.err
    assert "dist_ms: rank 2 (on " in done.err and went_back(done.err) == {3: 12}
    each_row_comes_once(done.out, {3: 12})
    assert len(bits(done.out)) == 3 and len(set(bits(done.out))) == 1
    # As a job of three that resumes the same state.
    (tmp_path / "same").mkdir()
    shutil.copytree(tmp_path / "states" / "step-00000012", tmp_path / "same" / "step-00000012")
    again = run(TRAINS, "same", "resume", options=["--threads", "1"], ranks=3)
    assert again.code == 0, again.err
    assert set(bits(again.out)) == set(bits(done.out))


@pytest.mark.parametrize("kills", [["1:14", "3:18"], ["0:14", "1:14"]], ids=["later", "at once"])
def test_a_second_rank_dies(run, kills):
    done = run(TRAINS, "states", *kills, "late", options=OPTIONS, ranks=4)
    assert done.code == 0, done.err
    back = went_back(done.err)
    assert 2 in back and set(back) <= {3, 2}
    each_row_comes_once(done.out, back)
    assert len(bits(done.out)) == 2 and len(set(bits(done.out))) == 1


def test_the_last_rank_goes_on_alone(run):
    done = run(TRAINS, "states", "0:6", "late", options=OPTIONS, ranks=2)
    assert done.code == 0, done.err
    assert "; 1 rank goes on after step 4, in epoch 1.\n" in done.err
    each_row_comes_once(done.out, went_back(done.err))


def test_slices_of_the_optimizer_are_cut_anew(run):
    done = run(TRAINS, "states", "2:14", "late", "zero", options=OPTIONS, ranks=4)
    assert done.code == 0, done.err
    assert went_back(done.err) == {3: 12}
    assert len(bits(done.out)) == 3 and len(set(bits(done.out))) == 1


def test_a_rank_dies_while_its_state_is_being_saved(run):
    done = run(TRAINS, "states", "0:12", options=OPTIONS, ranks=4)  # before its share of step 12 is begun
    assert done.code == 0, done.err
    back = went_back(done.err)
    assert back in ({3: 8}, {3: 4})  # that of step 8 may still be under way, too
    each_row_comes_once(done.out, back)


def test_a_rank_dies_before_anything_but_the_beginning_is_saved(run):
    done = run(TRAINS, "states", "3:2", options=OPTIONS, ranks=4)
    assert done.code == 0, done.err
    assert went_back(done.err) == {3: 0}
    each_row_comes_once(done.out, {3: 0})


def test_too_few_that_are_left_end_the_job(run, tmp_path):
    done = run(TRAINS, "states", "2:14", options=[*OPTIONS, "--min-ranks", "4"], ranks=4)
    assert done.code == 137
    assert re.fullmatch(
        r"dist-ms: rank 2 of 4 was ended by signal 9 \(SIGKILL\) on \S+, exit code 137; the job was stopped.\n",
        done.err,
    )
    assert not processes(str(tmp_path))


def test_without_a_saved_state_the_job_ends_and_may_restart(run):
    done = run(TRAINS, "states", "2:14", "unsaved", options=OPTIONS, ranks=4)
    assert done.code == 137
    assert "no rank can go on when another one dies: no RunCheckpoint is among the callbacks" in done.err
    assert "dist_ms: the other ranks cannot go on: no RunCheckpoint" in done.err
    options = [*OPTIONS, "--restarts", "1", "--min-ranks", "2"]
    again = run(TRAINS, "states", "3:2", "unsaved", options=options, ranks=4)
    assert again.code == 0, again.err
    assert "dist-ms: 3 ranks instead of 4: rank 3 was ended by signal 9 (SIGKILL).\n" in again.err


def test_a_function_is_called_again(run):
    done = run(TRAINS, "states", "1:14", "late", "again", options=OPTIONS, ranks=4)
    assert done.code == 0, done.err
    assert re.search(r"dist_ms: rank 1 \(on \S+\) of 4 has died; 3 ranks begin anew\.\n", done.err)
    each_row_comes_once(done.out, {3: 12})
    assert len(bits(done.out)) == 3 and len(set(bits(done.out))) == 1


def test_an_error_of_the_program_ends_an_elastic_job(run):
    script = "from dist_ms.communication import init, get_comm\ninit()\nif get_comm().rank == 1:\n    1 / 0\n"
    done = run(script + "get_comm().barrier()\n", options=OPTIONS, ranks=3)
    assert done.code == 1
    assert done.err.count("ZeroDivisionError") == 2  # in the traceback, and in the last line
    assert "rank 1 of 3 ended with an uncaught ZeroDivisionError" in done.err


@pytest.mark.parametrize("slots", [(2, 2), (2, 1, 1)], ids=["half of a machine", "all of a machine"])
def test_on_several_machines_three_of_four_go_on_within_five_seconds(hosts, write, tmp_path, slots):
    words = words_of(hosts, slots, write(TRAINS), "-n", "4", *OPTIONS)
    done = subprocess.run(
        [*words, "states", "3:14", "late"], cwd=tmp_path, env=placed(), capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    died = f"rank 3 (on node{len(slots)}) of 4 has died"
    assert f"dist_ms: {died}; 3 ranks go on after step 12, in epoch 2.\n" in done.stderr
    each_row_comes_once(done.stdout, {3: 12})
    killed = float(re.search(r"killed 3 at ([\d.]+)", done.stdout)[1])
    steps = [float(at) for size, at in re.findall(r"rows (\d) \d \d+ at ([\d.]+)", done.stdout) if size == "3"]
    assert min(steps) - killed < 5
    assert len(bits(done.stdout)) == 3 and len(set(bits(done.stdout))) == 1
    until = time.monotonic() + 20
    while processes("states 3:14"):
        assert time.monotonic() < until
        time.sleep(0.1)
