"""The two sides of the survey: each turns a row into something to call, in an interpreter of its own."""

import json
import statistics
import sys
import time
from collections.abc import Callable

import numpy as np

from survey import Row
from survey.inputs import array


def output_sizes(numbers: dict) -> tuple[int, ...]:
    """The spatial sizes of a convolution's result."""
    return tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(
            numbers["x"][2:], numbers["kernel"], numbers["stride"], numbers["padding"], numbers["dilation"], strict=True
        )
    )


class Ours:
    """dist_ms."""

    def __init__(self, threads: int) -> None:
        import dist_ms as ms
        from dist_ms import mint, ops

        self.ms, self.names = ms, {"T": mint, "F": mint.nn.functional, "nn": mint.nn, "ops": ops, "ms": ms}
        self.names["top"] = ms.nn

    def tensor(self, description: str, dtype: str) -> object:
        """A tensor of the description's numbers; floating ones are of `dtype`."""
        numbers = array(description)
        found = self.ms.Tensor(numbers)
        return found.astype(getattr(self.ms, dtype)) if numbers.dtype == np.float32 else found

    def expression(self, numbers: dict, dtype: str) -> Callable[[], object]:
        """An expression of tensors, with the gradients of some."""
        inputs = {name: self.tensor(text, dtype) for name, text in numbers["inputs"].items()}
        wanted = numbers["wanted"]
        code = compile(numbers["own"], "survey", "eval")
        names = {**self.names, **inputs, "dtype": getattr(self.ms, dtype)}
        if not wanted:
            return lambda: eval(code, names)
        function = eval(f"lambda {', '.join(wanted)}: {numbers['own']}", names)
        given = [inputs[name] for name in wanted]
        dy = self.ms.ops.ones_like(function(*given))
        return lambda: self.ms.vjp(function, *given)[1](dy)

    def layer(self, numbers: dict, dtype: str) -> Callable[[], object]:
        """A layer, alone or with the gradients of its input and weights."""
        layer = eval(numbers["own"], self.names)
        layer.to_float(getattr(self.ms, dtype))
        layer.set_train()
        x = self.tensor(numbers["x"], dtype)
        if not numbers["gradient"]:
            return lambda: layer(x)
        run = self.ms.ops.GradOperation(get_all=True, get_by_list=True, sens_param=True)(
            layer, layer.trainable_params()
        )
        y = layer(x)
        dy = self.ms.ops.ones_like(y)
        return lambda: run(x, dy)

    def convolution(self, numbers: dict, dtype: str) -> Callable[[], object]:
        """A convolution or one of its gradients, in the memory that layers hand on."""
        from dist_ms.common.dtype import to_numpy
        from dist_ms.ops.convolutions.conv_arrays import convolution_weights, convolve, convolve_transposed
        from dist_ms.ops.convolutions.conv_geometry import Geometry

        kind = to_numpy(getattr(self.ms, dtype))

        def random(*shape: int) -> np.ndarray:
            made = np.random.default_rng(0).standard_normal((shape[0], *shape[2:], shape[1]), np.float32)
            return np.moveaxis(made.astype(kind), -1, 1)

        shape = tuple(numbers["x"])
        w = np.ascontiguousarray(random(numbers["outputs"], shape[1] // numbers["groups"], *numbers["kernel"]))
        x, dy = random(*shape), random(shape[0], numbers["outputs"], *output_sizes(numbers))
        at = Geometry(
            shape,
            w.shape,
            tuple(numbers["stride"]),
            tuple((p, p) for p in numbers["padding"]),
            tuple(numbers["dilation"]),
            numbers["groups"],
        )
        return {
            "forward": lambda: convolve(x, w, None, at),
            "input": lambda: convolve_transposed(dy, w, at),
            "weight": lambda: convolution_weights(x, dy, at, False),
        }[numbers["what"]]


class Theirs:
    """PyTorch."""

    def __init__(self, threads: int) -> None:
        import torch

        torch.set_num_threads(threads)
        self.torch = torch
        self.names = {"T": torch, "F": torch.nn.functional, "nn": torch.nn, "torch": torch}

    def tensor(self, description: str, dtype: str) -> object:
        """A tensor of the description's numbers; floating ones are of `dtype`."""
        numbers = array(description)
        found = self.torch.from_numpy(numbers)
        return found.to(getattr(self.torch, dtype)) if numbers.dtype == np.float32 else found

    def expression(self, numbers: dict, dtype: str) -> Callable[[], object]:
        """An expression of tensors, with the gradients of some."""
        inputs = {name: self.tensor(text, dtype) for name, text in numbers["inputs"].items()}
        for name in numbers["wanted"]:
            inputs[name].requires_grad_()
        code = compile(numbers["text"], "survey", "eval")
        names = {**self.names, **inputs, "dtype": getattr(self.torch, dtype)}
        if not numbers["wanted"]:
            return lambda: eval(code, names)
        given = [inputs[name] for name in numbers["wanted"]]
        dy = self.torch.ones_like(eval(code, names))
        return lambda: self.torch.autograd.grad(eval(code, names), given, dy)

    def layer(self, numbers: dict, dtype: str) -> Callable[[], object]:
        """A layer, alone or with the gradients of its input and weights."""
        layer = eval(numbers["text"], self.names).to(getattr(self.torch, dtype))
        x = self.tensor(numbers["x"], dtype)
        if not numbers["gradient"]:
            return lambda: self.plain(layer, x)
        if x.is_floating_point():
            x.requires_grad_()
        wanted = [*layer.parameters(), *([x] if x.requires_grad else [])]
        dy = self.torch.ones_like(layer(x))
        return lambda: self.torch.autograd.grad(layer(x), wanted, dy)

    def plain(self, layer: Callable, x: object) -> object:
        """Run a layer without a graph."""
        with self.torch.no_grad():
            return layer(x)

    def convolution(self, numbers: dict, dtype: str) -> Callable[[], object]:
        """A convolution or one of its gradients, in the memory format asked for."""
        torch = self.torch
        kind, rank = getattr(torch, dtype), len(numbers["x"]) - 2
        x = torch.randn(numbers["x"]).to(kind)
        w = torch.randn(numbers["outputs"], x.shape[1] // numbers["groups"], *numbers["kernel"]).to(kind)
        dy = torch.randn(x.shape[0], numbers["outputs"], *output_sizes(numbers)).to(kind)
        steps = [list(numbers[name]) for name in ("stride", "padding", "dilation")]
        rest = (False, [0] * rank, numbers["groups"])
        masks = {"input": [True, False, False], "weight": [False, True, False]}

        def run(x: object, w: object, dy: object) -> object:
            with torch.no_grad():
                if numbers["what"] == "forward":
                    return torch.ops.aten.convolution(x, w, None, *steps, *rest)
                return torch.ops.aten.convolution_backward(dy, x, w, None, *steps, *rest, masks[numbers["what"]])

        if rank != 2:
            return lambda: run(x, w, dy)
        last = [array.to(memory_format=torch.channels_last) for array in (x, w, dy)]
        # Whichever of its two formats is faster is PyTorch's time.
        formats = [lambda: run(x, w, dy), lambda: run(*last)]
        return min(formats, key=lambda run: best_of(run, 0.02))


def best_of(run: Callable[[], object], seconds: float) -> float:
    """The least time of a call."""
    run()
    return min(times_of(run, seconds))


def times_of(run: Callable[[], object], seconds: float) -> list[float]:
    """The times of calls that take so long together, three at least and two hundred at most."""
    times: list[float] = []
    while len(times) < 3 or (sum(times) < seconds and len(times) < 200):
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
        if sum(times) > 20 * seconds:
            break
    return times


def serve(side: str, threads: int) -> None:
    """Answer requests on the standard input, JSON lines: a row to be made, or none to time the last one again."""
    worker = (Ours if side == "ours" else Theirs)(threads)
    run: Callable[[], object] | None = None
    for line in sys.stdin:
        request = json.loads(line)
        try:
            if request["row"] is not None:
                run = None
                row = Row(**request["row"])
                run = getattr(worker, row.kind)(row.numbers, row.dtype)
                run()
            times = times_of(run, request["seconds"])
            answer = {"best": min(times), "median": statistics.median(times)}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}".splitlines()[0][:200]}
        print(json.dumps(answer), flush=True)
