# Poolings. Like convolutions they work on channels-last memory and reorder what lies otherwise, so
# the workspace of a maximum has one layout, whatever the layouts of the arrays.

ctypedef struct Pooling:
    Geometry geometry
    dnnl_alg_kind_t algorithm
    Operand x
    Operand y


def pool_forward(
    kind: str,
    x: np.ndarray,
    out: np.ndarray,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
) -> np.ndarray | None:
    """Reduce each window of `x` to its maximum or its mean.

    Args:
        kind: "max"; "avg", the mean over elements of `x` only; or "avg_padded", the mean over
            the whole window with zeros outside of `x`.
        x: float32, float16 or bfloat16 array (N, C, *spatial) with 1 to 3 spatial dimensions, any layout without
            overlap; channels-last memory is the fast one.
        out: Array (N, C, *spatial of the result) of the same dtype, written. It must not share
            memory with `x`.
        kernel: Tuple of the size of the window per spatial dimension.
        stride: Tuple of a positive int per spatial dimension.
        padding: Tuple of a pair (before, after) per spatial dimension.
        dilation: Tuple of a positive int per spatial dimension; 1 is dense.

    Returns:
        For "max" the places of the maxima: a uint8 array for `pool_backward` alone to read.
        None for the others.

    Raises:
        TypeError: An array has another dtype, or a number is no int.
        ValueError: `kind` is unknown, shapes do not agree, strides are negative, zero or
            overlapping, a window of "max" or "avg" has no element of `x`, or windows of "avg"
            have dilation and `padding` reaches the size of `kernel`, or `dilation` exceeds the
            size of `x`.
        RuntimeError: oneDNN refuses the operation.

    >>> import numpy as np
    >>> x = np.array([[[1, 5, 2, 4]]], np.float32)
    >>> out = np.empty((1, 1, 2), np.float32)
    >>> pool_forward("avg", x, out, (2,), (2,), ((0, 0),), (1,))
    >>> out
    array([[[3., 3.]]], dtype=float32)
    """
    cdef Pooling pool
    cdef Entry entry
    cdef void *pointers[3]
    read_operand(&pool.x, x, "pool_forward", "x", False)
    read_operand(&pool.y, out, "pool_forward", "out", True)
    check_types(&pool.x, &pool.y, False, "pool_forward", "x", "out")
    read_pooling(&pool, kind, kernel, stride, padding, dilation, "pool_forward", "x", "out")
    if is_empty(&pool.y):
        return np.empty(0, np.uint8) if pool.algorithm == dnnl_pooling_max else None
    if is_empty(&pool.x):
        out[...] = 0
        return None
    if is_emulated(&pool.x):
        wide = wide_like(out)
        workspace = pool_forward(kind, widened(x), wide, kernel, stride, padding, dilation)
        round_into(out, wide)
        return workspace
    entry = find_pooling(&pool, POOL_FORWARD)
    pointers[0] = pool.x.data
    pointers[1] = pool.y.data
    if pool.algorithm != dnnl_pooling_max:
        entry.call(pointers)
        return None
    workspace = np.empty(entry.workspace_bytes, np.uint8)
    pointers[2] = cnp.PyArray_DATA(workspace)
    entry.call(pointers)
    return workspace


def pool_backward(
    kind: str,
    dy: np.ndarray,
    dx: np.ndarray,
    workspace: np.ndarray | None,
    kernel: tuple[int, ...],
    stride: tuple[int, ...],
    padding: tuple[tuple[int, int], ...],
    dilation: tuple[int, ...],
) -> None:
    """Compute the gradient of a pooling's input.

    Args:
        kind: As in `pool_forward`, like all arguments not explained here.
        dy: float32, float16 or bfloat16 array (N, C, *spatial of the result), the gradient of the result.
        dx: Array (N, C, *spatial) of the same dtype, written.
        workspace: What `pool_forward` returned.
        kernel: Tuple of the size of the window per spatial dimension.
        stride: Tuple of a positive int per spatial dimension.
        padding: Tuple of a pair (before, after) per spatial dimension.
        dilation: Tuple of a positive int per spatial dimension.

    Raises:
        TypeError: An array has another dtype, or a number is no int.
        ValueError: As in `pool_forward`, or `workspace` is not of this pooling.
        RuntimeError: oneDNN refuses the operation.

    >>> import numpy as np
    >>> x = np.array([[[1, 5, 2, 4]]], np.float32)
    >>> out, dx = np.empty((1, 1, 2), np.float32), np.empty_like(x)
    >>> workspace = pool_forward("max", x, out, (2,), (2,), ((0, 0),), (1,))
    >>> pool_backward("max", np.ones_like(out), dx, workspace, (2,), (2,), ((0, 0),), (1,))
    >>> dx
    array([[[0., 1., 0., 1.]]], dtype=float32)
    """
    cdef Pooling pool
    cdef Entry entry
    cdef void *pointers[3]
    read_operand(&pool.y, dy, "pool_backward", "dy", False)
    read_operand(&pool.x, dx, "pool_backward", "dx", True)
    check_types(&pool.y, &pool.x, False, "pool_backward", "dy", "dx")
    read_pooling(&pool, kind, kernel, stride, padding, dilation, "pool_backward", "dx", "dy")
    if is_empty(&pool.x):
        return
    if is_emulated(&pool.x):
        wide = wide_like(dx)
        pool_backward(
            kind, widened(dy), wide, workspace, kernel, stride, padding, dilation
        )
        round_into(dx, wide)
        return
    entry = find_pooling(&pool, POOL_BACKWARD)
    pointers[0] = pool.x.data
    pointers[1] = pool.y.data
    if pool.algorithm == dnnl_pooling_max:
        check_workspace(workspace, entry.workspace_bytes)
        pointers[2] = cnp.PyArray_DATA(workspace)
    elif workspace is not None:
        raise ValueError(
            f"For 'pool_backward', 'workspace' must be None if 'kind' is '{kind}', "
            f"but got {type(workspace).__name__}."
        )
    entry.call(pointers)


cdef int read_pooling(
    Pooling *pool, object kind, object kernel, object stride, object padding, object dilation,
    str function, str x_name, str y_name,
) except -1:
    """Read the numbers and check the shapes."""
    if kind == "max":
        pool.algorithm = dnnl_pooling_max
    elif kind == "avg":
        pool.algorithm = dnnl_pooling_avg_exclude_padding
    elif kind == "avg_padded":
        pool.algorithm = dnnl_pooling_avg_include_padding
    else:
        raise ValueError(
            f"For '{function}', 'kind' must be 'max', 'avg' or 'avg_padded', but got {kind!r}."
        )
    check_rank(&pool.x, 3, 2 + MAX_SPATIAL, function, x_name)
    check_rank(&pool.y, pool.x.rank, pool.x.rank, function, y_name)
    read_geometry(&pool.geometry, pool.x.rank, stride, padding, dilation, function)
    read_ints(pool.geometry.kernel, kernel, pool.geometry.spatial, 1, function, "kernel")
    if pool.y.dims[1] != pool.x.dims[1]:
        raise_mismatch(
            function, f"the number of channels of '{y_name}'", pool.x.dims[1], pool.y.dims[1]
        )
    check_windows(&pool.geometry, &pool.x, &pool.y, function, x_name, y_name)
    if pool.algorithm != dnnl_pooling_avg_include_padding:
        check_covered(pool, function)
    if pool.algorithm == dnnl_pooling_avg_exclude_padding:
        check_dilated_mean(pool, function)
    return 0


cdef int check_covered(const Pooling *pool, str function) except -1:
    """Check that each window has an element: the maximum and the mean of none are undefined."""
    cdef const Geometry *geometry = &pool.geometry
    cdef int64_t start, step, size, window
    cdef int i
    for i in range(geometry.spatial):
        size = pool.x.dims[i + 2]
        step = geometry.dilation[i] + 1
        for window in range(pool.y.dims[i + 2]):
            start = window * geometry.stride[i] - geometry.before[i]
            if start < 0:
                start += (-start + step - 1) // step * step
            if start >= size or start > (
                window * geometry.stride[i] - geometry.before[i] + window_span(geometry, i) - 1
            ):
                raise ValueError(
                    f"For '{function}', 'padding' must leave an element in each window, but "
                    f"window {window} of spatial dimension {i} has none "
                    f"({geometry_text(geometry)}, size {size})."
                )
    return 0


cdef int check_dilated_mean(const Pooling *pool, str function) except -1:
    """Check the limits that oneDNN sets to means without padding; only dilation can exceed them."""
    cdef const Geometry *geometry = &pool.geometry
    cdef int i
    for i in range(geometry.spatial):
        if (
            max(geometry.before[i], geometry.after[i]) >= geometry.kernel[i]
            or geometry.dilation[i] >= pool.x.dims[i + 2]
        ):
            raise ValueError(
                f"For '{function}', if 'kind' is 'avg', 'padding' must be less than 'kernel' and "
                f"'dilation' at most the size {pool.x.dims[i + 2]}, but got "
                f"{geometry_text(geometry)} (spatial dimension {i})."
            )
    return 0


cdef int check_workspace(object workspace, Py_ssize_t size) except -1:
    if not isinstance(workspace, np.ndarray) or workspace.dtype != np.uint8:
        raise TypeError(
            f"For 'pool_backward', 'workspace' must be the uint8 array that 'pool_forward' "
            f"returned, but got {type(workspace).__name__}."
        )
    if workspace.size != size or not workspace.flags.c_contiguous or (
        <size_t> cnp.PyArray_DATA(workspace) % sizeof(int) != 0
    ):
        raise ValueError(
            f"For 'pool_backward', 'workspace' must be the array that 'pool_forward' returned "
            f"for these shapes, contiguous with {size} bytes, but got shape {workspace.shape}, "
            f"strides {workspace.strides}."
        )
    return 0


cdef Entry find_pooling(Pooling *pool, Kind kind):
    """Return the cached entry, or a new one."""
    cdef Key key
    cdef Entry entry
    settle(&pool.x, channels_last)
    settle(&pool.y, channels_last)
    start_key(&key, kind)
    add_word(&key, pool.algorithm)
    add_operand(&key, &pool.x)
    add_operand(&key, &pool.y)
    add_geometry(&key, &pool.geometry)
    packed = key_bytes(&key)
    entry = find_entry(packed)
    if entry is None:
        entry = make_pooling(pool, kind)
        keep_entry(packed, entry)
    return entry


cdef Entry make_pooling(const Pooling *pool, Kind kind):
    """Build the primitive and what surrounds it."""
    cdef const Geometry *geometry = &pool.geometry
    cdef PrimitiveDescriptor forward = PrimitiveDescriptor()
    cdef PrimitiveDescriptor descriptor = forward
    cdef Descriptor x, y
    cdef Entry entry
    name = "pool_forward" if kind == POOL_FORWARD else "pool_backward"
    context = (
        f"For '{name}', input {shape_of(&pool.x)}, result {shape_of(&pool.y)}, "
        f"{geometry_text(geometry)}"
    )
    start_engine()
    x = describe_dense(&pool.x, channels_last, context)
    y = describe_dense(&pool.y, channels_last, context)
    check(dnnl_pooling_forward_primitive_desc_create(
        &forward.handle, _engine, dnnl_forward_training, pool.algorithm, x.handle, y.handle,
        geometry.stride, geometry.kernel, geometry.dilation, geometry.before, geometry.after,
        _attributes
    ), "create the primitive descriptor", context)
    if kind == POOL_BACKWARD:
        descriptor = PrimitiveDescriptor()
        check(dnnl_pooling_backward_primitive_desc_create(
            &descriptor.handle, _engine, pool.algorithm, x.handle, y.handle,
            geometry.stride, geometry.kernel, geometry.dilation, geometry.before,
            geometry.after, forward.handle, _attributes
        ), "create the primitive descriptor", context)
    entry = Entry(descriptor, context)
    x = describe(&pool.x, context)
    y = describe(&pool.y, context)
    if kind == POOL_FORWARD:
        entry.bind(DNNL_ARG_SRC, x, READ)
        entry.bind(DNNL_ARG_DST, y, WRITTEN)
    else:
        entry.bind(DNNL_ARG_DIFF_SRC, x, WRITTEN)
        entry.bind(DNNL_ARG_DIFF_DST, y, READ)
    if pool.algorithm == dnnl_pooling_max:
        entry.bind_workspace()
    entry.finish()
    return entry
