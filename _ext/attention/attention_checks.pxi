# What a call is given, checked and brought into the form in which it is worked on.

cdef Element element_of(str kernel, str name, cnp.ndarray array) except? BYTES:
    """Return the element type of an array of floats."""
    cdef int number = cnp.PyArray_TYPE(array)
    if number == cnp.NPY_FLOAT32:
        return FLOAT32
    if number == cnp.NPY_FLOAT64:
        return FLOAT64
    if number == cnp.NPY_FLOAT16:
        return FLOAT16
    if number == cnp.NPY_UINT16 or type_name(array) == "bfloat16":
        return BFLOAT16
    raise TypeError(
        f"For '{kernel}', '{name}' must be float32, float64, float16 or bfloat16, but got {type_name(array)}."
    )


cdef int read_view(
    View *view, str name, cnp.ndarray array, Element element, tuple shape, bint written
) except -1:
    """Fill in a view after checking the array's type, shape and memory."""
    cdef Element found
    if element == BYTES:
        if cnp.PyArray_TYPE(array) != cnp.NPY_UINT8:
            raise TypeError(f"For 'attention', '{name}' must be uint8, but got {type_name(array)}.")
    else:
        found = element_of("attention", name, array)
        if found != element:
            raise TypeError(f"For 'attention', '{name}' must have the type of the others, but got {type_name(array)}.")
    check_memory("attention", name, array, written)
    if (<object> array).shape != shape:
        raise ValueError(f"For 'attention', '{name}' must have shape {shape}, but got {(<object> array).shape}.")
    if cnp.PyArray_SIZE(array) and shape[3] > 1 and cnp.PyArray_STRIDE(array, 3) != cnp.PyArray_ITEMSIZE(array):
        raise ValueError(
            f"For 'attention', the columns of '{name}' must be neighbours in memory, but got strides "
            f"{(<object> array).strides}; copy it."
        )
    view.data = <char *> cnp.PyArray_DATA(array)
    view.element = element
    view.batch = cnp.PyArray_STRIDE(array, 0)
    view.head = cnp.PyArray_STRIDE(array, 1)
    view.row = cnp.PyArray_STRIDE(array, 2)
    return 0


cdef int read_statistics(Attention *a, str name, cnp.ndarray array, bint wide, bint written) except -1:
    """Check an array with a number per query."""
    cdef int number = cnp.NPY_FLOAT64 if wide else cnp.NPY_FLOAT32
    check(
        "attention", name, array, number, 3, written
    )
    if (<object> array).shape != (a.batches, a.heads, a.queries):
        raise ValueError(
            f"For 'attention', '{name}' must have shape {(a.batches, a.heads, a.queries)}, "
            f"but got {(<object> array).shape}."
        )
    return 0


cdef uint64_t unsigned(str name, object value) except? 0:
    """Return a Python int as 64 bits, or raise."""
    if not isinstance(value, int):
        raise TypeError(f"For 'attention', '{name}' must be an int, but got {type(value).__name__}.")
    if not 0 <= value < 1 << 64:
        raise ValueError(f"For 'attention', '{name}' must be in [0, 2**64), but got {value}.")
    return value


cdef Py_ssize_t limited(Attention *a, str name, object value, Py_ssize_t otherwise) except? -1:
    """Return a limit of j - i, no further out than any key lies."""
    cdef Py_ssize_t reach = a.queries + a.keys + 1
    if value is None:
        return otherwise * reach
    if not isinstance(value, int):
        raise TypeError(f"For 'attention', '{name}' must be an int or None, but got {type(value).__name__}.")
    return max(-reach, min(reach, value))


cdef bint read_call(
    Attention *a, cnp.ndarray q, cnp.ndarray k, cnp.ndarray v, cnp.ndarray out, cnp.ndarray maxima,
    cnp.ndarray factors, bint writes, double scale, bias, hidden, prefix, low, high,
    double keep_prob, kept, seed, offset
) except -1:
    """Fill in the call; whether it is one of float64."""
    cdef Element element = element_of("attention", "q", q)
    cdef bint wide = element == FLOAT64
    cdef Element bias_element
    memset(a, 0, sizeof(Attention))
    for name, array in (("q", q), ("k", k)):
        if (<object> array).ndim != 4:
            raise ValueError(
                f"For 'attention', '{name}' must have 4 dimensions, but got shape {(<object> array).shape}."
            )
    a.batches, a.heads, a.queries, a.length = (<object> q).shape
    a.groups, a.keys = (<object> k).shape[1:3]
    if a.heads and (not a.groups or a.heads % a.groups):
        raise ValueError(
            f"For 'attention', the heads of 'q' must be a multiple of those of 'k', but got {a.heads} and {a.groups}."
        )
    of_keys = (a.batches, a.groups, a.keys, a.length)
    of_scores = (a.batches, a.heads, a.queries, a.keys)
    read_view(&a.q, "q", q, element, (<object> q).shape, False)
    read_view(&a.k, "k", k, element, of_keys, False)
    read_view(&a.v, "v", v, element, of_keys, False)
    read_view(&a.out, "out", out, element, (<object> q).shape, writes)
    read_statistics(a, "maxima", maxima, wide, writes)
    read_statistics(a, "factors", factors, wide, writes)
    a.maxima, a.factors = cnp.PyArray_DATA(maxima), cnp.PyArray_DATA(factors)
    if bias is not None:
        bias_element = element_of("attention", "bias", bias)
        if bias_element != element and (wide or bias_element != FLOAT32):
            raise TypeError(
                f"For 'attention', 'bias' must be float32 or of the type of 'q', {type_name(q)}, but got {bias.dtype}."
            )
        read_view(&a.bias, "bias", bias, bias_element, of_scores, False)
    if hidden is not None:
        read_view(&a.hidden, "hidden", hidden, BYTES, of_scores, False)
    if prefix is not None:
        check_vector("attention", "prefix", prefix, cnp.NPY_INT64, a.batches, False)
        a.prefix = <const int64_t *> cnp.PyArray_DATA(prefix)
    a.low, a.high = limited(a, "low", low, -1), limited(a, "high", high, 1)
    a.scale = scale
    a.tiles = _has_tiles and element == BFLOAT16
    a.half = False
    if not 0 < keep_prob <= 1:
        raise ValueError(f"For 'attention', 'keep_prob' must be in (0, 1], but got {keep_prob}.")
    a.keep_scale = 1 / keep_prob
    if kept is not None:
        read_view(&a.kept, "kept", kept, BYTES, (*of_scores[:3], (a.keys + 7) // 8), False)
    elif seed is not None:
        a.draws = True
        a.seed, a.offset = unsigned("seed", seed), unsigned("offset", offset)
        a.last_kept = last_kept_of(keep_prob)
    return wide


cdef int read_gradients(
    Attention *a, bint wide, cnp.ndarray dout, cnp.ndarray dq, cnp.ndarray dk, cnp.ndarray dv, dbias
) except -1:
    """Fill in the arrays of the gradients."""
    of_queries = (a.batches, a.heads, a.queries, a.length)
    of_keys = (a.batches, a.groups, a.keys, a.length)
    read_view(&a.dout, "dout", dout, a.q.element, of_queries, False)
    read_view(&a.dq, "dq", dq, a.q.element, of_queries, True)
    read_view(&a.dk, "dk", dk, a.q.element, of_keys, True)
    read_view(&a.dv, "dv", dv, a.q.element, of_keys, True)
    if dbias is not None:
        read_view(&a.dbias, "dbias", dbias, FLOAT64 if wide else FLOAT32,
                  (a.batches, a.heads, a.queries, a.keys), True)
    return 0
