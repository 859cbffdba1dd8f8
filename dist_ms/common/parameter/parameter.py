"""Parameter: a tensor that training updates, with a name and its place in the plan.

The array of a parameter stays where it is: `set_data`, assignments, the optimizer and
the communication all write into it, and hold views of it between steps.
"""

from __future__ import annotations

import copy
import itertools
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from dist_ms.common import dtype as mstype
from dist_ms.common.checks import check_string
from dist_ms.common.parameter.buffer import _Buffer
from dist_ms.common.parameter.flags import ParameterFlags, _is_parameter_generated
from dist_ms.common.parameter.postponing import (
    no_init_parameters,
    parameters_cut,
    servers_hold_tables,
    values_postponed,
)
from dist_ms.common.progress import progress
from dist_ms.common.tensor import Tensor, slices, to_array, wrap

__all__ = [
    "Parameter",
    "ParameterTuple",
    "_Buffer",
    "_is_parameter_generated",
    "no_init_parameters",
]

_PREFIX = re.compile(r"^\w+[0-9a-zA-Z_.]*$", re.ASCII)
_keys = itertools.count()


class Parameter(ParameterFlags, Tensor):  # type: ignore[misc]  # `is_init` is a method of Tensor, as in MindSpore
    """A tensor that training updates.

    Args:
        default_input: Tensor, `initializer(...)`, int (becomes int32), float (float32),
            NumPy array or list (types kept as in Tensor). Copied.
        name: by default the name of the Cell attribute it is assigned to.
        requires_grad: whether optimizers update it and gradients reach it.
        layerwise_parallel: every rank keeps and updates its own value: not broadcast,
            gradients not reduced.
        parallel_optimizer: whether the parallel optimizer may shard it.
        storage_format: accepted, and without meaning on CPUs, where it only names
            accelerator layouts.
        device: None or "CPU".

    An initializer's values are made at once, except in the modes "semi_auto_parallel" and
    "auto_parallel" and under `no_init_parameters`: there the parameter is lazy (`has_init`)
    and `init_data` makes the values, or only this rank's slice of them.

    Attributes:
        name: unique within a network; at most 1024 characters.
        requires_grad, layerwise_parallel, parallel_optimizer: as above.
        sliced: this rank holds a slice; set by `init_data` and `set_data`.
        is_init: free for use by engines that copy data to devices; False.
        inited_param: None; here `init_data` fills the parameter itself.
        is_in_parallel: made in a mode that cuts parameters into slices.
        init_mode: the lazy tensor a lazy parameter was made from, else None.
        comm_fusion: parameters with the same number share a gradient bucket; 0: none.
        parallel_optimizer_comm_recompute: gather again in the backward pass (a bool).
        unique, cache_enable, cache_shape, key: bookkeeping of embedding caches.
        is_param_ps, init_in_server, staleness, wire, partition: set by `set_param_ps`.
        looked_up, cached_rows: an EmbeddingLookup reads it by rows, and keeps so many of them.
        requires_aggr, push_weight_to_server, pull_weight_from_server: True, False, False;
            left from federated learning.

    Raises:
        TypeError: for another kind of `default_input`, or a flag that is no bool.
        ValueError: for a bool `default_input`, a name that is no string or too long, or
            another device.

    Examples:
        >>> import dist_ms as ms
        >>> import numpy as np
        >>> ms.Parameter(ms.Tensor(np.ones((2, 2)), ms.float32), name="w")
        Parameter (name=w, shape=(2, 2), dtype=Float32, requires_grad=True)
        >>> ms.Parameter(3, name="n")
        Parameter (name=n, shape=(), dtype=Int32, requires_grad=True)
    """

    reduction: Any = None  # how ranks reduce its gradient, once they do
    looked_after = False  # whether an optimizer sees that its replicas stay equal, or is told that they need not
    overwritten = -1  # how many updates there had been when it was last given other values, but by an update
    before_write: Any = staticmethod(lambda: None)  # autograd's guard of values it saved for a gradient

    def __init__(
        self,
        default_input: Any,
        name: str | None = None,
        requires_grad: bool = True,
        layerwise_parallel: bool = False,
        parallel_optimizer: bool = True,
        storage_format: str = "",
        device: str | None = None,
    ) -> None:
        if device not in (None, "CPU"):
            raise ValueError(
                f"For 'Parameter', 'device' must be None or 'CPU', but got {device!r}: dist_ms runs on CPUs."
            )
        check_string(storage_format, "storage_format", "Parameter")
        if parameters_cut():
            self.is_in_parallel = True
        self._take(default_input)
        self.name = name
        if requires_grad is not True:
            self.requires_grad = requires_grad
        if layerwise_parallel is not False:
            self.layerwise_parallel = layerwise_parallel
        if parallel_optimizer is not True:
            self.parallel_optimizer = parallel_optimizer

    def _take(self, source: Any) -> None:
        """Copy the data of the constructor's input, or remember how to make it."""
        if isinstance(source, Tensor):
            if source._data is None:
                self._take_lazy(source)
            else:
                self._data = np.array(source._data, order="C")
                self._plain_text = source._plain_text
        elif isinstance(source, bool):
            raise ValueError(
                "For 'Parameter', 'default_input' must not be a bool: "
                "use a Tensor of the type bool_, an int or a float."
            )
        elif isinstance(source, int):
            # MindSpore keeps the low 32 bits of a larger int.
            self._data = np.array(source & 0xFFFFFFFF, np.uint32).astype(np.int32)
        elif isinstance(source, float):
            self._data = np.array(source, np.float32)
        elif isinstance(source, (np.ndarray, list)):
            self._data = to_array(source)
        else:
            raise TypeError(
                "For 'Parameter', 'default_input' must be a Tensor, int, float, numpy.ndarray or "
                f"list, but got {type(source).__name__}."
            )

    def _take_lazy(self, source: Tensor) -> None:
        if source.init is None:
            raise ValueError(f"For 'Parameter', the shape of 'default_input' must be known, but got {source.shape}.")
        if self.is_in_parallel or values_postponed():
            self._shape, self._dtype, self.init = source._shape, source._dtype, source.init
            self.init_mode = source
        else:
            self._data = source.init.create_first(source)
        self._plain_text = True

    @property
    def elsewhere(self) -> bool:  # type: ignore[override]  # only Tensor's default is a plain field
        """Whether parameter servers have the values, and this process shape and type only."""
        if self.storage is not None:
            return True
        return self._data is None and self.looked_up and self.is_param_ps and servers_hold_tables()

    @property
    def saved_by_servers(self) -> bool:
        """Whether no worker can write the values to a file: then `save_servers` alone saves them."""
        return self.storage is not None and self.storage.saved_by_servers

    def _materialise(self) -> np.ndarray:
        if self.storage is not None:
            return self.storage.fetch()
        self.init_mode = None
        return super()._materialise()

    # ---- values
    def __repr__(self) -> str:
        return (
            f"Parameter (name={self._name}, shape={self.shape}, dtype={self.dtype}, requires_grad={self.requires_grad})"
        )

    __str__ = __repr__

    def value(self) -> Tensor:
        """A copy of the values as a plain Tensor, with the parameter's place in a gradient.

        Examples:
            >>> import dist_ms as ms
            >>> print(ms.Parameter(ms.Tensor([1.0, 2.0])).value())
            [1. 2.]
        """
        twin = wrap(self.array().copy(order="K"))
        if self._node is not None:
            twin._node, twin._index = self._node, self._index
        return twin

    @property
    def data(self) -> Parameter:
        """The same memory, name and flags, outside any gradient. Assigning replaces values, shape and type."""
        self.array()  # a lazy parameter has its values from now on
        return self._twin(lambda value: value)

    @data.setter
    def data(self, value: Tensor) -> None:
        self.assign_value(value)

    @property
    def inited_param(self) -> None:
        """None: `init_data` fills the parameter itself."""
        return None

    def set_data(self, data: Tensor | int | float, slice_shape: bool = False) -> Parameter:
        """Overwrite the values; the type stays the parameter's.

        While the shape stays, the values are written into the existing memory: views of
        it, such as an optimizer's, see them. A new shape gets new memory.

        Args:
            data: a Tensor, an `initializer(...)`, or a number.
            slice_shape: the data is a slice: its shape may differ, and `sliced` is set.
                Without it `sliced` becomes False, as in MindSpore; code that moves values
                between ranks uses `assign_value` or `overwrite`, which keep it.

        Returns:
            The parameter.

        Raises:
            TypeError: for another kind of data, or a float for an integer parameter.
            ValueError: if the shape differs and `slice_shape` is False.

        Examples:
            >>> import dist_ms as ms
            >>> p = ms.Parameter(ms.Tensor([[1.0, 2.0]]), name="p")
            >>> print(p.set_data(ms.Tensor([[6, 7]])).asnumpy())
            [[6. 7.]]
        """
        if isinstance(data, Tensor):
            incoming = data.array()
        elif isinstance(data, (int, float)):
            if isinstance(data, float) and isinstance(self.dtype, (mstype.Int, mstype.UInt)):
                raise TypeError(
                    f"For 'Parameter.set_data', the data of the {self.dtype} parameter "
                    f"'{self._name}' must not be a float, but got {data}: convert it to an int, "
                    "or use 'set_dtype' first."
                )
            incoming = np.asarray(data)
        else:
            raise TypeError(
                f"For 'Parameter.set_data', 'data' must be a Tensor, int or float, but got {type(data).__name__}."
            )
        if incoming.shape != self.shape and not slice_shape:
            raise ValueError(
                f"For 'Parameter.set_data', the shape of 'data' must be that of the parameter "
                f"'{self._name}', {self.shape}, but got {incoming.shape}: "
                "use 'slice_shape=True' to change the shape."
            )
        self.overwrite(incoming)
        self.sliced = slice_shape
        return self

    def assign_value(self, value: Tensor) -> Parameter:
        """Take the values, shape and type of a tensor; flags stay.

        While shape and type are the same, the values are written into the existing memory.

        Raises:
            TypeError: if `value` is no Tensor.
        """
        if (
            self._data is not None
            and isinstance(value, Tensor)
            and value.dtype == self.dtype
            and value.shape == self.shape
        ):
            self.overwrite(value.array())
        else:
            super().assign_value(value)
            self.init_mode = None
        return self

    def overwrite(self, array: np.ndarray) -> None:
        """Write an array over the values, in place while the shape stays; flags are kept.

        The array is cast to the parameter's type. Inside the package only.
        """
        self.overwritten = progress.updates
        if self.storage is not None:
            self.storage.store(array)
            return
        if self._data is None:
            self._data = np.empty(array.shape, self._dtype)
            self.init = self.init_mode = None
        elif self._data.shape != array.shape:
            self._data = np.empty(array.shape, self._data.dtype)
        if array.dtype.kind == "c" and self._data.dtype.kind != "c":
            array = array.real
        self.before_write()
        with np.errstate(invalid="ignore", over="ignore"):
            np.copyto(self._data, array, casting="unsafe")
        self.written()

    def init_data(  # type: ignore[override]  # as in MindSpore
        self, layout: tuple | None = None, set_sliced: bool = False
    ) -> Parameter:
        """Make the values of a lazy parameter; nothing happens to one that has them.

        With a layout only this rank's slice is ever made: ranks with the same slice get
        the same numbers, other slices other numbers, and no rank holds the whole.

        Args:
            layout: (device matrix, tensor map, slice shape, field size, uniform split,
                optimizer group), at least; entry i of the tensor map names the axis of the
                device matrix, counted from the last, that cuts dimension i, or is -1.
            set_sliced: set `sliced` when a layout is given.

        Returns:
            The parameter.

        Raises:
            TypeError: if `layout` is no tuple.
            ValueError: if it has fewer than six entries or does not fit the parameter.

        Examples:
            >>> import dist_ms as ms
            >>> from dist_ms.common.initializer import initializer
            >>> from dist_ms.common.parameter import no_init_parameters
            >>> with no_init_parameters():
            ...     p = ms.Parameter(initializer("normal", [8, 2]), name="p")
            >>> p.init_data(layout=([4], [0, -1], [2, 2], 0, True, ""), set_sliced=True)
            Parameter (name=p, shape=(2, 2), dtype=Float32, requires_grad=True)
            >>> p.sliced
            True
        """
        if not self.has_init or self.elsewhere:
            return self
        if self.is_param_ps and self.init_in_server and servers_hold_tables():
            # The server makes and keeps the table; a worker only pulls rows of it.
            self._data = np.zeros((1,), self._dtype)
        elif layout is None:
            self._data = self.init.create(self._shape, self._dtype)
        else:
            part = slices.slice_of(layout, self._shape)
            self._data = self.init.create_slice(
                part.shape,
                self._dtype,
                part.index,
                full_shape=self._shape,
                start=part.start,
                name=self._name,
            )
            self.sliced = bool(set_sliced)
        self.init = self.init_mode = None
        return self

    # ---- copies
    def clone(self, init: Any = "same") -> Parameter:
        """A new parameter with the same name and flags.

        Args:
            init: "same" for the same values, or what `initializer` accepts: an
                initializer, its name, a number or a Tensor.

        Examples:
            >>> import dist_ms as ms
            >>> print(ms.Parameter(ms.Tensor([1.0, 2.0]), name="w").clone("zeros").asnumpy())
            [0. 0.]
        """
        twin = copy.deepcopy(self)
        twin.is_init = False
        if twin.cache_enable:
            twin.key = next(_keys)
        if not (isinstance(init, str) and init == "same"):
            from dist_ms.common.initializer import initializer

            shape, dtype = self.shape, self.dtype
            twin._data = twin.init = twin.init_mode = None
            twin._take(initializer(init, shape, dtype))
            if twin._data is not None:
                twin.set_dtype(dtype)
        return twin

    def copy(self) -> Parameter:
        """A new parameter with the same name, flags and values."""
        return self.clone()


def check_unique_names(parameters: Sequence[Parameter]) -> None:
    """Require that parameters with the same name are one object.

    Raises:
        ValueError: naming the first name that two parameters share.
    """
    by_name: dict[str, Parameter] = {}
    for parameter in parameters:
        if by_name.setdefault(parameter.name, parameter) is not parameter:
            raise ValueError(
                f"For 'Parameter', every 'name' must be unique, but '{parameter.name}' already exists: "
                f"give {parameter} another one."
            )


class ParameterTuple(tuple):
    """A tuple of parameters, for optimizers and gradients.

    Args:
        iterable: the parameters; one object may come several times.

    Raises:
        TypeError: if `iterable` is none, or holds something that is no Parameter.
        ValueError: if two different parameters have the same name.

    Examples:
        >>> import dist_ms as ms
        >>> w = ms.Parameter(ms.Tensor([1.0]), name="w")
        >>> ms.ParameterTuple([w]).clone("old")
        (Parameter (name=old.w, shape=(1,), dtype=Float32, requires_grad=True),)
    """

    __slots__ = ()

    def __new__(cls, iterable: Iterable[Parameter]) -> ParameterTuple:
        if isinstance(iterable, Parameter):
            raise TypeError(
                "For 'ParameterTuple', 'iterable' must be a collection of Parameters, "
                "but got a Parameter: put it in a list."
            )
        items = tuple(iterable)
        for item in items:
            if not isinstance(item, Parameter):
                raise TypeError(
                    f"For 'ParameterTuple', 'iterable' must hold Parameters only, but got {type(item).__name__}."
                )
        check_unique_names(items)
        return tuple.__new__(cls, items)

    def clone(self, prefix: str, init: Any = "same") -> ParameterTuple:
        """Clone every parameter under the name `<prefix>.<name>`.

        Args:
            prefix: letters, digits, underscores and dots, not starting with a dot.
            init: as in `Parameter.clone`.

        Raises:
            TypeError: if `prefix` is no str.
            ValueError: for other characters in it, or an unknown initializer.
        """
        check_string(prefix, "prefix", "ParameterTuple.clone")
        if not _PREFIX.match(prefix):
            raise ValueError(
                "For 'ParameterTuple.clone', 'prefix' must consist of letters, digits, '_' and '.' "
                f"and not start with '.', but got {prefix!r}."
            )
        clones = []
        for parameter in self:
            twin = parameter.clone(init)
            twin.name = f"{prefix}.{parameter.name}"
            clones.append(twin)
        return ParameterTuple(clones)
