"""A child forked from a rank: it may load data, it may not communicate, and its parent never notices."""

import pytest

HEAD = """
import multiprocessing, os, sys, time, traceback
import numpy as np
import dist_ms as ms
from dist_ms import nn
from dist_ms.communication import create_group, get_comm, get_rank, init
context = multiprocessing.get_context("fork")
init()
comm = get_comm()
"""
MODEL = """
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
net = nn.Dense(3, 2)
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params()))
rows = np.random.default_rng(comm.rank).standard_normal((3, 4, 3)).astype(np.float32)
train = lambda i: step(ms.Tensor(rows[i]), ms.Tensor(np.ones((4, 2), np.float32)))
"""


@pytest.mark.parametrize("way", ["os.fork", "multiprocessing"])
def test_a_child_that_trains_gets_the_error_and_its_parent_trains_on(run, way):
    child = """
    def work():
        train(1)
    def fork():
        if sys.argv[1] == "multiprocessing":
            child = context.Process(target=work)
            child.start()
            child.join()
            return child.exitcode
        child = os.fork()
        if not child:
            work()
            sys.exit(0)
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    """
    plain = HEAD + MODEL + "train(0); train(1); train(2)\nprint(sum(p.asnumpy().sum() for p in net.get_parameters()))\n"
    code = "\n".join(line[4:] for line in child.splitlines())
    code = HEAD + MODEL + code + "train(0)\ncode = fork() if comm.rank == 1 else 1\nassert code == 1, code\n"
    seeded = "ms.set_seed(3)\n"
    code = seeded.join(code.split("ms.set_auto", 1)[:1]) + seeded + "ms.set_auto" + code.split("ms.set_auto", 1)[1]
    plain = plain.replace("ms.set_auto", seeded + "ms.set_auto", 1)
    code += "train(1); train(2)\nprint(sum(p.asnumpy().sum() for p in net.get_parameters()))\n"
    done = run(code, way, DIST_MS_TIMEOUT="10")
    assert done.code == 0, done.err
    assert "forked from rank 1 of 2] For 'DistributedGradReducer', the process must be the one that called" in done.err
    assert "Train in the parent" in done.err and "TimeoutError" not in done.err
    assert sorted(done.out.split()) == sorted(run(plain).out.split())


@pytest.mark.parametrize(
    "act",
    [
        "comm.all_reduce(np.ones(3))",
        "comm.barrier()",
        "comm.all_gather(np.ones(3))",
        "comm.post_all_reduce(np.ones(3))",
        "comm.send(np.ones(3), 1 - comm.rank)",
        "comm.recv(np.ones(3), 1 - comm.rank)",
        "comm.post_exchange([(1 - comm.rank, np.ones(3))], [])",
        "comm.shared_buffer(10, np.float32)",
        "create_group('all', [0, 1])",
        "posted.wait()",
        "posted.test()",
        "ms.ops.AllReduce()(ms.Tensor([1.0]))",
    ],
)
def test_nothing_of_a_child_reaches_the_other_ranks(run, act):
    code = f"""
mine = np.full(3, 1.0 + comm.rank)
posted = comm.post_all_reduce(mine)
child = os.fork()
if not child:
    try:
        {act}
    except RuntimeError as error:
        sys.stderr.write(str(error) + "\\n")
        os._exit(5)
    os._exit(6)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 5
posted.wait()
assert mine.tolist() == [3.0] * 3, mine
assert comm.all_reduce(np.ones(3)).tolist() == [2.0] * 3
"""
    done = run(HEAD + code, DIST_MS_TIMEOUT="10")
    assert done.code == 0, done.err
    for rank in range(2):
        assert f"forked from rank {rank} of 2] For '" in done.err


def test_children_that_use_no_collective_are_legal(run):
    code = """
def load(i):
    return i * get_rank(), os.getpid()
with context.Pool(2) as pool:  # its end sends the children SIGTERM
    rows = pool.map(load, range(10))
assert [r for r, _ in rows] == [i * comm.rank for i in range(10)] and os.getpid() not in dict(rows).values()
child = os.fork()
if not child:
    sys.exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
print(comm.all_reduce(np.ones(1))[0])
"""
    done = run(HEAD + code, PYTHONWARNINGS="ignore::DeprecationWarning")  # Python 3.12's: any fork beside a thread
    assert (done.code, done.out, done.err) == (0, "2.0\n2.0\n", "")


def test_a_worker_s_child_does_not_take_leave_of_the_servers(run):
    code = """
layer = nn.EmbeddingLookup(10, 4)
layer.embedding_table.set_param_ps()
step = nn.TrainOneStepCell(layer, nn.SGD(layer.trainable_params(), 0.1))
step(ms.Tensor(np.arange(5)))
child = os.fork()
if not child:
    if comm.rank == 0:
        sys.exit(0)
    step(ms.Tensor(np.arange(5)))
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == comm.rank
for _ in range(3):
    step(ms.Tensor(np.arange(5)))
print("trained")
"""
    head = HEAD.replace("init()\n", "ms.set_ps_context(enable_ps=True)\ninit()\n", 1)
    done = run(head + code, options=("--servers", "1"), DIST_MS_TIMEOUT="10")
    assert (done.code, done.out) == (0, "trained\n" * 2), done.err
    assert "forked from rank 1 of 3] For 'set_param_ps'" in done.err
    assert "forked from rank 0" not in done.err  # it had nothing to do with the servers, and its end has not
