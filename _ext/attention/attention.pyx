# cython: cdivision=True, boundscheck=False, wraparound=False
"""Scaled dot-product attention by blocks: the matrix of scores is never whole in memory.

For a head's queries Q, keys K and values V, with weights P = softmax(scale Q K^T + bias):  O = P V.
A block of queries meets the blocks of keys one after the other. It keeps, per query, the largest
score so far and the sum of exp(score - largest); when a larger one comes, sum and output so far are
scaled down (Milakov and Gimelshein, "Online normalizer calculation for softmax", 2018). The
gradient makes the scores of a block again from Q and K (Dao et al., "FlashAttention", 2022):

    dP = dO V^T,  dS = P * (dP - sum(dO * O)),  dQ = scale dS K,  dK = scale dS^T Q,  dV = P^T dO.

Arrays are (batch, head, row, column), the columns next to each other, in float32, float64, float16
or bfloat16 (whose 16 bits NumPy sees as uint16 or as ml_dtypes' type); the 16-bit types are
computed in float32. There may be fewer heads of keys and values, each for as many heads of queries.

Hard rule: a thread owns a block of queries in the forward, and a part of the keys of a head in the
gradient, and meets the other side's blocks in order; the shapes alone say how many parts there are, and
their shares in the gradients of the queries are added in order. So any number of threads gives the same bits.

Where AMX is permitted bfloat16 is multiplied in its tiles, with weights rounded to bfloat16, and so is
float16 in the forward; its gradient, whose factors may be too small for float16, is computed in float32.
"""

cimport numpy as cnp
cimport openmp
from cython cimport floating
from cython.parallel cimport prange, threadid
from libc.math cimport INFINITY
from libc.stdint cimport int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.string cimport memcpy, memset

import numpy as np

from arrays cimport check, check_memory, check_vector, type_name
from blocks cimport block_count, maximum_of, sum_of, sum_of_products
from narrow cimport narrow_bfloat16, narrow_float16, widen_bfloat16, widen_float16
from philox cimport WORDS, last_kept_of, philox
from tile_product cimport padded, product, tile_columns
from transcendental cimport falling_exponential

from dist_ms._ext import amx

cdef extern from "amx_narrow.h" nogil:
    ctypedef struct TileConfig:
        pass
    void amx_begin(TileConfig *before)
    void amx_end(const TileConfig *before)
    void amx_product_16(
        long rows, long columns, long inner, const uint8_t *a, long a_step, const uint8_t *b, long b_column,
        long b_block, float *c, long c_step, int adds, int half)
    void amx_pack_rows(const char *x, long step, long rows, long length, uint8_t *to)
    void amx_pack_turned(const char *x, long step, long rows, long length, uint8_t *to)
    void amx_pack_pairs(const char *x, long step, long rows, long length, uint8_t *to)
    void amx_pack_columns(const char *x, long step, long rows, long length, uint8_t *to, long to_step)
    void amx_round_rows(const float *x, long step, long rows, long columns, uint8_t *to, long width, int half)
    void amx_round_pairs(const float *x, long step, long rows, long columns, uint8_t *to)
    void amx_turn_columns(const float *x, long step, long rows, float scale, float *to)

cnp.import_array()

cdef bint _has_tiles = amx.available()
cdef bint _has_half_tiles = amx.has_float16()

cdef enum:
    # A block of queries' rows and outputs stay in the L1 cache, its scores in the L2 cache.
    BLOCK_QUERIES = 96
    BLOCK_KEYS = 256  # As many as a call of the generator has words for.
    # Between the rows of a block of scores, so that a column does not fall into one set of the cache.
    GAP = 16
    # Of how many counters the generator's are a multiple.
    AT_ONCE = 8
    # Pieces of work per thread, from which on the slowest thread is not far behind the others.
    SHARES = 4
    # Parts of the keys of all heads, at least, in the gradient of long sequences.
    PARTS = 8

include "attention_rows.pxi"
include "attention_forward.pxi"
include "attention_backward.pxi"
include "attention_tiles.pxi"
include "attention_checks.pxi"


def forward(
    q, k, v, out, maxima, factors, double scale, bias=None, hidden=None, prefix=None,
    low=None, high=None, double keep_prob=1, kept=None, seed=None, offset=0, double empty=0
):
    """Write softmax(scale q k^T + bias) v.

    Args:
        q, out: (batch, heads, queries, length); `out` is written.
        k, v: (batch, groups, keys, length) of the same type; heads // groups heads share a group.
        maxima, factors: C-contiguous (batch, heads, queries) of float32, or float64 with float64; written:
            the largest score of a query and 1 / sum(exp(score - largest)).
        scale: of the products.
        bias: (batch, heads, queries, keys) added to the scores, of float32, float64 with float64, or the type of `q`.
        hidden: uint8 of that shape; not 0 where a key does not count.
        prefix: C-contiguous int64 (batch,): keys below count for every query, even above `high`.
        low, high: key j counts for query i if low <= j - i <= high; None for no limit.
        keep_prob: with `kept` or `seed`, the probability to keep a weight, by which kept ones are divided.
        kept: uint8 (batch, heads, queries, keys / 8 rounded up), a bit per weight, lowest first, 1 to keep it.
        seed, offset: what the weights to drop are drawn from, with Philox.
        empty: `factors` of a query that no key counts for: 0, or NaN.

    >>> x = np.ones((1, 1, 2, 4), np.float32)
    >>> out, sums = np.empty_like(x), np.empty((2, 1, 1, 2), np.float32)
    >>> forward(x, x, x, out, *sums, 0.5)
    >>> out[0, 0], sums[:, 0, 0]
    (array([[1., 1., 1., 1.],
           [1., 1., 1., 1.]], dtype=float32), array([[2. , 2. ],
           [0.5, 0.5]], dtype=float32))
    """
    cdef Attention a
    cdef bint wide
    cdef cnp.ndarray memory
    cdef Py_ssize_t size, units, shares, blocks
    cdef int threads
    cdef void *scratch
    wide = read_call(&a, q, k, v, out, maxima, factors, True, scale, bias, hidden, prefix,
                     low, high, keep_prob, kept, seed, offset)
    a.empty = empty
    a.half = a.out.element == FLOAT16
    a.tiles = a.tiles or (a.half and _has_half_tiles)
    blocks = block_count(a.queries, BLOCK_QUERIES)
    if not a.batches * a.heads * blocks:
        return
    threads = openmp.omp_get_max_threads()
    shares = min(blocks, block_count(SHARES * threads, a.batches * a.heads))
    units = a.batches * a.heads * shares
    threads = min(threads, units)
    if a.tiles:
        size = forward_tiles_scratch(&a)
    else:
        size = forward_scratch[double](&a, NULL) if wide else forward_scratch[float](&a, NULL)
    memory = np.empty((threads, size), np.float64 if wide else np.float32)
    scratch = cnp.PyArray_DATA(memory)
    with nogil:
        if wide:
            forward_units(&a, units, shares, threads, <double *> scratch, size)
        else:
            forward_units(&a, units, shares, threads, <float *> scratch, size)


def backward(
    dout, q, k, v, out, maxima, factors, dq, dk, dv, double scale, bias=None, hidden=None, prefix=None,
    low=None, high=None, double keep_prob=1, kept=None, seed=None, offset=0, dbias=None
):
    """Write the gradients of `forward`, called with the same arguments.

    Args:
        dout: of the shape and type of `out`.
        dq, dk, dv: of those of `q`, `k` and `v`; written.
        dbias: None, or like `bias` in the working type; what is found of the bias's gradient is added to it.
            Where a step of it is 0 the sum over that dimension is made.

    >>> x = np.ones((1, 1, 2, 4), np.float32)
    >>> out, sums, dx = np.empty_like(x), np.empty((2, 1, 1, 2), np.float32), np.empty((3, 1, 1, 2, 4), np.float32)
    >>> forward(x, x, x, out, *sums, 0.5)
    >>> backward(x, x, x, x, out, *sums, *dx, 0.5)
    >>> dx[:, 0, 0, 0]
    array([[0., 0., 0., 0.],
           [0., 0., 0., 0.],
           [1., 1., 1., 1.]], dtype=float32)
    """
    cdef Attention a
    cdef bint wide
    cdef cnp.ndarray memory, shares
    cdef Py_ssize_t size, units
    cdef int threads
    cdef void *scratch
    wide = read_call(&a, q, k, v, out, maxima, factors, False, scale, bias, hidden, prefix,
                     low, high, keep_prob, kept, seed, offset)
    read_gradients(&a, wide, dout, dq, dk, dv, dbias)
    units = shared_units(&a)
    if not a.batches * a.groups:
        return
    cut_keys(&a)
    threads = min(openmp.omp_get_max_threads(), units * a.parts)
    if a.parts > 1:
        shares = np.empty((a.parts, a.batches, a.heads, a.queries, a.length), np.float64 if wide else np.float32)
        a.shares_of_dq = cnp.PyArray_DATA(shares)
    if a.tiles:
        size = backward_tiles_scratch(&a)
    else:
        size = backward_scratch[double](&a, NULL) if wide else backward_scratch[float](&a, NULL)
    memory = np.empty((threads, size), np.float64 if wide else np.float32)
    scratch = cnp.PyArray_DATA(memory)
    with nogil:
        if wide:
            backward_units(&a, units, threads, <double *> scratch, size)
        else:
            backward_units(&a, units, threads, <float *> scratch, size)
