# NumPy arrays as oneDNN sees them: checked, with strides counted in elements.

cdef enum:
    MAX_RANK = 12  # oneDNN's limit

ctypedef struct Operand:
    int rank
    dnnl_data_type_t dtype
    int64_t dims[MAX_RANK]
    int64_t strides[MAX_RANK]
    void *data


cdef int read_operand(
    Operand *operand, object array, str function, str name, bint written
) except -1:
    """Fill `operand` from a NumPy array, or raise an error that names the argument."""
    cdef cnp.ndarray checked
    cdef int i
    if not cnp.PyArray_Check(array):
        raise TypeError(
            f"For '{function}', '{name}' must be a numpy array, but got {type(array).__name__}."
        )
    checked = array
    if cnp.PyArray_TYPE(checked) == cnp.NPY_FLOAT32 and cnp.PyArray_ISNOTSWAPPED(checked):
        operand.dtype = dnnl_f32
    elif cnp.PyArray_TYPE(checked) == _bfloat16:
        operand.dtype = dnnl_bf16
    elif cnp.PyArray_TYPE(checked) == cnp.NPY_FLOAT16 and cnp.PyArray_ISNOTSWAPPED(checked):
        operand.dtype = dnnl_f16
    else:
        raise TypeError(
            f"For '{function}', the dtype of '{name}' must be float32 or float16 in native byte order or "
            f"bfloat16, "
            f"but got {array.dtype.str if array.dtype.byteorder == '>' else array.dtype}."
        )
    operand.rank = cnp.PyArray_NDIM(checked)
    if operand.rank > MAX_RANK:
        raise ValueError(
            f"For '{function}', the rank of '{name}' must be at most {<int> MAX_RANK}, "
            f"but got {operand.rank}."
        )
    if written and not cnp.PyArray_ISWRITEABLE(checked):
        raise ValueError(f"For '{function}', '{name}' must be writeable, but it is read-only.")
    operand.data = cnp.PyArray_DATA(checked)
    for i in range(operand.rank):
        operand.dims[i] = cnp.PyArray_DIM(checked, i)
    if is_empty(operand):
        make_dense(operand, row_major)
        return 0
    if not read_strides(operand, checked):
        remedy = "a contiguous array" if written else f"'numpy.ascontiguousarray({name})'"
        raise ValueError(
            f"For '{function}', the elements of '{name}' must be aligned and must not overlap, "
            f"and its strides must be positive multiples of its item size {checked.itemsize}, "
            f"but got strides {array.strides} for shape {array.shape}; pass {remedy} instead."
        )
    return 0


cdef bint read_strides(Operand *operand, cnp.ndarray array):
    """Fill the strides, and say whether oneDNN can describe them."""
    cdef int64_t itemsize = cnp.PyArray_ITEMSIZE(array)
    cdef int64_t stride, end
    cdef int order[MAX_RANK]
    cdef int count = 0
    cdef int i, j
    if not cnp.PyArray_ISALIGNED(array):
        return False
    for i in range(operand.rank):
        if operand.dims[i] == 1:
            operand.strides[i] = 1
            continue
        stride = cnp.PyArray_STRIDE(array, i)
        if stride <= 0 or stride % itemsize:
            return False
        operand.strides[i] = stride // itemsize
        j = count
        while j > 0 and operand.strides[order[j - 1]] > operand.strides[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
        count += 1
    end = 1
    for j in range(count):
        i = order[j]
        if operand.strides[i] < end:
            return False
        end = operand.strides[i] * operand.dims[i]
    return True


cdef int check_types(
    const Operand *first, const Operand *other, bint is_result, str function, str first_name,
    str other_name,
) except -1:
    """Check that an array has the dtype of the first one; a result of a 16-bit type may be float32."""
    if first.dtype == other.dtype or (is_result and other.dtype == dnnl_f32):
        return 0
    wanted, found = type_name(first), type_name(other)
    raise TypeError(
        f"For '{function}', the dtype of '{other_name}' must be {wanted} like that of "
        f"'{first_name}', but got {found}; cast one of them."
    )


cdef str type_name(const Operand *operand):
    if operand.dtype == dnnl_f32:
        return "float32"
    return "float16" if operand.dtype == dnnl_f16 else "bfloat16"


cdef bint is_empty(const Operand *operand) noexcept nogil:
    cdef int i
    for i in range(operand.rank):
        if operand.dims[i] == 0:
            return True
    return False


cdef tuple shape_of(const Operand *operand):
    return tuple([operand.dims[i] for i in range(operand.rank)])


# An order of dimensions: the dimension at `place`, counted from the one closest in memory.
ctypedef int (*Order)(int rank, int place) noexcept nogil


cdef int row_major(int rank, int place) noexcept nogil:
    return rank - 1 - place


cdef int column_major(int rank, int place) noexcept nogil:
    """The last two dimensions change places: a transposed matrix, or a batch of them."""
    return rank - 2 + place if place < 2 else rank - 1 - place


cdef int channels_last(int rank, int place) noexcept nogil:
    if place == 0:
        return 1
    return 0 if place == rank - 1 else rank - place


cdef void settle(Operand *operand, Order order) noexcept nogil:
    """Set the strides of dimensions of size 1 to those of a dense array in `order`.

    They are never used, NumPy leaves any value there, and oneDNN's fast paths compare them.
    """
    cdef int64_t expected = 1
    cdef int place, i
    for place in range(operand.rank):
        i = order(operand.rank, place)
        if operand.dims[i] == 1:
            operand.strides[i] = expected
        else:
            expected = operand.strides[i] * operand.dims[i]


cdef void make_dense(Operand *operand, Order order) noexcept nogil:
    """Give the operand the strides of a dense array in `order`."""
    cdef int64_t expected = 1
    cdef int place, i
    for place in range(operand.rank):
        i = order(operand.rank, place)
        operand.strides[i] = expected
        expected *= max(operand.dims[i], 1)


@cython.final
@cython.internal
cdef class Descriptor:
    """A oneDNN memory descriptor, destroyed with this object."""

    cdef dnnl_memory_desc_t handle

    def __dealloc__(self):
        if self.handle != NULL:
            dnnl_memory_desc_destroy(self.handle)


cdef Descriptor describe(const Operand *operand, str context):
    """Return the descriptor of the operand's memory as it is."""
    cdef Descriptor descriptor = Descriptor()
    check(dnnl_memory_desc_create_with_strides(
        &descriptor.handle, operand.rank, operand.dims, operand.dtype, operand.strides
    ), "describe an array", context)
    return descriptor


cdef Descriptor describe_dense(const Operand *operand, Order order, str context):
    """Return the descriptor of a dense array of the operand's shape."""
    cdef Operand dense = operand[0]
    make_dense(&dense, order)
    return describe(&dense, context)


cdef Descriptor describe_any(const Operand *operand, str context):
    """Return the descriptor that leaves the layout to oneDNN."""
    cdef Descriptor descriptor = Descriptor()
    check(dnnl_memory_desc_create_with_tag(
        &descriptor.handle, operand.rank, operand.dims, operand.dtype, dnnl_format_tag_any
    ), "describe an array", context)
    return descriptor
