"""Training with parameter servers: roles, and the same weights as training alone."""

import re
from pathlib import Path

import numpy as np
import pytest

MODEL = Path(__file__).with_name("served_model.py").read_text()


@pytest.fixture
def trained(run, tmp_path):
    """Train the model as a job and return its weights."""

    def train(*words, workers=2, servers=2):
        options = ("--servers", str(servers)) if servers else ()
        done = run(MODEL, words[0], "out.npz", *words[1:], ranks=workers, options=options, OMP_NUM_THREADS="1")
        assert done.code == 0, done.err
        with np.load(tmp_path / "out.npz") as found:
            return {name: found[name] for name in found.files}

    return train


def assert_equal(found, wanted, tolerance=1e-6):
    assert found.keys() == wanted.keys()
    for name in wanted:
        if name != "loss":
            np.testing.assert_allclose(found[name], wanted[name], rtol=tolerance, atol=tolerance, err_msg=name)


@pytest.mark.parametrize("optimizer", ["SGD", "Momentum", "Adam", "LazyAdam", "FTRL", "Adagrad"])
def test_synchronous_training_equals_training_alone(trained, optimizer):
    alone = trained(optimizer, workers=1, servers=0)
    assert_equal(trained(optimizer), alone)


@pytest.mark.parametrize(
    ("workers", "servers", "words"),
    [
        (1, 1, ()),
        (3, 1, ("mode=''", "served=('emb','fc1','fc2')")),
        (2, 3, ("partition='range'",)),
        (2, 1, ("served=('fc1.weight',)",)),
    ],
)
def test_any_number_of_ranks(trained, workers, servers, words):
    alone = trained("Adam", workers=1, servers=0)
    found = trained("Adam", *words, workers=workers, servers=servers)
    assert_equal(found, alone)


def test_an_optimizer_that_needs_whole_tensors(trained):
    alone = trained("Lamb", workers=1, servers=0)
    assert_equal(trained("Lamb", "served=('fc1','fc2')"), alone)


def test_lamb_cannot_update_a_table_by_rows(run):
    done = run(MODEL, "Lamb", "out.npz", options=("--servers", "1"))
    assert done.code == 1
    assert "the optimizer of the table 'emb.embedding_table' must treat every row by itself, but got Lamb" in done.err


ROLES = """
import os
import dist_ms as ms
from dist_ms.communication import init, get_rank, get_group_size, get_comm
ms.set_ps_context(enable_ps=True)
before = os.environ.get("MS_ROLE")
init()
total = get_comm().gather_objects(get_rank())
print(before, os.environ["MS_ROLE"], get_rank(), get_group_size(), os.environ["RANK_SIZE"], total)
"""


def test_workers_are_a_world_of_their_own(run):
    done = run(ROLES, options=("--servers", "2"))
    assert done.code == 0, done.err
    assert sorted(done.out.splitlines()) == [
        "MS_WORKER MS_WORKER 0 2 2 [0, 1]",
        "MS_WORKER MS_WORKER 1 2 2 [0, 1]",
    ]


def test_roles_by_environment_in_any_order(run):
    code = (
        "import os\nrank = int(os.environ['OMPI_COMM_WORLD_RANK'])\n"
        "os.environ['MS_ROLE'] = ['MS_SCHED', 'MS_SERVER', 'MS_WORKER', 'MS_WORKER'][rank]\n"
    )
    done = run(code + ROLES, how="mpirun", ranks=4, MS_SERVER_NUM="1", MS_WORKER_NUM="2", MS_SCHED_HOST="127.0.0.1")
    assert done.code == 0, done.err
    assert sorted(done.out.splitlines()) == [
        "MS_WORKER MS_WORKER 0 2 2 [0, 1]",
        "MS_WORKER MS_WORKER 1 2 2 [0, 1]",
    ]


@pytest.mark.parametrize(
    ("environment", "text"),
    [
        ({"MS_SERVER_NUM": "2"}, "MS_SERVER_NUM must leave a rank to work, but got 2 for 2 ranks"),
        ({"MS_SERVER_NUM": "1", "MS_WORKER_NUM": "3"}, "must add up to the number of ranks, 2, but got 3 and 1"),
        ({"MS_SERVER_NUM": "one"}, "MS_SERVER_NUM must be a number, but got 'one'"),
        ({"MS_ROLE": "MS_BOSS", "MS_SERVER_NUM": "1"}, "MS_ROLE must be one of .*, but got 'MS_BOSS' on rank 0"),
        ({"MS_ROLE": "MS_SERVER"}, "must have a worker, but got 2 servers and none"),
    ],
)
def test_wrong_numbers(run, environment, text):
    done = run(ROLES, how="mpirun", **environment)
    assert done.code == 1
    assert re.search(text, done.err), done.err


def test_servers_for_a_script_that_does_not_know_them(run):
    done = run(ROLES.replace("enable_ps=True", "enable_ps=False"), options=("--servers", "1"))
    assert done.code == 1
    assert "started with 1 parameter servers, but the script has not enabled them" in done.err


TWINS = """
    ms.set_seed(11)
    layers = [nn.EmbeddingLookup(9, 2), nn.EmbeddingLookup(3, 2)]
    for layer in layers:
        layer.embedding_table.name = "twin"
        layer.embedding_table.set_param_ps()
        layer(Tensor([1]))
"""


def test_names_must_differ(run):
    done = run(MODEL.replace("    ms.set_seed(11)\n", TWINS), "SGD", "out.npz", options=("--servers", "1"))
    assert done.code == 1
    assert "'twin' is the name of two, of shapes (9, 2) and (3, 2)" in done.err


def test_workers_must_have_the_same_table(run):
    other = MODEL.replace("    ms.set_seed(11)", "    globals()['ROWS'] += rank")
    done = run(other, "SGD", "out.npz", "mode=''", options=("--servers", "1"))
    assert done.code == 1
    assert "its shape is (50, 8) on worker 0 and (51, 8) on worker 1" in done.err


@pytest.mark.parametrize(
    ("optimizer", "before", "after"),
    [("Adam", (2, 2), (1, 3)), ("Momentum", (2, 3), (1, 0)), ("Adam", (1, 0), (2, 2)), ("FTRL", (2, 1), (2, 1))],
)
def test_resumed_training_equals_unbroken_training(trained, tmp_path, optimizer, before, after):
    everything = "served=('emb','fc1','fc2')"
    unbroken = trained(optimizer, everything, workers=1, servers=0)
    folder = f"folder={str(tmp_path / 'saved')!r}"
    trained(optimizer, everything, folder, "steps=12", workers=before[0], servers=before[1])
    resumed = trained(optimizer, everything, folder, "first=12", workers=after[0], servers=after[1])
    assert_equal(resumed, unbroken)


@pytest.mark.parametrize(
    ("optimizer", "words"),
    [("Momentum", ("ahead=True",)), ("LazyAdam", ("cache=7",)), ("SGD", ("cache=20", "ahead=True"))],
)
def test_rows_kept_or_fetched_ahead_are_never_too_old(trained, optimizer, words):
    plain, found = trained(optimizer), trained(optimizer, *words)
    for name in plain:  # the same bits: momentum moves rows that nobody looked up, too
        np.testing.assert_array_equal(found[name], plain[name], err_msg=name)


def test_rows_travel_as_float16(trained):
    alone = trained("SGD", workers=1, servers=0)
    found = trained("SGD", "wire='float16'")
    assert_equal(found, alone, 2e-2)
    assert any((found[name] != alone[name]).any() for name in alone)
