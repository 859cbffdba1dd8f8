"""AutoParallel: MindSpore's mark for networks whose operations are cut over ranks. Here one rank has all."""

from __future__ import annotations

from typing import Any

from dist_ms.common.checks import check_bool, check_choice, check_string, check_type, complaint
from dist_ms.communication import current
from dist_ms.nn.cell import Cell

__all__ = ["AutoParallel"]

_MODES = ("semi_auto", "sharding_propagation", "recursive_programming")
_SCHEDULERS = ("1f1b", "gpipe", "seqpipe", "seqvpp", "seqsmartvpp", "zero_bubble_v")
_LEVELS = ("level1", "level2", "level3")


class AutoParallel(Cell):
    """A network whose operations MindSpore cuts over ranks: alone it runs as it is, on several ranks it is refused.

    The methods take what MindSpore's take, and there is nothing to cut in a job of one rank.

    Args:
        network: the network.
        parallel_mode: "semi_auto", "sharding_propagation" or "recursive_programming".

    Raises:
        TypeError: if `network` is no Cell.
        ValueError: for another mode.
        NotImplementedError: when it is called on several ranks.

    Examples:
        >>> import dist_ms as ms
        >>> from dist_ms.parallel import AutoParallel
        >>> net = AutoParallel(ms.nn.ReLU(), parallel_mode="semi_auto")
        >>> net.dataset_strategy("full_batch")
        >>> print(net(ms.Tensor([-1.0, 1.0])))
        [0. 1.]
    """

    def __init__(self, network: Cell, parallel_mode: str = "semi_auto") -> None:
        super().__init__(auto_prefix=False)
        check_choice(parallel_mode, "parallel_mode", "AutoParallel", _MODES)
        self.network = check_type(network, "network", "AutoParallel", Cell)
        self._stages = 1

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """Return what the network returns."""
        world = current()
        ranks = 1 if world is None else world.comm.size
        if ranks > 1:
            raise NotImplementedError(
                f"For 'AutoParallel', the job must have one rank, but got {ranks}: operations are not cut "
                "over ranks. Train the network itself with parallel_mode 'data_parallel'."
            )
        return self.network(*args, **kwargs)

    def no_init_parameters_in_compile(self) -> None:
        """Change nothing: nothing is compiled."""

    def load_param_strategy_file(self, file_path: str) -> None:
        """Take the path of a file of strategies; one rank has all of every parameter."""
        check_type(file_path, "file_path", "AutoParallel.load_param_strategy_file", str)

    save_param_strategy_file = load_param_strategy_file
    load_operator_strategy_file = load_param_strategy_file
    save_operator_strategy_file = load_param_strategy_file
    set_group_ckpt_save_file = load_param_strategy_file
    dump_local_norm = load_param_strategy_file
    transformer_opt = load_param_strategy_file

    def disable_strategy_file_only_for_trainable_params(self) -> None:
        """Change nothing: no strategy is written."""

    enable_fp32_communication = disable_strategy_file_only_for_trainable_params
    enable_gradients_mean = disable_strategy_file_only_for_trainable_params
    enable_device_local_norm = disable_strategy_file_only_for_trainable_params
    disable_gradient_fp32_sync = disable_strategy_file_only_for_trainable_params
    disable_loss_repeated_mean = disable_strategy_file_only_for_trainable_params
    print_local_norm = disable_strategy_file_only_for_trainable_params

    def dataset_strategy(self, config: str | tuple) -> None:
        """Say how batches are cut, which on one rank they are not.

        Args:
            config: "data_parallel", "full_batch", or a tuple of Layouts or of tuples of ints.
        """
        owner = "AutoParallel.dataset_strategy"
        if isinstance(check_type(config, "config", owner, (str, tuple)), str):
            check_string(config, "config", owner, ("full_batch", "data_parallel"))

    def hsdp(self, shard_size: int = -1, threshold: int = 64, optimizer_level: str = "level1") -> None:
        """Say how the optimizer's states are cut, which on one rank they are not.

        Args:
            shard_size: ranks of a group, -1 for all.
            threshold: KB that a parameter must have to be cut.
            optimizer_level: "level1", "level2" or "level3".
        """
        for name, value, low in (("shard_size", shard_size, 1), ("threshold", threshold, 0)):
            if isinstance(value, bool) or not isinstance(value, int) or (value < low and (name, value) != _ALL):
                raise ValueError(complaint(name, "AutoParallel.hsdp", f"an int from {low} on", value))
        check_choice(optimizer_level, "optimizer_level", "AutoParallel.hsdp", _LEVELS)

    def pipeline(
        self, stages: int = 1, output_broadcast: bool = False, interleave: bool = False, scheduler: str = "1f1b"
    ) -> None:
        """Say into how many stages the network is cut, which on one rank it is not.

        Args:
            stages: their number.
            output_broadcast: whether all stages have the result.
            interleave: whether stages take turns.
            scheduler: the order of the parts of a batch.
        """
        owner = "AutoParallel.pipeline"
        if check_type(stages, "stages", owner, int) <= 0:
            raise ValueError(complaint("stages", owner, "above 0", stages))
        check_bool(output_broadcast, "output_broadcast", owner)
        check_bool(interleave, "interleave", owner)
        if check_type(scheduler, "scheduler", owner, str) not in _SCHEDULERS:
            raise ValueError(complaint("scheduler", owner, f"one of {_SCHEDULERS}", scheduler))
        self._stages = stages

    def get_pipeline_stages(self) -> int:
        """The number of stages that `pipeline` was given."""
        return self._stages

    def comm_fusion(self, config: dict[str, Any]) -> None:
        """Say how collectives are fused, of which one rank has none.

        Args:
            config: per kind of collective a dict.
        """
        check_type(config, "config", "AutoParallel.comm_fusion", dict)


_ALL = ("shard_size", -1)
