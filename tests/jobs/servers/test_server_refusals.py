"""What servers cannot take is refused on the worker that asked, in words; the job ends at once."""

import pytest

HEAD = """
import numpy as np
import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.communication import get_rank, init
from dist_ms.common.tensor.sparse_tensor import row_tensor
from dist_ms.parallel import save_servers
from dist_ms.parallel.servers.client import client
ms.set_ps_context(enable_ps=True)
init()
ms.set_seed(1)
layer = nn.EmbeddingLookup(9, 2)
layer.embedding_table.set_param_ps()
"""
LINK = "link = client().begin(nn.SGD(layer.trainable_params(), 0.1)).tables[0]\n"
ONE_ROW = "row_tensor(np.array([{}]), np.ones((1, {}), np.{}), (9, 2))"


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("layer(Tensor([1.5]))", "the indices must be Int32 or Int64, but got Float32"),
        ("layer(Tensor([1], ms.int16))", "the indices must be Int32 or Int64, but got Int16"),
        (
            "bad = nn.EmbeddingLookup(9, 2, dtype=ms.int32, param_init='zeros')\n"
            "bad.embedding_table.set_param_ps()\nbad(Tensor([1]))",
            "parameter 'embedding_table' must be Float32, Float64 or Float16, but got Int32",
        ),
        (LINK + "link.pull(np.array([2, 9]))", "row numbers must be in [0, 8], but got 9"),
        (LINK + "link.prefetch(np.array([-1, 3]))", "row numbers must be in [0, 8], but got -1"),
        (LINK + f"link.push({ONE_ROW.format(9, 2, 'float32')})", "row numbers must be in [0, 8], but got 9"),
        (LINK + f"link.push({ONE_ROW.format(3, 2, 'int32')})", "a gradient must be Float32, Float64 or Float16"),
        (LINK + "link.push(Tensor(np.ones((9, 3), np.float32)))", "a gradient must have shape (9, 2), but got (9, 3)"),
        (LINK + "layer.embedding_table.set_data(Tensor(np.ones((8, 2), np.float32)))", "(9, 2)"),
        (
            "twin = nn.EmbeddingLookup(7, 2)\ntwin.embedding_table.set_param_ps()\nlayer(Tensor([1]))\n"
            "twin(Tensor([1]))",
            "'embedding_table' is the name of two, of shapes (9, 2) and (7, 2)",
        ),
    ],
)
def test_refused_on_the_worker(run, code, text):
    done = run(HEAD + code, ranks=1, options=("--servers", "1"), limit=30, DIST_MS_TIMEOUT="20")
    assert done.code == 1, done.out + done.err
    assert text in done.err, done.err
    assert "server" not in done.err.split("uncaught exception")[0], done.err  # no server failed first


SAVE = """
from pathlib import Path
net = nn.SequentialCell(layer, nn.Dense(2, 1))
step = nn.TrainOneStepCell(nn.WithLossCell(net, nn.MSELoss()), nn.Momentum(net.trainable_params(), 0.1, 0.9))
for _ in range(2):
    step(Tensor([1, 2]), Tensor(np.ones((2, 1), np.float32)))
ms.save_checkpoint(net, "net.ckpt")
saved = ms.load_checkpoint("net.ckpt")
assert sorted(saved) == sorted(p.name for p in net.get_parameters())
table = layer.embedding_table
np.testing.assert_array_equal(saved[table.name].asnumpy(), table.asnumpy())
try:
    ms.save_checkpoint(step, "step.ckpt")
except RuntimeError as error:
    print(error)
assert not Path("step.ckpt").exists()
state = {p.name for p in step.get_parameters() if p.saved_by_servers}
assert state == {f"moments.{table.name}"}, state
ms.save_checkpoint(step, "rest.ckpt", choice_func=lambda name: name not in state)
assert set(ms.load_checkpoint("rest.ckpt")) == {p.name for p in step.get_parameters()} - state
save_servers("served", step.optimizer)
"""


def test_a_checkpoint_is_whole_or_refused(run, tmp_path):
    done = run(HEAD + SAVE, ranks=1, options=("--servers", "2"))
    assert done.code == 0, done.err
    assert "everything saved must be on this worker, but got 'moments.0.embedding_table'" in done.out, done.out
    assert "dist_ms.parallel.save_servers(folder, optimizer)" in done.out
    assert any((tmp_path / "served").iterdir())


BIG = """
import dist_ms.parallel.servers.table as served
served.WHOLE_BYTES = 8
layer(Tensor([1]))
try:
    ms.save_checkpoint(layer, "table.ckpt")
except RuntimeError as error:
    print(error)
"""


def test_a_table_too_large_for_a_worker_is_never_left_out_of_a_checkpoint(run, tmp_path):
    done = run(HEAD + BIG, ranks=1, options=("--servers", "1"))
    assert done.code == 0, done.err
    assert "but got 'embedding_table', which parameter servers hold" in done.out
    assert not (tmp_path / "table.ckpt").exists()
