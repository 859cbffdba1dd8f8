# cython: cdivision=True, boundscheck=False, wraparound=False
"""Optimizer steps: one pass over weights, gradients and states of many parameters, in place.

A call takes a list of parameters, each with its arrays and numbers, and cuts all of them into
blocks that threads share: many small parameters cost one call. float32 or float64; the arithmetic
is done in the arrays' type, and gradients are only read. Numbers below the type's smallest normal
one (1e-38 for float32) count as zeros: moments that fade for good would stay among them, where
arithmetic is 15 times as slow.
"""

cimport numpy as cnp
from cython cimport floating
from cython.parallel cimport prange
from libc.stdint cimport int32_t, int64_t, uint16_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy, memset

from arrays cimport check, check_memory, check_same_shape, real_type, type_name
from bfloat16 cimport bf16_store
from blocks cimport BLOCK, PARALLEL_FROM, block_count, rows_per_block, sum_of_products
from narrow cimport narrow_float16
from optimizer_rules cimport ARRAYS, LAMB_MOMENTS, NUMBERS, Rule, lamb_direction, run_rule

cnp.import_array()

include "optimizer_tasks.pxi"


def update(
    str rule not None, list arrays not None, list numbers not None, list copies=None,
    list rows=None, list factors=None
):
    """Make a step of many parameters.

    `arrays` has a tuple (p, g, *states) per parameter, `numbers` a tuple of floats, which
    `optimizer_rules.pxd` explains rule by rule, `copies` a bfloat16 or float16 array that gets
    the new p, or None. An entry (indices, whole) of `rows` says that g only has these rows of p's first
    dimension, int64 and increasing: the others have a gradient of zeros if `whole`, and are left
    alone, states too, if not. `factors` has what each gradient is multiplied with first, as if the
    product were an array of its own; 1 for gradients by rows.

    >>> p, q, h = np.ones(2), np.ones((2, 1)), np.ones((2, 1))
    >>> update("sgd", [(p, np.array([1.0, -1.0]))], [(0.5, 0.0, 1.0)])
    >>> p
    array([0.5, 1.5])
    >>> one = (np.array([1]), False)
    >>> update("adagrad", [(q, np.array([[3.0]]), h)], [(1.0, 0.0, 1.0, 0.0, False)], rows=[one])
    >>> q.ravel(), h.ravel()
    (array([ 1., -2.]), array([1., 1.]))
    """
    if rule not in _RULES or rule == "lamb":
        raise ValueError(
            f"For 'update', 'rule' must be one of {sorted(_RULES.keys() - {'lamb'})}, but got {rule!r}."
        )
    step("update", rule, arrays, numbers, copies, rows, factors)


cdef int step(
    str owner, str rule, list arrays, list numbers, list copies, list rows, list factors
) except -1:
    """Check the arguments and run the rule."""
    cdef Tasks tasks = tasks_of(owner, rule, arrays, numbers, copies, rows, factors)
    cdef int code = _RULES[rule][0]
    with nogil:
        if tasks.number == cnp.NPY_FLOAT32:
            tasks.run(code, <float *> NULL)
        else:
            tasks.run(code, <double *> NULL)
    return 0


include "optimizer_lamb.pxi"
