"""Local variables of `jit` functions that have a global's value until they are assigned.

In Python a name that a function assigns is local from its first line on, so reading it before raises
UnboundLocalError. MindSpore's compiler, which reads the source, takes the module's variable of that
name then, and leaves it as it is. Here such a function is compiled from its source once more with a line
ahead of the others for every local variable; one whose source is not there stays as it is.
"""

from __future__ import annotations
import __future__

import ast
import builtins
import functools
import inspect
import operator
from collections import ChainMap
from collections.abc import Iterator
from types import CellType, CodeType, FunctionType

_GLOBALS = "_jit_globals_"  # a variable that holds the function's globals
_FUTURE = functools.reduce(operator.or_, (getattr(__future__, n).compiler_flag for n in __future__.all_feature_names))


def globals_first(function: FunctionType) -> FunctionType:
    """The function whose local variables begin as the globals of their names; itself when none can.

    A function of its own is made only where a global or builtin has the name of a local variable.
    """
    names = _own_names(function.__code__)
    if names.isdisjoint(function.__globals__) and not any(hasattr(builtins, n) for n in names):
        return function
    code = _compiled(function, names)
    if code is None:
        return function
    known = dict(zip(function.__code__.co_freevars, function.__closure__ or ()))
    known[_GLOBALS] = CellType(ChainMap(function.__globals__, vars(builtins)))
    made = FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, tuple(known[n] for n in code.co_freevars)
    )
    made.__kwdefaults__ = function.__kwdefaults__
    return made


def _own_names(code: CodeType) -> set[str]:
    """The local variables that are no parameters."""
    count = code.co_argcount + code.co_kwonlyargcount
    count += bool(code.co_flags & inspect.CO_VARARGS) + bool(code.co_flags & inspect.CO_VARKEYWORDS)
    return {*code.co_varnames, *code.co_cellvars} - set(code.co_varnames[:count])


def _compiled(function: FunctionType, names: set[str]) -> CodeType | None:
    """The function's code with the lines ahead; None without its source."""
    code = function.__code__
    try:
        lines, first = inspect.getsourcelines(code)
        indented = lines[0][:1].isspace()
        tree = ast.parse("if True:\n" * indented + "".join(lines))
    except (OSError, SyntaxError):
        return None
    found = next((n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) and n.name == code.co_name), None)
    if found is None:
        return None
    ast.increment_lineno(found, first - 1 - indented)
    found.decorator_list = []
    ahead = [f"if {n!r} in {_GLOBALS}: {n} = {_GLOBALS}[{n!r}]" for n in sorted(names)]
    start = ast.parse("\n".join(ahead)).body
    for line in start:
        for node in ast.walk(line):
            ast.copy_location(node, found)
    found.body = start + found.body
    # As deep as it was: in its class, for private names and super(), and in what has its free variables.
    owner = function.__qualname__.split(".")[:-1]
    inner: ast.stmt = found
    if owner and owner[-1].isidentifier():
        inner = ast.ClassDef(owner[-1], [], [], [found], [])
    variables = [ast.arg(n) for n in (_GLOBALS, *code.co_freevars)]
    arguments = ast.arguments([], variables, None, [], [], None, [])
    outer = ast.FunctionDef("outer", arguments, [inner], [])
    for one in (inner, outer):
        vars(one)["type_params"] = []  # a field from Python 3.12 on
    module = ast.fix_missing_locations(ast.Module([outer], []))
    made = compile(module, code.co_filename, "exec", function.__code__.co_flags & _FUTURE, dont_inherit=True)
    return next(c for c in _codes(made) if c.co_name == code.co_name and _GLOBALS in c.co_freevars)


def _codes(code: CodeType) -> Iterator[CodeType]:
    """All code within a code, the outer first."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)
