# Matrix products.

ctypedef struct Product:
    Operand a
    Operand b
    Operand out
    Operand bias


def matmul(
    a: np.ndarray, b: np.ndarray, out: np.ndarray, bias: np.ndarray | None = None
) -> None:
    """Compute ``out = a @ b + bias``.

    Args:
        a: float32, float16 or bfloat16 array (..., M, K) of any layout without overlap, e.g. a transposed view.
        b: Array (..., K, N) of the same dtype, likewise. Leading dimensions of `a` and `b` broadcast
            as in NumPy.
        out: Array (..., M, N) of that dtype or float32, likewise; written. It must not share memory with the
            other arrays.
        bias: Array (N,) of that dtype or float32, added to every row, or None.

    Raises:
        TypeError: An argument is no array of these dtypes.
        ValueError: Shapes do not agree, or strides are negative, zero or overlapping.
        RuntimeError: oneDNN refuses the operation.

    >>> import numpy as np
    >>> a = np.array([[1, 2], [3, 4]], np.float32)
    >>> out = np.empty((2, 2), np.float32)
    >>> matmul(a, a.T, out, np.array([0, 10], np.float32))
    >>> out
    array([[ 5., 21.],
           [11., 35.]], dtype=float32)
    """
    cdef Product product
    cdef Key key
    cdef void *pointers[4]
    cdef Entry entry
    cdef bytes packed
    cdef int last
    memset(&product.bias, 0, sizeof(Operand))
    read_operand(&product.a, a, "matmul", "a", False)
    read_operand(&product.b, b, "matmul", "b", False)
    read_operand(&product.out, out, "matmul", "out", True)
    if bias is not None:
        read_operand(&product.bias, bias, "matmul", "bias", False)
    check_types(&product.a, &product.b, False, "matmul", "a", "b")
    check_types(&product.a, &product.out, True, "matmul", "a", "out")
    if bias is not None:
        check_types(&product.a, &product.bias, True, "matmul", "a", "bias")
    check_product(&product, bias is not None)
    if is_empty(&product.out):
        return
    if is_empty(&product.a):
        out[...] = 0 if bias is None else bias
        return
    if is_emulated(&product.a):
        matmul_widened(a, b, out, bias)
        return
    last = product.out.rank - 1
    if bias is None and not is_unit(&product.out, last) and is_unit(&product.out, last - 1):
        transpose(&product)  # oneDNN is fast only where the rows of the result are contiguous.
    fold(&product)
    start_key(&key, MATMUL)
    add_operand(&key, &product.a)
    add_operand(&key, &product.b)
    add_operand(&key, &product.out)
    add_operand(&key, NULL if bias is None else &product.bias)
    packed = key_bytes(&key)
    entry = find_entry(packed)
    if entry is None:
        entry = make_matmul(&product, bias is not None)
        entry.is_unfit = is_narrow(&product.a) and entry.descriptor.is_reference()
        keep_entry(packed, entry)
    if entry.is_unfit:
        matmul_widened(a, b, out, bias)
        return
    pointers[0] = product.a.data
    pointers[1] = product.b.data
    pointers[2] = product.out.data
    pointers[3] = product.bias.data
    entry.call(pointers)


cdef int matmul_widened(object a, object b, object out, object bias) except -1:
    """Compute the product in float32."""
    wide = wide_like(out)
    matmul(widened(a), widened(b), wide, widened(bias))
    round_into(out, wide)
    return 0


cdef int check_product(const Product *product, bint with_bias) except -1:
    """Check that the shapes of all arrays agree."""
    cdef const Operand *a = &product.a
    cdef const Operand *b = &product.b
    cdef const Operand *out = &product.out
    cdef Operand wanted
    cdef int64_t of_a, of_b
    cdef bint equal = True
    cdef int i, rank = max(a.rank, b.rank)
    check_rank(a, 2, MAX_RANK, "matmul", "a")
    check_rank(b, 2, MAX_RANK, "matmul", "b")
    check_rank(out, rank, rank, "matmul", "out")
    if a.dims[a.rank - 1] != b.dims[b.rank - 2]:
        raise ValueError(
            f"For 'matmul', the last size of 'a' must equal the last but one of 'b', but got "
            f"shapes {shape_of(a)} and {shape_of(b)}."
        )
    wanted.rank = rank
    for i in range(rank - 2):
        of_a = size_or_one(a, i + a.rank - rank)
        of_b = size_or_one(b, i + b.rank - rank)
        if of_a != of_b and of_a != 1 and of_b != 1:
            raise ValueError(
                f"For 'matmul', the leading sizes of 'a' and 'b' must be equal or 1, but got "
                f"shapes {shape_of(a)} and {shape_of(b)}."
            )
        wanted.dims[i] = of_b if of_a == 1 else of_a
    wanted.dims[rank - 2] = a.dims[a.rank - 2]
    wanted.dims[rank - 1] = b.dims[b.rank - 1]
    for i in range(rank):
        equal = equal and wanted.dims[i] == out.dims[i]
    if not equal:
        raise_mismatch("matmul", "the shape of 'out'", shape_of(&wanted), shape_of(out))
    if with_bias:
        check_rank(&product.bias, 1, 1, "matmul", "bias")
        if product.bias.dims[0] != out.dims[rank - 1]:
            raise_mismatch(
                "matmul", "the size of 'bias'", out.dims[rank - 1], product.bias.dims[0]
            )
    return 0


cdef inline bint is_unit(const Operand *operand, int i) noexcept nogil:
    """Say whether neighbours in dimension `i` are neighbours in memory."""
    return operand.dims[i] == 1 or operand.strides[i] == 1


cdef inline int64_t size_or_one(const Operand *operand, int i) noexcept nogil:
    """Return a size, 1 for a dimension to the left of the first."""
    return operand.dims[i] if i >= 0 else 1


cdef void transpose(Product *product) noexcept nogil:
    """Rewrite the product as ``out.T = b.T @ a.T``."""
    cdef Operand *operands[3]
    cdef Operand *operand
    cdef Operand other
    cdef int j, last
    operands[0] = &product.a
    operands[1] = &product.b
    operands[2] = &product.out
    for j in range(3):
        operand = operands[j]
        last = operand.rank - 1
        other = operand[0]
        operand.dims[last] = other.dims[last - 1]
        operand.strides[last] = other.strides[last - 1]
        operand.dims[last - 1] = other.dims[last]
        operand.strides[last - 1] = other.strides[last]
    other = product.a
    product.a = product.b
    product.b = other


cdef void fold(Product *product) noexcept nogil:
    """Rewrite the product with as few leading dimensions as the strides allow.

    Neighbouring leading dimensions become one where memory continues in all three arrays; and
    if `b` has none, those of `a` and `out` become rows of one large product.
    """
    cdef int64_t sizes[MAX_RANK]
    cdef int64_t steps[3][MAX_RANK]  # Strides of a, b and out; 0 where the array broadcasts.
    cdef Operand *operands[3]
    cdef int i, j, source, count = 0
    cdef bint joined, shared = True
    operands[0] = &product.a
    operands[1] = &product.b
    operands[2] = &product.out
    for i in range(product.out.rank - 2):
        if product.out.dims[i] == 1:
            continue
        sizes[count] = product.out.dims[i]
        for j in range(3):
            source = i + operands[j].rank - product.out.rank
            steps[j][count] = 0
            if size_or_one(operands[j], source) != 1:
                steps[j][count] = operands[j].strides[source]
        shared = shared and steps[1][count] == 0
        joined = count > 0
        for j in range(3):
            joined = joined and steps[j][count - 1] == steps[j][count] * sizes[count]
        if not joined:
            count += 1
            continue
        sizes[count - 1] *= sizes[count]
        for j in range(3):
            steps[j][count - 1] = steps[j][count]
    for j in range(3):
        set_batch(operands[j], sizes, steps[j], count)
    if shared and count == 1 and has_even_rows(&product.a) and has_even_rows(&product.out):
        join_rows(&product.a)
        join_rows(&product.out)
        set_batch(&product.b, sizes, steps[1], 0)
        count = 0
    for j in range(3):
        if is_unit(operands[j], count + 1):
            settle(operands[j], row_major)
        else:
            settle(operands[j], column_major)
    set_batch_of_bias(&product.bias, count + 2)


cdef void set_batch(
    Operand *operand, const int64_t *sizes, const int64_t *steps, int count
) noexcept nogil:
    """Replace the leading dimensions by `count` ones with the given sizes and strides."""
    cdef int i
    for i in range(2):
        # To the right or to the left: the order in which nothing is overwritten too early.
        move_dimension(operand, count, i if count <= operand.rank - 2 else 1 - i)
    operand.rank = count + 2
    for i in range(count):
        operand.dims[i] = sizes[i] if steps[i] else 1
        operand.strides[i] = steps[i]


cdef inline void move_dimension(Operand *operand, int count, int i) noexcept nogil:
    """Move dimension `i` of the matrix to its place behind `count` leading dimensions."""
    operand.dims[count + i] = operand.dims[operand.rank - 2 + i]
    operand.strides[count + i] = operand.strides[operand.rank - 2 + i]


cdef inline bint has_even_rows(const Operand *operand) noexcept nogil:
    """Say whether the rows of all matrices of a batch lie at equal distances."""
    return (
        operand.dims[1] == 1
        or operand.strides[0] == operand.strides[1] * operand.dims[1]
    )


cdef void join_rows(Operand *operand) noexcept nogil:
    """Make one matrix out of a batch with even rows."""
    cdef int i
    operand.strides[1] = operand.strides[0] if operand.dims[1] == 1 else operand.strides[1]
    operand.dims[1] *= operand.dims[0]
    operand.rank = 2
    for i in range(2):
        operand.dims[i] = operand.dims[i + 1]
        operand.strides[i] = operand.strides[i + 1]


cdef void set_batch_of_bias(Operand *bias, int rank) noexcept nogil:
    """Turn the shape (N,) into (1, ..., 1, N) of `rank` dimensions."""
    cdef int i
    bias.dims[rank - 1] = bias.dims[0]
    bias.strides[rank - 1] = bias.strides[0]
    for i in range(rank - 1):
        bias.dims[i] = 1
    bias.rank = rank
    settle(bias, row_major)


cdef Entry make_matmul(const Product *product, bint with_bias):
    """Build the primitive and what surrounds it."""
    cdef PrimitiveDescriptor descriptor = PrimitiveDescriptor()
    cdef Descriptor bias = Descriptor()
    cdef Descriptor dense_bias = Descriptor()
    cdef Descriptor a, b, out, wanted_a, wanted_b, wanted_out
    cdef Entry entry
    context = (
        f"For 'matmul', a {shape_of(&product.a)}, b {shape_of(&product.b)}, "
        f"out {shape_of(&product.out)}"
    )
    start_engine()
    a = describe(&product.a, context)
    b = describe(&product.b, context)
    out = describe(&product.out, context)
    wanted_a = a if has_unit_side(&product.a) else describe_dense(&product.a, row_major, context)
    wanted_b = b if has_unit_side(&product.b) else describe_dense(&product.b, row_major, context)
    wanted_out = describe_dense(&product.out, row_major, context)
    if shares_sets(&product.a, 0, product.b.dims[1]):
        wanted_a = describe_padded(&product.a, 0, context)
    if shares_sets(&product.b, 1, product.a.dims[0]):
        wanted_b = describe_padded(&product.b, 1, context)
    if is_unit(&product.out, product.out.rank - 1):
        wanted_out = out
    if with_bias:
        bias = describe(&product.bias, context)
        dense_bias = describe_dense(&product.bias, row_major, context)
    check(dnnl_matmul_primitive_desc_create(
        &descriptor.handle, _engine, wanted_a.handle, wanted_b.handle, dense_bias.handle,
        wanted_out.handle, _attributes
    ), "create the primitive descriptor", context)
    entry = Entry(descriptor, context)
    entry.bind(DNNL_ARG_SRC, a, READ)
    entry.bind(DNNL_ARG_WEIGHTS, b, READ)
    entry.bind(DNNL_ARG_DST, out, WRITTEN)
    if with_bias:
        entry.bind(DNNL_ARG_BIAS, bias, READ)
    entry.finish()
    return entry


cdef bint shares_sets(const Operand *operand, int unit, int64_t others) noexcept nogil:
    """Say whether a padded copy of a matrix pays.

    Without AVX-512 oneDNN multiplies small matrices without packing them. Where rows lie at
    multiples of 2 KiB, all of a column falls into a few sets of the cache, and the product takes
    twice as long. The copy has at most 2**23 numbers: it stays in the arena.

    Args:
        operand: the matrix.
        unit: the dimension which must be contiguous: that of the rows or columns of the result.
        others: how many columns or rows the result has.
    """
    cdef int64_t length = operand.dims[unit]
    if operand.rank != 2 or operand.dtype != dnnl_f32 or not is_unit(operand, unit):
        return False
    if operand.strides[1 - unit] % 512 or operand.dims[1 - unit] < 16:
        return False
    if length * operand.dims[1 - unit] > 1 << 23:
        return False
    if not 32 <= others < (1024 if length <= 512 else 512):
        return False
    return (dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core) != dnnl_cpu_isa_avx512_core


cdef Descriptor describe_padded(const Operand *operand, int unit, str context):
    """Return the descriptor of a copy with a cache line between neighbouring rows (columns)."""
    cdef Operand padded = operand[0]
    padded.strides[1 - unit] = operand.dims[unit] + 16
    return describe(&padded, context)


cdef bint has_unit_side(const Operand *operand) noexcept nogil:
    """Say whether rows or columns are contiguous; oneDNN's only code for others is very slow."""
    return is_unit(operand, operand.rank - 1) or is_unit(operand, operand.rank - 2)
