# A cached primitive with everything that a call needs, so that a call only sets pointers.

cdef enum:
    MAX_STEPS = 4  # Reorders on one side of a primitive.
    MAX_ARGS = 6
    MAX_BOUND = 5
    MAX_PLACED = 12

ctypedef struct Step:
    dnnl_primitive_t primitive
    int count
    dnnl_exec_arg_t args[MAX_ARGS]

cdef enum Access:
    READ
    WRITTEN
    READ_AND_KEPT  # The reordered copy has memory of its own and outlives the call.
    WRITTEN_AND_KEPT


@cython.final
@cython.internal
cdef class PrimitiveDescriptor:
    """A oneDNN primitive descriptor, destroyed with this object."""

    cdef dnnl_primitive_desc_t handle

    def __dealloc__(self):
        if self.handle != NULL:
            dnnl_primitive_desc_destroy(self.handle)

    cdef const_dnnl_memory_desc_t argument(self, int arg) noexcept:
        """Return the descriptor that the primitive wants for one of its arguments."""
        return dnnl_primitive_desc_query_md(self.handle, dnnl_query_exec_arg_md, arg)

    cdef str implementation(self):
        """Return oneDNN's name for the chosen code, e.g. "brg:avx512_core"."""
        cdef const char *name = NULL
        check(dnnl_primitive_desc_query(self.handle, dnnl_query_impl_info_str, 0, &name),
              "name the implementation", "For 'dist_ms._ext.dnnl'")
        return name.decode()

    cdef bint is_reference(self) except -1:
        """Say whether oneDNN chose its plain loops, for want of anything better."""
        return "ref" in self.implementation()


@cython.final
@cython.internal
cdef class Entry:
    """A primitive, its memory objects and the reorders around it.

    Made once: `bind` for each array in the order in which calls pass pointers, then `finish`.
    """

    cdef str context
    cdef bint is_unfit  # Not to be called: float32 is the better way.
    cdef bint has_idle_lanes  # Subnormal operands count as zeros.
    cdef Py_ssize_t workspace_bytes
    cdef unsigned long long used
    cdef PrimitiveDescriptor descriptor
    cdef Step before[MAX_STEPS]
    cdef Step main
    cdef Step after[MAX_STEPS]
    cdef int before_count, after_count
    cdef dnnl_memory_t bound[MAX_BOUND]  # Memory objects of the caller's arrays.
    cdef int bound_count
    cdef dnnl_memory_t placed[MAX_PLACED]  # Memory objects inside the arena.
    cdef size_t offsets[MAX_PLACED]
    cdef int placed_count
    cdef size_t arena_bytes
    cdef dnnl_memory_t kept[MAX_BOUND]  # Memory objects with memory of their own.
    cdef int kept_count

    def __cinit__(self, PrimitiveDescriptor descriptor, str context):
        self.descriptor = descriptor
        self.context = context
        check(dnnl_primitive_create(&self.main.primitive, descriptor.handle),
              "create the primitive", context)

    def __dealloc__(self):
        cdef int i
        for i in range(self.before_count):
            dnnl_primitive_destroy(self.before[i].primitive)
        for i in range(self.after_count):
            dnnl_primitive_destroy(self.after[i].primitive)
        if self.main.primitive != NULL:
            dnnl_primitive_destroy(self.main.primitive)
        for i in range(self.bound_count):
            dnnl_memory_destroy(self.bound[i])
        for i in range(self.placed_count):
            dnnl_memory_destroy(self.placed[i])
        for i in range(self.kept_count):
            dnnl_memory_destroy(self.kept[i])

    cdef int bind(self, int arg, Descriptor array, Access access) except -1:
        """Take the caller's array as argument `arg`, reordered if the primitive wants it so.

        A copy of the weights belongs to this entry (the KEPT kinds), so the day weights carry a
        version, the step that fills it is the one to skip.
        """
        cdef const_dnnl_memory_desc_t wanted = self.descriptor.argument(arg)
        cdef dnnl_memory_t outer = self.add_bound(array.handle)
        cdef dnnl_memory_t inner
        cdef bint written = access == WRITTEN or access == WRITTEN_AND_KEPT
        if dnnl_memory_desc_equal(wanted, array.handle):
            add_argument(&self.main, arg, outer)
            return 0
        if access == READ or access == WRITTEN:
            inner = self.add_placed(wanted)
        else:
            inner = self.add_kept(wanted)
        add_argument(&self.main, arg, inner)
        if written:
            self.add_reorder(&self.after[self.after_count], wanted, inner, array.handle, outer)
            self.after_count += 1
        else:
            self.add_reorder(&self.before[self.before_count], array.handle, outer, wanted, inner)
            self.before_count += 1
        return 0

    cdef int bind_workspace(self) except -1:
        """Take the primitive's workspace as the next pointer."""
        cdef const_dnnl_memory_desc_t wanted = self.descriptor.argument(DNNL_ARG_WORKSPACE)
        self.workspace_bytes = dnnl_memory_desc_get_size(wanted)
        add_argument(&self.main, DNNL_ARG_WORKSPACE, self.add_bound(wanted))
        return 0

    cdef int finish(self) except -1:
        """Place the primitive's scratchpad."""
        self.add_scratchpad(&self.main, self.descriptor)
        return 0

    cdef dnnl_memory_t add_bound(self, const_dnnl_memory_desc_t wanted) except NULL:
        """Return a new memory object whose pointer each call sets."""
        check(dnnl_memory_create(
            &self.bound[self.bound_count], wanted, _engine, DNNL_MEMORY_NONE
        ), "create a memory object", self.context)
        self.bound_count += 1
        return self.bound[self.bound_count - 1]

    cdef dnnl_memory_t add_placed(self, const_dnnl_memory_desc_t wanted) except NULL:
        """Return a new memory object inside the arena."""
        cdef size_t size = dnnl_memory_desc_get_size(wanted)
        check(dnnl_memory_create(
            &self.placed[self.placed_count], wanted, _engine, DNNL_MEMORY_NONE
        ), "create a memory object", self.context)
        self.offsets[self.placed_count] = self.arena_bytes
        self.arena_bytes += (size + ARENA_ALIGNMENT - 1) // ARENA_ALIGNMENT * ARENA_ALIGNMENT
        self.placed_count += 1
        return self.placed[self.placed_count - 1]

    cdef dnnl_memory_t add_kept(self, const_dnnl_memory_desc_t wanted) except NULL:
        """Return a new memory object with memory of its own."""
        check(dnnl_memory_create(
            &self.kept[self.kept_count], wanted, _engine, DNNL_MEMORY_ALLOCATE
        ), "allocate memory for reordered weights", self.context)
        self.kept_count += 1
        return self.kept[self.kept_count - 1]

    cdef int add_reorder(
        self, Step *step,
        const_dnnl_memory_desc_t source, dnnl_memory_t source_memory,
        const_dnnl_memory_desc_t target, dnnl_memory_t target_memory,
    ) except -1:
        """Fill an empty step with the copy from one layout to another."""
        cdef PrimitiveDescriptor descriptor = PrimitiveDescriptor()
        check(dnnl_reorder_primitive_desc_create(
            &descriptor.handle, source, _engine, target, _engine, _attributes
        ), "describe a reorder", self.context)
        check(dnnl_primitive_create(&step.primitive, descriptor.handle),
              "create a reorder", self.context)
        add_argument(step, DNNL_ARG_FROM, source_memory)
        add_argument(step, DNNL_ARG_TO, target_memory)
        return self.add_scratchpad(step, descriptor)

    cdef int add_scratchpad(self, Step *step, PrimitiveDescriptor descriptor) except -1:
        """Place a step's scratchpad, if it wants one."""
        cdef const_dnnl_memory_desc_t wanted = descriptor.argument(DNNL_ARG_SCRATCHPAD)
        if wanted != NULL and dnnl_memory_desc_get_size(wanted) > 0:
            add_argument(step, DNNL_ARG_SCRATCHPAD, self.add_placed(wanted))
        return 0

    cdef int call(self, void **pointers) except -1:
        """Execute with the caller's arrays at `pointers`, one for each `bind`."""
        cdef dnnl_status_t status
        with nogil:
            PyThread_acquire_lock(_lock, WAIT_LOCK)
            status = execute(self, pointers)
            PyThread_release_lock(_lock)
        return check(status, "execute", self.context)


cdef void add_argument(Step *step, int arg, dnnl_memory_t memory) noexcept:
    step.args[step.count].arg = arg
    step.args[step.count].memory = memory
    step.count += 1


cdef dnnl_status_t execute(Entry entry, void **pointers) noexcept nogil:
    """Run all steps; the caller holds the lock."""
    cdef dnnl_status_t status = dnnl_success
    cdef int i, threads = openmp.omp_get_max_threads()
    cdef bint as_zeros = entry.has_idle_lanes and not operands_are_zeros()
    if not reserve_arena(entry.arena_bytes):
        return dnnl_out_of_memory
    if as_zeros:
        set_operands_zeros(True, threads)
    for i in range(entry.bound_count):
        dnnl_memory_set_data_handle(entry.bound[i], pointers[i])
    for i in range(entry.placed_count):
        dnnl_memory_set_data_handle(entry.placed[i], _arena + entry.offsets[i])
    for i in range(entry.before_count):
        if status == dnnl_success:
            status = execute_step(&entry.before[i])
    if status == dnnl_success:
        status = execute_step(&entry.main)
    for i in range(entry.after_count):
        if status == dnnl_success:
            status = execute_step(&entry.after[i])
    dnnl_stream_wait(_stream)
    if as_zeros:
        set_operands_zeros(False, threads)
    return status


cdef inline dnnl_status_t execute_step(const Step *step) noexcept nogil:
    return dnnl_primitive_execute(step.primitive, _stream, step.count, step.args)
