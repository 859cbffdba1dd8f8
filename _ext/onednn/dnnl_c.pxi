# The part of oneDNN's C interface (dnnl.h, version 3) that the other dnnl files call.
#
# Handles are declared as void * for Cython; the generated C keeps oneDNN's own types, so the C
# compiler still refuses one handle in the place of another.

cdef extern from "dnnl.h" nogil:
    enum:
        DNNL_ARG_SRC
        DNNL_ARG_DST
        DNNL_ARG_WEIGHTS
        DNNL_ARG_BIAS
        DNNL_ARG_FROM
        DNNL_ARG_TO
        DNNL_ARG_WORKSPACE
        DNNL_ARG_SCRATCHPAD
        DNNL_ARG_DIFF_SRC
        DNNL_ARG_DIFF_DST
        DNNL_ARG_DIFF_WEIGHTS
        DNNL_ARG_DIFF_BIAS

    ctypedef enum dnnl_status_t:
        dnnl_success
        dnnl_out_of_memory
    ctypedef enum dnnl_data_type_t:
        dnnl_f32
        dnnl_bf16
        dnnl_f16
    ctypedef enum dnnl_fpmath_mode_t:
        dnnl_fpmath_mode_strict
        dnnl_fpmath_mode_bf16
    ctypedef enum dnnl_cpu_isa_t:
        dnnl_cpu_isa_sse41
        dnnl_cpu_isa_avx
        dnnl_cpu_isa_avx2
        dnnl_cpu_isa_avx2_vnni
        dnnl_cpu_isa_avx512_core
        dnnl_cpu_isa_avx512_core_vnni
        dnnl_cpu_isa_avx512_core_bf16
        dnnl_cpu_isa_avx512_core_fp16
        dnnl_cpu_isa_avx512_core_amx
        dnnl_cpu_isa_avx512_core_amx_fp16
    ctypedef enum dnnl_format_tag_t:
        dnnl_format_tag_any
    ctypedef enum dnnl_prop_kind_t:
        dnnl_forward_training
    ctypedef enum dnnl_alg_kind_t:
        dnnl_convolution_direct
        dnnl_deconvolution_direct
        dnnl_pooling_max
        dnnl_pooling_avg_include_padding
        dnnl_pooling_avg_exclude_padding
    ctypedef enum dnnl_query_t:
        dnnl_query_impl_info_str
        dnnl_query_exec_arg_md
    ctypedef enum dnnl_engine_kind_t:
        dnnl_cpu
    ctypedef enum dnnl_stream_flags_t:
        dnnl_stream_default_flags
    ctypedef enum dnnl_scratchpad_mode_t:
        dnnl_scratchpad_mode_user

    ctypedef void *dnnl_engine_t
    ctypedef void *dnnl_stream_t
    ctypedef void *dnnl_memory_t
    ctypedef void *dnnl_primitive_t
    ctypedef void *dnnl_primitive_attr_t
    ctypedef void *dnnl_primitive_desc_t
    ctypedef const void *const_dnnl_primitive_desc_t
    ctypedef void *dnnl_memory_desc_t
    ctypedef const void *const_dnnl_memory_desc_t

    ctypedef struct dnnl_exec_arg_t:
        int arg
        dnnl_memory_t memory

    ctypedef struct dnnl_version_t:
        int major
        int minor

    void *DNNL_MEMORY_NONE
    void *DNNL_MEMORY_ALLOCATE

    const dnnl_version_t *dnnl_version()
    dnnl_status_t dnnl_set_max_cpu_isa(dnnl_cpu_isa_t isa)
    dnnl_cpu_isa_t dnnl_get_effective_cpu_isa()

    dnnl_status_t dnnl_engine_create(dnnl_engine_t *engine, dnnl_engine_kind_t kind, size_t index)
    dnnl_status_t dnnl_stream_create(
        dnnl_stream_t *stream, dnnl_engine_t engine, unsigned flags)
    dnnl_status_t dnnl_stream_wait(dnnl_stream_t stream)

    dnnl_status_t dnnl_memory_desc_create_with_strides(
        dnnl_memory_desc_t *desc, int ndims, const int64_t *dims, dnnl_data_type_t dtype,
        const int64_t *strides)
    dnnl_status_t dnnl_memory_desc_create_with_tag(
        dnnl_memory_desc_t *desc, int ndims, const int64_t *dims, dnnl_data_type_t dtype,
        dnnl_format_tag_t tag)
    dnnl_status_t dnnl_memory_desc_destroy(dnnl_memory_desc_t desc)
    int dnnl_memory_desc_equal(const_dnnl_memory_desc_t left, const_dnnl_memory_desc_t right)
    size_t dnnl_memory_desc_get_size(const_dnnl_memory_desc_t desc)

    dnnl_status_t dnnl_memory_create(
        dnnl_memory_t *memory, const_dnnl_memory_desc_t desc, dnnl_engine_t engine, void *handle)
    dnnl_status_t dnnl_memory_set_data_handle(dnnl_memory_t memory, void *handle)
    dnnl_status_t dnnl_memory_destroy(dnnl_memory_t memory)

    dnnl_status_t dnnl_primitive_attr_create(dnnl_primitive_attr_t *attr)
    dnnl_status_t dnnl_primitive_attr_set_scratchpad_mode(
        dnnl_primitive_attr_t attr, dnnl_scratchpad_mode_t mode)
    dnnl_status_t dnnl_primitive_attr_set_fpmath_mode(
        dnnl_primitive_attr_t attr, dnnl_fpmath_mode_t mode)
    dnnl_status_t dnnl_set_default_fpmath_mode(dnnl_fpmath_mode_t mode)

    dnnl_status_t dnnl_primitive_desc_query(
        const_dnnl_primitive_desc_t desc, dnnl_query_t what, int index, void *result)
    const_dnnl_memory_desc_t dnnl_primitive_desc_query_md(
        const_dnnl_primitive_desc_t desc, dnnl_query_t what, int index)
    dnnl_status_t dnnl_primitive_desc_destroy(dnnl_primitive_desc_t desc)

    dnnl_status_t dnnl_primitive_create(
        dnnl_primitive_t *primitive, const_dnnl_primitive_desc_t desc)
    dnnl_status_t dnnl_primitive_execute(
        dnnl_primitive_t primitive, dnnl_stream_t stream, int nargs, const dnnl_exec_arg_t *args)
    dnnl_status_t dnnl_primitive_destroy(dnnl_primitive_t primitive)

    dnnl_status_t dnnl_reorder_primitive_desc_create(
        dnnl_primitive_desc_t *desc,
        const_dnnl_memory_desc_t source, dnnl_engine_t source_engine,
        const_dnnl_memory_desc_t target, dnnl_engine_t target_engine,
        dnnl_primitive_attr_t attr)
    dnnl_status_t dnnl_matmul_primitive_desc_create(
        dnnl_primitive_desc_t *desc, dnnl_engine_t engine,
        const_dnnl_memory_desc_t a, const_dnnl_memory_desc_t b,
        const_dnnl_memory_desc_t bias, const_dnnl_memory_desc_t out,
        dnnl_primitive_attr_t attr)
    dnnl_status_t dnnl_convolution_forward_primitive_desc_create(
        dnnl_primitive_desc_t *desc, dnnl_engine_t engine,
        dnnl_prop_kind_t prop_kind, dnnl_alg_kind_t algorithm,
        const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t w,
        const_dnnl_memory_desc_t bias, const_dnnl_memory_desc_t out,
        const int64_t *stride, const int64_t *dilation,
        const int64_t *before, const int64_t *after, dnnl_primitive_attr_t attr)
    dnnl_status_t dnnl_deconvolution_forward_primitive_desc_create(
        dnnl_primitive_desc_t *desc, dnnl_engine_t engine,
        dnnl_prop_kind_t prop_kind, dnnl_alg_kind_t algorithm,
        const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t w,
        const_dnnl_memory_desc_t bias, const_dnnl_memory_desc_t out,
        const int64_t *stride, const int64_t *dilation,
        const int64_t *before, const int64_t *after, dnnl_primitive_attr_t attr)
    dnnl_status_t dnnl_convolution_backward_data_primitive_desc_create(
        dnnl_primitive_desc_t *desc, dnnl_engine_t engine, dnnl_alg_kind_t algorithm,
        const_dnnl_memory_desc_t dx, const_dnnl_memory_desc_t w, const_dnnl_memory_desc_t dy,
        const int64_t *stride, const int64_t *dilation,
        const int64_t *before, const int64_t *after,
        const_dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attr)
    dnnl_status_t dnnl_convolution_backward_weights_primitive_desc_create(
        dnnl_primitive_desc_t *desc, dnnl_engine_t engine, dnnl_alg_kind_t algorithm,
        const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t dw,
        const_dnnl_memory_desc_t db, const_dnnl_memory_desc_t dy,
        const int64_t *stride, const int64_t *dilation,
        const int64_t *before, const int64_t *after,
        const_dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attr)
    dnnl_status_t dnnl_pooling_forward_primitive_desc_create(
        dnnl_primitive_desc_t *desc, dnnl_engine_t engine,
        dnnl_prop_kind_t prop_kind, dnnl_alg_kind_t algorithm,
        const_dnnl_memory_desc_t x, const_dnnl_memory_desc_t out,
        const int64_t *stride, const int64_t *kernel, const int64_t *dilation,
        const int64_t *before, const int64_t *after, dnnl_primitive_attr_t attr)
    dnnl_status_t dnnl_pooling_backward_primitive_desc_create(
        dnnl_primitive_desc_t *desc, dnnl_engine_t engine, dnnl_alg_kind_t algorithm,
        const_dnnl_memory_desc_t dx, const_dnnl_memory_desc_t dy,
        const int64_t *stride, const int64_t *kernel, const int64_t *dilation,
        const int64_t *before, const int64_t *after,
        const_dnnl_primitive_desc_t forward, dnnl_primitive_attr_t attr)

cdef extern from "dnnl_debug.h" nogil:
    const char *dnnl_status2str(dnnl_status_t status)
