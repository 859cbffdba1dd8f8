"""Names that scripts import from MindSpore's private paths and dist_ms does not build, each with its reason."""

from __future__ import annotations

# reason: what dist_ms lacks, and the remedy
REASONS = {
    "ascend": ("runs on CPUs and has no Ascend device", "Leave the call out where 'device_target' is 'CPU'."),
    "gpu": ("runs on CPUs and has no GPU", "Leave the call out where 'device_target' is 'CPU'."),
    "compilers": (
        "has none of MindSpore's kernel compilers to register an operation with",
        "Write an ops.Primitive or an ops.Custom.",
    ),
    "strategies": (
        "does not cut operators over ranks, so there are no strategies",
        "Train data-parallel, or use nn.model_parallel.",
    ),
    "checkpoints": ("has a writer of checkpoints of its own", "Use save_checkpoint."),
    "numbers": ("takes the options of operations as texts and has no numbers for them", "Pass the text."),
    "cell": ("has a Cell that is written in Python and has no compiled base", "Call nn.Cell's own methods."),
    "gradients": ("takes gradients without a graph compiler", "Use ms.grad or ops.GradOperation."),
    "queues": ("has no queue of data on a device", "Iterate over the dataset, or call Model.train."),
    "graphs": ("compiles no graphs", "Call the network."),
    "ascend_kernel": (
        "has no CPU form of an operation that MindSpore has on Ascend or a GPU only",
        "Write it with other operations of ops.",
    ),
    "quantisation": (
        "does not train with simulated quantisation",
        "Export the trained network to ONNX and quantise it there.",
    ),
    "thor": ("has none of THOR's kernels for Ascend", "Use nn.Lamb or nn.AdamWeightDecay."),
    "servers": (
        "sends parameters to servers inside its training step only",
        "Call Cell.set_param_ps or Parameter.set_param_ps.",
    ),
    "caches": ("keeps embedding tables whole in memory", "Use nn.Embedding or nn.EmbeddingLookup."),
    "tables": ("has no hash tables as parameters", "Use nn.Embedding."),
    "serving": ("has no kernels for serving language models", "Write them with other operations of ops."),
    "sparse": ("has no such operation on sparse tensors", "Make them dense, or use COOTensor and CSRTensor."),
    "texts": ("has no kernels for reading texts in pictures", "Use OpenCV or Pillow in the dataset's transforms."),
}

_VIRTUAL = """
    _VirtualDataset _VirtualOutput _VirtualDiv _VirtualAdd _VirtualAccuGrad _VirtualAssignAdd _VirtualAssignKvCache
    _VirtualPipelineEnd _GetTensorSlice _AllSwap _MirrorOperator _MirrorMiniStepOperator _MirrorMicroStepOperator
    _HostAllGather _HostReduceScatter _MicroStepAllGather _MiniStepAllGather Reshard
"""
_QUANTISED = """
    ActULQClampMaxGrad ActULQClampMinGrad ActsULQ ActsULQInputGrad BatchNormFold BatchNormFold2 BatchNormFold2D
    BatchNormFold2Grad BatchNormFold2GradD BatchNormFold2GradReduce BatchNormFoldD BatchNormFoldGrad BatchNormFoldGradD
    CorrectionMul CorrectionMulGrad CorrectionMulGradReduce FakeLearnedScaleQuantPerChannel
    FakeLearnedScaleQuantPerChannelGrad FakeLearnedScaleQuantPerChannelGradD FakeLearnedScaleQuantPerChannelGradDReduce
    FakeLearnedScaleQuantPerLayer FakeLearnedScaleQuantPerLayerGrad FakeLearnedScaleQuantPerLayerGradD
    FakeLearnedScaleQuantPerLayerGradDReduce FakeQuantParam FakeQuantPerChannel FakeQuantPerChannelGrad
    FakeQuantPerLayer FakeQuantPerLayerGrad FakeQuantWithMinMaxVars FakeQuantWithMinMaxVarsGradient
    FakeQuantWithMinMaxVarsPerChannel FakeQuantWithMinMaxVarsPerChannelGradient IFMR MinMaxUpdatePerChannel
    MinMaxUpdatePerLayer WtsARQ
"""
_THOR = """
    CholeskyTrsm CusBatchMatMul CusCholeskyTrsm CusFusedAbsMax1 CusImg2Col CusMatMulCube CusMatMulCubeDenseLeft
    CusMatMulCubeDenseRight CusMatMulCubeFraczLeftCast CusMatMulCubeFraczRightMul CusMatrixCombine CusTranspose02314
    DetTriangle LoadIm2Col NewIm2Col ProdForceSeA ThorIm2Col UpdateThorGradient
"""
_OF_ASCEND = """
    BasicLSTMCell DSDMatmul MatmulDDS LambApplyOptimizerAssign
    LambApplyWeightAssign GroupTopk PsROIPooling PSROIPooling
"""
_SERVING = """
    FlashAttentionScore FusedInferAttentionScore IncreFlashAttention PromptFlashAttention PagedAttention
    PagedAttentionMask ReshapeAndCache ApplyRotaryPosEmb KVCacheMgr KvScaleCache
"""
_DETECTION = "stress_detect sdc_detect_start sdc_detect_stop get_sdc_detect_result"
_CACHES = "CacheSwapTable DynamicAssign MapCacheIdx PadAndShift UpdateCache"

# path: {reason: names}
REFUSED_NAMES: dict[str, dict[str, str]] = {
    "device_context.ascend.op_precision": {
        "ascend": "precision_mode op_precision_mode matmul_allow_hf32 conv_allow_hf32"
    },
    "device_context.ascend.op_debug": {"ascend": "debug_option execute_timeout aclinit_config"},
    "device_context.ascend.op_tuning": {"ascend": "op_compile aoe_tune_mode aoe_job_type aclnn_cache"},
    "device_context.gpu.op_precision": {"gpu": "matmul_allow_tf32 conv_allow_tf32"},
    "device_context.gpu.op_tuning": {"gpu": "conv_fprop_algo conv_dgrad_algo conv_wgrad_algo"},
    "ops.op_info_register": {"compilers": "AkgRegOp AkgCpuRegOp"},
    "ops.auto_generate": {"numbers": "str_to_enum", "serving": _SERVING},
    "ops": {"ascend_kernel": _OF_ASCEND, "servers": "Push Pull"},
    "ops.operations": {
        "ascend_kernel": _OF_ASCEND,
        "servers": "Push Pull",
        "strategies": _VIRTUAL,
        "quantisation": _QUANTISED,
        "thor": _THOR,
        "caches": _CACHES,
        "serving": _SERVING,
    },
    "ops.operations.comm_ops": {"strategies": _VIRTUAL},
    "ops.operations.nn_ops": {"ascend_kernel": _OF_ASCEND, "serving": _SERVING},
    "ops.operations.other_ops": {"servers": "Push Pull"},
    "ops.operations.inner_ops": {"ascend_kernel": _OF_ASCEND, "serving": "KVCacheMgr GenerateEodMask"},
    "ops.operations._inner_ops": {
        "ascend_kernel": f"{_OF_ASCEND} DSDGrad MatmulDDSGrad FFN TopKRouter TopPRouter KMeansCentroids DecodeImage "
        "ConfusionMulGrad CopyWithSlice Lamb NonZeroWithValue NonZeroWithValueShape SyncBatchNorm",
        "graphs": """
            CheckBprop check_bprop GetGrad ErrorOnDynamicShapeInput PartitionedCall CellBackwardHook StackInit StackPush
            StackPop StackDestroy
        """,
        "quantisation": "Quant Dequant AntiQuant",
        "gpu": "GpuConvertToDynamicShape",
        "strategies": "ParallelResizeBilinear",
    },
    "ops.operations.sparse_ops": {
        "sparse": """
            DenseToDenseSetOperation DenseToSparseSetOperation RaggedTensorToSparse RaggedTensorToTensor SetSize
            SparseCountSparseOutput SparseMatrixOrderingAMD SparseMatrixSoftmax SparseMatrixSparseMatMul SparseSplit
            Sspaddmm
        """
    },
    "ops.operations._quant_ops": {"quantisation": _QUANTISED},
    "ops.operations._thor_ops": {"thor": _THOR},
    "ops.operations._embedding_cache_ops": {"caches": _CACHES},
    "ops.operations._map_tensor_ops": {
        "tables": "MapTensorErase MapTensorGet MapTensorGetData MapTensorGetKeys MapTensorGetValues MapTensorPut"
    },
    "ops.operations._infer_ops": {
        "serving": """
            DynamicQuantExt FusedInferAttentionScore GroupedMatmul KVCacheScatterUpdate MatmulAllReduceAddRmsNorm
            MoeFinalizeRouting MoeGatingTopKSoftmax QuantBatchMatmul QuantLinearSparse QuantV2 WeightQuantBatchMatmul
        """
    },
    "ops.operations._ocr_ops": {
        "texts": """
            BatchDilatePolys BatchEnqueue Dequeue GetShape OCRDetectionPostHandle OCRDetectionPreHandle OCRFindContours
            OCRIdentifyPreHandle OCRRecognitionPreHandle ResizeAndClipPolys StringLength
        """
    },
    "ops.operations._rl_inner_ops": {"gpu": "CudnnGRU", "ascend_kernel": "GRUV2 LSTMV2"},
    "tools": {"ascend": _DETECTION},
    "utils": {
        "ascend": f"{_DETECTION} ExitByRequest RSCPluginHandle TFTCommValue comm_exec_order_check "
        "runtime_execution_order_check"
    },
    "train.node_strategy_pb2": {"strategies": "ParallelStrategyMap ParallelLayouts ParallelGroupMap"},
    "train.serialization": {"checkpoints": "_get_merged_param_data _save_graph _exec_save"},
    "_c_expression.op_enum": {"numbers": "str_to_enum"},
    "_c_expression": {
        "cell": "Cell_",
        "gradients": "GradOperation_",
        "queues": "init_exec_dataset",
        "graphs": "GraphExecutor_ PyNativeExecutor_ JitExecutor_ FuncGraph",
    },
}
