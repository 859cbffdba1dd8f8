# Borders as a rule: which element of the array each place of the larger one is a copy of.

cdef enum Rule:
    CONSTANT, REFLECT, SYMMETRIC, REPLICATE, CIRCULAR

cdef Py_ssize_t NOWHERE = -1

RULES = {"constant": CONSTANT, "reflect": REFLECT, "symmetric": SYMMETRIC, "replicate": REPLICATE, "circular": CIRCULAR}

cdef struct Line:
    # A border's element at a place is a copy of the one at base + slope * place.
    Py_ssize_t base, slope

cdef struct Dimension:
    Py_ssize_t inner, outer, before  # Lengths without and with the border, and its width in front.
    Py_ssize_t step  # Of the array without it, in elements.
    Line left, right

cdef struct Frame:
    Rule rule
    int count
    Dimension dims[DIMENSIONS + 1]


cdef void draw_lines(Rule rule, Dimension *dim) noexcept nogil:
    """Say what the borders are copies of; -1 for nothing."""
    cdef Py_ssize_t n = dim.inner, before = dim.before
    dim.left = dim.right = Line(NOWHERE, 0)
    if rule == REPLICATE:
        dim.left, dim.right = Line(0, 0), Line(n - 1, 0)
    elif rule == REFLECT:
        dim.left, dim.right = Line(before, -1), Line(2 * (n - 1) + before, -1)
    elif rule == SYMMETRIC:
        dim.left, dim.right = Line(before - 1, -1), Line(2 * n - 1 + before, -1)
    elif rule == CIRCULAR:
        dim.left, dim.right = Line(n - before, 1), Line(-n - before, 1)


cdef inline Py_ssize_t origin(const Dimension *dim, Py_ssize_t place) noexcept nogil:
    """Return which element the one at `place` is a copy of, or -1."""
    if place < dim.before:
        return dim.left.base + dim.left.slope * place
    if place < dim.before + dim.inner:
        return place - dim.before
    return dim.right.base + dim.right.slope * place


cdef int make_frame(
    str kernel, Frame *frame, cnp.ndarray inner, cnp.ndarray outer, object widths, str rule
) except -1:
    """Check shapes and widths, and join dimensions without a border that follow each other in both arrays."""
    cdef int axis, rank = cnp.PyArray_NDIM(inner)
    cdef Py_ssize_t before, behind, itemsize = cnp.PyArray_ITEMSIZE(inner), least, most
    cdef Dimension dim
    cdef Dimension *last
    cdef bint is_plain, was_plain = False
    if rule not in RULES:
        raise ValueError(f"For '{kernel}', 'rule' must be one of {sorted(RULES)}, but got {rule!r}.")
    frame.rule = RULES[rule]
    frame.count = 0
    if cnp.PyArray_NDIM(outer) != rank or len(widths) != rank:
        raise ValueError(f"For '{kernel}', 'widths' must hold a pair per dimension, but got {widths} for {rank}.")
    for axis in range(rank):
        before, behind = widths[axis]
        dim = Dimension(
            cnp.PyArray_DIM(inner, axis), cnp.PyArray_DIM(outer, axis), before,
            cnp.PyArray_STRIDE(inner, axis) // itemsize, Line(0, 0), Line(0, 0)
        )
        if dim.outer != dim.inner + before + behind:
            raise ValueError(
                f"For '{kernel}', the larger array must have the length {dim.inner + before + behind} along dimension "
                f"{axis}, but got {dim.outer}."
            )
        if frame.rule != CONSTANT and (before or behind):
            most = dim.inner - (frame.rule == REFLECT)
            least = -dim.inner if frame.rule == CIRCULAR else 0
            if dim.inner == 0 or min(before, behind) < least or (
                max(before, behind) > most and frame.rule != REPLICATE
            ):
                raise ValueError(
                    f"For '{kernel}', 'widths' must be in [{least}, {most}] along dimension {axis}, but got "
                    f"{(before, behind)}."
                )
        is_plain = before == 0 and behind == 0
        if is_plain and dim.inner == 1:
            continue
        last = &frame.dims[frame.count - 1]
        if is_plain and was_plain and last.step == dim.step * dim.inner:
            last[0] = Dimension(
                last.inner * dim.inner, last.outer * dim.outer, 0, dim.step, Line(0, 0), Line(0, 0)
            )
            continue
        draw_lines(frame.rule, &dim)
        frame.dims[frame.count] = dim
        frame.count += 1
        was_plain = is_plain
    if frame.count == 0 or frame.dims[frame.count - 1].step != 1:
        # Rows whose elements are apart: each is one.
        frame.dims[frame.count] = Dimension(1, 1, 0, 1, Line(0, 0), Line(0, 0))
        frame.count += 1
    return 0
