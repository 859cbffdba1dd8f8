"""A model whose next step depends on everything a run can hold, and a callback that breaks it off."""

import numpy as np

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn


class Broken(Exception):
    pass


class Break(ms.train.Callback):
    """Ends a run after some step, as a crash would."""

    comes_last = True

    def __init__(self, step):
        self.step = step

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            raise Broken


class Losses(ms.train.Callback):
    """Remembers the loss of every step by its number."""

    def __init__(self):
        self.by_step = {}

    def on_train_step_end(self, run_context):
        run = run_context.original_args()
        loss = run.net_outputs[0] if isinstance(run.net_outputs, tuple) else run.net_outputs
        self.by_step[run.cur_step_num] = float(loss.asnumpy())


def make_model(scale=True, optimizer=None):
    """A network with dropout, moving statistics, Adam, a decaying rate and a dynamic loss scale."""
    ms.set_seed(3)
    ds.config.set_seed(5)
    net = nn.SequentialCell(
        nn.Dense(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(p=0.3), nn.Dense(8, 1), nn.Dropout(p=0.1)
    )
    rate = nn.ExponentialDecayLR(0.05, 0.9, 4)
    made = (optimizer or nn.Adam)(net.trainable_params(), rate)
    kind = {"loss_scale_manager": ms.amp.DynamicLossScaleManager(2.0**10, 2, 3)} if scale else {}
    return ms.train.Model(net, nn.MSELoss(), made, metrics={"mae"}, **kind)


def make_data(rows=22, batch=4, workers=1):
    """Shuffled rows with noise that is drawn anew in every epoch."""
    numbers = np.arange(rows * 3, dtype=np.float32).reshape(rows, 3) / rows
    data = ds.NumpySlicesDataset((numbers, numbers.sum(1, keepdims=True)), ["x", "y"], shuffle=True)
    return data.batch(batch, drop_remainder=True, num_parallel_workers=workers)


def weights(model):
    return {p.name: p.asnumpy().copy() for p in model.train_network.get_parameters()}
