# cython: cdivision=True
"""Where the channels of an (N, C, *spatial) array lie in memory, and the blocks it is worked on in.

Memory is `samples` times `channels` times `spatial` numbers. With channels first (NCHW) a channel of a
sample is a segment of `spatial` numbers; with channels last (NHWC) each point counts as a sample, and
`spatial` is 1.

A block is a range of samples and of channels. Channels last: some rows, all channels. Channels first:
all samples of neighbouring channels, so many that a second pass finds their numbers in the L2 cache
and memory is read in long runs; some samples of all channels if these are too few for many threads.
Sums per channel do not depend on how many channels a block has, so that may depend on the threads.
"""

cimport numpy as cnp
cimport openmp

from blocks cimport block_count, block_length, rows_per_block

cdef enum:
    # A block leaves figures per channel behind; of fewer numbers, and they would outgrow the data.
    LEAST_NUMBERS = 128
    # With so many channels first, blocks are of channels, as many threads as there may be.
    APART_FROM = 8
    # Numbers in a block of several channels: up to four arrays of them fit the L2 cache.
    CHANNEL_BLOCK = 65536
    # Blocks of channels for each thread, where there are enough: no thread waits long for another.
    SHARE = 2


cdef struct Channels:
    bint last
    Py_ssize_t samples
    Py_ssize_t channels
    Py_ssize_t spatial
    Py_ssize_t block_samples
    Py_ssize_t sample_blocks
    Py_ssize_t block_channels
    Py_ssize_t channel_blocks


cdef struct Block:
    # Its first sample and channel, and how many it has.
    Py_ssize_t sample
    Py_ssize_t samples
    Py_ssize_t channel
    Py_ssize_t channels


cdef inline bint has_strides(cnp.ndarray x, bint last) noexcept:
    """Tell whether x is contiguous with its channels last, or first."""
    cdef int dimensions = cnp.PyArray_NDIM(x)
    cdef Py_ssize_t step = cnp.PyArray_ITEMSIZE(x)
    cdef int axis
    if last:
        if cnp.PyArray_DIM(x, 1) > 1 and cnp.PyArray_STRIDE(x, 1) != step:
            return False
        step *= cnp.PyArray_DIM(x, 1)
    for axis in range(dimensions - 1, -1, -1):
        if axis == 1 and last:
            continue
        if cnp.PyArray_DIM(x, axis) > 1 and cnp.PyArray_STRIDE(x, axis) != step:
            return False
        step *= cnp.PyArray_DIM(x, axis)
    return True


cdef inline Channels find_channels(str kernel, str name, cnp.ndarray x) except *:
    """Return where x has its channels, or raise."""
    cdef Channels found
    cdef Py_ssize_t samples
    if cnp.PyArray_NDIM(x) < 2:
        raise ValueError(
            f"For '{kernel}', '{name}' must have 2 or more dimensions, "
            f"but got shape {(<object> x).shape}."
        )
    samples = cnp.PyArray_DIM(x, 0)
    found.channels = cnp.PyArray_DIM(x, 1)
    found.spatial = 1
    for axis in range(2, cnp.PyArray_NDIM(x)):
        found.spatial *= cnp.PyArray_DIM(x, axis)
    found.last = found.spatial == 1 or not has_strides(x, False)
    if cnp.PyArray_SIZE(x) > 1 and not has_strides(x, found.last):
        raise ValueError(
            f"For '{kernel}', '{name}' must be contiguous in NCHW or NHWC order, but got shape "
            f"{(<object> x).shape} with strides {(<object> x).strides}; copy it."
        )
    found.samples = samples
    found.block_channels = found.channels
    if found.last:
        found.samples = samples * found.spatial
        found.spatial = 1
        found.block_samples = rows_per_block(found.channels, LEAST_NUMBERS)
    elif found.channels < APART_FROM:
        found.block_samples = rows_per_block(
            found.channels * found.spatial, block_count(LEAST_NUMBERS, max(found.spatial, 1))
        )
    else:
        found.block_samples = max(samples, 1)
        found.block_channels = min(
            CHANNEL_BLOCK // max(samples * found.spatial, 1),
            found.channels // (SHARE * openmp.omp_get_max_threads()),
        )
    found.block_channels = max(found.block_channels, 1)
    found.sample_blocks = block_count(found.samples, found.block_samples)
    found.channel_blocks = block_count(found.channels, found.block_channels)
    return found


cdef inline Py_ssize_t numbers_per_channel(const Channels *at) noexcept nogil:
    return at.samples * at.spatial


cdef inline Block block_of(const Channels *at, Py_ssize_t index) noexcept nogil:
    """Return a block, of `sample_blocks` times `channel_blocks`."""
    cdef Block found
    cdef Py_ssize_t of_samples = index // at.channel_blocks
    cdef Py_ssize_t of_channels = index % at.channel_blocks
    found.sample = of_samples * at.block_samples
    found.samples = block_length(of_samples, at.samples, at.block_samples)
    found.channel = of_channels * at.block_channels
    found.channels = block_length(of_channels, at.channels, at.block_channels)
    return found
