"""Callables take their arguments by the names that MindSpore 2.10 has for them, in its order.

signatures.txt was written by tests/parity/signatures.py. Names that are not here at all are api-coverage.md's subject,
and what takes any arguments (`*args, **kwargs`) looks at their names itself.
"""

import inspect
from importlib import import_module
from pathlib import Path

from dist_ms import ops
from tests.parity.signatures import MODULES

LINES = (Path(__file__).parent / "signatures.txt").read_text().splitlines()
SHARED = "one object with a function or primitive whose arguments MindSpore calls otherwise"
DEVICES = "an operation of other devices, where MindSpore's names for missing inputs have no meaning"
MORE = "may be left out here"
INNER = "MindSpore's own step of reading a file, or of compiling"
ONE = "takes its one input by place"
EXCEPTIONS = {
    "COOTensor.add": ONE,
    "Node.__init__": INNER,
    "Profiler.analyse": "writes one kind of file, of all steps",
    "SymbolTree.__init__": INNER,
    "Tensor.bernoulli": "takes the arguments of MindSpore's older form, too",
    "Tensor.softmax": MORE,
    "nn.Conv1dTranspose.shard": "takes the arguments of Cell.shard",
    "nn.Conv2dTranspose.shard": "takes the arguments of Cell.shard",
    "nn.FixedLossScaleUpdateCell.construct": "MindSpore calls it _",
    "nn.PipelineCell.shard": "takes the arguments of Cell.shard",
    **dict.fromkeys((f"ops.{name}RegOp.__init__" for name in ("AiCPU", "AkgAscend", "AkgGpu", "Cpu", "TBE")), MORE),
    **dict.fromkeys(
        (f"ops.{name}.__call__" for name in ("ApplyRotaryPosEmb", "PagedAttention", "ReshapeAndCache")), DEVICES
    ),
    **dict.fromkeys(
        (f"ops.{name}.__call__" for name in ("LeftShift", "RightShift", "LogicalAnd", "LogicalOr")), SHARED
    ),
    **dict.fromkeys(
        (f"ops.{name}.__init__" for name in ("Primitive", "PrimitiveWithCheck", "PrimitiveWithInfer")), MORE
    ),
    "ops.NeighborExchangeV2.__call__": ONE,
    "ops.ReduceAll.__call__": SHARED,
    **dict.fromkeys(("ops.floor_div", "ops.tensor_div", "ops.true_divide", "ops.RealDiv.__call__"), SHARED),
    "dataset.vision.RandomCropDecodeResize.__call__": ONE,
    "dataset.vision.not_random": ONE,
    "dataset.text.PythonTokenizer.__call__": ONE,
}


def found(path):
    """A callable of dist_ms by its path, and whether its first parameter is the object; None where it is not."""
    parts, place = path.split("."), 0
    while place + 1 < len(parts) and ".".join(parts[: place + 1]) in MODULES:
        place += 1
    owner = import_module(".".join(["dist_ms", *parts[:place]]))
    for name in parts[place:-1]:
        owner = getattr(owner, name, None)
    if not inspect.isclass(owner):
        return getattr(owner, parts[-1], None), False
    raw = inspect.getattr_static(owner, parts[-1], None)
    function = getattr(raw, "__func__", raw)
    if hasattr(function, "delegated"):
        return getattr(ops, function.delegated), True
    if parts[-1] == "__call__" and issubclass(owner, ops.Primitive) and takes_anything(function):
        return owner.__new__(owner), False
    return function, not isinstance(raw, staticmethod)


def takes_anything(function):
    return inspect.getfullargspec(function).varargs is not None


def signature(function):
    if not isinstance(function, ops.Primitive):
        return inspect.signature(function)
    call = type(function).__call__
    plain = inspect.isfunction(call) and not takes_anything(call)
    return inspect.signature(function.__call__) if plain else function.call_signature()


def is_refused(function):
    return (function.__doc__ or "").startswith("Not available: ")


def difference(line):
    """How a callable differs from a line of the table, '' if it does not."""
    path, _, told = line[:-1].partition("(")
    function, method = found(path)
    if not callable(function) or is_refused(function):
        return ""
    parameters = list(signature(function).parameters.values())[method:]
    theirs = [(name.rstrip("="), name.endswith("=")) for name in told.split(", ") if name]
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    if len(named) < len(parameters):
        named = [p for p in named if p.kind != p.KEYWORD_ONLY]
        theirs = theirs[: len(named)]
    ours = [(p.name, p.default is not p.empty) for p in named]
    if ours[: len(theirs)] == theirs and all(optional for _, optional in ours[len(theirs) :]):
        return ""
    return f"{line}, but got ({', '.join(name + '=' * optional for name, optional in ours)})"


def test_the_names_of_arguments():
    assert len(LINES) > 4000
    found = {line.partition("(")[0]: difference(line) for line in LINES if ".parse(" not in line}
    differ = {path for path, told in found.items() if told}
    assert not [found[path] for path in sorted(differ - EXCEPTIONS.keys())]
    assert not EXCEPTIONS.keys() - differ, "these agree: no exceptions any more"


def test_a_difference_is_found():
    assert not difference("ops.abs(input)")
    assert "but got (input)" in difference("ops.abs(x)")
    assert "but got (x)" in difference("nn.Dense.construct(y)")
    assert difference("nn.Dense.construct()")
    assert difference("nn.Adam.__init__(params, learning_rate)")
    assert not difference("nn.Adam.__init__(params, learning_rate=)")
