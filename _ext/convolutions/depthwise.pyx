# cython: cdivision=True, boundscheck=False, wraparound=False
"""Convolutions in which each channel has a kernel of its own, and their weights' gradients, over channels-last memory.

Arrays are C-contiguous float32: images (N, *sizes, C) of 1 to 3 sizes, kernels (*kernel, C). Neighbouring
channels share a vector, whose sums stay in registers: of a result over the whole window, where a row of pixels is
the work of one thread, of a weight over a row of pixels, where some channels of some images are. The order of a sum
does not depend on the number of threads.
"""

import numpy as np

cimport numpy as cnp
from cython.parallel cimport prange

from arrays cimport check, check_vector
from blocks cimport PARALLEL_FROM
from sizes cimport AXES, read_numbers

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

    /* The windows [low, high) along one axis whose pixel for a place of the kernel lies inside. */
    static inline void dm_windows(
        const dm_depthwise *at, int axis, Py_ssize_t place, Py_ssize_t *low, Py_ssize_t *high
    ) {
        Py_ssize_t start = place * at->dilation[axis] - at->before[axis], step = at->stride[axis];
        Py_ssize_t room = at->sizes[axis] - start;
        *low = start < 0 ? (-start + step - 1) / step : 0;
        *high = room <= 0 ? 0 : (room + step - 1) / step;
        if (*high > at->counts[axis]) *high = at->counts[axis];
    }

    /* Adds what a row of dy gives the weights of as many channels as the vector has, times `count`, at a place of the
     * kernel: pixels at even and at odd places have a sum each. */
    #define DM_ADD_ROW(name, vector, count)                                                                      \
        static inline void name(                                                                                 \
            const float *x, Py_ssize_t x_step, const float *dy, Py_ssize_t dy_step, Py_ssize_t pixels, float *dw \
        ) {                                                                                                      \
            enum { LENGTH = sizeof(vector) / sizeof(float) };                                                    \
            vector even[count] = {0}, odd[count] = {0};                                                          \
            Py_ssize_t p;                                                                                        \
            int v;                                                                                               \
            for (p = 0; p + 2 <= pixels; p += 2, x += 2 * x_step, dy += 2 * dy_step) {                           \
                for (v = 0; v < count; v++) {                                                                    \
                    even[v] += *(const vector *) (x + v * LENGTH) * *(const vector *) (dy + v * LENGTH);         \
                    odd[v] += *(const vector *) (x + x_step + v * LENGTH)                                        \
                            * *(const vector *) (dy + dy_step + v * LENGTH);                                     \
                }                                                                                                \
            }                                                                                                    \
            for (v = 0; v < count; v++) {                                                                        \
                if (p < pixels)                                                                                  \
                    even[v] += *(const vector *) (x + v * LENGTH) * *(const vector *) (dy + v * LENGTH);         \
                *(vector *) (dw + v * LENGTH) += even[v] + odd[v];                                               \
            }                                                                                                    \
        }
    typedef float dm_quad __attribute__((vector_size(16), aligned(4), may_alias));
    DM_ADD_ROW(dm_add_row, dm_lanes, 2)
    DM_ADD_ROW(dm_add_vector, dm_lanes, 1)
    DM_ADD_ROW(dm_add_quad, dm_quad, 1)
    DM_ADD_ROW(dm_add_channel, float, 1)

    static inline void dm_add_some(
        const float *x, Py_ssize_t x_step, const float *dy, Py_ssize_t dy_step, Py_ssize_t pixels, Py_ssize_t some,
        float *dw
    ) {
        Py_ssize_t c = 0;
        if (some == DM_CHANNELS) {
            dm_add_row(x, x_step, dy, dy_step, pixels, dw);
            return;
        }
        if (some >= DM_LANES) {
            dm_add_vector(x, x_step, dy, dy_step, pixels, dw);
            c = DM_LANES;
        }
        for (; c + 4 <= some; c += 4) dm_add_quad(x + c, x_step, dy + c, dy_step, pixels, dw + c);
        for (; c < some; c++) dm_add_channel(x + c, x_step, dy + c, dy_step, pixels, dw + c);
    }

    /* Adds what images give the weights of the channels from c on. */
    static void dm_depthwise_weights(
        const dm_depthwise *at, const float *x, const float *dy, float *dw, Py_ssize_t images, Py_ssize_t c
    ) {
        const Py_ssize_t channels = at->channels, left = channels - c;
        const Py_ssize_t some = left < DM_CHANNELS ? left : DM_CHANNELS;
        const Py_ssize_t rows = at->counts[0] * at->counts[1], x_step = at->stride[2] * channels;
        Py_ssize_t low[3], high[3], row, k, i, j;
        for (row = 0; row < images * rows; row++) {
            const Py_ssize_t image = row / rows, q = row / at->counts[1] % at->counts[0], p = row % at->counts[1];
            const Py_ssize_t front = q * at->stride[0] - at->before[0], top = p * at->stride[1] - at->before[1];
            const float *from = dy + row * at->counts[2] * channels + c;
            dm_places(at, 0, front, &low[0], &high[0]);
            dm_places(at, 1, top, &low[1], &high[1]);
            for (k = low[0]; k < high[0]; k++) {
                for (i = low[1]; i < high[1]; i++) {
                    const Py_ssize_t z = front + k * at->dilation[0], y = top + i * at->dilation[1];
                    const Py_ssize_t before = ((image * at->sizes[0] + z) * at->sizes[1] + y) * at->sizes[2];
                    const float *line = x + before * channels + c;
                    float *to = dw + (k * at->kernel[1] + i) * at->kernel[2] * channels + c;
                    for (j = 0; j < at->kernel[2]; j++) {
                        dm_windows(at, 2, j, &low[2], &high[2]);
                        if (low[2] < high[2])
                            dm_add_some(
                                line + (j * at->dilation[2] - at->before[2]) * channels + low[2] * x_step, x_step,
                                from + low[2] * channels, channels, high[2] - low[2], some, to + j * channels
                            );
                    }
                }
            }
        }
    }
    """
    const int CHANNELS "DM_CHANNELS"
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
    void add_weights "dm_depthwise_weights"(
        const Depthwise *at, const float *x, const float *dy, float *dw, Py_ssize_t images, Py_ssize_t c
    ) noexcept nogil

cdef enum:
    TASKS = 8  # of a gradient of the weights, where there are so many images: by their number alone, for equal bits


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


cdef void add_all_weights(
    const Depthwise *at, const float *x, const float *dy, float *dw, Py_ssize_t images, Py_ssize_t parts
) noexcept nogil:
    """Add up what each part of the images gives in a matrix of its own."""
    cdef Py_ssize_t pieces = (at.channels + CHANNELS - 1) // CHANNELS, task, part, first, last
    cdef Py_ssize_t places = at.kernel[0] * at.kernel[1] * at.kernel[2]
    cdef Py_ssize_t of_result = at.counts[0] * at.counts[1] * at.counts[2] * at.channels
    cdef Py_ssize_t of_image = at.sizes[0] * at.sizes[1] * at.sizes[2] * at.channels
    for task in prange(
        parts * pieces, schedule="static", use_threads_if=images * of_result * places >= 8 * PARALLEL_FROM
    ):
        part = task // pieces
        first = part * images // parts
        last = (part + 1) * images // parts
        add_weights(
            at,
            x + first * of_image,
            dy + first * of_result,
            dw + part * places * at.channels,
            last - first,
            task % pieces * CHANNELS,
        )


cdef Depthwise geometry(
    str kernel, cnp.ndarray x, cnp.ndarray w, str result, cnp.ndarray y, bint y_is_written, object stride,
    object before, object dilation,
) except *:
    """Check the three arrays and return what they are."""
    cdef int rank = cnp.PyArray_NDIM(x) - 2, axis, own
    cdef Depthwise at
    if not 1 <= rank <= AXES:
        raise ValueError(f"For '{kernel}', 'x' must have 3 to 5 dimensions, but got shape {(<object> x).shape}.")
    check(kernel, "x", x, cnp.NPY_FLOAT32, -1, False)
    check(kernel, "w" if y_is_written else "dw", w, cnp.NPY_FLOAT32, rank + 1, not y_is_written)
    check(kernel, result, y, cnp.NPY_FLOAT32, rank + 2, y_is_written)
    at.channels = cnp.PyArray_DIM(x, rank + 1)
    if (
        cnp.PyArray_DIM(w, rank) != at.channels
        or cnp.PyArray_DIM(y, rank + 1) != at.channels
        or cnp.PyArray_DIM(y, 0) != cnp.PyArray_DIM(x, 0)
    ):
        raise ValueError(
            f"For '{kernel}', the weight and '{result}' must have the channels of 'x', and '{result}' its images, but "
            f"got {(<object> w).shape}, {(<object> y).shape} and {(<object> x).shape}."
        )
    read_numbers(kernel, "stride", stride, 1, rank, 1, at.stride)
    read_numbers(kernel, "before", before, 0, rank, 0, at.before)
    read_numbers(kernel, "dilation", dilation, 1, rank, 1, at.dilation)
    for axis in range(AXES):
        own = axis - AXES + rank
        at.sizes[axis] = cnp.PyArray_DIM(x, own + 1) if own >= 0 else 1
        at.counts[axis] = cnp.PyArray_DIM(y, own + 1) if own >= 0 else 1
        at.kernel[axis] = cnp.PyArray_DIM(w, own) if own >= 0 else 1
    return at


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
    cdef Depthwise at = geometry(name, x, w, "out", out, True, stride, before, dilation)
    cdef const float *shift = NULL
    if bias is not None:
        check_vector(name, "bias", bias, cnp.NPY_FLOAT32, at.channels, False)
        shift = <const float *> cnp.PyArray_DATA(bias)
    cdef Py_ssize_t images = cnp.PyArray_DIM(x, 0)
    cdef const float *source = <const float *> cnp.PyArray_DATA(x)
    cdef const float *kernels = <const float *> cnp.PyArray_DATA(w)
    cdef float *to = <float *> cnp.PyArray_DATA(out)
    with nogil:
        convolve_rows(&at, source, kernels, shift, to, images)


def backward_weights(
    cnp.ndarray x not None, cnp.ndarray dy not None, cnp.ndarray dw not None, tuple stride, tuple before,
    tuple dilation
):
    """Write the gradient of the kernels into `dw`.

    Args:
        x: (N, *sizes, C).
        dy: (N, *counts, C), the gradient of the convolution.
        dw: (*kernel, C), written.
        stride, before, dilation: as of `forward`.

    >>> x, dy, dw = np.array([[[1.0], [2.0], [3.0]]], "f4"), np.array([[[1.0], [10.0]]], "f4"), np.empty((2, 1), "f4")
    >>> backward_weights(x, dy, dw, (1,), (0,), (1,)); dw.ravel()
    array([21., 32.], dtype=float32)
    """
    cdef Depthwise at = geometry("depthwise.backward_weights", x, dw, "dy", dy, False, stride, before, dilation)
    cdef Py_ssize_t images = cnp.PyArray_DIM(x, 0)
    cdef const float *source = <const float *> cnp.PyArray_DATA(x)
    cdef const float *gradients = <const float *> cnp.PyArray_DATA(dy)
    cdef Py_ssize_t parts = max(1, min(images, TASKS // max(at.channels // CHANNELS, 1)))
    cdef cnp.ndarray sums = np.zeros((parts, *(<object> dw).shape), np.float32)
    cdef float *to = <float *> cnp.PyArray_DATA(sums)
    with nogil:
        add_all_weights(&at, source, gradients, to, images, parts)
    np.add.reduce(sums, 0, out=dw)
