# cython: cdivision=True, boundscheck=False, wraparound=False
"""Convolutions in which each channel has a kernel of its own, over channels-last images or volumes.

Arrays are C-contiguous float32: images (N, *sizes, C) of 1 to 3 sizes, kernels (*kernel, C). Neighbouring
channels share a vector, whose sums stay in registers over the whole window; a row of pixels is the work of
one thread. Sums go through the window in order, so the bits are the same for any number of threads.
"""

cimport numpy as cnp
from cython.parallel cimport prange

from arrays cimport check, check_vector
from blocks cimport PARALLEL_FROM

cnp.import_array()

cdef extern from *:
    """
    #if defined(__AVX512F__)
    #define DM_LANES 16
    #elif defined(__AVX__)
    #define DM_LANES 8
    #else
    #define DM_LANES 4
    #endif
    #define DM_CHANNELS (2 * DM_LANES)
    typedef float dm_lanes __attribute__((vector_size(4 * DM_LANES), aligned(4), may_alias));

    typedef struct {
        Py_ssize_t sizes[3], counts[3], kernel[3], stride[3], before[3], dilation[3], channels;
    } dm_depthwise;

    /* The kernel's places [low, high) along one axis whose pixels, from `start` on, lie inside. */
    static inline void dm_places(
        const dm_depthwise *at, int axis, Py_ssize_t start, Py_ssize_t *low, Py_ssize_t *high
    ) {
        Py_ssize_t step = at->dilation[axis], room = at->sizes[axis] - start;
        *low = start < 0 ? (-start + step - 1) / step : 0;
        *high = room <= 0 ? 0 : (room + step - 1) / step;
        if (*high > at->kernel[axis]) *high = at->kernel[axis];
    }

    static void dm_depthwise_row(
        const dm_depthwise *at, const float *image, const float *w, const float *bias, float *out, Py_ssize_t front,
        Py_ssize_t top
    ) {
        const Py_ssize_t channels = at->channels;
        Py_ssize_t first[3], last[3], p, c, i, j, k, l;
        dm_places(at, 0, front, &first[0], &last[0]);
        dm_places(at, 1, top, &first[1], &last[1]);
        for (p = 0; p < at->counts[2]; p++, out += channels) {
            const Py_ssize_t left = p * at->stride[2] - at->before[2];
            const Py_ssize_t step = at->dilation[2] * channels;
            dm_places(at, 2, left, &first[2], &last[2]);
            for (c = 0; c < channels; c += DM_CHANNELS) {
                const int is_whole = c + DM_CHANNELS <= channels;
                const Py_ssize_t some = is_whole ? DM_CHANNELS : channels - c;
                dm_lanes sum0 = {0}, sum1 = {0};
                float rest[DM_CHANNELS] = {0};
                if (bias && is_whole) {
                    sum0 = *(const dm_lanes *) (bias + c);
                    sum1 = *(const dm_lanes *) (bias + c + DM_LANES);
                } else if (bias) {
                    for (l = 0; l < some; l++) rest[l] = bias[c + l];
                }
                for (k = first[0]; k < last[0]; k++) {
                    for (i = first[1]; i < last[1]; i++) {
                        const Py_ssize_t z = front + k * at->dilation[0], y = top + i * at->dilation[1];
                        const float *x = image + ((z * at->sizes[1] + y) * at->sizes[2] + left) * channels + c;
                        const float *v = w + (k * at->kernel[1] + i) * at->kernel[2] * channels + c;
                        if (is_whole) {
                            for (j = first[2]; j < last[2]; j++) {
                                sum0 += *(const dm_lanes *) (x + j * step) * *(const dm_lanes *) (v + j * channels);
                                sum1 += *(const dm_lanes *) (x + j * step + DM_LANES)
                                      * *(const dm_lanes *) (v + j * channels + DM_LANES);
                            }
                        } else {
                            for (j = first[2]; j < last[2]; j++)
                                for (l = 0; l < some; l++) rest[l] += x[j * step + l] * v[j * channels + l];
                        }
                    }
                }
                if (is_whole) {
                    *(dm_lanes *) (out + c) = sum0;
                    *(dm_lanes *) (out + c + DM_LANES) = sum1;
                } else {
                    for (l = 0; l < some; l++) out[c + l] = rest[l];
                }
            }
        }
    }
    """
    ctypedef struct Depthwise "dm_depthwise":
        Py_ssize_t sizes[3]
        Py_ssize_t counts[3]
        Py_ssize_t kernel[3]
        Py_ssize_t stride[3]
        Py_ssize_t before[3]
        Py_ssize_t dilation[3]
        Py_ssize_t channels
    void convolve_row "dm_depthwise_row"(
        const Depthwise *at, const float *image, const float *w, const float *bias, float *out, Py_ssize_t front,
        Py_ssize_t top
    ) noexcept nogil

cdef enum:
    AXES = 3  # Images of fewer have sizes of 1 before their own.


cdef void convolve_rows(
    const Depthwise *at, const float *x, const float *w, const float *bias, float *out, Py_ssize_t images
) noexcept nogil:
    cdef Py_ssize_t rows = at.counts[0] * at.counts[1], row, index
    cdef Py_ssize_t size = at.sizes[0] * at.sizes[1] * at.sizes[2] * at.channels
    cdef Py_ssize_t length = at.counts[2] * at.channels
    for row in prange(
        images * rows, schedule="static",
        use_threads_if=images * rows * length * at.kernel[0] * at.kernel[1] * at.kernel[2] >= 8 * PARALLEL_FROM,
    ):
        index = row % rows
        convolve_row(
            at,
            x + row // rows * size,
            w,
            bias,
            out + row * length,
            index // at.counts[1] * at.stride[0] - at.before[0],
            index % at.counts[1] * at.stride[1] - at.before[1],
        )


cdef int read_numbers(str name, object numbers, Py_ssize_t least, int rank, Py_ssize_t *to) except -1:
    """Read a number per size; sizes that are not there have the least one."""
    cdef int axis
    if len(numbers) != rank or min(numbers) < least:
        raise ValueError(
            f"For 'depthwise.forward', '{name}' must be {rank} numbers of {least} or more, but got {numbers}."
        )
    for axis in range(AXES):
        to[axis] = numbers[axis - AXES + rank] if axis >= AXES - rank else least
    return 0


def forward(
    cnp.ndarray x not None, cnp.ndarray w not None, cnp.ndarray bias, cnp.ndarray out not None, tuple stride,
    tuple before, tuple dilation
):
    """Write the convolution of each channel with its own kernel into `out`.

    Args:
        x: (N, *sizes, C).
        w: (*kernel, C).
        bias: (C,), or None.
        out: (N, *counts, C), written.
        stride, dilation: an int of 1 or more per size.
        before: how many zeros come before the first pixel.

    >>> x, w, out = np.array([[[1.0], [2.0], [3.0]]], "f4"), np.array([[1.0], [10.0]], "f4"), np.empty((1, 3, 1), "f4")
    >>> forward(x, w, None, out, (1,), (1,), (1,)); out.ravel()
    array([10., 21., 32.], dtype=float32)
    """
    cdef str name = "depthwise.forward"
    cdef int rank = cnp.PyArray_NDIM(x) - 2, axis, own
    cdef Depthwise at
    if not 1 <= rank <= AXES:
        raise ValueError(f"For '{name}', 'x' must have 3 to 5 dimensions, but got shape {(<object> x).shape}.")
    check(name, "x", x, cnp.NPY_FLOAT32, -1, False)
    check(name, "w", w, cnp.NPY_FLOAT32, rank + 1, False)
    check(name, "out", out, cnp.NPY_FLOAT32, rank + 2, True)
    at.channels = cnp.PyArray_DIM(x, rank + 1)
    if (
        cnp.PyArray_DIM(w, rank) != at.channels
        or cnp.PyArray_DIM(out, rank + 1) != at.channels
        or cnp.PyArray_DIM(out, 0) != cnp.PyArray_DIM(x, 0)
    ):
        raise ValueError(
            f"For '{name}', 'w' and 'out' must have the channels of 'x', and 'out' its images, but got "
            f"{(<object> w).shape}, {(<object> out).shape} and {(<object> x).shape}."
        )
    if bias is not None:
        check_vector(name, "bias", bias, cnp.NPY_FLOAT32, at.channels, False)
    read_numbers("stride", stride, 1, rank, at.stride)
    read_numbers("before", before, 0, rank, at.before)
    read_numbers("dilation", dilation, 1, rank, at.dilation)
    for axis in range(AXES):
        own = axis - AXES + rank
        at.sizes[axis] = cnp.PyArray_DIM(x, own + 1) if own >= 0 else 1
        at.counts[axis] = cnp.PyArray_DIM(out, own + 1) if own >= 0 else 1
        at.kernel[axis] = cnp.PyArray_DIM(w, own) if own >= 0 else 1
    cdef Py_ssize_t images = cnp.PyArray_DIM(x, 0)
    cdef const float *source = <const float *> cnp.PyArray_DATA(x)
    cdef const float *kernels = <const float *> cnp.PyArray_DATA(w)
    cdef const float *shift = NULL
    if bias is not None:
        shift = <const float *> cnp.PyArray_DATA(bias)
    cdef float *to = <float *> cnp.PyArray_DATA(out)
    with nogil:
        convolve_rows(&at, source, kernels, shift, to, images)
