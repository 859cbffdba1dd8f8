"""History: what a run gave, kept in lists."""

from __future__ import annotations

from typing import Any

import numpy as np

from dist_ms.common.tensor import Tensor
from dist_ms.train.callback.callback import Callback, RunContext


class History(Callback):
    """Keep the network's output (usually the loss) and the metrics of every epoch.

    Attributes:
        epoch: {"epoch": [1, 2, ...]}, of the latest run.
        history: {"net_output": [...]} and, from `Model.fit`, a list per metric; of all runs.

    Examples:
        >>> import numpy as np
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> net = nn.Dense(1, 1, weight_init="ones", has_bias=False)
        >>> model = ms.train.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params(), 0.5))
        >>> history = ms.train.History()
        >>> model.train(2, [(np.ones((1, 1), np.float32), np.zeros((1, 1), np.float32))], callbacks=history)
        >>> print(history.epoch, history.history)
        {'epoch': [1, 2]} {'net_output': [1.0, 0.0]}
    """

    state_names = ("history", "epoch")

    def __init__(self) -> None:
        super().__init__()
        self.history: dict[str, list] = {}
        self.epoch: Any = None

    def begin(self, run_context: RunContext) -> None:
        """Count the epochs of this run alone; values of earlier runs stay.

        Args:
            run_context: the run.
        """
        self.epoch = {"epoch": []}

    def epoch_end(self, run_context: RunContext) -> None:
        """Keep the results of an epoch.

        Args:
            run_context: the run.
        """
        run = run_context.original_args()
        self.epoch["epoch"].append(run.get("cur_epoch_num", 1))
        output = run["net_outputs"]
        if isinstance(output, (tuple, list)) and isinstance(output[0], Tensor):
            output = output[0]
        if isinstance(output, Tensor):
            output = float(np.mean(output.asnumpy()))
        for name, value in {"net_output": output, **(run.get("metrics") or {})}.items():
            self.history.setdefault(name, []).append(value)
