"""What a parameter carries besides its values: its name and flags, checked when assigned."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from dist_ms.common.checks import check_bool, check_choice, check_int, check_string, check_type, complaint

_GENERATED = "Parameter#"
_LONGEST_NAME = 1024
_generated_numbers = itertools.count(2)  # MindSpore's default generator takes 0 and 1

is_bool = check_bool


def is_int(value: Any, name: str, owner: str) -> int:
    """Require an int."""
    return int(check_int(value, name, owner))


def is_shape(value: Any, name: str, owner: str) -> list:
    """Require a tuple or list, and return a list."""
    check_type(value, name, owner, (tuple, list))
    return list(value)


class Flag:
    """An attribute that checks what it is given.

    Args:
        default: its value on objects that never assigned it.
        check: called with (value, attribute name, class name); returns the value to keep.
        least: the smallest value allowed, for numbers.
        get: applied to the value when it is read (to give out a fresh list).
    """

    def __init__(
        self,
        default: Any,
        check: Callable[[Any, str, str], Any],
        least: int | None = None,
        get: Callable[[Any], Any] | None = None,
    ) -> None:
        self.default = default
        self.check = check
        self.least = least
        self.get = get

    def __set_name__(self, owner: type, name: str) -> None:
        self.name = name
        self.slot = "_" + name

    def __get__(self, instance: Any, owner: type) -> Any:
        if instance is None:
            return self
        if self.get is None:
            return instance.__dict__.get(self.slot, self.default)
        return self.get(instance.__dict__.get(self.slot, self.default))

    def __set__(self, instance: Any, value: Any) -> None:
        owner = type(instance).__name__
        value = self.check(value, self.name, owner)
        if self.least is not None and value < self.least:
            raise ValueError(complaint(self.name, owner, f"an int of {self.least} or more", value))
        instance.__dict__[self.slot] = value


class ParameterFlags:
    """The name and flags of a Parameter, which documents them."""

    requires_grad = Flag(True, is_bool)
    layerwise_parallel = Flag(False, is_bool)
    parallel_optimizer = Flag(True, is_bool)
    parallel_optimizer_comm_recompute = Flag(False, is_bool)
    comm_fusion = Flag(1, is_int, least=0)
    cache_enable = Flag(False, is_bool)
    cache_shape = Flag((), is_shape, get=list)
    key = Flag(-1, is_int)
    unique: bool = False
    sliced: bool = False
    is_init: bool = False
    is_in_parallel: bool = False
    init_mode: Any = None
    is_param_ps: bool = False
    init_in_server: bool = False
    looked_up: bool = False
    part_of: Any = None  # (the whole's shape, start, stop): the values are this range of its elements
    storage: Any = None  # has the values in this process's place: `fetch()` and `store(array)`
    cached_rows: int = 0
    staleness: float = 0
    wire: Any = None
    partition: str = "hash"
    requires_aggr: bool = True
    push_weight_to_server: bool = False
    pull_weight_from_server: bool = False

    @property
    def name(self) -> str:
        """The parameter's name."""
        return self._name

    @name.setter
    def name(self, value: str | None) -> None:
        if value is not None and not isinstance(value, str):
            raise ValueError(f"For 'Parameter', 'name' must be a str or None, but got {type(value).__name__}.")
        value = (value or "").strip()
        if len(value) > _LONGEST_NAME:
            raise ValueError(
                f"For 'Parameter', 'name' must have at most {_LONGEST_NAME} characters, "
                f"but got {len(value)}: {value[:40]}..."
            )
        self._name = value or f"{_GENERATED}{next(_generated_numbers)}"

    def add_pipeline_stage(self, stage: int) -> None:
        """Say which stage of a pipeline uses the parameter, of which there is one.

        Raises:
            TypeError: if it is no int of 0 or more.
        """
        if isinstance(stage, bool) or not isinstance(stage, int) or stage < 0:
            raise TypeError(complaint("stage", "add_pipeline_stage", "an int of 0 or more", stage))

    @property
    def param_info(self) -> ParameterFlags:
        """The object that holds the flags: the parameter itself."""
        return self

    def set_param_ps(
        self, init_in_server: bool = False, *, staleness: float = 0, wire: str | None = None, partition: str = "hash"
    ) -> None:
        """Let parameter servers hold and update this parameter.

        Without servers (another mode, or a single process) the wish is remembered and has
        no effect, so that one script runs in every mode.

        Args:
            init_in_server: the server makes the values; workers never hold the whole.
            staleness: how many updates a worker may be ahead of the slowest. 0 is synchronous
                training; with s the values a worker reads may lack the last s updates; `math.inf`
                applies every worker's gradients as they come.
            wire: "float16" sends gradients and values as float16; None as they are.
            partition: how the rows of a table are dealt out: "hash" (row r on server r mod K) or
                "range" (neighbouring rows together).

        Raises:
            TypeError: if `init_in_server` is no bool, or `staleness` no number.
            ValueError: if `staleness` is negative or fractional, or `wire` or `partition` unknown.

        Examples:
            >>> import dist_ms as ms
            >>> p = ms.Parameter(ms.Tensor([1.0]), name="p")
            >>> p.set_param_ps()
            >>> p.is_param_ps
            True
        """
        owner = "Parameter.set_param_ps"
        if isinstance(staleness, bool) or not isinstance(staleness, (int, float)):
            raise TypeError(complaint("staleness", owner, "a number", repr(staleness)))
        if not (staleness == float("inf") or (staleness >= 0 and staleness == int(staleness))):
            raise ValueError(complaint("staleness", owner, "a whole number of 0 or more, or math.inf", staleness))
        check_choice(wire, "wire", owner, (None, "float16"))
        check_string(partition, "partition", owner, ("hash", "range"))
        is_bool(init_in_server, "init_in_server", "Parameter.set_param_ps")
        self.is_param_ps = True
        self.init_in_server = init_in_server
        self.staleness, self.wire, self.partition = staleness, wire, partition


def _is_parameter_generated(name: Any) -> bool:
    """Whether a name was made by Parameter because none was given."""
    return isinstance(name, str) and name.startswith(_GENERATED)
