# bfloat16: which CPUs compute in it, and what the others do.
#
# With AMX or AVX-512's bf16 instructions oneDNN multiplies bfloat16 and adds in float32. Without
# them its code for it is emulated or missing: the arrays are cast to float32 and back instead,
# which gives the same results but for the order of additions.

cdef int _bfloat16 = np.dtype(ml_dtypes.bfloat16).num
cdef object _float32 = np.dtype(np.float32)


cdef int limit_isa() except -1:
    """Hold oneDNN to the limit that `dist_ms._ext` sets its own kernels; its own variable wins."""
    limits = {"v2": dnnl_cpu_isa_sse41, "v3": dnnl_cpu_isa_avx2}
    limit = limits.get(os.environ.get("DIST_MS_MAX_ISA"))
    if limit is not None and not os.environ.get("ONEDNN_MAX_CPU_ISA"):
        check(dnnl_set_max_cpu_isa(limit), "limit its instructions", "For 'DIST_MS_MAX_ISA'")
    return 0


limit_isa()
cdef bint _has_bfloat16 = (
    dnnl_get_effective_cpu_isa() & dnnl_cpu_isa_avx512_core_bf16
) == dnnl_cpu_isa_avx512_core_bf16


def has_bfloat16() -> bool:
    """Return whether bfloat16 runs in instructions of its own here, and not as float32.

    The limits `ONEDNN_MAX_CPU_ISA` and `DIST_MS_MAX_ISA` count too.

    >>> has_bfloat16() in (True, False)
    True
    """
    return _has_bfloat16


cdef inline bint is_emulated(const Operand *operand) noexcept:
    return operand.dtype == dnnl_bf16 and not _has_bfloat16


cdef object widened(object array):
    """Return the array, or None, in float32 and the same layout."""
    return None if array is None else array.astype(_float32, copy=False)


cdef object wide_like(object array):
    """Return an array, or None, to write instead of `array`."""
    return None if array is None else np.empty_like(array, _float32)
