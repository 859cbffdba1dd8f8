"""Jobs that come back without the machine that failed, or with fewer ranks."""

import re
import subprocess
import sys
import time
from itertools import chain

from tests.jobs.conftest import environment, processes, wait_for

WAITS = """
import os, time
import numpy as np
from dist_ms.communication import init, get_rank, get_comm
init()
count, comm = os.environ["DIST_MS_RESTARTS"], get_comm()
comm.barrier()
print("attempt", count, comm.rank, "of", comm.size, os.uname().nodename, flush=True)
if count == "0":
    HOW
    open("began", "w").close()
    for _ in range(4000):
        time.sleep(0.01)
        comm.barrier()
"""


def words_of(hosts, slots, script, *options):
    """The command that starts a job from the first machine on all of them."""
    given = hosts.mpi_options(slots)
    at = given.index("--host")
    options = ["--hosts", given[at + 1], "--mpi-args", " ".join(given[:at] + given[at + 2 :]), *options]
    return [*hosts.on_first(), sys.executable, "-m", "dist_ms.launch", "run", *options, str(script)]


def placed(**changes):
    """The environment with a default of mapping by which mpirun alone would put all ranks on the first machine."""
    return environment(PRTE_MCA_rmaps_default_mapping_policy=":oversubscribe", **changes)


def addresses(words):
    return [part.rpartition(":")[0] for part in words[words.index("--hosts") + 1].split(",")]


def places(out, attempt):
    return sorted(re.findall(rf"attempt {attempt} (\d) of (\d) (\w+)", out))


def test_a_spare_machine_takes_the_place_of_one_whose_rank_was_killed(hosts, write, tmp_path):
    script = write(WAITS.replace("HOW", "if comm.rank == 1: os.kill(os.getpid(), 9)"))
    words = words_of(hosts, (1, 1, 1), script, "-n", "2", "--restarts", "1")
    done = subprocess.run(words, cwd=tmp_path, env=placed(), capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    assert places(done.stdout, 0) == [("0", "2", "node1"), ("1", "2", "node2")]
    assert places(done.stdout, 1) == [("0", "2", "node1"), ("1", "2", "node3")]
    a, b, c = addresses(words)
    line = f"dist-ms: {b} left out, 2 ranks on {a}:1,{c}:1: rank 1 was ended by signal 9 (SIGKILL) on {b}.\n"
    assert line in done.stderr and "dist-ms: restart 1 of 1 in 0 s.\n" in done.stderr


def test_a_machine_that_is_cut_off_is_left_out(hosts, write, tmp_path):
    script = write(WAITS.replace("HOW", ""))
    words = words_of(hosts, (2, 1), script, "-n", "3", "--restarts", "1", "--min-ranks", "2")
    env = placed(DIST_MS_HEARTBEAT="1", OMP_NUM_THREADS="1")
    with open(tmp_path / "out", "w") as out, open(tmp_path / "err", "w") as err:
        job = subprocess.Popen(words, cwd=tmp_path, env=env, stdout=out, stderr=err)
    wait_for(job, tmp_path / "began")
    time.sleep(0.6)
    with hosts.cut_off(2):
        code = job.wait(40)
        said, told = (tmp_path / "err").read_text(), (tmp_path / "out").read_text()
        assert code == 0, said
        a, b = addresses(words)
        assert f"dist-ms: {b} left out, 2 ranks instead of 3 on {a}:2: {b} does not answer.\n" in said
        assert places(told, 1) == [("0", "2", "node1"), ("1", "2", "node1")]
    until = time.monotonic() + 20
    while processes(str(script)):
        assert time.monotonic() < until
        time.sleep(0.1)


TRAINS = """
import hashlib, os, sys, time
import numpy as np
import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn
from dist_ms.communication import get_group_size, get_rank, init
init()
rank, size, attempt = get_rank(), get_group_size(), int(os.environ["DIST_MS_RESTARTS"])
folder, batch, kill = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(2)
ds.config.set_seed(3)
net = nn.SequentialCell(nn.Dense(6, 16), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(16, 1))
x = np.random.RandomState(0).rand(96, 6).astype(np.float32)
data = ds.NumpySlicesDataset((x, x[:, :1], np.arange(96)), shuffle=True, num_shards=size, shard_id=rank)
data = data.batch(batch if batch < 12 else batch // size)

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
        print("rows", attempt, run.cur_epoch_num, run.cur_step_num, ids, flush=True)
        if attempt == 0 and run.cur_step_num == kill and rank == size - 1:
            time.sleep(0.5)  # until the last state is written
            os.kill(os.getpid(), 9)

model = ms.train.Model(Loss(), None, nn.Adam(net.trainable_params(), 0.05))
save = ms.train.RunCheckpoint(folder, every_steps=4)
model.train(3, data, callbacks=[save, Told()], resume=folder)
if rank == 0:
    print("bits", size, hashlib.sha256(b"".join(p.asnumpy().tobytes() for p in net.get_parameters())).hexdigest())
"""


def each_row_comes_once(out, ranks):
    """Of the rows that the ranks had, those of steps that were lost with the first attempt do not count."""
    rows = [list(map(int, words.split())) for words in re.findall(r"rows ([\d ]+)\n", out)]
    resumed = min(step for attempt, _, step, *_ in rows if attempt == 1)
    for epoch in (1, 2, 3):
        kept = (ids for attempt, e, step, *ids in rows if e == epoch and (attempt == 1 or step < resumed))
        assert sorted(chain.from_iterable(kept)) == list(range(96))
    assert sum(1 for attempt, _, step, *_ in rows if attempt == 1 and step == resumed) == ranks
    return resumed


def test_a_killed_rank_leaves_the_others_and_virtual_shards_their_bits(run):
    options, shards = ["--threads", "1", "--restarts", "1"], {"DIST_MS_VIRTUAL_SHARDS": "12"}
    whole = run(TRAINS, "whole", "12", "0", options=options, ranks=1, **shards)
    broken = run(TRAINS, "broken", "12", "14", options=[*options, "--min-ranks", "2"], ranks=4, **shards)
    assert (whole.code, broken.code) == (0, 0), whole.err + broken.err
    assert "dist-ms: 3 ranks instead of 4: rank 3 was ended by signal 9 (SIGKILL).\n" in broken.err
    assert re.search(r"bits 1 (\w+)", whole.out)[1] == re.search(r"bits 3 (\w+)", broken.out)[1]
    assert each_row_comes_once(broken.out, 3) == 13
    assert re.search(r" on 3 ranks, .*; 1 restart", broken.err)


def test_the_last_rank_goes_on_alone_with_batches_of_the_same_size(run):
    broken = run(
        TRAINS, "broken", "12", "6", options=["--threads", "1", "--restarts", "1", "--min-ranks", "1"], ranks=2
    )
    assert broken.code == 0, broken.err
    assert "dist-ms: 1 rank instead of 2: rank 1 was ended by signal 9 (SIGKILL).\n" in broken.err
    assert each_row_comes_once(broken.out, 1) == 5
