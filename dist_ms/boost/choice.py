"""AutoBoost: which of the ways to train are taken, and their numbers."""

from __future__ import annotations

import copy
import logging
from typing import Any

from dist_ms.boost.freezing import GradientFreeze
from dist_ms.boost.normalization import LessBN
from dist_ms.boost.parameter_groups import OptimizerProcess, ParameterProcess
from dist_ms.boost.principal_components import prepare
from dist_ms.nn.cell import Cell
from dist_ms.nn.optim.sgd import SGD
from dist_ms.parallel.mode import world_comm

__all__ = ["AutoBoost"]

_log = logging.getLogger("dist_ms")
_WAYS = ("less_bn", "grad_freeze", "adasum", "grad_accumulation", "dim_reduce", "loss_scale_group")
_LEVELS = {"O0": (), "O1": ("less_bn", "grad_freeze"), "O2": ("less_bn", "grad_freeze", "adasum")}
_MODES = ("auto", "manual", "enable_all", "disable_all")
# The numbers of each way, and of all.
_NUMBERS: dict[str, dict[str, Any]] = {
    "common": {"gradient_split_groups": None, "device_number": 8},
    "less_bn": {"fn_flag": True, "gc_flag": True},
    "grad_freeze": {"param_groups": 10, "freeze_type": 1, "freeze_p": 0.7, "total_steps": 65536},
    "grad_accumulation": {"grad_accumulation_step": 1},
    "dim_reduce": {
        "rho": 0.55,
        "gamma": 0.9,
        "alpha": 0.001,
        "sigma": 0.4,
        "n_components": 32,
        "pca_mat_path": None,
        "weight_load_dir": None,
        "timeout": 1800,
    },
}


class AutoBoost:
    """Applies ways to train with less work to a network and its optimizer. There is one in a process.

    The first that is made decides; a later one with other arguments is the first one again, which a warning tells.

    Args:
        level: "O0": none; "O1": `LessBN` and `GradientFreeze`; "O2": `AdaSum`, too. Any other is "O0".
        boost_config_dict: under "boost" a "mode": "auto" (the level decides), "manual" (what stands beside it,
            name: bool), "enable_all" or "disable_all"; under the name of a way, and under "common", its numbers:

            - common: gradient_split_groups, where buckets of gradients end; device_number (8), ranks of a group.
            - less_bn: fn_flag (True), gc_flag (True: centralise gradients).
            - grad_freeze: param_groups (10), freeze_type (1), freeze_p (0.7), total_steps (65536).
            - grad_accumulation: grad_accumulation_step (1).
            - dim_reduce: rho (0.55), gamma (0.9), alpha (0.001), sigma (0.4), n_components (32), pca_mat_path,
              weight_load_dir, timeout (1800 seconds).

    Attributes:
        boost_config: whether each way is taken, by its name.

    Raises:
        ValueError: for an unknown mode, or a number under an unknown name.

    Examples:
        >>> import dist_ms as ms
        >>> ms.boost.AutoBoost.forget()
        >>> boost = ms.boost.AutoBoost("O1", {"grad_freeze": {"param_groups": 4}})
        >>> boost.boost_config["less_bn"], boost.boost_config["adasum"], boost.param_groups
        (True, False, 4)
        >>> ms.boost.AutoBoost() is boost
        True
        >>> ms.boost.AutoBoost.forget()
    """

    _made: AutoBoost | None = None
    level: str
    boost_config: dict[str, bool]
    boost_config_dict: Any
    less_bn: bool
    fn_flag: bool
    gc_flag: bool
    param_groups: int
    freeze_type: int
    freeze_p: float
    total_steps: int
    gradient_split_groups: list[int] | None
    device_number: int
    grad_accumulation_step: int
    rho: float
    gamma: float
    alpha: float
    sigma: float
    n_components: int
    pca_mat_path: str | None
    weight_load_dir: str | None
    timeout: float
    local_pca_mat_path: str | None

    def __new__(cls, *args: Any, **kwargs: Any) -> AutoBoost:
        return super().__new__(cls) if AutoBoost._made is None else AutoBoost._made

    def __init__(self, level: str = "O0", boost_config_dict: dict | str = "") -> None:
        level = level if level in _LEVELS else "O0"
        if AutoBoost._made is not None:
            asked = level != "O0" or boost_config_dict
            if asked and (level, boost_config_dict) != (self.level, self.boost_config_dict):
                _log.warning(
                    "For 'AutoBoost', the arguments must be those of the first one, %r and %r, but got %r and %r: they "
                    "are not followed.",
                    *(self.level, self.boost_config_dict, level, boost_config_dict),
                )
            return
        self.level, self.boost_config_dict = level, copy.deepcopy(boost_config_dict)
        for numbers in _NUMBERS.values():
            self.__dict__.update(numbers)
        self.local_pca_mat_path = None
        self.boost_config = self._chosen(level, boost_config_dict or {})
        self._param_processer = ParameterProcess()
        AutoBoost._made = self

    @staticmethod
    def forget() -> None:
        """Let the next one that is made decide."""
        AutoBoost._made = None

    def _chosen(self, level: str, config: dict) -> dict[str, bool]:
        """Whether each way is taken; their numbers become attributes."""
        chosen = {way: way in _LEVELS[level] for way in _WAYS}
        boost = config.get("boost", {})
        mode = boost.get("mode", "auto")
        if mode not in _MODES:
            raise ValueError(f"For 'AutoBoost', the mode must be one of {_MODES}, but got {mode!r}.")
        if mode == "manual":
            chosen.update({way: bool(boost[way]) for way in _WAYS if way in boost})
        elif mode != "auto":
            chosen = dict.fromkeys(_WAYS, mode == "enable_all")
        for way, numbers in config.items():
            if way == "boost":
                continue
            known = _NUMBERS.get(way, {})
            for name, value in numbers.items():
                if name not in known:
                    raise ValueError(
                        f"For 'AutoBoost', '{way}' of 'boost_config_dict' must have names of {sorted(known)}, but got "
                        f"{name!r}."
                    )
                if way == "common" or chosen[way]:
                    setattr(self, name, value)
        return chosen

    def network_auto_process_train(self, network: Cell, optimizer: Any) -> tuple[Cell, Any]:
        """Return the network and the optimizer to train.

        Args:
            network: the network.
            optimizer: its optimizer.
        """
        chosen = self.boost_config
        if chosen["dim_reduce"]:
            comm = world_comm()
            self.local_pca_mat_path = prepare(
                self.weight_load_dir, self.pca_mat_path, self.n_components, self.device_number, network, comm
            )
            optimizer = SGD(network.trainable_params(), learning_rate=1.0)
            optimizer.dim_reduce = True
            return network, optimizer
        if chosen["less_bn"]:
            network = LessBN(network, fn_flag=self.fn_flag)
            made = OptimizerProcess(optimizer)
            weights = self._param_processer.assign_parameter_group(
                network.trainable_params(), self.gradient_split_groups
            )
            made.origin_params = ParameterProcess.generate_group_params(weights, made.origin_params)
            if self.gc_flag:
                made.add_grad_centralization(network)
            optimizer = made.generate_new_optimizer()
        if chosen["grad_freeze"]:
            freeze = GradientFreeze(self.param_groups, self.freeze_type, self.freeze_p, self.total_steps)
            network, optimizer = freeze.freeze_generate(network, optimizer)
        if chosen["adasum"]:
            optimizer.adasum = True
        return network, optimizer

    def network_auto_process_eval(self, network: Cell) -> Cell:
        """Return the network to evaluate.

        Args:
            network: the network.
        """
        if self.boost_config["dim_reduce"] or not self.boost_config["less_bn"]:
            return network
        return LessBN(network)
