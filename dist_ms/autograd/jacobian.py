"""jvp, vjp, linearize, jacrev and jacfwd.

The product with the Jacobian in forward direction is taken by reverse sweeps only: the
gradient G(u) = uJ of the outputs weighted with u is linear in u, and its own gradient in
direction v is Jv.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dist_ms.autograd.differentiate import Graph, numpy_dtype, zeros_like
from dist_ms.autograd.grad import check_positions, check_weights, first_output
from dist_ms.autograd.seeds import check_seed
from dist_ms.autograd.stacking import stack
from dist_ms.autograd.tape import alias
from dist_ms.autograd.tree import map_tensors, tensors
from dist_ms.common.tensor import Tensor, wrap


def jvp(fn: Callable, inputs: Any, v: Any, has_aux: bool = False) -> tuple:
    """Compute the product of the Jacobian of `fn` at `inputs` with the vector `v`.

    Args:
        fn: a Cell or function of tensors.
        inputs: a Tensor, or a tuple or list of the arguments.
        v: one Tensor for each input, of the same shape and type.
        has_aux: only the first output is differentiated.

    Returns:
        (outputs, product), the product nested like the outputs; with `has_aux` (first output,
        product, the other outputs: a tuple if they are several).

    Raises:
        TypeError: if `inputs` or `v` is something else.
        ValueError: if their numbers or shapes differ.

    Examples:
        >>> import dist_ms as ms
        >>> out, tangent = ms.jvp(lambda x: x * x, ms.Tensor([1.0, 2.0]), ms.Tensor([1.0, 10.0]))
        >>> print(out, tangent)
        [1. 4.] [ 2. 40.]
    """
    _check_fn("jvp", fn, has_aux)
    args = apart(_arguments(inputs))
    product = _Product(fn, args, {}, list(args), has_aux)
    tangent = product(v)
    if has_aux:
        return product.source, tangent, _others(product.outputs)
    return product.outputs, tangent


def linearize(fn: Callable, inputs: Any) -> tuple[Any, Callable]:
    """Run `fn` once and return its outputs and the function `v -> Jv` there.

    Args:
        fn: a Cell or function of tensors.
        inputs: a Tensor, or a tuple or list of the arguments.

    Returns:
        (outputs, function), the function taking a Tensor or a tuple like `inputs`.

    Raises:
        TypeError: if `inputs` is something else.

    Examples:
        >>> import dist_ms as ms
        >>> out, tangent = ms.ops.linearize(lambda x: x * x, ms.Tensor(3.0))
        >>> print(out, tangent(ms.Tensor(1.0)), tangent(ms.Tensor(2.0)))
        9.0 6.0 12.0
    """
    _check_fn("linearize", fn, False)
    args = apart(_arguments(inputs))
    product = _Product(fn, args, {}, list(args), False)
    return product.outputs, product


def vjp(fn: Callable, *inputs: Any, weights: Any = None, has_aux: bool = False) -> tuple:
    """Run `fn` and return its outputs and the function `v -> vJ`, which sweeps back.

    Args:
        fn: a Cell or function of tensors.
        inputs: its arguments.
        weights: Parameters whose gradients are wanted too: one, a list or a tuple.
        has_aux: only the first output is differentiated.

    Returns:
        (outputs, function), with `has_aux` (first output, function, the other outputs). The
        function takes one Tensor per output and returns the tuple of the inputs' gradients; with
        `weights` the pair of that and the weights' gradients. It may be called again.

    Raises:
        TypeError: if an input is no Tensor, or `v` has another type than the output.
        ValueError: if `v` has another shape than the output.

    Examples:
        >>> import dist_ms as ms
        >>> out, back = ms.vjp(lambda x, y: x * y, ms.Tensor(2.0), ms.Tensor(5.0))
        >>> print(out, [float(g) for g in back(ms.Tensor(1.0))])
        10.0 [5.0, 2.0]
    """
    _check_fn("vjp", fn, has_aux)
    for x in inputs:
        if not isinstance(x, (Tensor, tuple, list)):
            raise TypeError(f"For 'vjp', the inputs type must be Tensor, but got {type(x).__name__}.")
    targets = [x for x in inputs if isinstance(x, Tensor)]
    graph = Graph(fn, inputs, weights=check_weights(weights), targets=targets)
    source = first_output(graph.outputs) if has_aux else graph.outputs

    def back(*v: Any) -> tuple:
        if not v:
            raise TypeError(
                "For 'vjp', the function must be called with the vector, one Tensor per output, but got nothing."
            )
        seed = v[0] if len(v) == 1 else v
        check_seed(source, seed, "vector 'v'")
        input_grads, weight_grads = graph.sweep(source, seed, keep=True)
        if weights is None:
            return tuple(input_grads)
        return tuple(input_grads), weight_grads[0] if isinstance(weights, Tensor) else tuple(weight_grads)

    return (source, back, _others(graph.outputs)) if has_aux else (source, back)


def jacrev(fn: Callable, grad_position: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable:
    """Return a function that gives the Jacobian of `fn`, one reverse sweep per output element.

    Args:
        fn: a Cell or function of tensors.
        grad_position: which arguments to differentiate with respect to.
        has_aux: only the first output is differentiated; the others are returned too.

    Returns:
        A function whose result has the shape (*output shape, *input shape); a tuple for several
        positions, and for several outputs a tuple of those.

    Raises:
        TypeError: if `grad_position` or `has_aux` has the wrong type.
        ValueError: if a position is negative, repeated or no argument's.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.jacrev(lambda x: x * x)(ms.Tensor([1.0, 2.0])))
        [[2. 0.]
         [0. 4.]]
    """
    return _jacobian("jacrev", fn, grad_position, has_aux, _by_outputs)


def jacfwd(fn: Callable, grad_position: int | tuple[int, ...] = 0, has_aux: bool = False) -> Callable:
    """Return a function that gives the Jacobian of `fn`, one product per input element.

    It is the choice for functions with more output than input elements. Arguments, results
    and errors are those of `jacrev`.

    Examples:
        >>> import dist_ms as ms
        >>> print(ms.jacfwd(lambda x: x * ms.Tensor([1.0, 2.0, 3.0]))(ms.Tensor(2.0)))
        [1. 2. 3.]
    """
    return _jacobian("jacfwd", fn, grad_position, has_aux, _by_inputs)


class _Product:
    """The function v -> Jv of a function at some arguments.

    Args:
        fn: the function.
        args, kwargs: its arguments.
        inputs: those that vary.
        has_aux: only the first output counts.
    """

    def __init__(self, fn: Callable, args: tuple, kwargs: dict, inputs: list, has_aux: bool) -> None:
        self.inputs = inputs
        graph = Graph(fn, args, kwargs, targets=[x for x in inputs if isinstance(x, Tensor)])
        self.outputs = graph.outputs
        self.source = first_output(graph.outputs) if has_aux else graph.outputs
        weights = [zeros_like(o) for o in tensors(self.source)]

        def weighted(*u: Tensor) -> list[Tensor]:
            return graph.sweep(self.source, list(u), keep=True)[0]

        self.linear = Graph(weighted, weights, targets=weights)

    def __call__(self, v: Any) -> Any:
        directions = _vector(v)
        if len(directions) != len(self.inputs):
            raise ValueError(f"v has invalid length: should be {len(self.inputs)}, but got {len(directions)}.")
        pairs = [(x, d) for x, d in zip(self.inputs, directions) if isinstance(x, Tensor)]
        check_seed([x for x, _ in pairs], [d for _, d in pairs], "vector 'v'", "input")
        return self.along([d for _, d in pairs])

    def along(self, directions: list[Tensor]) -> Any:
        """The product with one direction per tensor input, nested like the outputs."""
        products = iter(self.linear.sweep(self.linear.outputs, directions, keep=True)[0])
        return map_tensors(lambda o: next(products), self.source)


def _jacobian(name: str, fn: Callable, grad_position: Any, has_aux: bool, rows: Callable) -> Callable:
    """The function that jacrev and jacfwd return; `rows` fills the matrices."""
    _check_fn(name, fn, has_aux)
    positions = check_positions(grad_position, name)

    def jacobian(*args: Any, **kwargs: Any) -> Any:
        if max(positions) >= len(args):
            raise ValueError(
                "The element in grad_position must belong to [0, args_num): args_num is "
                f"{len(args)}, but got {max(positions)}."
            )
        args = apart(args)
        inputs = [args[p] for p in positions]
        for p, x in zip(positions, inputs):
            if not isinstance(x, Tensor):
                raise TypeError(
                    f"For '{name}', the argument at position {p} must be a Tensor, but got {type(x).__name__}."
                )
        outputs, source, matrices = rows(fn, args, kwargs, inputs, has_aux)
        parts = tuple([row[0] if len(row) == 1 else tuple(row) for row in matrices])
        result = parts[0] if isinstance(source, Tensor) else parts
        return (result, _others(outputs)) if has_aux else result

    return jacobian


def _by_outputs(fn: Callable, args: tuple, kwargs: dict, inputs: list[Tensor], has_aux: bool) -> tuple:
    """Jacobians by reverse sweeps: (outputs, differentiated part, matrices of each output)."""
    graph = Graph(fn, args, kwargs, targets=inputs)
    source = first_output(graph.outputs) if has_aux else graph.outputs
    matrices = []
    for out in tensors(source):
        columns = [graph.sweep(out, unit, keep=True)[0] for unit in _units(out)]
        matrices.append([_joined([c[i] for c in columns], 0, out, x) for i, x in enumerate(inputs)])
    return graph.outputs, source, matrices


def _by_inputs(fn: Callable, args: tuple, kwargs: dict, inputs: list[Tensor], has_aux: bool) -> tuple:
    """Jacobians by forward products, in the form of `_by_outputs`."""
    product = _Product(fn, args, kwargs, inputs, has_aux)
    outs = tensors(product.source)
    matrices: list[list] = [[] for _ in outs]
    still = [zeros_like(x) for x in inputs]
    for i, x in enumerate(inputs):
        rows = [tensors(product.along([*still[:i], unit, *still[i + 1 :]])) for unit in _units(x)]
        for row, matrix, out in zip(range(len(outs)), matrices, outs):
            matrix.append(_joined([r[row] for r in rows], -1, out, x))
    return product.outputs, product.source, matrices


def _units(x: Tensor) -> list[Tensor]:
    """The unit vectors in the space of a tensor."""
    eye = np.eye(x.size, dtype=numpy_dtype(x))
    return [wrap(row.reshape(x.shape)) for row in eye]


def _joined(items: list[Tensor], axis: int, out: Tensor, x: Tensor) -> Tensor:
    """The slices of a Jacobian put together."""
    shape = (*out.shape, *x.shape)
    return stack(items, axis, shape) if items else wrap(np.zeros(shape, numpy_dtype(x)))


def _check_fn(name: str, fn: Any, has_aux: Any) -> None:
    if not callable(fn):
        raise TypeError(f"For '{name}', 'fn' must be a Cell or a function, but got {type(fn).__name__}.")
    if not isinstance(has_aux, bool):
        raise TypeError(f"For '{name}', the 'has_aux' must be bool type, but got {type(has_aux).__name__}.")


def _arguments(inputs: Any) -> tuple:
    """The arguments given as a Tensor, a tuple or a list."""
    if isinstance(inputs, Tensor):
        return (inputs,)
    if not isinstance(inputs, (tuple, list)):
        raise TypeError(f"The inputs type must be a Tensor, tuple or list of Tensors, but got {type(inputs).__name__}.")
    return tuple(inputs)


def apart(args: tuple) -> tuple:
    """The arguments, with another name of a tensor for each time but the first: each is an input of its own."""
    seen: set[int] = set()
    found = []
    for x in args:
        again = isinstance(x, Tensor) and id(x) in seen
        seen.add(id(x))
        found.append(alias(x) if again else x)
    return tuple(found)


def _vector(v: Any) -> list:
    """The directions given as a Tensor, a tuple or a list."""
    if isinstance(v, Tensor):
        return [v]
    if not isinstance(v, (tuple, list)):
        raise TypeError(f"The inputs type must be a Tensor, tuple or list of Tensors, but got {type(v).__name__}.")
    return list(v)


def _others(outputs: tuple) -> Any:
    """The auxiliary outputs: one alone, several as a tuple."""
    return outputs[1] if len(outputs) == 2 else outputs[1:]
