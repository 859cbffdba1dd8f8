# cython: cdivision=True, boundscheck=False, wraparound=False
"""The different numbers of a vector in the order they first come, by a hash table.

Both zeros are one number, and so are all NaNs. The table has an open slot for every number it holds.
"""

cimport numpy as cnp
from libc.stdint cimport int32_t, int64_t, uint8_t, uint16_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc, realloc

from arrays cimport check, check_vector, type_name

cnp.import_array()

cdef enum:
    # Slots of the first table, as a power of two.
    FIRST_BITS = 10

cdef struct Slot:
    uint64_t key
    # One more than the number of the element, counted as they first come; 0 for an open slot.
    int64_t number

cdef struct Table:
    Slot *slots
    int bits
    int64_t count
    # Where each number first came, with room for `room`.
    int64_t *first
    int64_t room

ctypedef fused pattern:
    uint8_t
    uint16_t
    uint32_t
    uint64_t

cdef struct Float:
    # The bits of a type that tell the size, and those of infinity; 0 for whole numbers.
    uint64_t size
    uint64_t infinity


cdef inline uint64_t key_of(uint64_t bits, Float kind) noexcept nogil:
    """Return the bits, of a zero without its sign and of any NaN the same."""
    cdef uint64_t size = bits & kind.size
    if kind.size == 0:
        return bits
    if size > kind.infinity:
        return kind.size
    return bits if size else 0


cdef inline Slot *slot_of(const Table *table, uint64_t key) noexcept nogil:
    """Return the slot that holds a key, or the open one where it belongs."""
    cdef uint64_t last = ((<uint64_t> 1) << table.bits) - 1
    cdef uint64_t place = (key * <uint64_t> 0x9E3779B97F4A7C15) >> (64 - table.bits)
    while table.slots[place].number and table.slots[place].key != key:
        place = (place + 1) & last
    return table.slots + place


cdef int grow(Table *table) noexcept nogil:
    """Double the table; return -1 without memory."""
    cdef Slot *before = table.slots
    cdef Slot *to
    cdef int64_t *first
    cdef uint64_t i
    table.slots = <Slot *> calloc((<uint64_t> 1) << (table.bits + 1), sizeof(Slot))
    if table.slots == NULL:
        table.slots = before
        return -1
    table.bits += 1
    for i in range((<uint64_t> 1) << (table.bits - 1)):
        if before[i].number:
            to = slot_of(table, before[i].key)
            to[0] = before[i]
    free(before)
    first = <int64_t *> realloc(table.first, 2 * table.room * sizeof(int64_t))
    if first == NULL:
        return -1
    table.first, table.room = first, 2 * table.room
    return 0


cdef int number_all(
    Table *table, const pattern *x, Py_ssize_t size, Float kind, int32_t *places
) noexcept nogil:
    """Write which different number each element is; return -1 without memory."""
    cdef Py_ssize_t i
    cdef uint64_t key
    cdef Slot *slot
    for i in range(size):
        key = key_of(x[i], kind)
        slot = slot_of(table, key)
        if slot.number == 0:
            if table.count == table.room:
                if grow(table) < 0:
                    return -1
                slot = slot_of(table, key)
            table.first[table.count] = i
            table.count += 1
            slot.key, slot.number = key, table.count
        places[i] = <int32_t> (slot.number - 1)
    return 0


FLOATS = {
    "float64": (0x7fffffffffffffff, 0x7ff0000000000000), "float32": (0x7fffffff, 0x7f800000),
    "float16": (0x7fff, 0x7c00), "bfloat16": (0x7fff, 0x7f80),
}


def unique(cnp.ndarray x not None, cnp.ndarray places not None):
    """Return where each different element of x first comes, and write which one each element is.

    Args:
        x: a contiguous vector of real numbers or bools, shorter than 2^31.
        places: int32, of its length.

    Returns:
        A vector of int64 in rising order.

    Raises:
        TypeError: for another type.
        ValueError: for another length or layout.

    >>> places = np.empty(3, np.int32)
    >>> unique(np.array([5, 2, 5]), places), places
    (array([0, 1]), array([0, 1, 0], dtype=int32))
    """
    cdef Table table
    cdef Float kind
    cdef int state
    cdef str name = type_name(x)
    cdef Py_ssize_t size = cnp.PyArray_SIZE(x), item = cnp.PyArray_ITEMSIZE(x), i
    cdef const void *data = cnp.PyArray_DATA(x)
    cdef int32_t *to = <int32_t *> cnp.PyArray_DATA(places)
    cdef cnp.ndarray first
    if name not in FLOATS and not cnp.PyArray_ISINTEGER(x) and not cnp.PyArray_ISBOOL(x):
        raise TypeError(f"For 'unique', 'x' must hold real numbers or bools, but got {name}.")
    check("unique", "x", x, cnp.PyArray_TYPE(x), 1, False)
    check_vector("unique", "places", places, cnp.NPY_INT32, size, True)
    if size >= 1 << 31:
        raise ValueError(f"For 'unique', 'x' must be shorter than 2^31, but got {size} elements.")
    kind.size, kind.infinity = FLOATS.get(name, (0, 0))
    table.bits, table.count, table.room = FIRST_BITS, 0, 1 << (FIRST_BITS - 1)
    table.slots = <Slot *> calloc(1 << FIRST_BITS, sizeof(Slot))
    table.first = <int64_t *> malloc(table.room * sizeof(int64_t))
    state = -1
    if table.slots != NULL and table.first != NULL:
        with nogil:
            if item == 1:
                state = number_all(&table, <const uint8_t *> data, size, kind, to)
            elif item == 2:
                state = number_all(&table, <const uint16_t *> data, size, kind, to)
            elif item == 4:
                state = number_all(&table, <const uint32_t *> data, size, kind, to)
            else:
                state = number_all(&table, <const uint64_t *> data, size, kind, to)
    first = cnp.PyArray_SimpleNew(1, [table.count], cnp.NPY_INT64)
    for i in range(table.count):
        (<int64_t *> cnp.PyArray_DATA(first))[i] = table.first[i]
    free(table.slots)
    free(table.first)
    if state < 0:
        raise MemoryError()
    return first
