# The 16-bit types: which CPUs compute in them, and what the others do.
#
# With AMX or AVX-512's bf16 instructions oneDNN multiplies bfloat16, and with AMX's fp16 tiles
# float16, and adds in float32. Without them its code is emulated, missing, or (float16 on AVX-512
# alone) as slow as that for float32: the arrays are cast to float32 and back instead, which gives
# the same results but for the order of additions. So are single operations for which oneDNN has
# nothing but its reference code.

cdef enum:
    # oneDNN 3.x before this x has no instructions beyond AMX's fp16 tiles.
    EARLY_MINORS = 6
    # Numbers from which on a kernel rounds sooner than NumPy.
    LEAST_CAST = 4096

cdef int _bfloat16 = np.dtype(ml_dtypes.bfloat16).num
cdef object _float32 = np.dtype(np.float32)


cdef int limit_isa() except -1:
    """Hold oneDNN to the limit that `dist_ms._ext` sets its own kernels; its own variable wins.

    Without a limit it may use AMX's fp16 tiles, which its early versions leave out unless told.
    """
    limits = {"v2": dnnl_cpu_isa_sse41, "v3": dnnl_cpu_isa_avx2, "v4": dnnl_cpu_isa_avx512_core_fp16}
    if dnnl_version().major == 3 and dnnl_version().minor < EARLY_MINORS:
        limits[None] = dnnl_cpu_isa_avx512_core_amx_fp16
    limit = limits.get(os.environ.get("DIST_MS_MAX_ISA") or None)
    if limit is not None and not os.environ.get("ONEDNN_MAX_CPU_ISA"):
        check(dnnl_set_max_cpu_isa(limit), "limit its instructions", "For 'DIST_MS_MAX_ISA'")
    return 0


cdef bint may_use(dnnl_cpu_isa_t isa):
    return (dnnl_get_effective_cpu_isa() & isa) == isa


limit_isa()
cdef bint _has_avx512 = may_use(dnnl_cpu_isa_avx512_core)
cdef bint _has_amx = may_use(dnnl_cpu_isa_avx512_core_amx)
cdef bint _has_bfloat16 = may_use(dnnl_cpu_isa_avx512_core_bf16)
cdef bint _has_float16 = may_use(dnnl_cpu_isa_avx512_core_amx_fp16)


def has_bfloat16() -> bool:
    """Return whether bfloat16 runs in instructions of its own here, and not as float32.

    The limits `ONEDNN_MAX_CPU_ISA` and `DIST_MS_MAX_ISA` count too.

    >>> has_bfloat16() in (True, False)
    True
    """
    return _has_bfloat16


def has_float16() -> bool:
    """Return whether float16 runs in AMX tiles here, and not as float32.

    The limits `ONEDNN_MAX_CPU_ISA` and `DIST_MS_MAX_ISA` count too.

    >>> has_float16() in (True, False)
    True
    """
    return _has_float16


def isa() -> str:
    """Return the newest instructions that oneDNN may use here, as `ONEDNN_MAX_CPU_ISA` names them.

    >>> isa().startswith(("SSE", "AVX"))
    True
    """
    found = "none"
    for name, bits in (
        ("SSE41", dnnl_cpu_isa_sse41),
        ("AVX", dnnl_cpu_isa_avx),
        ("AVX2", dnnl_cpu_isa_avx2),
        ("AVX2_VNNI", dnnl_cpu_isa_avx2_vnni),
        ("AVX512_CORE", dnnl_cpu_isa_avx512_core),
        ("AVX512_CORE_VNNI", dnnl_cpu_isa_avx512_core_vnni),
        ("AVX512_CORE_BF16", dnnl_cpu_isa_avx512_core_bf16),
        ("AVX512_CORE_FP16", dnnl_cpu_isa_avx512_core_fp16),
        ("AVX512_CORE_AMX", dnnl_cpu_isa_avx512_core_amx),
        ("AVX512_CORE_AMX_FP16", dnnl_cpu_isa_avx512_core_amx_fp16),
    ):
        if may_use(bits):
            found = name
    return found


cdef inline bint is_narrow(const Operand *operand) noexcept nogil:
    return operand.dtype != dnnl_f32


cdef inline bint is_emulated(const Operand *operand) noexcept nogil:
    """Say whether no operation on this type runs as it is."""
    if operand.dtype == dnnl_f16:
        return not _has_float16
    return operand.dtype == dnnl_bf16 and not _has_bfloat16


cdef object widened(object array):
    """Return the array, or None, in float32 and the same layout."""
    return None if array is None else array.astype(_float32, copy=False)


cdef object wide_like(object array):
    """Return an array, or None, to write instead of `array`."""
    return None if array is None else np.empty_like(array, _float32)


cdef int round_into(cnp.ndarray out, cnp.ndarray wide) except -1:
    """Write float32 numbers, or None, to an array; too large ones become infinite, as in the kernels."""
    if wide is None:
        return 0
    if cnp.PyArray_SIZE(out) >= LEAST_CAST and cnp.PyArray_ITEMSIZE(out) == 2 and is_dense(out) and is_dense(wide):
        from dist_ms._ext import cast

        (cast.to_float16 if cnp.PyArray_TYPE(out) == cnp.NPY_FLOAT16 else cast.to_bfloat16)(wide, out)
        return 0
    with np.errstate(over="ignore"):
        out[...] = wide
    return 0
