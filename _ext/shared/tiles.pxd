# cython: cdivision=True
"""Tiles: pieces of a row that are computed with in registers.

A loop over a tile, an array on the stack, has no count to ask for and overlaps with no argument, so
the compiler makes a few vectors of it and forgets the array. The rest of a row, shorter than a tile,
is read and written through masks where the CPU has them: element by element it costs as much as
several tiles, and the vector loaded next waits until the elements have left for the cache.
"""

from cython cimport floating

from blocks cimport LANES

cdef enum:
    # 32 elements: the masks below count on it.
    TILE = 2 * LANES

cdef extern from *:
    """
    #if defined(__AVX2__)
    #include <immintrin.h>
    #endif

    #define DM_TILE 32

    #if defined(__AVX2__) && !defined(__AVX512F__)
    static inline __m256i dm_lanes_below(int size) {
        return _mm256_cmpgt_epi32(_mm256_set1_epi32(size), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
    }
    #endif

    static inline void dm_take_rest(const float *x, Py_ssize_t size, float filler, float *tile) {
    #if defined(__AVX512F__)
        unsigned below = (1u << size) - 1u;
        __m512 rest = _mm512_set1_ps(filler);
        _mm512_storeu_ps(tile, _mm512_mask_loadu_ps(rest, (__mmask16) below, x));
        _mm512_storeu_ps(tile + 16, _mm512_mask_loadu_ps(rest, (__mmask16) (below >> 16), x + 16));
    #elif defined(__AVX2__)
        for (int i = 0; i < DM_TILE; i += 8) {
            __m256i below = dm_lanes_below((int) size - i);
            __m256 part = _mm256_maskload_ps(x + i, below);
            _mm256_storeu_ps(tile + i, _mm256_blendv_ps(_mm256_set1_ps(filler), part, _mm256_castsi256_ps(below)));
        }
    #else
        for (int i = 0; i < DM_TILE; i++) tile[i] = i < size ? x[i] : filler;
    #endif
    }

    static inline void dm_put_rest(const float *tile, Py_ssize_t size, float *out) {
    #if defined(__AVX512F__)
        unsigned below = (1u << size) - 1u;
        _mm512_mask_storeu_ps(out, (__mmask16) below, _mm512_loadu_ps(tile));
        _mm512_mask_storeu_ps(out + 16, (__mmask16) (below >> 16), _mm512_loadu_ps(tile + 16));
    #elif defined(__AVX2__)
        for (int i = 0; i < DM_TILE; i += 8)
            _mm256_maskstore_ps(out + i, dm_lanes_below((int) size - i), _mm256_loadu_ps(tile + i));
    #else
        for (int i = 0; i < size; i++) out[i] = tile[i];
    #endif
    }
    """
    void take_floats "dm_take_rest"(const float *x, Py_ssize_t size, float filler, float *tile) noexcept nogil
    void put_floats "dm_put_rest"(const float *tile, Py_ssize_t size, float *out) noexcept nogil


cdef inline void take_rest(
    const floating *x, Py_ssize_t size, floating filler, floating *tile
) noexcept nogil:
    """Copy `size` elements, less than a tile, and fill the tile up."""
    cdef int lane
    if floating is float:
        take_floats(x, size, filler, tile)
    else:
        for lane in range(TILE):
            tile[lane] = x[lane] if lane < size else filler


cdef inline void put_rest(const floating *tile, Py_ssize_t size, floating *out) noexcept nogil:
    """Copy the first `size` elements, less than a tile."""
    cdef Py_ssize_t i
    if floating is float:
        put_floats(tile, size, out)
    else:
        for i in range(size):
            out[i] = tile[i]
