"""GraphCell: a graph that `load` read from a file, as a Cell.

Fields of a cell: writes `_params`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from dist_ms.common.parameter import Parameter
from dist_ms.common.tensor import Tensor
from dist_ms.nn.cell.cell import Cell

__all__ = ["GraphCell", "LoadedGraph"]


class LoadedGraph:
    """What `load` gives: a graph of operations, which `nn.GraphCell` runs.

    Attributes:
        name: the graph's name.
        parameters: arrays by name.
        inputs: the shape, with -1 for open lengths, and the NumPy type of each input.
        run: computes the results of the parameters, in their order, and the inputs.
    """

    def __init__(
        self,
        name: str,
        parameters: dict[str, np.ndarray],
        inputs: Sequence[tuple[tuple[int, ...], np.dtype]],
        run: Callable[[Sequence[Any], Sequence[Any]], Any],
    ) -> None:
        self.name, self.parameters, self.inputs, self.run = name, parameters, inputs, run

    def __repr__(self) -> str:
        return f"LoadedGraph({self.name}, {len(self.parameters)} parameters, {len(self.inputs)} inputs)"


class GraphCell(Cell):
    """A graph that was read from a file of MINDIR as a network, whose parameters can be trained.

    Args:
        graph: what `load` returned.
        params_init: Tensors or Parameters by name, which take the place of the file's values; names that the graph
            does not have are ignored.
        obf_random_seed: must be None: obfuscated graphs are not run.

    Raises:
        NotImplementedError: if `obf_random_seed` is given.
        TypeError: if `graph` is none, or `params_init` holds something else.
        ValueError: if a value of `params_init` has another shape than the graph's parameter.

    Examples:
        >>> import tempfile
        >>> import dist_ms as ms
        >>> from dist_ms import nn
        >>> name = tempfile.mkdtemp() + "/net.mindir"
        >>> x = ms.ops.ones((1, 1, 3, 3))
        >>> ms.export(nn.Conv2d(1, 1, 3, weight_init="ones"), x, file_name=name, file_format="MINDIR")
        >>> net = nn.GraphCell(ms.load(name))
        >>> print(net(x))
        [[[[4. 6. 4.]
           [6. 9. 6.]
           [4. 6. 4.]]]]
        >>> print(nn.GraphCell(ms.load(name), {"weight": ms.ops.zeros((1, 1, 3, 3))})(x).sum())
        0.0
    """

    def __init__(self, graph: Any, params_init: dict | None = None, obf_random_seed: int | None = None) -> None:
        super().__init__(auto_prefix=True)
        if obf_random_seed is not None:
            raise NotImplementedError("For 'GraphCell', 'obf_random_seed' must be None: obfuscated graphs are not run.")
        if not isinstance(graph, LoadedGraph):
            raise TypeError(
                f"For 'GraphCell', 'graph' must be what `load` returned of a file of MINDIR, but got "
                f"{type(graph).__name__}."
            )
        given = {} if params_init is None else params_init
        if not isinstance(given, dict):
            raise TypeError(f"For 'GraphCell', 'params_init' must be a dict, but got {type(given).__name__}.")
        for name, value in given.items():
            if not isinstance(name, str) or not isinstance(value, Tensor):
                raise TypeError(
                    "For 'GraphCell', 'params_init' must hold Tensors or Parameters by name, but got "
                    f"{type(value).__name__} for {name!r}."
                )
        self.graph = graph
        for name, array in graph.parameters.items():
            value = given.get(name)
            if value is not None and tuple(value.shape) != array.shape:
                raise ValueError(
                    f"For 'GraphCell', 'params_init' must have the shape {array.shape} for {name!r}, but got "
                    f"{tuple(value.shape)}."
                )
            # A Tensor copies: each cell trains values of its own.
            made = Tensor(array if value is None else value.asnumpy().astype(array.dtype))
            self._params[name] = Parameter(made, name=name)

    def construct(self, *inputs: Any) -> Any:
        """Run the graph.

        Raises:
            ValueError: if the inputs are not of the number, shapes and types that the graph was made for.
        """
        wanted = self.graph.inputs
        if len(inputs) != len(wanted):
            raise ValueError(f"For 'GraphCell', the graph takes {len(wanted)} inputs, but got {len(inputs)}.")
        for i, (x, (shape, dtype)) in enumerate(zip(inputs, wanted)):
            if not isinstance(x, Tensor):
                raise TypeError(f"For 'GraphCell', input {i} must be a Tensor, but got {type(x).__name__}.")
            fits = len(x.shape) == len(shape) and all(n in (-1, m) for n, m in zip(shape, x.shape))
            if not fits or x.dtype.np != dtype:
                raise ValueError(
                    f"For 'GraphCell', input {i} must have the shape {shape} and the type {dtype.name} for which the "
                    f"graph was exported, but got {tuple(x.shape)} and {x.dtype.np.name}: export it with lengths of "
                    "None, or with an example of this size."
                )
        return self.graph.run(list(self._params.values()), inputs)
