# What all calls of the process share: oneDNN's engine and stream, one lock, one block of memory.
#
# A call holds the lock while it executes: the arena, the memory objects of a cached entry and
# oneDNN's own state are not made for two calls at once, and two calls would only halve the cores
# that each has. The lock is only waited for without the GIL, and nothing inside it asks for the
# GIL, so the two cannot block each other.

cdef enum:
    ARENA_ALIGNMENT = 4096

cdef dnnl_engine_t _engine = NULL
cdef dnnl_stream_t _stream = NULL
cdef dnnl_primitive_attr_t _attributes = NULL
cdef PyThread_type_lock _lock = PyThread_allocate_lock()
cdef bint _rounds_factors = False
cdef char *_arena = NULL  # Scratchpads and reordered activations of the call that runs.
cdef size_t _arena_bytes = 0


cdef int check(dnnl_status_t status, str action, str context) except -1:
    """Raise RuntimeError if oneDNN refused `action`; `context` tells the operation and shapes."""
    if status != dnnl_success:
        name = dnnl_status2str(status).decode()
        raise RuntimeError(f"{context}: oneDNN could not {action}: {name}.")
    return 0


cdef int start_engine() except -1:
    """Create the engine and the stream on first use."""
    global _engine, _stream, _attributes
    if _stream != NULL:
        return 0
    context = "For 'dist_ms._ext.dnnl'"
    check(dnnl_primitive_attr_create(&_attributes), "create attributes", context)
    check(dnnl_primitive_attr_set_scratchpad_mode(_attributes, dnnl_scratchpad_mode_user),
          "set the scratchpad mode", context)
    check(dnnl_engine_create(&_engine, dnnl_cpu, 0), "create a CPU engine", context)
    check(dnnl_stream_create(&_stream, _engine, dnnl_stream_default_flags),
          "create a stream", context)
    return 0


def round_factors(to_bfloat16: bool) -> None:
    """Let float32 products round their factors to bfloat16 inside, or not, from the next call on.

    oneDNN does so with AMX; with AVX-512's bf16 instructions alone it computes in float32.

    >>> round_factors(False)
    """
    global _rounds_factors
    cdef dnnl_fpmath_mode_t mode = dnnl_fpmath_mode_bf16 if to_bfloat16 else dnnl_fpmath_mode_strict
    context = "For 'round_factors'"
    start_engine()
    check(dnnl_set_default_fpmath_mode(mode), "set the default mode", context)  # for forked children
    check(dnnl_primitive_attr_set_fpmath_mode(_attributes, mode), "set the mode", context)
    _rounds_factors = to_bfloat16
    _entries.clear()


def rounds_factors() -> bool:
    """Return what `round_factors` was told last, False without AMX, where factors stay as they are.

    >>> rounds_factors()
    False
    """
    return _rounds_factors and _has_amx


cdef bint reserve_arena(size_t size) noexcept nogil:
    """Make the arena at least `size` bytes large; the caller holds the lock."""
    global _arena, _arena_bytes
    cdef void *block = NULL
    if size <= _arena_bytes:
        return True
    free_arena()
    if posix_memalign(&block, ARENA_ALIGNMENT, size) != 0:
        return False
    _arena = <char *> block
    _arena_bytes = size
    return True


cdef void free_arena() noexcept nogil:
    """Give the arena back; the caller holds the lock."""
    global _arena, _arena_bytes
    free(_arena)
    _arena = NULL
    _arena_bytes = 0


def _before_fork():
    """Stop this thread's OpenMP workers, which libgomp in the child would wait for forever."""
    omp_pause_resource_all(omp_pause_soft)


def _after_fork_in_child():
    """Forget what a thread that only the parent has may hold: the lock, and the arena."""
    global _engine, _stream, _attributes, _lock, _arena, _arena_bytes
    _lock = PyThread_allocate_lock()
    _engine = _stream = _attributes = NULL
    _arena = NULL  # Not freed, as that thread may have been about to.
    _arena_bytes = 0
    _entries.clear()


os.register_at_fork(before=_before_fork, after_in_child=_after_fork_in_child)
