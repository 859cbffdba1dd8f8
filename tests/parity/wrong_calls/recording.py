"""Record the calls that MindSpore's documented examples make; run in MindSpore's interpreter.

    MINDSPORE_VENV/bin/python tests/parity/wrong_calls/recording.py OUT.jsonl

A line is one call that returned: the function's path, its arguments as Python expressions in terms of `t` (a tensor),
`p` (a parameter), `a` (a NumPy array) and the modules, what makes the object that is called, the defaults not given.
"""

from __future__ import annotations

import ast
import contextlib
import importlib
import inspect
import io
import json
import os
import re
import sys
import tempfile
import threading
import types
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

MODULES = ("nn", "ops", "mint", "mint.nn", "mint.nn.functional", "mint.linalg", "mint.special")
SIZE = 64  # elements of an array that are written out
HEADER = re.compile(r"^[ \t]*Examples?:+[ \t]*$", re.M)
PRELUDE = """
import numpy as np, math
import mindspore, mindspore as ms
import mindspore.common.dtype as mstype
import mindspore.ops.operations as P, mindspore.ops.functional as F
from mindspore import Tensor, Parameter, ParameterTuple, nn, ops, mint, context, dtype
"""


class Untold(Exception):
    """A value that has no short expression."""


class Recorder:
    """Calls of public names, as expressions."""

    def __init__(self) -> None:
        self.ms: Any = importlib.import_module("mindspore")
        self.names: dict[int, str] = {}
        self.made: dict[int, tuple[Any, dict]] = {}
        self.found: dict[str, dict[str, Any]] = {}
        for path in reversed(MODULES):
            module = importlib.import_module("mindspore." + path)
            for name in getattr(module, "__all__", None) or dir(module):
                value = getattr(module, name, None)
                if not name.startswith("_") and callable(value) and not inspect.ismodule(value):
                    self.names[id(value)] = f"{path}.{name}"

    def told(self, value: Any) -> str:
        """An expression of a value.

        Raises:
            Untold: if it has none.
        """
        ms = self.ms
        if value is None or value is Ellipsis or isinstance(value, (bool, int, str)):
            return repr(value)
        if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
            return repr(value) if np.isfinite(value) else f"float('{value}')"
        if isinstance(value, ms.Parameter):
            return "p" + self.array_told(value)
        if isinstance(value, ms.Tensor):
            return "t" + self.array_told(value)
        if isinstance(value, np.ndarray):
            return f"a({str(value.dtype)!r}, {list(value.shape)}, {self.elements(value)})"
        if isinstance(value, np.generic):
            return f"np.{value.dtype}({value.item()!r})"
        if type(value) in (tuple, list):
            inner = ", ".join(map(self.told, value))
            return f"[{inner}]" if type(value) is list else f"({inner}{',' if len(value) == 1 else ''})"
        if type(value) is dict:
            return "{" + ", ".join(f"{self.told(k)}: {self.told(v)}" for k, v in value.items()) + "}"
        if isinstance(value, slice):
            return f"slice({self.told(value.start)}, {self.told(value.stop)}, {self.told(value.step)})"
        if value in (bool, int, float):
            return str(value.__name__)
        if isinstance(value, ms.dtype.Type):
            name = str(value).lower().replace("bool", "bool_")
            if getattr(ms, name, None) == value:
                return f"ms.{name}"
        if id(value) in self.names and not inspect.isclass(value):
            return self.names[id(value)]
        raise Untold(type(value).__name__)

    def array_told(self, value: Any) -> str:
        """The type, shape and elements of a tensor."""
        name = str(value.dtype).lower()
        if name not in ("bool", "bfloat16", "complex64", "complex128") and not re.fullmatch(r"u?int\d+|float\d+", name):
            raise Untold(name)
        plain = value.float() if name == "bfloat16" else value
        return f"({name!r}, {list(value.shape)}, {self.elements(plain.asnumpy())})"

    def elements(self, array: np.ndarray) -> str:
        """The elements of a small array; of a large one the lowest and highest."""
        if array.dtype.kind not in "biufc":
            raise Untold(str(array.dtype))
        if array.size <= SIZE:
            return repr(array.ravel().tolist()).replace("nan", "float('nan')").replace("inf", "float('inf')")
        return "None" if array.dtype.kind in "fcb" else f"({array.min()}, {array.max()})"

    def arguments(self, args: tuple, kwargs: dict) -> dict[str, Any]:
        """The expressions of a call's arguments."""
        return {"args": [self.told(v) for v in args], "kwargs": {k: self.told(v) for k, v in kwargs.items()}}

    def defaults(self, function: Any, args: tuple, kwargs: dict) -> dict[str, str]:
        """The expressions of arguments that a call leaves out."""
        with contextlib.suppress(TypeError, ValueError, Untold):
            signature = inspect.signature(function)
            bound = signature.bind(*args, **kwargs).arguments
            return {
                n: self.told(p.default)
                for n, p in signature.parameters.items()
                if n not in bound and p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY) and p.default is not p.empty
            }
        return {}

    def keep(self, path: str, make: dict | None, call: dict[str, Any] | None, function: Any = None) -> None:
        """Remember a call."""
        row = {"path": path, "make": make, "call": call}
        self.found.setdefault(json.dumps(row), row)

    def __call__(self, function: Callable, /, *args: Any, **kwargs: Any) -> Any:
        """Call a function in an example's place, and record the call if it is of a public name."""
        path, before = self.names.get(id(function)), None
        maker = self.made.get(id(function))
        if path or maker:
            with contextlib.suppress(Untold):
                before = self.arguments(args, kwargs)
        result = function(*args, **kwargs)
        if before is None:
            return result
        if maker:
            self.keep(maker[1]["path"], maker[1]["make"], before)
        elif path:
            before["defaults"] = self.defaults(function, args, kwargs)
            if inspect.isclass(function):
                self.made[id(result)] = (result, {"path": path, "make": before})
                self.keep(path, before, None)
            else:
                self.keep(path, None, before)
        return result

    def method(self, owner: Any, name: str, /, *args: Any, **kwargs: Any) -> Any:
        """Call a method in an example's place, and record it if it is a tensor's."""
        function = getattr(owner, name)
        if not isinstance(owner, self.ms.Tensor):
            return self(function, *args, **kwargs)
        before = None
        with contextlib.suppress(Untold):
            before = self.arguments((owner, *args), kwargs)
        result = function(*args, **kwargs)
        if before is not None:
            before["defaults"] = self.defaults(function, args, kwargs)
            self.keep("Tensor." + name, None, before)
        return result


class Calls(ast.NodeTransformer):
    """Calls that pass through the recorder."""

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Let the recorder make the call."""
        self.generic_visit(node)
        if isinstance(node.func, ast.Name) and node.func.id == "super":
            return node
        if isinstance(node.func, ast.Attribute):
            to: ast.expr = ast.Attribute(ast.Name("__recorder__", ast.Load()), "method", ast.Load())
            first: list[ast.expr] = [node.func.value, ast.Constant(node.func.attr)]
        else:
            to, first = ast.Name("__recorder__", ast.Load()), [node.func]
        return ast.copy_location(ast.Call(to, first + node.args, node.keywords), node)


def statements(text: str) -> str:
    """The code of a documentation's examples."""
    lines: list[str] = []
    for line in text.splitlines():
        stripped = line.strip()
        if stripped.startswith((">>>", "...")):
            lines.append(stripped[4:] if stripped[3:4] == " " else stripped[3:])
    return "\n".join(lines)


def examples(ms: Any) -> Iterator[str]:
    """The code of each example of the public names."""
    seen = set()
    owners = [importlib.import_module("mindspore." + path) for path in MODULES] + [ms.Tensor]
    for owner in owners:
        for name in sorted(n for n in dir(owner) if not n.startswith("_")):
            text = getattr(getattr(owner, name, None), "__doc__", None)
            if not isinstance(text, str) or ">>>" not in text:
                continue
            for part in HEADER.split(text)[1:]:
                code = re.sub(r"""(["'])(?:Ascend|GPU)\1""", '"CPU"', statements(part))
                if code and code not in seen:
                    seen.add(code)
                    yield code


def play(recorder: Recorder, code: str, folder: str) -> None:
    """Run an example statement by statement, until one raises."""
    main = types.ModuleType("__main__")
    sys.modules["__main__"] = main
    main.__dict__["__recorder__"] = recorder
    main.__file__ = os.path.join(folder, "example.py")
    with open(main.__file__, "w") as file:
        file.write(code)
    with contextlib.suppress(BaseException), contextlib.redirect_stdout(io.StringIO()):
        exec(PRELUDE, main.__dict__)
        for node in ast.parse(code).body:
            tree = ast.fix_missing_locations(ast.Module([Calls().visit(node)], []))
            exec(compile(tree, main.__file__, "exec"), main.__dict__)
    recorder.made.clear()


def go_on(out: str, after: int) -> None:
    """Start anew behind an example that hangs."""
    print(f"example {after} hangs", file=sys.stderr)
    os.execv(sys.executable, [sys.executable, os.path.abspath(__file__), out, str(after + 1)])


def main() -> None:
    """Record all examples, or those from a number on."""
    out, first = os.path.abspath(sys.argv[1]), int((*sys.argv, "0")[2])
    recorder = Recorder()
    folder = tempfile.mkdtemp()
    os.chdir(folder)
    written = 0
    for i, code in enumerate(examples(recorder.ms)):
        if i < first or any(word in code for word in ("distributed", "init()", "set_context", "save_checkpoint")):
            continue
        waiting = threading.Timer(30, go_on, (out, i))
        waiting.start()
        play(recorder, code, folder)
        waiting.cancel()
        with open(out, "a") as file:
            file.writelines(json.dumps(row) + "\n" for row in list(recorder.found.values())[written:])
        written = len(recorder.found)


if __name__ == "__main__":
    main()
