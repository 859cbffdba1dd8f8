"""What floors above `dist_ms.ops` give to it, as MindSpore has it there; it loads when first used."""

FROM_ABOVE = {
    # Functions of process groups; the names of an array's own operations (gather, scatter) are those.
    "dist_ms.mint.distributed": """
    all_gather all_gather_into_tensor all_gather_into_tensor_uneven all_gather_object all_reduce all_to_all
    all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list destroy_process_group gather_object
    get_backend get_global_rank get_group_rank get_process_group_ranks get_rank get_world_size init_process_group
    irecv is_available is_initialized isend new_group recv recv_object_list reduce reduce_scatter
    reduce_scatter_tensor reduce_scatter_tensor_uneven scatter_object_list send send_object_list P2POp TCPStore
    """.split(),
    "dist_ms.ops.communication": ["set_comm_ops_inplace"],
    "dist_ms.mint.distributed.in_one": """
    all_gather_matmul all_to_all_v_c gather_into_tensor matmul_reduce_scatter scatter_tensor
    """.split(),
    # What MindSpore has on other devices only.
    "dist_ms.compat.inner.operations.ascend_operations": """
    DropoutDoMask DropoutGenMask DynamicGRUV2 DynamicRNN FusedWeightScaleApplyMomentum
    """.split(),
    "dist_ms.compat.inner.operations.graph_operations": """
    make_row_tensor_inner make_sparse_tensor row_tensor_add
    DtypeToEnum PyFunc Reusing SliceGetItem TensorToTuple UpdateState augassign_add augassign_div augassign_floordiv
    augassign_mod augassign_mul augassign_sub hastype hyper_add
    is_sequence_shape_unknown is_sequence_value_unknown is_tensor_bool_cond recompute_block switch_layer tail
    tensor_operator_registry typeof
    """.split(),
    # What a compiler needs an operation for, and is Python's own here.
    "dist_ms.compat.inner.plain_values": """
    array_to_scalar bool_and bool_eq bool_not bool_or broadcast_gradient_args dict_getitem dict_setitem in_dict is_
    is_not isconstant list_equal list_getitem list_len list_setitem make_dict make_list make_range make_slice
    make_tuple mixed_precision_cast not_in_dict reduced_shape scalar_add scalar_div scalar_eq scalar_floordiv
    scalar_ge scalar_gt scalar_le scalar_log scalar_lt scalar_max scalar_min scalar_mod scalar_mul scalar_ne
    scalar_pow scalar_sub scalar_uadd scalar_usub shape_mul stop_gradient_ string_concat string_eq switch tuple_div
    tuple_equal tuple_getitem tuple_len tuple_reversed tuple_setitem add_flags
    """.split(),
}
