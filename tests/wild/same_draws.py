"""What the frameworks do differently on purpose, made alike for a comparison of losses."""

from __future__ import annotations

import sys

import mindspore as ms
import numpy as np
from mindspore import dataset, nn, ops

_MASKS = np.random.RandomState(0)


def run_without_graphs() -> None:
    """Have all run as Python: no graph, neither of a cell nor of a function."""
    set_context = ms.set_context

    def without_graphs(**settings) -> None:
        set_context(**{**settings, "mode": ms.PYNATIVE_MODE})

    def as_python(function=None, **_):
        return as_python if function is None else function

    ms.set_context = ms.context.set_context = without_graphs
    ms.jit = as_python
    without_graphs()


def dropped(x: ms.Tensor, rate: float, spatial: int = 0) -> ms.Tensor:
    """A tensor times a mask that NumPy draws.

    Args:
        x: any.
        rate: the part of it that becomes 0.
        spatial: how many of the last dimensions have one value of the mask.
    """
    if not rate:
        return x
    shape = x.shape[: x.ndim - spatial] + (1,) * spatial
    mask = (_MASKS.random_sample(shape) >= rate) / max(1 - rate, 1e-12)
    return x * ms.Tensor(mask.astype(np.float32)).astype(x.dtype)


def draw_masks_alike() -> None:
    """Have Dropout draw its masks from NumPy: both frameworks draw them from generators of their own."""
    make = nn.Dropout.__init__

    def initialise(cell, keep_prob=0.5, p=None, **keywords) -> None:
        make(cell, keep_prob, p, **keywords)
        cell.rate_of_losses = 1 - keep_prob if p is None else p

    def construct(cell, x):
        return dropped(x, cell.rate_of_losses) if cell.training else x

    def dropout(input, p=0.5, training=True, *_, **__):
        return dropped(input, p) if training else input

    class Dropout:
        def __init__(self, keep_prob=0.5, *_, **__) -> None:
            self.rate = 1 - keep_prob

        def __call__(self, x):
            return dropped(x, self.rate), ms.Tensor(np.ones(x.shape, bool))

    nn.Dropout.__init__, nn.Dropout.construct = initialise, construct
    ops.dropout, ops.Dropout, ops.operations.Dropout = dropout, Dropout, Dropout
    for spatial in (1, 2, 3):
        draw_channels_alike(spatial)


def draw_channels_alike(spatial: int) -> None:
    """Have Dropout1d, Dropout2d or Dropout3d, which drop whole channels, draw their masks from NumPy, too.

    Args:
        spatial: the dimensions of a channel.
    """
    layer = getattr(nn, f"Dropout{spatial}d")
    make = layer.__init__

    def initialise(cell, p=0.5) -> None:
        make(cell, p)
        cell.rate_of_losses = p

    def construct(cell, x):
        return dropped(x, cell.rate_of_losses, spatial) if cell.training else x

    def dropout(input, p=0.5, training=True):
        return dropped(input, p, spatial) if training else input

    layer.__init__, layer.construct = initialise, construct
    setattr(ops, f"dropout{spatial}d", dropout)


def draw_numbers_alike() -> None:
    """Have StandardNormal and UniformReal without a seed draw from NumPy: MindSpore's differ from run to run."""
    for name, draw in (("StandardNormal", _MASKS.standard_normal), ("UniformReal", _MASKS.random_sample)):
        primitive = getattr(ops, name)

        def made(seed=0, seed2=0, primitive=primitive, draw=draw):
            def drawn(shape) -> ms.Tensor:
                return ms.Tensor(np.asarray(draw(tuple(int(length) for length in shape)), np.float32))

            return primitive(seed, seed2) if seed or seed2 else drawn

        for module in (ops, ops.operations):
            setattr(module, name, made)


def begin_epochs_alike() -> None:
    """Have each iteration over a dataset begin with its first epoch, as MindSpore has it."""
    for name in ("create_dict_iterator", "create_tuple_iterator"):
        make = getattr(dataset.Dataset, name)

        def anew(rows, *arguments, make=make, **keywords):
            if hasattr(rows, "set_epoch"):
                rows.set_epoch(0)
            return make(rows, *arguments, **keywords)

        setattr(dataset.Dataset, name, anew)


def read_one_shard_alike() -> None:
    """Have the one shard of one be read in the order of all rows: MindSpore shuffles shards from another seed."""
    samplers = sys.modules.get("mindspore.dataset.engine.samplers")
    select = getattr(samplers, "select_sampler", None)
    if select is None:
        return

    def selected(num_samples, sampler, shuffle, shards, shard):
        return select(num_samples, sampler, shuffle, *((None, None) if shards == 1 else (shards, shard)))

    samplers.select_sampler = selected


def make_rows_in_order() -> None:
    """Have one worker make rows where a program asks for no number: what it draws from Python then comes in order."""
    dataset.config.set_num_parallel_workers(1)
