# cython: binding=True
"""What a Cell does at every use, compiled: finding parameters, children and buffers, and running `construct`."""

cimport cython
from cpython.dict cimport PyDict_Check, PyDict_GetItemWithError
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF

cdef extern from *:
    """
    /* The attribute that Python itself finds; NULL without an error if there is none. */
    static PyObject *attribute_of(PyObject *owner, PyObject *name) {
    #if PY_VERSION_HEX < 0x030D0000
        return _PyObject_GenericGetAttrWithDict(owner, name, NULL, 1);
    #else
        PyObject *value = PyObject_GenericGetAttr(owner, name);
        if (value == NULL && PyErr_ExceptionMatches(PyExc_AttributeError))
            PyErr_Clear();
        return value;
    #endif
    }

    static void set_lookup(PyObject *owner, PyObject *(*lookup)(PyObject *, PyObject *)) {
        ((PyTypeObject *) owner)->tp_getattro = lookup;
        PyType_Modified((PyTypeObject *) owner);
    }
    """
    PyObject *attribute_of(object owner, object name) except? NULL
    void set_lookup(object owner, object (*lookup)(object, object))

cdef extern from "Python.h":
    dict PyObject_GenericGetDict(object of, void *context)
    object PyObject_Call(object function, tuple args, PyObject *kwargs)


@cython.auto_pickle(False)
cdef class Constructed:
    """What runs its method `construct` when it is called.

    That is all where its own attribute `_cell_plain` is True; else its method
    `_cell_call(args, kwargs)` says what a call does.

    >>> class Layer(Constructed):
    ...     def construct(self, x):
    ...         return x + 1
    ...     def _cell_call(self, args, kwargs):
    ...         return "another way"
    >>> layer = Layer()
    >>> layer(1)
    'another way'
    >>> layer._cell_plain = True
    >>> layer(1)
    2
    """

    def __call__(self, *args, **kwargs):
        cdef PyObject *plain = PyDict_GetItemWithError(PyObject_GenericGetDict(self, NULL), "_cell_plain")
        if plain != NULL and <object> plain is True:
            return PyObject_Call(self.construct, args, <PyObject *> kwargs if kwargs else NULL)
        return self._cell_call(args, kwargs)


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
    return in_registries(self, name)


cdef object in_registries(object self, object name):
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
    raise AttributeError(f"The '{type(self).__name__}' object has no attribute '{name}'.{_PYTORCH.get(name, '')}")


# Not methods: networks have children and parameters of these names.
_PYTORCH = {
    "eval": " PyTorch's eval() is set_train(False).",
    "forward": " PyTorch's forward is construct.",
    "named_parameters": " PyTorch's named_parameters() is parameters_and_names().",
    "parameters": " PyTorch's parameters() is get_parameters(), or trainable_params() for an optimizer.",
    "train": " PyTorch's train() is set_train().",
    "zero_grad": " Gradients are results of value_and_grad: none is left to set to zero.",
}


cdef object found(dict state, str registry, object name):
    """The element of a registry with a name; `state` itself if there is none."""
    cdef PyObject *elements = PyDict_GetItemWithError(state, registry)
    cdef PyObject *value
    if elements == NULL or not PyDict_Check(<object> elements):
        return state
    value = PyDict_GetItemWithError(<object> elements, name)
    return state if value == NULL else <object> value


cdef object lookup(object self, object name):
    """Any attribute of an object whose `__getattr__` is `registered`."""
    cdef PyObject *value = attribute_of(self, name)
    cdef object result
    if value == NULL:
        return in_registries(self, name)
    result = <object> value
    Py_DECREF(result)
    return result


def find_registered(type cls):
    """Let a class whose `__getattr__` is `registered` find attributes without the error that else comes before it.

    Python raises an AttributeError, with its text, before it asks `__getattr__`, which takes ten times
    as long as the rest. Classes that change how attributes are found stay as they are, and so does
    one that is told later, as Python then forgets this.

    >>> class Layer:
    ...     __getattr__ = registered
    ...     def __init__(self):
    ...         self._params, self._cells, self._buffers = {"weight": 2}, {}, {}
    >>> find_registered(Layer)
    >>> Layer().weight
    2
    >>> Layer.__getattr__ = lambda self, name: name
    >>> Layer().weight
    'weight'
    """
    if cls.__getattr__ is registered and cls.__getattribute__ is object.__getattribute__:
        set_lookup(cls, lookup)
