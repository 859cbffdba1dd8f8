# The tasks of one call: their arguments checked, cut into blocks that threads share.

cdef extern from "subnormals.h" nogil:
    unsigned int flush_subnormals "dm_flush_subnormals"() noexcept
    void flush_no_more "dm_flush_no_more"(unsigned int before) noexcept

cdef enum:
    # Elements of a gradient by rows that are spread out at a time: they stay in the L1 cache.
    SPREAD = 2048

cdef struct Task:
    void *arrays[ARRAYS]
    double numbers[NUMBERS]
    uint16_t *copy           # where the new weights go in 16 bits, or NULL
    bint half                # they are float16, not bfloat16
    double factor            # the gradient is the array's times this, rounded to its type
    const int64_t *rows      # the rows the gradient has, increasing; NULL: all
    Py_ssize_t count         # number of those rows
    Py_ssize_t columns
    bint whole               # the other rows have a gradient of zeros, and are not left alone
    Py_ssize_t size          # elements to work through
    Py_ssize_t step          # elements per block
    Py_ssize_t first         # number of its first block

# Rule, the fewest states it takes, and its arrays.
_RULES = {
    "sgd": (Rule.SGD, 0, ("p", "g", "accum")),
    "adam": (Rule.ADAM, 2, ("p", "g", "m", "v")),
    "amsgrad": (Rule.AMSGRAD, 3, ("p", "g", "m", "v", "largest")),
    "adam_weight_decay": (Rule.ADAM_WEIGHT_DECAY, 2, ("p", "g", "m", "v")),
    "adagrad": (Rule.ADAGRAD, 1, ("p", "g", "h")),
    "proximal_adagrad": (Rule.PROXIMAL_ADAGRAD, 1, ("p", "g", "h")),
    "rmsprop": (Rule.RMSPROP, 2, ("p", "g", "s", "v")),
    "centered_rmsprop": (Rule.CENTERED_RMSPROP, 3, ("p", "g", "s", "v", "mean")),
    "ftrl": (Rule.FTRL, 2, ("p", "g", "n", "z")),
    "lamb": (Rule.LAMB_MOMENTS, 2, ("p", "g", "m", "v")),
}


# ---- one block
cdef inline floating *at(
    const Task *task, int array, Py_ssize_t start, floating *kind
) noexcept nogil:
    """Return where an array continues, NULL if the task has none."""
    if task.arrays[array] == NULL:
        return NULL
    return <floating *> task.arrays[array] + start


cdef inline void write_copy(
    const Task *task, const floating *p, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    """Write the weights' copy in 16 bits, if there is to be one."""
    cdef Py_ssize_t i
    cdef float number
    if task.copy == NULL:
        return
    if not task.half:
        for i in range(size):
            task.copy[start + i] = bf16_store(<float> p[i])
    elif floating is float:
        narrow_float16(p, task.copy + start, size)
    else:
        for i in range(size):
            number = <float> p[i]
            narrow_float16(&number, task.copy + start + i, 1)


cdef inline void run_piece(
    int rule, const Task *task, const floating *g, floating *kind, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    """Run the rule on one piece of memory, and write the weights' copy while they are in cache."""
    cdef floating *p = at(task, 0, start, kind)
    run_rule(
        rule, p, g, at(task, 2, start, kind), at(task, 3, start, kind),
        at(task, 4, start, kind), task.numbers, size,
    )
    write_copy(task, p, start, size)


cdef inline Py_ssize_t first_row_from(const Task *task, Py_ssize_t row) noexcept nogil:
    """Return the place of the first row of the gradient that is not before `row`."""
    cdef Py_ssize_t low = 0, high = task.count, middle
    while low < high:
        middle = (low + high) // 2
        if task.rows[middle] < row:
            low = middle + 1
        else:
            high = middle
    return low


cdef inline void spread_rows(
    const Task *task, floating *g, Py_ssize_t start, Py_ssize_t size
) noexcept nogil:
    """Write elements [start, start + size) of the dense gradient."""
    cdef const floating *rows = <const floating *> task.arrays[1]
    cdef Py_ssize_t place = first_row_from(task, start // task.columns)
    cdef Py_ssize_t begin, end, from_begin
    memset(g, 0, size * sizeof(floating))
    while place < task.count:
        begin = task.rows[place] * task.columns - start
        if begin >= size:
            break
        end = min(begin + task.columns, size)
        from_begin = place * task.columns - min(begin, 0)
        begin = max(begin, 0)
        memcpy(g + begin, rows + from_begin, (end - begin) * sizeof(floating))
        place += 1


cdef inline void write_product(
    const floating *g, floating factor, floating *out, Py_ssize_t size
) noexcept nogil:
    """Write g times a factor: rounded, as if that were an array of its own."""
    cdef Py_ssize_t i
    for i in range(size):
        out[i] = g[i] * factor


cdef void run_block(
    int rule, const Task *task, Py_ssize_t block, floating *kind
) noexcept nogil:
    """Run the rule on one block; `kind` only gives the type."""
    cdef floating spread[SPREAD]
    cdef const floating *g = <const floating *> task.arrays[1]
    cdef Py_ssize_t start = (block - task.first) * task.step
    cdef Py_ssize_t end = min(start + task.step, task.size)
    cdef Py_ssize_t place, size
    if task.rows == NULL and task.factor == 1:
        run_piece(rule, task, g + start, kind, start, end - start)
    elif task.rows == NULL:
        while start < end:
            size = min(<Py_ssize_t> SPREAD, end - start)
            write_product(g + start, <floating> task.factor, spread, size)
            run_piece(rule, task, spread, kind, start, size)
            start += size
    elif task.whole:
        while start < end:
            size = min(<Py_ssize_t> SPREAD, end - start)
            spread_rows(task, spread, start, size)
            run_piece(rule, task, spread, kind, start, size)
            start += size
    else:
        for place in range(start // task.columns, end // task.columns):
            run_piece(
                rule, task, g + place * task.columns, kind, task.rows[place] * task.columns,
                task.columns,
            )


# ---- all blocks
cdef class Tasks:
    """The tasks of one call, with the task that each block belongs to."""

    cdef Task *tasks
    cdef int32_t *owner
    cdef Py_ssize_t count, blocks, elements
    cdef int number

    def __cinit__(self, Py_ssize_t count):
        self.tasks = <Task *> malloc(max(count, 1) * sizeof(Task))
        if self.tasks == NULL:
            raise MemoryError()
        memset(self.tasks, 0, max(count, 1) * sizeof(Task))

    def __dealloc__(self):
        free(self.tasks)
        free(self.owner)

    cdef int add(
        self, str rule, int least, tuple names, tuple arrays, tuple numbers, cnp.ndarray copy,
        object rows, double factor
    ) except -1:
        """Check a parameter's arrays and take their addresses."""
        cdef Task *task = self.tasks + self.count
        cdef cnp.ndarray p = <cnp.ndarray?> arrays[0]
        cdef cnp.ndarray array
        cdef int i
        cdef int number = real_type(rule, "p", p)
        if self.count == 0:
            self.number = number
        if not 2 + least <= len(arrays) <= len(names):
            raise ValueError(
                f"For '{rule}', the arrays of a parameter must be {names}, but got {len(arrays)}."
            )
        if len(numbers) > NUMBERS:
            raise ValueError(
                f"For '{rule}', 'numbers' must be {NUMBERS} at most, but got {len(numbers)}."
            )
        check(rule, "p", p, self.number, -1, True)
        task.arrays[0] = cnp.PyArray_DATA(p)
        task.size = cnp.PyArray_SIZE(p)
        for i in range(2, len(arrays)):
            array = <cnp.ndarray?> arrays[i]
            check(rule, names[i], array, self.number, -1, True)
            check_same_shape(rule, names[i], array, "p", p)
            task.arrays[i] = cnp.PyArray_DATA(array)
        for i in range(len(numbers)):
            task.numbers[i] = numbers[i]
        array = <cnp.ndarray?> arrays[1]
        check(rule, "g", array, self.number, -1, False)
        task.arrays[1] = cnp.PyArray_DATA(array)
        task.step = BLOCK
        task.factor = factor
        if rows is not None:
            if factor != 1:
                raise ValueError(
                    f"For '{rule}', 'factors' must be 1 for a gradient by rows, but got {factor}."
                )
            self.add_rows(rule, task, p, array, rows)
        else:
            check_same_shape(rule, "g", array, "p", p)
        if copy is not None:
            check_memory(rule, "copy", copy, True)
            check_same_shape(rule, "copy", copy, "p", p)
            if cnp.PyArray_ITEMSIZE(copy) != 2 or not cnp.PyArray_IS_C_CONTIGUOUS(copy):
                raise TypeError(
                    f"For '{rule}', 'copy' must be contiguous bfloat16 or float16, but got {type_name(copy)}."
                )
            task.half = cnp.PyArray_TYPE(copy) == cnp.NPY_FLOAT16
            task.copy = <uint16_t *> cnp.PyArray_DATA(copy)
        task.first = self.blocks
        self.blocks += block_count(task.size, task.step)
        self.elements += task.size
        self.count += 1
        return 0

    cdef int add_rows(
        self, str rule, Task *task, cnp.ndarray p, cnp.ndarray g, tuple rows
    ) except -1:
        """Check the rows of a gradient."""
        cdef cnp.ndarray indices = <cnp.ndarray?> rows[0]
        cdef Py_ssize_t i
        check(rule, "rows", indices, cnp.NPY_INT64, 1, False)
        task.rows = <const int64_t *> cnp.PyArray_DATA(indices)
        task.count = cnp.PyArray_DIM(indices, 0)
        task.whole = rows[1]
        if cnp.PyArray_NDIM(p) < 1:
            raise ValueError(f"For '{rule}', 'p' must have rows, but got a scalar.")
        task.columns = cnp.PyArray_SIZE(p) // max(cnp.PyArray_DIM(p, 0), 1)
        if cnp.PyArray_SIZE(g) != task.count * task.columns:
            raise ValueError(
                f"For '{rule}', 'g' must have {task.count} rows of {task.columns}, but got shape "
                f"{(<object> g).shape}."
            )
        for i in range(task.count):
            if not (task.rows[i - 1] if i else -1) < task.rows[i] < cnp.PyArray_DIM(p, 0):
                raise IndexError(
                    f"For '{rule}', 'rows' must increase and lie in [0, {cnp.PyArray_DIM(p, 0)}), but "
                    f"got {task.rows[i]} at position {i}."
                )
        if not task.whole:
            task.size = task.count * task.columns
            task.step = max(rows_per_block(task.columns, 1) * task.columns, 1)
        return 0

    cdef int number_blocks(self) except -1:
        """Note the task of every block."""
        cdef Py_ssize_t task, block, end
        self.owner = <int32_t *> malloc(max(self.blocks, 1) * sizeof(int32_t))
        if self.owner == NULL:
            raise MemoryError()
        for task in range(self.count):
            end = self.tasks[task + 1].first if task + 1 < self.count else self.blocks
            for block in range(self.tasks[task].first, end):
                self.owner[block] = <int32_t> task
        return 0

    cdef void run(self, int rule, floating *kind) noexcept nogil:
        """Run all blocks."""
        cdef Py_ssize_t block
        cdef unsigned int before
        for block in prange(
            self.blocks, schedule="static", use_threads_if=self.elements >= PARALLEL_FROM
        ):
            before = flush_subnormals()
            run_block(rule, self.tasks + self.owner[block], block, kind)
            flush_no_more(before)


cdef Tasks tasks_of(
    str owner, str rule, list arrays, list numbers, list copies, list rows, list factors
):
    """Check all arguments of a call."""
    cdef Tasks tasks
    cdef Py_ssize_t i, count = len(arrays)
    _, least, names = _RULES[rule]
    for argument, given in (
        ("numbers", numbers), ("copies", copies), ("rows", rows), ("factors", factors)
    ):
        if given is not None and len(given) != count:
            raise ValueError(
                f"For '{owner}', '{argument}' must have {count} entries as 'arrays', but got {len(given)}."
            )
    tasks = Tasks(count)
    for i in range(count):
        tasks.add(
            owner, least, names, arrays[i], numbers[i], None if copies is None else copies[i],
            None if rows is None else rows[i], 1.0 if factors is None else factors[i],
        )
    tasks.number_blocks()
    return tasks
