# Convolutions: forward, and the gradients of the input and of the weights.
#
# The primitives always work on channels-last activations and on weights in oneDNN's own layout;
# what lies in memory otherwise is reordered. oneDNN has code for channels-first memory too, but
# it is 2 to 3 times slower, and very slow for depthwise convolutions.

ctypedef struct Convolution:
    Geometry geometry
    bint with_bias
    Operand x
    Operand w  # With groups: (group, out channels of a group, in channels of a group, *kernel).
    Operand b
    Operand y


def conv_forward(
    x: np.ndarray,
    w: np.ndarray,
    bias: np.ndarray | None,
    out: np.ndarray,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    group: int,
) -> None:
    """Compute a convolution (no kernel flip, as usual in neural networks).

    ``out[n, o, p] = bias[o] + sum over c, k of w[o, c, k] * x[n, c', p*stride - before +
    k*dilation]`` with zeros outside of `x`, for each spatial dimension alike; c' is channel c of
    the group of o.

    Args:
        x: float32, float16 or bfloat16 array (N, C, *spatial) with 1 to 3 spatial dimensions, any layout without
            overlap; channels-last memory is the fast one.
        w: Array (O, C / group, *kernel) of the same dtype.
        bias: Array (O,) of that dtype or float32, or None.
        out: Array (N, O, *spatial of the result) of that dtype or float32, written. It must not
            share memory with the other arrays.
        stride: Tuple of a positive int per spatial dimension.
        padding: Tuple of a pair (before, after) per spatial dimension.
        dilation: Tuple of a positive int per spatial dimension; 1 is dense.
        group: Number of groups; divides C and O.

    Raises:
        TypeError: An array has another dtype, or a number is no int.
        ValueError: Shapes do not agree, or strides are negative, zero or overlapping.
        RuntimeError: oneDNN refuses the operation.

    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    >>> out = np.empty((1, 1, 3), np.float32)
    >>> conv_forward(x, np.ones((1, 1, 2), np.float32), None, out, (1,), ((0, 0),), (1,), 1)
    >>> out
    array([[[1., 3., 5.]]], dtype=float32)
    """
    cdef Convolution conv
    cdef Entry entry
    cdef void *pointers[4]
    conv.with_bias = bias is not None
    read_operand(&conv.x, x, "conv_forward", "x", False)
    read_operand(&conv.w, w, "conv_forward", "w", False)
    if conv.with_bias:
        read_operand(&conv.b, bias, "conv_forward", "bias", False)
    read_operand(&conv.y, out, "conv_forward", "out", True)
    check_types(&conv.x, &conv.w, False, "conv_forward", "x", "w")
    check_types(&conv.x, &conv.y, True, "conv_forward", "x", "out")
    if conv.with_bias:
        check_types(&conv.x, &conv.b, True, "conv_forward", "x", "bias")
    read_convolution(
        &conv, stride, padding, dilation, group, "conv_forward", "x", "w", "bias", "out"
    )
    if is_empty(&conv.y):
        return
    if is_empty(&conv.x) or is_empty(&conv.w):
        out[...] = 0 if bias is None else bias.reshape((-1,) + (1,) * conv.geometry.spatial)
        return
    entry = find_convolution(&conv, CONV_FORWARD)
    if entry is None:
        wide = wide_like(out)
        conv_forward(
            widened(x), widened(w), widened(bias), wide, stride, padding, dilation, group
        )
        round_into(out, wide)
        return
    pointers[0] = conv.x.data
    pointers[1] = conv.w.data
    pointers[2] = conv.y.data
    pointers[3] = conv.b.data
    entry.call(pointers)


def conv_backward_data(
    dy: np.ndarray,
    w: np.ndarray,
    dx: np.ndarray,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    group: int,
) -> None:
    """Compute the gradient of a convolution's input.

    Args:
        dy: float32, float16 or bfloat16 array (N, O, *spatial of the result), the gradient of the result.
        w: Array (O, C / group, *kernel) of the same dtype.
        dx: Array (N, C, *spatial) of that dtype or float32, written.
        stride: As in `conv_forward`, like all further arguments.
        padding: Tuple of a pair (before, after) per spatial dimension.
        dilation: Tuple of a positive int per spatial dimension.
        group: Number of groups.

    Raises:
        TypeError: An array has another dtype, or a number is no int.
        ValueError: Shapes do not agree, or strides are negative, zero or overlapping.
        RuntimeError: oneDNN refuses the operation.

    >>> import numpy as np
    >>> dx = np.empty((1, 1, 4), np.float32)
    >>> w = np.array([[[1, 10]]], np.float32)
    >>> conv_backward_data(np.ones((1, 1, 3), np.float32), w, dx, (1,), ((0, 0),), (1,), 1)
    >>> dx
    array([[[ 1., 11., 11., 10.]]], dtype=float32)
    """
    cdef Convolution conv
    cdef Entry entry
    cdef void *pointers[3]
    conv.with_bias = False
    read_operand(&conv.y, dy, "conv_backward_data", "dy", False)
    read_operand(&conv.w, w, "conv_backward_data", "w", False)
    read_operand(&conv.x, dx, "conv_backward_data", "dx", True)
    check_types(&conv.y, &conv.w, False, "conv_backward_data", "dy", "w")
    check_types(&conv.y, &conv.x, True, "conv_backward_data", "dy", "dx")
    read_convolution(
        &conv, stride, padding, dilation, group, "conv_backward_data", "dx", "w", "", "dy"
    )
    if is_empty(&conv.x):
        return
    if is_empty(&conv.y) or is_empty(&conv.w):
        dx[...] = 0
        return
    entry = find_convolution(&conv, CONV_BACKWARD_DATA)
    if entry is None:
        wide = wide_like(dx)
        conv_backward_data(widened(dy), widened(w), wide, stride, padding, dilation, group)
        round_into(dx, wide)
        return
    pointers[0] = conv.x.data
    pointers[1] = conv.w.data
    pointers[2] = conv.y.data
    entry.call(pointers)


def conv_backward_weights(
    x: np.ndarray,
    dy: np.ndarray,
    dw: np.ndarray,
    db: np.ndarray | None,
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
    group: int,
) -> None:
    """Compute the gradients of a convolution's weights and bias.

    Args:
        x: float32, float16 or bfloat16 array (N, C, *spatial), the input of the convolution.
        dy: Array (N, O, *spatial of the result) of the same dtype, the gradient of the result.
        dw: Array (O, C / group, *kernel) of that dtype or float32, written.
        db: Array (O,) of that dtype or float32, written, or None.
        stride: As in `conv_forward`, like all further arguments.
        padding: Tuple of a pair (before, after) per spatial dimension.
        dilation: Tuple of a positive int per spatial dimension.
        group: Number of groups.

    Raises:
        TypeError: An array has another dtype, or a number is no int.
        ValueError: Shapes do not agree, or strides are negative, zero or overlapping.
        RuntimeError: oneDNN refuses the operation.

    >>> import numpy as np
    >>> x = np.arange(4, dtype=np.float32).reshape(1, 1, 4)
    >>> dw, db = np.empty((1, 1, 2), np.float32), np.empty(1, np.float32)
    >>> dy = np.ones((1, 1, 3), np.float32)
    >>> conv_backward_weights(x, dy, dw, db, (1,), ((0, 0),), (1,), 1)
    >>> dw, db
    (array([[[3., 6.]]], dtype=float32), array([3.], dtype=float32))
    """
    cdef Convolution conv
    cdef Entry entry
    cdef void *pointers[4]
    conv.with_bias = db is not None
    read_operand(&conv.x, x, "conv_backward_weights", "x", False)
    read_operand(&conv.y, dy, "conv_backward_weights", "dy", False)
    read_operand(&conv.w, dw, "conv_backward_weights", "dw", True)
    if conv.with_bias:
        read_operand(&conv.b, db, "conv_backward_weights", "db", True)
    check_types(&conv.x, &conv.y, False, "conv_backward_weights", "x", "dy")
    check_types(&conv.x, &conv.w, True, "conv_backward_weights", "x", "dw")
    if conv.with_bias:
        check_types(&conv.x, &conv.b, True, "conv_backward_weights", "x", "db")
    read_convolution(
        &conv, stride, padding, dilation, group, "conv_backward_weights", "x", "dw", "db", "dy"
    )
    if is_empty(&conv.x) or is_empty(&conv.y) or is_empty(&conv.w):
        dw[...] = 0
        if conv.with_bias:
            db[...] = widened(dy).sum(axis=(0, *range(2, conv.y.rank)))
        return
    entry = find_convolution(&conv, CONV_BACKWARD_WEIGHTS)
    if entry is None:
        wide_dw, wide_db = wide_like(dw), wide_like(db)
        conv_backward_weights(
            widened(x), widened(dy), wide_dw, wide_db, stride, padding, dilation, group
        )
        round_into(dw, wide_dw)
        round_into(db, wide_db)
        return
    pointers[0] = conv.x.data
    pointers[1] = conv.w.data
    pointers[2] = conv.y.data
    pointers[3] = conv.b.data
    entry.call(pointers)


cdef int read_convolution(
    Convolution *conv, object stride, object padding, object dilation, object group,
    str function, str x_name, str w_name, str b_name, str y_name,
) except -1:
    """Read the numbers, check the shapes, and split the groups off the weights' shape."""
    cdef Geometry *geometry = &conv.geometry
    cdef int i
    check_rank(&conv.x, 3, 2 + MAX_SPATIAL, function, x_name)
    check_rank(&conv.w, conv.x.rank, conv.x.rank, function, w_name)
    check_rank(&conv.y, conv.x.rank, conv.x.rank, function, y_name)
    read_geometry(geometry, conv.x.rank, stride, padding, dilation, function)
    geometry.group = read_int(group, 1, function, "group")
    for i in range(geometry.spatial):
        geometry.kernel[i] = conv.w.dims[i + 2]
        if geometry.kernel[i] == 0:
            raise_mismatch(
                function, f"the kernel of '{w_name}'", "positive", shape_of(&conv.w)[2:]
            )
    if conv.w.dims[0] % geometry.group:
        raise ValueError(
            f"For '{function}', 'group' must divide the {conv.w.dims[0]} output channels of "
            f"'{w_name}', but got {geometry.group}."
        )
    if conv.w.dims[1] * geometry.group != conv.x.dims[1]:
        raise_mismatch(
            function, f"the number of channels of '{x_name}'",
            f"{conv.w.dims[1] * geometry.group} (shape {shape_of(&conv.w)} of '{w_name}', "
            f"'group' {geometry.group})", conv.x.dims[1],
        )
    if conv.y.dims[1] != conv.w.dims[0]:
        raise_mismatch(
            function, f"the number of channels of '{y_name}'", conv.w.dims[0], conv.y.dims[1]
        )
    if conv.with_bias:
        check_rank(&conv.b, 1, 1, function, b_name)
        if conv.b.dims[0] != conv.w.dims[0]:
            raise_mismatch(
                function, f"the size of '{b_name}'", conv.w.dims[0], conv.b.dims[0]
            )
    check_windows(geometry, &conv.x, &conv.y, function, x_name, y_name)
    if geometry.group > 1:
        split_groups(&conv.w, geometry.group)
    return 0


cdef bint sees_padding_alone(const Convolution *conv) noexcept nogil:
    """Say whether a place of the kernel meets no element of x, only padding.

    oneDNN 3.2 gives such places gradients that are no zeros in 16-bit types.
    """
    cdef const Geometry *geometry = &conv.geometry
    cdef int64_t first, window, place
    cdef int i
    for i in range(geometry.spatial):
        for place in range(geometry.kernel[i]):
            first = place * (geometry.dilation[i] + 1) - geometry.before[i]
            window = 0
            if first < 0:  # The first window in which this place is not before x.
                window = (geometry.stride[i] - 1 - first) // geometry.stride[i]
                first += window * geometry.stride[i]
            if window >= conv.y.dims[i + 2] or first >= conv.x.dims[i + 2]:
                return True
    return False


cdef bint has_idle_lanes(const Convolution *conv) noexcept nogil:
    """Say whether vectors of eight, without masks, are not full of the channels of a group."""
    cdef const Geometry *geometry = &conv.geometry
    return not _has_avx512 and (conv.x.dims[1] // geometry.group % 8 or conv.y.dims[1] // geometry.group % 8)


cdef bint has_empty_window(const Convolution *conv) noexcept nogil:
    """Say whether a window meets no element of x: oneDNN 3.2 crashes on some in 16-bit types."""
    cdef const Geometry *geometry = &conv.geometry
    cdef int64_t first, step, reach, window, place
    cdef int i
    for i in range(geometry.spatial):
        step = geometry.dilation[i] + 1
        reach = (geometry.kernel[i] - 1) * step
        if step <= conv.x.dims[i + 2] and geometry.before[i] <= reach and geometry.after[i] <= reach:
            continue
        for window in range(conv.y.dims[i + 2]):
            first = window * geometry.stride[i] - geometry.before[i]
            place = (step - 1 - first) // step if first < 0 else 0  # the first one that is not before x
            if place >= geometry.kernel[i] or first + place * step >= conv.x.dims[i + 2]:
                return True
    return False


cdef void split_groups(Operand *w, int64_t group) noexcept nogil:
    """Turn the shape (O, ...) into (group, O / group, ...)."""
    cdef int i
    for i in range(w.rank, 0, -1):
        w.dims[i] = w.dims[i - 1]
        w.strides[i] = w.strides[i - 1]
    w.rank += 1
    w.dims[0] = group
    w.dims[1] //= group
    w.strides[0] = w.strides[1] * w.dims[1]


cdef Entry find_convolution(Convolution *conv, Kind kind):
    """Return the cached entry, or a new one; None if float32 is the better way."""
    cdef Key key
    cdef Entry entry
    cdef bint narrow = is_narrow(&conv.x if kind == CONV_FORWARD else &conv.y)
    if is_emulated(&conv.x if kind == CONV_FORWARD else &conv.y) or (narrow and has_empty_window(conv)):
        return None
    settle(&conv.x, channels_last)
    settle(&conv.w, row_major)
    settle(&conv.y, channels_last)
    start_key(&key, kind)
    add_operand(&key, &conv.x)
    add_operand(&key, &conv.w)
    add_operand(&key, &conv.y)
    add_operand(&key, &conv.b if conv.with_bias else NULL)
    add_geometry(&key, &conv.geometry)
    packed = key_bytes(&key)
    entry = find_entry(packed)
    if entry is None:
        entry = make_convolution(conv, kind)
        entry.has_idle_lanes = has_idle_lanes(conv)
        entry.is_unfit = narrow and (
            entry.descriptor.is_reference() or (kind == CONV_BACKWARD_WEIGHTS and sees_padding_alone(conv))
        )
        keep_entry(packed, entry)
    return None if entry.is_unfit else entry


cdef Entry make_convolution(const Convolution *conv, Kind kind):
    """Build the primitive and what surrounds it."""
    cdef const Geometry *geometry = &conv.geometry
    cdef PrimitiveDescriptor forward = PrimitiveDescriptor()
    cdef PrimitiveDescriptor descriptor = forward
    cdef Descriptor bias = Descriptor()
    cdef Descriptor x, w, y, forward_x, forward_w
    cdef Convolution inputs
    cdef Entry entry
    name = ("conv_forward", "conv_backward_data", "conv_backward_weights")[kind - CONV_FORWARD]
    context = (
        f"For '{name}', input {shape_of(&conv.x)}, weights {shape_of(&conv.w)}, "
        f"result {shape_of(&conv.y)}, {geometry_text(geometry)}"
    )
    start_engine()
    if kind == CONV_BACKWARD_DATA and conv.y.dtype == dnnl_f16:
        entry = make_deconvolution(conv, context)
        if entry is not None:
            return entry
    x = describe_dense(&conv.x, channels_last, context)
    w = describe_any(&conv.w, context)
    y = describe_dense(&conv.y, channels_last, context)
    if conv.with_bias:
        bias = describe_dense(&conv.b, row_major, context)
    # A gradient may be wider than what it is made of; the forward it is a gradient of has one type.
    inputs = conv[0]
    inputs.x.dtype = inputs.w.dtype = conv.y.dtype
    if kind == CONV_FORWARD:
        inputs.x.dtype = inputs.w.dtype = conv.x.dtype
    forward_x = describe_dense(&inputs.x, channels_last, context)
    forward_w = describe_any(&inputs.w, context)
    check(dnnl_convolution_forward_primitive_desc_create(
        &forward.handle, _engine, dnnl_forward_training, dnnl_convolution_direct,
        forward_x.handle, forward_w.handle, bias.handle, y.handle,
        geometry.stride, geometry.dilation, geometry.before, geometry.after, _attributes
    ), "create the primitive descriptor", context)
    if kind == CONV_BACKWARD_DATA:
        descriptor = PrimitiveDescriptor()
        check(dnnl_convolution_backward_data_primitive_desc_create(
            &descriptor.handle, _engine, dnnl_convolution_direct, x.handle, w.handle, y.handle,
            geometry.stride, geometry.dilation, geometry.before, geometry.after,
            forward.handle, _attributes
        ), "create the primitive descriptor", context)
    elif kind == CONV_BACKWARD_WEIGHTS:
        descriptor = PrimitiveDescriptor()
        check(dnnl_convolution_backward_weights_primitive_desc_create(
            &descriptor.handle, _engine, dnnl_convolution_direct,
            x.handle, w.handle, bias.handle, y.handle,
            geometry.stride, geometry.dilation, geometry.before, geometry.after,
            forward.handle, _attributes
        ), "create the primitive descriptor", context)
    entry = Entry(descriptor, context)
    x = describe(&conv.x, context)
    w = describe(&conv.w, context)
    y = describe(&conv.y, context)
    if conv.with_bias:
        bias = describe(&conv.b, context)
    if kind == CONV_FORWARD:
        entry.bind(DNNL_ARG_SRC, x, READ)
        entry.bind(DNNL_ARG_WEIGHTS, w, READ_AND_KEPT)
        entry.bind(DNNL_ARG_DST, y, WRITTEN)
        if conv.with_bias:
            entry.bind(DNNL_ARG_BIAS, bias, READ)
    elif kind == CONV_BACKWARD_DATA:
        entry.bind(DNNL_ARG_DIFF_SRC, x, WRITTEN)
        entry.bind(DNNL_ARG_WEIGHTS, w, READ_AND_KEPT)
        entry.bind(DNNL_ARG_DIFF_DST, y, READ)
    else:
        entry.bind(DNNL_ARG_SRC, x, READ)
        entry.bind(DNNL_ARG_DIFF_WEIGHTS, w, WRITTEN_AND_KEPT)
        entry.bind(DNNL_ARG_DIFF_DST, y, READ)
        if conv.with_bias:
            entry.bind(DNNL_ARG_DIFF_BIAS, bias, WRITTEN)
    entry.finish()
    return entry


cdef Entry make_deconvolution(const Convolution *conv, str context):
    """Build the gradient of the input as a deconvolution; None if oneDNN has no code for that.

    In float16 oneDNN 3.2 uses AMX for the gradient itself only if there is a stride, for deconvolutions always.
    """
    cdef const Geometry *geometry = &conv.geometry
    cdef PrimitiveDescriptor descriptor = PrimitiveDescriptor()
    cdef Operand turned = conv.w
    cdef int of_output = 1 if geometry.group > 1 else 0
    cdef Descriptor x, w, y
    cdef Entry entry
    turned.dims[of_output], turned.dims[of_output + 1] = conv.w.dims[of_output + 1], conv.w.dims[of_output]
    turned.strides[of_output], turned.strides[of_output + 1] = (
        conv.w.strides[of_output + 1], conv.w.strides[of_output]
    )
    x = describe_dense(&conv.x, channels_last, context)
    w = describe_any(&turned, context)
    y = describe_dense(&conv.y, channels_last, context)
    if dnnl_deconvolution_forward_primitive_desc_create(
        &descriptor.handle, _engine, dnnl_forward_training, dnnl_deconvolution_direct,
        y.handle, w.handle, NULL, x.handle,
        geometry.stride, geometry.dilation, geometry.before, geometry.after, _attributes
    ) != dnnl_success or descriptor.is_reference():
        return None
    entry = Entry(descriptor, context)
    entry.bind(DNNL_ARG_DST, describe(&conv.x, context), WRITTEN)
    entry.bind(DNNL_ARG_WEIGHTS, describe(&turned, context), READ_AND_KEPT)
    entry.bind(DNNL_ARG_SRC, describe(&conv.y, context), READ)
    entry.finish()
    return entry
