# cython: language_level=3, annotation_typing=False, binding=True, boundscheck=False
"""oneDNN's door: matrix products, convolutions and poolings of NumPy arrays.

Outputs are allocated by the caller and come last or are named so. Arrays may have any layout
without overlap: convolutions and poolings are fast on channels-last memory behind the usual
(N, C, *spatial) shape, and right on every other. All results are the same bits at every run
with the same number of threads.

Arrays are float32, or of a 16-bit type, float16 or bfloat16 (the type of ml_dtypes), which is multiplied
as it is and added in float32. Its products may be written, and biases be given, in float32.

Primitives are built on first use and cached, see `cache_size`, `cache_contents`, `clear_cache`
and `set_cache_capacity`. Calls from several Python threads run one after the other.

>>> import numpy as np
>>> a = np.ones((2, 3), np.float32)
>>> out = np.empty((2, 2), np.float32)
>>> matmul(a, a.T, out)
>>> out
array([[3., 3.],
       [3., 3.]], dtype=float32)
"""

cimport cython
cimport numpy as cnp
cimport openmp
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.long cimport PyLong_AsLongLongAndOverflow, PyLong_CheckExact
from cpython.pythread cimport (
    PyThread_acquire_lock,
    PyThread_allocate_lock,
    PyThread_release_lock,
    PyThread_type_lock,
    WAIT_LOCK,
)
from libc.stdint cimport INT32_MAX, int64_t
from libc.stdlib cimport free
from libc.string cimport memset

from arrays cimport is_dense

import os

import ml_dtypes
import numpy as np

cdef extern from "stdlib.h" nogil:
    int posix_memalign(void **block, size_t alignment, size_t size)

cdef extern from "omp.h" nogil:
    enum:
        omp_pause_soft
    int omp_pause_resource_all(int kind)

cdef extern from "subnormals.h" nogil:
    bint operands_are_zeros "dm_operands_are_zeros"()
    void set_operands_zeros "dm_set_operands_zeros"(bint zeros, int threads)

cnp.import_array()

__all__ = [
    "cache_contents",
    "cache_size",
    "clear_cache",
    "conv_backward_data",
    "conv_backward_weights",
    "conv_forward",
    "has_bfloat16",
    "has_float16",
    "isa",
    "matmul",
    "pool_backward",
    "pool_forward",
    "round_factors",
    "rounds_factors",
    "set_cache_capacity",
]

include "dnnl_c.pxi"
include "dnnl_engine.pxi"
include "dnnl_operand.pxi"
include "dnnl_narrow.pxi"
include "dnnl_entry.pxi"
include "dnnl_cache.pxi"
include "dnnl_geometry.pxi"
include "dnnl_matmul.pxi"
include "dnnl_convolution.pxi"
include "dnnl_pooling.pxi"
