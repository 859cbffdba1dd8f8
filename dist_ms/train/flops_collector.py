"""FlopsUtilizationCollector: how much of the processor's speed a training run has."""

from __future__ import annotations

from contextlib import ExitStack
from time import perf_counter
from typing import Any

from dist_ms.common.checks import check_bool, complaint
from dist_ms.train.callback.callback import Callback, RunContext
from dist_ms.train.flops import counting, remember


class FlopsUtilizationCollector(Callback):
    """Count the floating-point operations of the first step, and print the share of the processor's speed later.

    Products and convolutions count, forward and backward. In a job of several ranks "full" is over all of them and
    "shard" this rank's.

    Args:
        data_size: steps whose number it divides print nothing, as in MindSpore: 1 for the first step's line alone.
        computility: operations per second that the processor can do, of one rank.
        full_flops: print the share over all ranks; if not, this rank's.
        enable_ma_collector: must be False: it writes for ModelArts.

    Raises:
        TypeError: if an argument has the wrong type.
        ValueError: if `data_size` is not positive, or `enable_ma_collector` True.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms import nn, ops
        >>> net, data = nn.Dense(2, 3), ms.dataset.NumpySlicesDataset(
        ...     (ops.ones((4, 2)).asnumpy(), ops.ones((4, 3)).asnumpy())
        ... ).batch(4)
        >>> model = ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()))
        >>> model.train(1, data, callbacks=[ms.FlopsUtilizationCollector(data_size=1)])
        Full model flops is 96.0, Full hardware flops is 96.0, Shard model flops is 96.0, Shard hardware flops is 96.0.
    """

    def __init__(
        self,
        data_size: int,
        computility: float = 1,
        full_flops: bool = True,
        enable_ma_collector: bool = False,
    ) -> None:
        super().__init__()
        owner = "FlopsUtilizationCollector"
        if isinstance(data_size, bool) or not isinstance(data_size, int):
            raise TypeError(complaint("data_size", owner, "an int", data_size))
        if data_size <= 0:
            raise ValueError(complaint("data_size", owner, "above 0", data_size))
        for name, value in (("full_flops", full_flops), ("enable_ma_collector", enable_ma_collector)):
            check_bool(value, name, owner)
        if enable_ma_collector:
            raise ValueError(complaint("enable_ma_collector", owner, "False", True, "nothing is written for ModelArts"))
        self.data_size, self.computility, self.full_flops = data_size, computility, full_flops
        self._counts, self._flops, self._begun = ExitStack(), 0.0, 0.0
        self._total: list[float] | None = None

    def __exit__(self, *exc: Any) -> None:
        self._counts.close()

    def step_begin(self, run_context: RunContext) -> None:
        """Begin to count, or to take the time.

        Args:
            run_context: the run.
        """
        if run_context.original_args().mode == "train" and not self._flops:
            self._total = self._counts.enter_context(counting())
        self._begun = perf_counter()

    def step_end(self, run_context: RunContext) -> None:
        """Print the numbers of the first step, and the share that each had whose number `data_size` does not divide.

        Args:
            run_context: the run.
        """
        seconds, run = perf_counter() - self._begun, run_context.original_args()
        if run.mode != "train":
            return
        ranks = run.ranks.size
        if self._total is not None:
            self._counts.close()
            self._flops, self._total = self._total[0], None
            remember(self._flops, ranks)
            full, shard = self._flops * ranks, self._flops
            print(
                f"Full model flops is {full}, Full hardware flops is {full}, Shard model flops is {shard}, "
                f"Shard hardware flops is {shard}.",
                flush=True,
            )
        if self.computility and run.cur_step_num % self.data_size:
            # Over all ranks the operations and the speed are those of one, times their number.
            share = self._flops / seconds / self.computility
            print(f"Train per step time: {seconds * 1e3:.3f} ms mfu:{share:.2%} hfu:{share:.2%}", flush=True)
