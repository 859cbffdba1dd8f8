# cython: cdivision=True, boundscheck=False, wraparound=False
"""Ranks that share memory meet, and reduce arrays, by flags and slots in that memory.

Every exchange of a group has a ticket: 1, 2, 3 ..., the same on all ranks. A rank shows the
ticket it has entered, with a mark that says for what, and the ticket it has finished. Nobody
waits inside the kernel for longer than the caller says, so the caller can look for ranks that
are gone.

Three ways to reduce, chosen by the number of bytes and by where the array lies:
- small: every rank copies its array to a slot, and all reduce all slots: ranks meet once.
- in place: the arrays lie in shared memory. Rank r reduces part r of all of them and writes the
  result into all of them. The first meeting says that the arrays are ready, the second that the
  results are.
- staged, in chunks: what other ranks reduce is copied to this rank's stage, rank r reduces part r
  of all stages and writes the result into all of them, and each rank copies it back. The next
  chunk is copied in before this one is waited for.

A line of memory goes to the core that reduces it and back, and no more often: a stage is written
by the others only while it is theirs.

What is moved only, or reduced for one rank, goes through the slots and stages too: every rank takes
what is meant for it from the others'. Where the system lets a rank read its neighbours' memory, larger
movements are direct: each rank shows where its source lies, the others read it from there, and it is
free when all have.

Memory: a line of flags per rank, DEPTH small slots per rank, STAGES stages per rank.
"""

cimport numpy as cnp
cimport openmp
from libc.stdint cimport int64_t, uintptr_t
from libc.stdlib cimport calloc, free
from libc.string cimport memcpy, memset

from reduction cimport Kind, Op, bytes_of, reduce_buffers

cnp.import_array()

cdef extern from *:
    """
    #include <sched.h>
    #include <stdint.h>
    #include <string.h>
    #include <sys/uio.h>
    #include <time.h>
    #include <unistd.h>

    /* One line of memory that goes from core to core, and its neighbour that is fetched with it. */
    typedef struct {
        int64_t entered, finished, stage, process;
        int64_t marks[4];
        int64_t places[4];
        int64_t rest[4];
    } dm_line;

    /* Copy another process's memory; return whether the system did. */
    static inline int dm_read_from(int64_t process, int64_t place, char *to, int64_t size) {
        while (size > 0) {
            struct iovec here = {to, (size_t) size}, there = {(void *) place, (size_t) size};
            ssize_t got = process_vm_readv((pid_t) process, &here, 1, &there, 1, 0);
            if (got <= 0) return 0;
            to += got, place += got, size -= got;
        }
        return 1;
    }

    static inline int64_t dm_load(const int64_t *p) { return __atomic_load_n(p, __ATOMIC_ACQUIRE); }
    static inline void dm_store(int64_t *p, int64_t x) { __atomic_store_n(p, x, __ATOMIC_RELEASE); }
    static inline void dm_pause(void) { __builtin_ia32_pause(); }
    static inline double dm_now(void) {
        struct timespec t;
        clock_gettime(CLOCK_MONOTONIC, &t);
        return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
    }
    """
    ctypedef struct Line "dm_line":
        int64_t entered
        int64_t finished
        int64_t stage
        int64_t process
        int64_t *marks
        int64_t *places
    int getpid() noexcept nogil
    bint read_from "dm_read_from"(int64_t process, int64_t place, char *to, int64_t size) noexcept nogil
    int64_t load "dm_load"(const int64_t *flag) noexcept nogil
    void store "dm_store"(int64_t *flag, int64_t value) noexcept nogil
    void pause "dm_pause"() noexcept nogil
    double now "dm_now"() noexcept nogil
    int sched_yield() noexcept nogil

cdef extern from "shared_lines.h" nogil:
    void copy_from "dm_copy_from"(char *to, const char *source, Py_ssize_t size) noexcept
    void copy_back "dm_copy_back"(char *to, const char *source, Py_ssize_t size) noexcept

cdef enum:
    DEPTH = 4  # exchanges that may be entered before the oldest is finished everywhere
    STAGES = 3  # chunks that are under way: one copied in, one reduced, one copied back
    ALIGNMENT = 64
    # Bytes from which on another meeting costs less than reducing the other ranks' parts, too.
    IN_PLACE_FROM = 2048
    # Bytes to one rank from which on a call of the system costs less than another copy.
    DIRECT_FROM = 512 << 10
    # Bytes of a round where one rank sends: the others begin when the first has come.
    LONE_PIECE = 16 << 10

cdef enum Way:
    MEETING, SMALL, IN_PLACE, STAGED, DIRECT

cdef enum Phase:
    QUEUED, ENTERED, STAGING, FINISHING, CLOSING, HELD, RELEASED, PARTING, OVER, DIFFERENT

WAITING, DONE, REDUCED, DIFFER = range(4)

# What an exchange checks of itself on all ranks beside the caller's mark.
cdef int64_t PRIME = 1000003


def board_bytes(size, small, chunk):
    """Return how much memory a board needs.

    >>> board_bytes(2, 1024, 4096)
    33024
    """
    return size * (sizeof(Line) + DEPTH * small + STAGES * chunk)


cdef int check_bytes(str name, cnp.ndarray array, Py_ssize_t wanted) except -1:
    """Raise unless an array has the bytes that are moved."""
    if array is None:
        if wanted:
            raise ValueError(f"For 'movement', '{name}' must have {wanted} bytes, but got None.")
    elif cnp.PyArray_NBYTES(array) < wanted or not cnp.PyArray_IS_C_CONTIGUOUS(array):
        raise ValueError(
            f"For 'movement', '{name}' must be C-contiguous, of {wanted} bytes, but got "
            f"{cnp.PyArray_NBYTES(array)}."
        )
    return 0


cdef struct Block:
    char *base
    Py_ssize_t stride
    Py_ssize_t length

cdef struct State:
    int rank, size, patience
    Py_ssize_t small, chunk
    Line *lines
    char *slots
    char *stages
    # Tickets given out, and how far this rank has come; the staging steps it has planned.
    int64_t tickets, entered, reduced, finished, stage
    # The last exchanges that write to this rank's stages, and whose stages others read to their end.
    int64_t last_staged, last_read


cdef class Board:
    """The flags, slots and stages of ranks that share memory.

    Args:
        memory: uint8, the same memory on all ranks, at least `board_bytes(...)`, 64-aligned. Each
            rank clears its flags here; all ranks must have done so before any exchange begins.
        rank: this rank's place among them.
        size: their number.
        small: bytes up to which an array is reduced by every rank.
        chunk: bytes that are staged at a time.
        patience: polls before a waiting rank offers its core to others.

    >>> board = Board(np.zeros(board_bytes(1, 1024, 4096) + 64, np.uint8), 0, 1, 1024, 4096)
    >>> x = np.ones(3, np.float32)
    >>> board.reduction(x, 11, 0, 2.0, 7).advance(1.0) == DONE
    True
    >>> print(x)
    [2. 2. 2.]
    """

    cdef object memory
    cdef State state
    cdef Block *blocks
    cdef int block_count, block_room
    cdef bint direct
    cdef int64_t cookie
    cdef list block_memory

    def __cinit__(self):
        self.blocks = NULL

    def __init__(self, cnp.ndarray memory not None, int rank, int size, Py_ssize_t small,
                 Py_ssize_t chunk, int patience=2000):
        if size < 1 or not 0 <= rank < size:
            raise ValueError(f"For 'Board', 'rank' must be in [0, {size - 1}], but got {rank}.")
        if small <= 0 or small % ALIGNMENT or chunk <= 0 or chunk % ALIGNMENT:
            raise ValueError(
                f"For 'Board', 'small' and 'chunk' must be positive multiples of {ALIGNMENT}, "
                f"but got {small} and {chunk}."
            )
        cdef uintptr_t start = <uintptr_t> cnp.PyArray_DATA(memory)
        cdef Py_ssize_t skip = -start % ALIGNMENT
        needed = board_bytes(size, small, chunk) + skip
        if cnp.PyArray_TYPE(memory) != cnp.NPY_UINT8 or not cnp.PyArray_IS_C_CONTIGUOUS(memory):
            raise TypeError("For 'Board', 'memory' must be a contiguous array of uint8.")
        if cnp.PyArray_SIZE(memory) < needed or not cnp.PyArray_ISWRITEABLE(memory):
            raise ValueError(
                f"For 'Board', 'memory' must have {needed} writeable bytes, "
                f"but got {cnp.PyArray_SIZE(memory)}."
            )
        memset(&self.state, 0, sizeof(State))
        self.memory, self.state.rank, self.state.size = memory, rank, size
        self.state.small, self.state.chunk, self.state.patience = small, chunk, patience
        self.state.lines = <Line *> (start + skip)
        self.state.slots = <char *> (self.state.lines + size)
        self.state.stages = self.state.slots + size * DEPTH * small
        self.block_count, self.block_room, self.block_memory = 0, 0, []
        self.direct = False
        memset(self.state.lines + rank, 0, sizeof(Line))
        self.state.lines[rank].process = getpid()
        # A number that no other process has in the same place by chance.
        self.cookie = <int64_t> (1e9 * now()) * PRIME + getpid()
        self.state.lines[rank].places[0] = <int64_t> <uintptr_t> &self.cookie
        self.state.lines[rank].places[1] = self.cookie

    def __dealloc__(self):
        free(self.blocks)

    def add_block(self, cnp.ndarray memory not None, Py_ssize_t stride, Py_ssize_t length):
        """Take memory in which arrays are reduced in place: rank r's `length` bytes at r * stride."""
        cdef Block *blocks
        if cnp.PyArray_SIZE(memory) < (self.state.size - 1) * stride + length:
            raise ValueError(f"For 'add_block', 'memory' of {memory.size} bytes is too small.")
        if self.block_count == self.block_room:
            blocks = <Block *> calloc(2 * self.block_room + 8, sizeof(Block))
            if blocks == NULL:
                raise MemoryError()
            if self.block_count:
                memcpy(blocks, self.blocks, self.block_count * sizeof(Block))
            free(self.blocks)
            self.blocks, self.block_room = blocks, 2 * self.block_room + 8
        self.blocks[self.block_count].base = <char *> cnp.PyArray_DATA(memory)
        self.blocks[self.block_count].stride = stride
        self.blocks[self.block_count].length = length
        self.block_count += 1
        self.block_memory.append(memory)

    cdef int find(self, char *start, Py_ssize_t length) noexcept:
        """Return the block whose own part holds the memory, -1 where none does."""
        cdef int i
        cdef char *mine
        for i in range(self.block_count):
            mine = self.blocks[i].base + self.state.rank * self.blocks[i].stride
            if mine <= start and start + length <= mine + self.blocks[i].length:
                return i
        return -1

    def reads_others(self):
        """Tell whether this process may read the others' memory. All boards must be there, none in use."""
        cdef int rank
        cdef int64_t found = 0
        cdef Line *line
        for rank in range(self.state.size):
            line = self.state.lines + rank
            if not read_from(line.process, line.places[0], <char *> &found, sizeof(found)) or found != line.places[1]:
                return False
        return True

    def read_directly(self, bint allowed):
        """Let larger movements be direct; the same on all ranks."""
        self.direct = allowed

    def shares(self, cnp.ndarray array not None):
        """Tell whether the array lies in memory that is reduced in place."""
        return self.find(<char *> cnp.PyArray_DATA(array), cnp.PyArray_NBYTES(array)) >= 0

    def meeting(self, int64_t mark):
        """Return an exchange without data."""
        cdef Exchange exchange = Exchange.__new__(Exchange)
        exchange.begin(self, MEETING, mark)
        return exchange

    def reduction(self, cnp.ndarray array not None, int kind, int op, double scale, int64_t mark,
                  int parts=0, bint hold=False, cnp.ndarray source=None):
        """Return an exchange that reduces an array, in place where no source is given.

        Args:
            array: C-contiguous, writeable, of type `kind`; it must stay as it is until the end.
            kind: of reduce.KINDS.
            op: of reduce.OPS.
            scale: a factor of the result.
            mark: must be equal on all ranks.
            parts: over how many of the ranks the work is spread; 0: all.
            hold: stop when this rank's part of its own array has the reduction of these ranks'
                parts (state REDUCED); after `release()` it is scaled and copied to all of them.
                For arrays in shared memory only.
            source: what is reduced in the array's place, of the same size, type and layout.
        """
        cdef Exchange exchange = Exchange.__new__(Exchange)
        cdef Py_ssize_t length = cnp.PyArray_NBYTES(array)
        cdef char *data = <char *> cnp.PyArray_DATA(array)
        cdef int block = -1
        cdef Way way = SMALL
        cdef Block *found
        if not cnp.PyArray_IS_C_CONTIGUOUS(array) or cnp.PyArray_ITEMSIZE(array) != bytes_of(<Kind> kind):
            raise ValueError(
                f"For 'reduction', 'array' must be C-contiguous, with elements of "
                f"{bytes_of(<Kind> kind)} bytes."
            )
        if not 0 <= parts <= self.state.size:
            raise ValueError(f"For 'reduction', 'parts' must be at most {self.state.size}, but got {parts}.")
        if length > min(<Py_ssize_t> IN_PLACE_FROM, self.state.small) or hold:
            block = self.find(data, length)
            way = IN_PLACE if block >= 0 else STAGED if length > self.state.small else SMALL
        if hold and block < 0:
            raise ValueError("For 'reduction', 'array' must lie in shared memory to be held.")
        if block >= 0:
            found = &self.blocks[block]
            mark = (mark * PRIME + block + 1) * PRIME + (data - found.base - self.state.rank * found.stride)
        if source is not None:
            if not cnp.PyArray_IS_C_CONTIGUOUS(source) or cnp.PyArray_NBYTES(source) != length:
                raise ValueError(
                    f"For 'reduction', 'source' must be C-contiguous, of {length} bytes, but got "
                    f"{cnp.PyArray_NBYTES(source)}."
                )
            if block >= 0:
                memcpy(data, cnp.PyArray_DATA(source), length)
                source = None
        exchange.array, exchange.data, exchange.block = array, data, block
        exchange.kept, exchange.source = source, data
        if source is not None:
            exchange.source = <char *> cnp.PyArray_DATA(source)
        exchange.count = cnp.PyArray_SIZE(array)
        exchange.kind, exchange.op, exchange.scale = <Kind> kind, <Op> op, scale
        exchange.parts, exchange.hold = parts if parts else self.state.size, hold
        exchange.allocate(self.state.size)
        exchange.begin(self, way, mark)
        exchange.lay_out()
        return exchange

    def movement(self, cnp.ndarray source, cnp.ndarray out not None, Py_ssize_t length, int64_t mark,
                 bint parts=False, int sender=-1, int kind=-1, int op=0):
        """Return an exchange that moves bytes from every rank, or from one, to every rank.

        Args:
            source: C-contiguous: what this rank sends; not read on a rank that sends nothing.
            out: C-contiguous: what comes, in rank order, or from the sender, or reduced.
            length: bytes from one rank to another.
            mark: must be equal on all ranks.
            parts: the source has `length` bytes for every rank; else all get the same.
            sender: the only rank that sends; -1: all do.
            kind: of reduce.KINDS: what comes is reduced; -1: it is not.
            op: of reduce.OPS.
        """
        cdef Movement exchange = Movement.__new__(Movement)
        cdef Way way
        cdef int size = self.state.size
        cdef bint sends = sender < 0 or sender == self.state.rank
        cdef Py_ssize_t sent = length * size if parts else length
        cdef Py_ssize_t came = length * size if sender < 0 and kind < 0 else length
        check_bytes("source", source, sent if sends else 0)
        check_bytes("out", out, came)
        if kind >= 0 and length % bytes_of(<Kind> kind):
            raise ValueError(f"For 'movement', 'length' must be whole elements, but got {length} bytes.")
        exchange.array, exchange.kept = out, source
        exchange.source = <char *> cnp.PyArray_DATA(source) if source is not None else NULL
        exchange.data = <char *> cnp.PyArray_DATA(out)
        exchange.length_each, exchange.sender, exchange.sends = length, sender, sends
        exchange.by_parts, exchange.reduces = parts, kind >= 0
        exchange.kind, exchange.op, exchange.scale = <Kind> max(kind, 0), <Op> op, 1
        exchange.allocate(size)
        way = SMALL if sent <= self.state.small else STAGED
        if self.direct and kind < 0 and length >= DIRECT_FROM:
            way = DIRECT
        exchange.begin(self, way, mark)
        exchange.plan_rounds()
        return exchange


include "board_exchange.pxi"
include "board_movement.pxi"
