"""Primitive: the shape every operation has."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np

from dist_ms._ext.quiet import quiet
from dist_ms._ext.tape import Gate
from dist_ms.common.checks import check_bool, check_string, check_type, complaint
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor.slices import rank as own_rank

__all__ = [
    "Primitive",
    "PrimitiveWithCheck",
    "PrimitiveWithInfer",
    "Undifferentiable",
    "as_tensor",
    "numpy_dtype",
    "quiet",
]


class Primitive(Gate):
    """One operation: its forward on arrays and its gradient in operations.

    A subclass takes its attributes in `__init__` and is called with its inputs. The names
    of `forward`'s parameters are the keywords of the call.

    Attributes:
        name: the operation's name in errors and plans.
        keeps: indices of the inputs whose data `gradient` reads; None for all.
        keeps_output: whether `gradient` reads the output's data.
        differentiable: whether a gradient passes through at all.
        joins: what it can do in one pass with the operation before it (_ext/tape/tape_later.pxi); "" for nothing.

    Examples:
        >>> import dist_ms as ms
        >>> class Double(ms.ops.Primitive):
        ...     keeps = ()
        ...     def forward(self, x):
        ...         return x + x
        ...     def gradient(self, inputs, output, dout):
        ...         return dout + dout
        >>> print(ms.grad(Double())(ms.Tensor([1.0, 2.0])))
        [2. 2.]
    """

    name: str = "Primitive"
    differentiable: bool = True
    keeps: tuple | None = None
    keeps_output: bool = False
    joins: str = ""
    takes: str = ""  # the names of a call's arguments, where they are not those of `forward`'s parameters

    def __init__(self, name: str | None = None) -> None:
        if name is not None:
            self.name = name

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        cls.name = cls.__name__
        if "forward" in cls.__dict__ and "joins" not in cls.__dict__:
            cls.joins = ""

    def forward(self, *arrays: Any) -> Any:
        """Compute the output arrays of the input arrays and plain values."""
        raise NotImplementedError(f"For '{self.name}', forward is not defined.")

    def gradient(self, inputs: tuple, output: Any, dout: Any) -> Any:
        """Return one gradient (Tensor or None) per input."""
        raise RuntimeError(f"For '{self.name}', the gradient is not defined: the operation is not differentiable.")

    def array_given(self, place: int = 0) -> TypeError:
        """The error to raise for a NumPy array as an input, the first if none is told, which MindSpore refuses, too."""
        name = list(self.call_signature().parameters)[place]
        return TypeError(f"For '{self.name}', '{name}' must be a Tensor, but got ndarray; make a Tensor of it.")

    def call_signature(self) -> inspect.Signature:
        """The parameters of a call."""
        if not self.takes:
            return inspect.signature(self.forward)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        return inspect.Signature([inspect.Parameter(name, kind) for name in self.takes.split()])

    def arguments(self, args: tuple, kwargs: dict) -> tuple:
        """Put keyword arguments in their places, by the names in `takes` or of `forward`'s parameters."""
        try:
            bound = self.call_signature().bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"For '{self.name}', {error}.") from None
        bound.apply_defaults()
        return bound.args

    # ---- what MindSpore's compilers read; there is none here, so it is only kept
    def init_prim_io_names(self, inputs: list, outputs: list) -> None:
        """Name the inputs and outputs, as `input_names` and `output_names`."""
        self.input_names, self.output_names = inputs, outputs

    def set_prim_instance_name(self, instance_name: str) -> Primitive:
        """Give this one object a name, `instance_name`, and return it."""
        self.instance_name = instance_name
        return self

    def add_prim_attr(self, name: str, value: Any) -> Primitive:
        """Set an attribute, also in `attrs`, and return the primitive.

        Examples:
            >>> import dist_ms as ms
            >>> ms.ops.Add().add_prim_attr("note", 1).attrs
            {'note': 1}
        """
        setattr(self, name, value)
        self.__dict__.setdefault("attrs", {})[name] = value
        return self

    def del_prim_attr(self, name: str) -> Primitive:
        """Remove an attribute, and return the primitive."""
        self.__dict__.pop(name, None)
        self.__dict__.get("attrs", {}).pop(name, None)
        return self

    def set_stage(self, stage: int) -> Primitive:
        """Keep the number of a pipeline's stage as an attribute, and return the primitive."""
        return self.add_prim_attr("stage", stage)

    def shard(self, in_strategy: tuple | None = None, out_strategy: tuple | None = None) -> Primitive:
        """Keep how MindSpore is to cut the operation over ranks, and return the primitive.

        As in MindSpore's other parallel modes nothing is cut; in "semi_auto_parallel" and "auto_parallel", which would
        read it, training on several ranks is refused.

        Args:
            in_strategy: per input, into how many parts each dimension is cut, or a Layout.
            out_strategy: the same for results.

        Raises:
            TypeError: if an argument has the wrong type.
            ValueError: if there is an `out_strategy` alone.

        Examples:
            >>> import dist_ms as ms
            >>> ms.ops.Add().shard(((2, 1), (2, 1)))
            Prim[Add]<in_strategy=((2, 1), (2, 1))>
        """
        if in_strategy is None and out_strategy is not None:
            raise ValueError(complaint("in_strategy", self.name, "given with an 'out_strategy'", in_strategy))
        for name, strategy in (("in_strategy", in_strategy), ("out_strategy", out_strategy)):
            if strategy is not None:
                check_type(strategy, name, self.name, tuple)
                if not all(isinstance(part, tuple) or hasattr(part, "to_dict") for part in strategy):
                    raise TypeError(complaint(name, self.name, "a tuple of tuples or Layouts", strategy))
                self.add_prim_attr(name, strategy)
        return self

    def set_device(self, device_target: str) -> Primitive:
        """Keep where the operation is to run, and return the primitive.

        Raises:
            ValueError: if it is not "CPU".

        Examples:
            >>> import dist_ms as ms
            >>> ms.ops.Add().set_device("CPU").primitive_target
            'CPU'
        """
        if device_target != "CPU":
            raise ValueError(
                f"For '{self.name}', 'device_target' must be 'CPU', but got {device_target!r}: dist_ms runs on CPUs."
            )
        return self.add_prim_attr("primitive_target", device_target)

    def place(self, role: str, rank_id: int, group_id: str | None = None) -> None:
        """Say which process runs the operation. Here every process runs what its script calls: only its own fits.

        Args:
            role: "MS_WORKER".
            rank_id: this process's rank.
            group_id: must be None.

        Raises:
            TypeError: if an argument has the wrong type.
            ValueError: if another process is named.

        Examples:
            >>> import dist_ms as ms
            >>> ms.ops.MatMul().place("MS_WORKER", 0)
        """
        check_string(role, "role", self.name)
        if isinstance(rank_id, bool) or not isinstance(rank_id, int):
            raise TypeError(f"For '{self.name}', 'rank_id' must be an int, but got {type(rank_id).__name__}.")
        if role != "MS_WORKER" or rank_id != own_rank() or group_id is not None:
            raise ValueError(
                f"For '{self.name}', 'place' must name this process, 'MS_WORKER' {own_rank()}, but got {role!r} "
                f"{rank_id}{'' if group_id is None else f' of group {group_id!r}'}: every rank runs its "
                "script's operations; send tensors with the operations of ops.communication."
            )

    def recompute(self, mode: bool = True) -> Primitive:
        """Ask a compiler to compute this operation again in the gradient, and return the primitive.

        As outside MindSpore's graph mode nothing changes: operations save only what their
        gradients read. `Cell.recompute` and `recompute` do save memory here.

        Raises:
            TypeError: if `mode` is no bool.
        """
        check_bool(mode, "mode", self.name)
        return self.add_prim_attr("recompute_mode", mode)

    def __repr__(self) -> str:
        hidden = ("name", "attrs", "takes", "input_names", "output_names", "instance_name")
        attributes = ", ".join(f"{k}={v}" for k, v in vars(self).items() if not k.startswith("_") and k not in hidden)
        return f"Prim[{self.name}]<{attributes}>" if attributes else f"Prim[{self.name}]"


class OfTensors(Primitive):
    """A primitive that refuses NumPy arrays not as its first input alone, but as its first `tensors` ones."""

    tensors: int = 2

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args = self.arguments(args, kwargs)
        for place in range(1, min(self.tensors, len(args))):
            if type(args[place]) is np.ndarray:
                raise self.array_given(place)
        return super().__call__(*args)


class PrimitiveWithInfer(Primitive):
    """A primitive with MindSpore's hooks for compilers, which are not called here.

    Examples:
        >>> import dist_ms as ms
        >>> class Twice(ms.ops.PrimitiveWithInfer):
        ...     def forward(self, x):
        ...         return x + x
        >>> print(Twice("Twice")(ms.Tensor([1, 2])))
        [2 4]
    """


class PrimitiveWithCheck(Primitive):
    """A primitive with MindSpore's hooks for compilers, which are not called here.

    Examples:
        >>> import dist_ms as ms
        >>> class Twice(ms.ops.PrimitiveWithCheck):
        ...     def forward(self, x):
        ...         return x + x
        >>> print(Twice("Twice")(ms.Tensor([1, 2])))
        [2 4]
    """


class Undifferentiable(Primitive):
    """An operation whose outputs do not depend smoothly on its inputs; gradients end there."""

    differentiable = False


def as_tensor(x: Any) -> Tensor:
    """Return `x` itself if it is a Tensor, else a Tensor of it."""
    return x if isinstance(x, Tensor) else Tensor(x)


def numpy_dtype(x: Any) -> np.dtype:
    """The NumPy dtype of a tensor that may have no data."""
    return x._element
