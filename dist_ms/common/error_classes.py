"""Which class of exception MindSpore raises for an argument where it departs from the rule.

The rule is TypeError for a wrong type, ValueError for a wrong value. An operation that departs says so itself, with
one of the decorators of this file: they return what they decorate, so a call costs nothing, and what they noted is read
only when an error is to be raised. An argument is known by "owner.argument", as in the texts of the errors.

| decorator | says |
|---|---|
| raises(axis=RuntimeError) | the class for a wrong axis; a pair: of a wrong type, and of a wrong value |
| reads(input="shape") | the attribute is read before the type is looked at: without it, AttributeError |
| reads_of_none("logits") | the same, of None alone |
| plain("axis") | an int that is not taken out of a tensor |
| scalars("axis") | a number that is: a tensor of several elements is a wrong value, ValueError |
| bools("axis") | a number for which a bool is taken, too |
| shaped("updates") | a tensor in whose place a number is of a wrong shape: ValueError |
| truths("keepdims") | a flag for which anything is taken: what Python takes it for |
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

Operation = TypeVar("Operation", bound=Callable[..., Any])
Classes = type[Exception] | tuple[type[Exception], type[Exception]]

_CLASSES: dict[str, tuple[type[Exception], type[Exception]]] = {}
_READ: dict[str, str] = {}
_READ_OF_NONE: set[str] = set()
_PLAIN: set[str] = set()
_SCALARS: set[str] = set()
_BOOLS: set[str] = set()
_TRUTHS: set[str] = set()
_NUMBERS: set[str] = set()


def raises(*, owner: str = "", **arguments: Classes) -> Callable[[Operation], Operation]:
    """Note the classes for wrong arguments of what is decorated.

    Args:
        owner: its name in errors, if that is not its own.
        **arguments: a class, or a pair: for a wrong type, for a wrong value.

    Examples:
        >>> from dist_ms.common.error_classes import of_type, of_value, raises
        >>> @raises(axis=(TypeError, RuntimeError))
        ... def turned(x, axis): ...
        >>> of_type("axis", "turned"), of_value("axis", "turned"), of_value("x", "turned")
        (<class 'TypeError'>, <class 'RuntimeError'>, <class 'ValueError'>)
    """

    def note(operation: Operation) -> Operation:
        for name, found in arguments.items():
            _CLASSES[f"{owner or operation.__name__}.{name}"] = found if isinstance(found, tuple) else (found, found)
        return operation

    return note


def reads(attribute: str = "", /, *, owner: str = "", **arguments: str) -> Callable[[Operation], Operation]:
    """Note which attribute of an argument is read first; of each argument, if one attribute is named alone.

    Examples:
        >>> from dist_ms.common.error_classes import of_no_tensor, reads
        >>> @reads(x="shape")
        ... def turned(x, axis): ...
        >>> of_no_tensor("x", "turned", [1.0]), of_no_tensor("axis", "turned", [1.0])
        (<class 'AttributeError'>, <class 'TypeError'>)
    """

    def note(operation: Operation) -> Operation:
        key = owner or operation.__name__
        _READ.update({f"{key}.{name}": found for name, found in arguments.items()})
        if attribute:
            _READ[key] = attribute
        return operation

    return note


def _noting(names: tuple[str, ...], owner: str, noted: set[str]) -> Callable[[Operation], Operation]:
    def note(operation: Operation) -> Operation:
        key = owner or operation.__name__
        noted.update([f"{key}.{name}" for name in names] or [key])
        return operation

    return note


def reads_of_none(*names: str, owner: str = "") -> Callable[[Operation], Operation]:
    """Note the arguments, or without names all, of which an attribute is read first if they are None."""
    return _noting(names, owner, _READ_OF_NONE)


def plain(*names: str, owner: str = "") -> Callable[[Operation], Operation]:
    """Note the integers that are not taken out of tensors."""
    return _noting(names, owner, _PLAIN)


def scalars(*names: str, owner: str = "") -> Callable[[Operation], Operation]:
    """Note the numbers that are taken out of tensors, of which one of several elements is a wrong value."""
    return _noting(names, owner, _SCALARS)


def bools(*names: str, owner: str = "") -> Callable[[Operation], Operation]:
    """Note the numbers for which a bool is taken."""
    return _noting(names, owner, _BOOLS)


def truths(*names: str, owner: str = "") -> Callable[[Operation], Operation]:
    """Note the flags for which anything is taken."""
    return _noting(names, owner, _TRUTHS)


def shaped(*names: str, owner: str = "") -> Callable[[Operation], Operation]:
    """Note the tensors in whose place a number has a wrong shape, so it is a ValueError."""
    return _noting(names, owner, _NUMBERS)


def is_number(value: Any, name: str, owner: str | None) -> bool:
    """Whether a value that is no number is taken for one: a bool, where that is noted."""
    return isinstance(value, bool) and f"{owner}.{name}" in _BOOLS


def is_flag(name: str, owner: str | None) -> bool:
    """Whether anything is taken for a flag.

    Examples:
        >>> from dist_ms.common.error_classes import is_flag, truths
        >>> @truths("keepdims")
        ... def summed(x, keepdims=False): ...
        >>> is_flag("keepdims", "summed"), is_flag("x", "summed")
        (True, False)
    """
    return f"{owner}.{name}" in _TRUTHS


def is_plain(name: str, owner: str) -> bool:
    """Whether an integer is not taken out of a tensor."""
    return f"{owner}.{name}" in _PLAIN


def of_type(name: str, owner: str | None, value: Any = None) -> type[Exception]:
    """The class to raise for a value of a wrong type.

    Examples:
        >>> from dist_ms.common.error_classes import of_type
        >>> of_type("input", "relu")
        <class 'TypeError'>
    """
    key = f"{owner}.{name}"
    if (key in _READ and not hasattr(value, _READ[key])) or (value is None and key in _READ_OF_NONE):
        return AttributeError
    if key in _SCALARS and getattr(value, "ndim", 0) > 0:
        return ValueError
    return _CLASSES[key][0] if key in _CLASSES else TypeError


def of_value(name: str, owner: str | None) -> type[Exception]:
    """The class to raise for a wrong value.

    Examples:
        >>> from dist_ms.common.error_classes import of_value
        >>> of_value("axis", "Softmax")
        <class 'ValueError'>
    """
    key = f"{owner}.{name}"
    return _CLASSES[key][1] if key in _CLASSES else ValueError


def of_choice(name: str, owner: str | None, value: Any) -> type[Exception]:
    """The class to raise for what is not among the choices: ValueError, also for no str, where nothing is noted."""
    found = _CLASSES.get(f"{owner}.{name}", (ValueError, ValueError))
    return found[isinstance(value, str)]


def of_no_tensor(name: str, owner: str, value: Any) -> type[Exception]:
    """The class to raise for a value where a Tensor is missing.

    Examples:
        >>> from dist_ms.common.error_classes import of_no_tensor
        >>> of_no_tensor("input", "relu", 1.0)
        <class 'TypeError'>
    """
    key = f"{owner}.{name}"
    attribute = _READ.get(key) or _READ.get(owner)
    if (attribute and not hasattr(value, attribute)) or (value is None and not _READ_OF_NONE.isdisjoint((key, owner))):
        return AttributeError
    if isinstance(value, (bool, int, float)) and key in _NUMBERS:
        return ValueError
    return TypeError if hasattr(value, "shape") else of_type(name, owner, value)
