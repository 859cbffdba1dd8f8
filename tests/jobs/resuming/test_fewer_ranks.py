"""A run whose data cannot say where it stands goes on with fewer ranks from the end of an epoch, not its middle."""

import pytest

TRAINING = """
import sys

import numpy as np

import dist_ms as ms
from dist_ms import nn

every = int(sys.argv[1])
ms.communication.init()
ms.set_auto_parallel_context(parallel_mode="data_parallel", gradients_mean=True)
ms.set_seed(1)
net = nn.Dense(3, 1)
model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.1))
x = np.ones((4, 3), np.float32)
rows = [(ms.Tensor(x * i), ms.Tensor(x[:, :1])) for i in (0.1, 0.2, 0.3)]


class Steps(ms.train.Callback):
    def on_train_step_end(self, run_context):
        run = run_context.original_args()
        print(f"epoch {run.cur_epoch_num} step {run.cur_step_num}")

    def on_train_epoch_end(self, run_context):
        if len(sys.argv) > 2:
            raise SystemExit(0)


saving = ms.train.RunCheckpoint("state", every_steps=every)
model.train(2, rows, callbacks=[saving, Steps()], resume="state")
"""


def test_from_the_end_of_an_epoch(run):
    first = run(TRAINING, "3", "breaks", ranks=2)
    assert first.code == 0, first.err
    done = run(TRAINING, "3", ranks=1)
    assert done.code == 0, done.err
    assert [line for line in done.out.splitlines() if line.startswith("epoch")] == [
        "epoch 2 step 4",
        "epoch 2 step 5",
        "epoch 2 step 6",
    ]


@pytest.mark.parametrize("ranks", [1, 2])
def test_from_its_middle(run, ranks):
    assert run(TRAINING, "2", "breaks", ranks=2).code == 0
    done = run(TRAINING, "2", ranks=ranks)
    if ranks == 2:
        assert done.code == 0 and "epoch 1 step 3" in done.out, done.err
    else:
        assert done.code == 1
        assert "'resume' in the middle of an epoch needs 2 ranks as before, but got 1" in done.err
