# cython: binding=True
"""Attributes of an object that stand in registries of its own: parameters, children and buffers of a Cell."""

from cpython.dict cimport PyDict_Check, PyDict_GetItemWithError
from cpython.object cimport PyObject

cdef extern from "Python.h":
    dict PyObject_GenericGetDict(object of, void *context)


def registered(self, name):
    """The method `__getattr__` of a class: finds in registries what is no other attribute.

    The registries are the dictionaries `_params`, `_cells` and `_buffers` of an object. Where its
    attribute `_cell_read_hooks` is not None, `_cell_read(name, value)` says what reading an element of
    the first gives.

    >>> class Layer:
    ...     __getattr__ = registered
    ...     def __init__(self):
    ...         self._params, self._cells, self._buffers = {"weight": 2}, {}, {}
    >>> Layer().weight
    2
    """
    cdef dict state = PyObject_GenericGetDict(self, NULL)
    cdef PyObject *hooks
    cdef object value = found(state, "_params", name)
    if value is not state:
        hooks = PyDict_GetItemWithError(state, "_cell_read_hooks")
        return value if hooks == NULL or <object> hooks is None else self._cell_read(name, value)
    value = found(state, "_cells", name)
    if value is not state:
        return value
    value = found(state, "_buffers", name)
    if value is not state:
        return value
    if "_params" not in state and name != "__setstate__":
        raise AttributeError(
            f"The '{type(self).__name__}' object has no attribute '{name}'. If it is set in __init__: call "
            "super().__init__() as the first line there."
        )
    raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'.")


def parameter(owner, name):
    """The attribute of an object where it most likely stands, among the parameters: as `getattr`, but sooner.

    >>> class Layer:
    ...     _params = {}
    ...     weight = 3
    >>> layer = Layer()
    >>> parameter(layer, "weight")
    3
    >>> layer._params = {"weight": 2}
    >>> parameter(layer, "weight")
    2
    """
    cdef dict state = PyObject_GenericGetDict(owner, NULL)
    cdef object value = found(state, "_params", name)
    cdef PyObject *hooks = PyDict_GetItemWithError(state, "_cell_read_hooks")
    return getattr(owner, name) if value is state or hooks != NULL else value


cdef object found(dict state, str registry, object name):
    """The element of a registry with a name; `state` itself if there is none."""
    cdef PyObject *elements = PyDict_GetItemWithError(state, registry)
    cdef PyObject *value
    if elements == NULL or not PyDict_Check(<object> elements):
        return state
    value = PyDict_GetItemWithError(<object> elements, name)
    return state if value == NULL else <object> value
