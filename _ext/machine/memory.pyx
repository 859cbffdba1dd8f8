# cython: boundscheck=False, wraparound=False
"""A caching allocator for NumPy's arrays (NEP 49): 64-byte aligned blocks in size classes.

Fresh memory costs a page fault per page, about as much as a pass over it; here an array's block
goes to the next array of its class. Classes are eight to an octave, so a block is at most an
eighth larger than asked. Each class has its own stretch of one reserved range of addresses: a
block's address tells its class, and pages given back to the system keep their addresses. Arrays
of at most `SMALL` bytes, and what does not fit, stay with NumPy's own allocator.

A block is live (an array has it), idle (kept with its pages), or clean (without pages, so its
bytes read as zero). Idle bytes are bounded; beyond the limit pages go back to the system.
"""

cimport numpy as cnp
from cpython.object cimport PyObject
from cpython.pycapsule cimport PyCapsule_GetPointer, PyCapsule_New
from libc.stddef cimport size_t
from libc.stdint cimport uint8_t, uint32_t
from libc.stdlib cimport realloc as c_realloc
from libc.string cimport memcpy, memset

cnp.import_array()

cdef extern from "<sys/mman.h>" nogil:
    void *mmap(void *address, size_t length, int protection, int flags, int fd, long offset)
    int mprotect(void *address, size_t length, int protection)
    int madvise(void *address, size_t length, int advice)
    int PROT_NONE, PROT_READ, PROT_WRITE, MAP_PRIVATE, MAP_ANONYMOUS, MAP_NORESERVE
    int MADV_DONTNEED, MADV_HUGEPAGE
    void *MAP_FAILED

cdef extern from "<unistd.h>" nogil:
    long sysconf(int name)
    int _SC_PAGESIZE, _SC_PHYS_PAGES

cdef extern from *:
    """
    #include <pthread.h>
    static pthread_mutex_t memory_mutex = PTHREAD_MUTEX_INITIALIZER;
    static void memory_lock(void) { pthread_mutex_lock(&memory_mutex); }
    static void memory_unlock(void) { pthread_mutex_unlock(&memory_mutex); }
    /* A child must not inherit a mutex that a thread it has not got was holding. */
    static int memory_survive_fork(void) {
        return pthread_atfork(memory_lock, memory_unlock, memory_unlock);
    }
    static int memory_octave(size_t n) { return 63 - __builtin_clzll((unsigned long long)n); }
    """
    void lock "memory_lock"() noexcept nogil
    void unlock "memory_unlock"() noexcept nogil
    int survive_fork "memory_survive_fork"() noexcept nogil
    int octave "memory_octave"(size_t n) noexcept nogil

ctypedef void *(*malloc_function)(void *ctx, size_t size) noexcept nogil
ctypedef void *(*calloc_function)(void *ctx, size_t count, size_t size) noexcept nogil
ctypedef void *(*realloc_function)(void *ctx, void *block, size_t size) noexcept nogil
ctypedef void (*free_function)(void *ctx, void *block, size_t size) noexcept nogil

cdef extern from "numpy/arrayobject.h":
    ctypedef struct PyDataMemAllocator:
        void *ctx
        malloc_function malloc
        calloc_function calloc
        realloc_function realloc
        free_function free

    ctypedef struct PyDataMem_Handler:
        char name[127]
        uint8_t version
        PyDataMemAllocator allocator

    object PyDataMem_SetHandler(object handler)
    object PyDataMem_GetHandler()
    PyObject *PyDataMem_DefaultHandler

cdef enum:
    FIRST_OCTAVE = 10
    SMALL_BYTES = 1 << FIRST_OCTAVE
    LAST_OCTAVE = 38
    STEPS = 8  # classes in an octave
    CLASSES = (LAST_OCTAVE - FIRST_OCTAVE) * STEPS
    PAGED = 1 << 15  # from here on every block has pages of its own
    HUGE_PAGE = 1 << 21  # bytes; addresses are opened in whole ones

SMALL = SMALL_BYTES

cdef struct SizeClass:
    char *base
    size_t block  # bytes of a block
    size_t opened  # bytes from `base` on that may be touched
    uint32_t made  # blocks handed out so far
    uint32_t room  # blocks that the two stacks have room for
    uint32_t *idle
    uint32_t idle_count
    uint32_t *clean
    uint32_t clean_count

cdef SizeClass classes[CLASSES]
cdef int class_count = 0
cdef char *arena = NULL
cdef size_t arena_size = 0
cdef int span = 0  # log2 of the bytes of a class's stretch
cdef PyDataMem_Handler handler
cdef PyDataMem_Handler *base = NULL  # NumPy's own
cdef object capsule = None

cdef size_t live_bytes = 0, idle_bytes = 0, peak_live = 0, peak_reserved = 0
cdef size_t idle_limit = 0, ceiling = 0
cdef size_t requests = 0, hits = 0


cdef inline bint is_ours(void *block) noexcept nogil:
    return <size_t> (<char *> block - arena) < arena_size


cdef inline int class_of_size(size_t size) noexcept nogil:
    """The class of the smallest blocks that hold `size` bytes; more than `SMALL`."""
    cdef int k = octave(size - 1)
    return (k - FIRST_OCTAVE) * STEPS + <int> ((size - 1) >> (k - 3)) - STEPS


cdef bint make_room(SizeClass *c) noexcept nogil:
    """Let the stacks hold one more block; False without memory."""
    cdef uint32_t room = 2 * c.room if c.room else 16
    cdef void *idle = c_realloc(c.idle, room * sizeof(uint32_t))
    if idle == NULL:
        return False
    c.idle = <uint32_t *> idle
    cdef void *clean = c_realloc(c.clean, room * sizeof(uint32_t))
    if clean == NULL:
        return False
    c.clean = <uint32_t *> clean
    c.room = room
    return True


cdef void purge(SizeClass *c, size_t wanted) noexcept nogil:
    """Give the pages of idle blocks back, the longest idle first, until `wanted` bytes are."""
    cdef size_t given = 0
    cdef uint32_t n = 0, i
    if c.block < PAGED:
        if c.idle_count and c.idle_count + c.clean_count == c.made:
            madvise(c.base, c.opened, MADV_DONTNEED)
            for i in range(c.idle_count):
                c.clean[c.clean_count + i] = c.idle[i]
            c.clean_count += c.idle_count
            give_back(c, c.idle_count)
        return
    while n < c.idle_count and given < wanted:
        madvise(c.base + c.idle[n] * c.block, c.block, MADV_DONTNEED)
        c.clean[c.clean_count] = c.idle[n]
        c.clean_count += 1
        given += c.block
        n += 1
    for i in range(n, c.idle_count):
        c.idle[i - n] = c.idle[i]
    give_back(c, n)


cdef void give_back(SizeClass *c, uint32_t count) noexcept nogil:
    """Count `count` idle blocks as gone."""
    global idle_bytes
    c.idle_count -= count
    idle_bytes -= count * c.block


cdef void purge_until(size_t limit) noexcept nogil:
    """Purge the classes with most idle bytes until at most `limit` are idle."""
    cdef int i, largest
    cdef size_t most, before = 0
    while idle_bytes > limit and idle_bytes != before:
        before = idle_bytes
        largest, most = -1, 0
        for i in range(class_count):
            if classes[i].block >= PAGED and classes[i].idle_count * classes[i].block > most:
                largest, most = i, classes[i].idle_count * classes[i].block
        if largest < 0:
            break
        purge(&classes[largest], idle_bytes - limit)


cdef void *take(size_t size, bint *zero) noexcept nogil:
    """A block of `size` bytes, or NULL; `zero` tells whether its bytes are known to be 0."""
    global live_bytes, idle_bytes, peak_live, peak_reserved, requests, hits
    cdef int index = class_of_size(size)
    cdef SizeClass *c
    cdef size_t wanted
    cdef void *block = NULL
    if index >= class_count:
        return NULL
    lock()
    c = &classes[index]
    requests += 1
    zero[0] = False
    if c.idle_count:
        c.idle_count -= 1
        block = c.base + c.idle[c.idle_count] * c.block
        idle_bytes -= c.block
        hits += 1
    else:
        if ceiling and live_bytes + idle_bytes + c.block > ceiling:
            purge_until(0)
        if ceiling and live_bytes + c.block > ceiling:
            unlock()
            return NULL
        if c.clean_count:
            c.clean_count -= 1
            block = c.base + c.clean[c.clean_count] * c.block
            zero[0] = True
        else:
            wanted = (c.made + 1) * c.block
            if wanted <= (<size_t> 1 << span) and (c.made < c.room or make_room(c)):
                if wanted > c.opened:
                    wanted = min((wanted + HUGE_PAGE - 1) & ~(<size_t> HUGE_PAGE - 1), <size_t> 1 << span)
                    if mprotect(c.base + c.opened, wanted - c.opened, PROT_READ | PROT_WRITE) == 0:
                        c.opened = wanted
                if (c.made + 1) * c.block <= c.opened:
                    block = c.base + c.made * c.block
                    c.made += 1
                    zero[0] = True
    if block != NULL:
        live_bytes += c.block
        peak_live = max(peak_live, live_bytes)
        peak_reserved = max(peak_reserved, live_bytes + idle_bytes)
    unlock()
    return block


cdef void put(void *block) noexcept nogil:
    """Take a block back."""
    global live_bytes, idle_bytes
    cdef SizeClass *c = &classes[<size_t> (<char *> block - arena) >> span]
    lock()
    c.idle[c.idle_count] = <uint32_t> (<size_t> (<char *> block - c.base) / c.block)
    c.idle_count += 1
    live_bytes -= c.block
    idle_bytes += c.block
    if idle_bytes > idle_limit and c.block >= PAGED:
        purge_until(idle_limit - idle_limit // 4)
    unlock()


cdef bint over_ceiling(size_t size) noexcept nogil:
    return ceiling != 0 and live_bytes + size > ceiling


cdef void *pool_malloc(void *ctx, size_t size) noexcept nogil:
    cdef bint zero
    cdef void *block
    if size > SMALL_BYTES:
        block = take(size, &zero)
        if block != NULL or over_ceiling(size):
            return block
    return base.allocator.malloc(base.allocator.ctx, size)


cdef void *pool_calloc(void *ctx, size_t count, size_t size) noexcept nogil:
    cdef bint zero
    cdef void *block
    if count and size > (<size_t> -1) / count:
        return NULL
    if count * size > SMALL_BYTES:
        block = take(count * size, &zero)
        if block != NULL:
            if not zero:
                memset(block, 0, count * size)
            return block
        if over_ceiling(count * size):
            return NULL
    return base.allocator.calloc(base.allocator.ctx, count, size)


cdef void *pool_realloc(void *ctx, void *block, size_t size) noexcept nogil:
    cdef size_t room
    cdef void *moved
    if not is_ours(block):
        return base.allocator.realloc(base.allocator.ctx, block, size)
    room = classes[<size_t> (<char *> block - arena) >> span].block
    if size <= room and size > room // 2:
        return block
    moved = pool_malloc(ctx, size)
    if moved != NULL:
        memcpy(moved, block, min(size, room))
        put(block)
    return moved


cdef void pool_free(void *ctx, void *block, size_t size) noexcept nogil:
    if is_ours(block):
        put(block)
    else:
        base.allocator.free(base.allocator.ctx, block, size)


cdef void reserve() noexcept nogil:
    """Reserve the addresses of all classes, fewer where a limit on them is set."""
    global arena, arena_size, span, class_count, idle_limit
    cdef size_t physical = <size_t> sysconf(_SC_PHYS_PAGES) * <size_t> sysconf(_SC_PAGESIZE)
    cdef size_t block
    cdef void *found = MAP_FAILED
    cdef int i, k
    span = max(30, min(LAST_OCTAVE, octave(physical) + 1))
    while span >= 30:
        class_count = (span - FIRST_OCTAVE) * STEPS
        arena_size = <size_t> class_count << span
        found = mmap(NULL, arena_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
        if found != MAP_FAILED:
            break
        span -= 2
    if found == MAP_FAILED or survive_fork() != 0:
        class_count = 0
        arena_size = 0
        return
    arena = <char *> found
    idle_limit = physical // 8
    for i in range(class_count):
        k = FIRST_OCTAVE + i // STEPS
        block = <size_t> (STEPS + i % STEPS + 1) << (k - 3)
        memset(&classes[i], 0, sizeof(SizeClass))
        classes[i].base = arena + (<size_t> i << span)
        classes[i].block = block
        if block >= HUGE_PAGE:
            madvise(classes[i].base, <size_t> 1 << span, MADV_HUGEPAGE)


def install():
    """Let the arrays that this thread makes from now on have their memory here.

    NumPy keeps the choice per thread (in a context variable); every array remembers who made
    its memory, so arrays of both kinds live side by side.

    Returns:
        Whether it could be done: a limit on addresses (`ulimit -v`) may leave no room.
    """
    global base, capsule
    if base == NULL:
        base = <PyDataMem_Handler *> PyCapsule_GetPointer(<object> PyDataMem_DefaultHandler, "mem_handler")
        reserve()
        handler.version = 1
        memcpy(handler.name, b"dist_ms", 8)
        handler.allocator.ctx = NULL
        handler.allocator.malloc = pool_malloc
        handler.allocator.calloc = pool_calloc
        handler.allocator.realloc = pool_realloc
        handler.allocator.free = pool_free
        capsule = PyCapsule_New(&handler, "mem_handler", NULL)
    if arena == NULL:
        return False
    PyDataMem_SetHandler(capsule)
    return True


def uninstall():
    """Let the arrays that this thread makes from now on have NumPy's own memory.

    >>> uninstall()
    >>> installed()
    False
    >>> install() == installed()
    True
    """
    PyDataMem_SetHandler(<object> PyDataMem_DefaultHandler)


def installed():
    """Return whether arrays that this thread makes have their memory here."""
    return capsule is not None and PyDataMem_GetHandler() is capsule


def owns(array):
    """Return whether the array's first byte lies in a block of this allocator.

    >>> import numpy
    >>> owns(numpy.empty(1))
    False
    """
    if not cnp.PyArray_Check(array):
        raise TypeError(f"For 'owns', 'array' must be an array, but got {type(array).__name__}.")
    return is_ours(cnp.PyArray_DATA(array))


def statistics():
    """Return a dict: bytes live and idle and their peaks, the number of blocks that are either,
    of requests, and of requests met by an idle block.

    >>> sorted(statistics())
    ['blocks', 'hits', 'idle', 'live', 'peak_live', 'peak_reserved', 'requests']
    """
    cdef size_t blocks = 0, found[6]
    cdef int i
    lock()
    for i in range(class_count):
        blocks += classes[i].made - classes[i].clean_count
    found[:] = [live_bytes, idle_bytes, peak_live, peak_reserved, requests, hits]
    unlock()
    names = ("live", "idle", "peak_live", "peak_reserved", "requests", "hits")
    return {"blocks": blocks, **dict(zip(names, found))}


def reset_peak_live():
    """Let the peak of live bytes start again from what is live now."""
    global peak_live
    lock()
    peak_live = live_bytes
    unlock()


def reset_peak_reserved():
    """Let the peak of live and idle bytes start again from what is kept now."""
    global peak_reserved
    lock()
    peak_reserved = live_bytes + idle_bytes
    unlock()


def trim():
    """Give the pages of all idle blocks back to the system; return how many bytes that was."""
    cdef int i
    cdef size_t before
    lock()
    before = idle_bytes
    for i in range(class_count):
        purge(&classes[i], <size_t> -1)
    before -= idle_bytes
    unlock()
    return before


def set_limits(idle=None, total=None):
    """Bound the idle bytes kept, and all live bytes (0: no bound); None leaves a bound as it is.

    Raises:
        ValueError: A bound is negative.
    """
    global idle_limit, ceiling
    cdef size_t new_idle, new_total
    for name, value in (("idle", idle), ("total", total)):
        if value is not None and value < 0:
            raise ValueError(f"For 'set_limits', '{name}' must not be negative, but got {value}.")
    new_idle = idle_limit if idle is None else idle
    new_total = ceiling if total is None else total
    lock()
    idle_limit, ceiling = new_idle, new_total
    purge_until(idle_limit)
    unlock()


def limits():
    """Return the bounds of `set_limits` as a dict.

    >>> sorted(limits())
    ['idle', 'total']
    """
    return {"idle": idle_limit, "total": ceiling}
