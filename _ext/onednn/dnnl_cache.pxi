# The cache of entries: least recently used goes first.
#
# A key is the bytes of a list of integers: kind of operation, threads, then shapes, strides and
# dtypes of the arrays and the numbers of the operation. All parts tell their own length, so two
# different calls never have the same key.

cdef enum:
    KEY_WORDS = 192

cdef enum Kind:
    MATMUL
    CONV_FORWARD
    CONV_BACKWARD_DATA
    CONV_BACKWARD_WEIGHTS
    POOL_FORWARD
    POOL_BACKWARD

ctypedef struct Key:
    int count
    int64_t words[KEY_WORDS]

cdef dict _entries = {}
cdef Py_ssize_t _capacity = 1024
cdef unsigned long long _clock = 0


cdef inline void add_word(Key *key, int64_t word) noexcept nogil:
    key.words[key.count] = word
    key.count += 1


cdef void start_key(Key *key, Kind kind) noexcept nogil:
    key.count = 0
    add_word(key, kind)
    add_word(key, openmp.omp_get_max_threads())


cdef void add_operand(Key *key, const Operand *operand) noexcept nogil:
    """Add an array, or a place holder for one that is not given (NULL)."""
    cdef int i
    if operand == NULL:
        add_word(key, -1)
        return
    add_word(key, operand.rank)
    add_word(key, operand.dtype)
    for i in range(operand.rank):
        add_word(key, operand.dims[i])
        add_word(key, operand.strides[i])


cdef bytes key_bytes(const Key *key):
    return PyBytes_FromStringAndSize(<const char *> key.words, key.count * sizeof(int64_t))


cdef Entry find_entry(bytes key):
    """Return the entry of `key`, or None."""
    global _clock
    cdef Entry entry = _entries.get(key)
    if entry is not None:
        _clock += 1
        entry.used = _clock
    return entry


cdef int keep_entry(bytes key, Entry entry) except -1:
    """Put an entry into the cache and drop the ones that no longer fit."""
    global _clock
    _clock += 1
    entry.used = _clock
    _entries[key] = entry
    return shrink_cache()


cdef int shrink_cache() except -1:
    """Drop the entries whose last use is longest ago until the rest fits."""
    cdef Entry entry
    while len(_entries) > _capacity:
        oldest = None
        used = _clock + 1
        for key, entry in _entries.items():
            if entry.used < used:
                oldest, used = key, entry.used
        del _entries[oldest]
    return 0


def cache_size() -> int:
    """Return how many primitives are cached.

    >>> clear_cache()
    >>> cache_size()
    0
    """
    return len(_entries)


def cache_contents() -> list[tuple[str, str]]:
    """Return what is cached, least recently used first.

    Returns:
        For each primitive its operation with shapes and numbers, and oneDNN's name of the code
        it chose; names with "ref" stand for very slow code.

    >>> import numpy as np
    >>> clear_cache()
    >>> one = np.ones((1, 1), np.float32)
    >>> matmul(one, one, np.empty_like(one))
    >>> [(operation, implementation)] = cache_contents()
    >>> operation
    "For 'matmul', a (1, 1), b (1, 1), out (1, 1)"
    """
    cdef Entry entry
    found = []
    for entry in _entries.values():
        found.append((entry.used, entry.context, entry.descriptor.implementation()))
    return [(context, implementation) for _, context, implementation in sorted(found)]


def clear_cache() -> None:
    """Drop all cached primitives and the memory they hold. Running calls end as usual.

    >>> clear_cache()
    """
    _entries.clear()
    with nogil:
        PyThread_acquire_lock(_lock, WAIT_LOCK)
        free_arena()
        PyThread_release_lock(_lock)


def set_cache_capacity(entries: int) -> int:
    """Set how many primitives are cached at most, 1024 at the start.

    Args:
        entries: A positive int.

    Returns:
        The capacity until now.

    Raises:
        TypeError: `entries` is not an int.
        ValueError: `entries` is not positive.

    >>> set_cache_capacity(set_cache_capacity(256))
    256
    """
    global _capacity
    cdef Py_ssize_t before = _capacity
    _capacity = read_int(entries, 1, "set_cache_capacity", "entries")
    shrink_cache()
    return before
