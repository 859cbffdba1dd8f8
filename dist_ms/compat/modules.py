"""Where MindSpore's module paths lead that dist_ms does not have, or lays out otherwise.

A path in the table is a module whose names are looked up in the listed dist_ms modules, in their order; `import *`
leaves out those after "~". Where dist_ms has a module of that path, its own names come first.
"""

from __future__ import annotations

# What scripts that look at the version see: the MindSpore whose behaviour dist_ms follows.
MINDSPORE_VERSION = "2.10.0"


def _below(package: str, names: str, *sources: str) -> dict[str, tuple[str, ...]]:
    """Entries for several modules of one package: each looks into its own twin first, if there is one."""
    return {f"{package}.{name}": (f"{package}.{name}", *sources) for name in names.split()}


# What MindSpore's own files import, so that scripts import it from there as well.
_IMPORTED = (
    "~compat.checkparam",
    "~compat.inner.sequence_checks",
    "~compat.inner.decorators",
    "~common.initializer",
    "~common.jit",
    "~common.parameter",
    "~context",
    "~",
)

ALIASES: dict[str, tuple[str, ...]] = {
    # common
    "common": ("common", "~"),
    **_below("common", "jit_config lazy_inline no_inline jit_context", "common.jit"),
    **_below("common", "recompute", "autograd.recompute"),
    **_below("common", "hook_handle", "nn.cell.hook_handle"),
    **_below("common", "sparse_tensor symbol", "common", "~"),
    **_below("common", "_utils _decorator", "compat.inner.decorators", "common", "~"),
    **_below(
        "common",
        "api dtype initializer parameter seed tensor",
        "common",
        "~common.settings.context",
        "~compat.inner.decorators",
        "~",
    ),
    "common.np_dtype": (),
    "_c_expression": ("common.tensor", "common.tensor.sparse_tensor"),
    "_c_expression.typing": ("compat.inner.c_typing",),
    "_c_expression.op_enum": (),
    "graph.symbol": ("common.tensor.symbol",),
    **_below("graph", "api", "common.api"),
    **_below("common", "mutable", "common.mutables"),
    **_below("graph", "mutable", "common.mutables"),
    **_below("graph", "lazy_inline no_inline jit_config", "common.jit"),
    "graph": ("graph", "common.api"),
    "_checkparam": ("compat.checkparam", "compat.inner.sequence_checks"),
    "_extends": ("compat.recorded_arguments",),
    "_extends.utils": ("compat.recorded_arguments",),
    "_extends.parse": (),
    "_extends.parse.compile_config": ("compat.compile_config",),
    "version": ("compat.version",),
    "device_manager": ("common.settings.context",),
    "device_context.ascend": ("runtime.ascend_device",),
    "device_context.ascend.device": ("runtime.ascend_device",),
    **{f"device_context.ascend.{name}": () for name in ("op_debug", "op_precision", "op_tuning")},
    **{f"device_context.gpu.{name}": () for name in ("op_precision", "op_tuning")},
    "device_context.cpu": ("runtime.cpu_device",),
    "device_context.cpu.device": ("runtime.cpu_device",),
    "device_context.cpu.op_tuning": ("runtime.thread_count",),
    "device_context.gpu": ("runtime.gpu_device",),
    "device_context.gpu.device": ("runtime.gpu_device",),
    # what is installed, and what takes the time
    "run_check": ("installation",),
    "run_check.run_check": ("installation",),
    "profiler.schedule": ("profiler.scheduling",),
    # files of records
    "mindrecord.common": (),
    "mindrecord.common.exceptions": ("mindrecord.exceptions",),
    "mindrecord.config": ("mindrecord.encryption",),
    "mindrecord.filereader": ("mindrecord.reader",),
    "mindrecord.filewriter": ("mindrecord.writer",),
    "mindrecord.mindpage": ("mindrecord.page",),
    **_below("mindrecord", "core tools", "mindrecord"),
    **_below("mindrecord.core", "shardheader shardindexgenerator shardreader shardsegment shardwriter", "mindrecord"),
    **_below("mindrecord.tools", "cifar10_to_mr cifar100_to_mr csv_to_mr imagenet_to_mr", "mindrecord"),
    **_below("mindrecord.tools", "mnist_to_mr tfrecord_to_mr", "mindrecord"),
    **_below("mindrecord.tools", "cifar10 cifar100", "mindrecord.converters.cifar_arrays"),
    "mindrecord.core.shardutils": ("mindrecord.status",),
    # networks
    **_below(
        "nn.layer",
        "activation basic channel_shuffle combined container conv dense embedding image math normalization padding "
        "pooling rnn_cells rnns thor_layer timedistributed transformer",
        "nn.layer",
        "nn",
        *_IMPORTED,
    ),
    **_below("nn.loss", "loss", "nn.loss", *_IMPORTED),
    "nn.cell": ("nn.cell", *_IMPORTED),
    **_below(
        "nn.optim",
        "ada_grad adadelta adafactor adam adamax adasum asgd ftrl lamb lars lazyadam momentum optimizer "
        "proximal_ada_grad rmsprop rprop sgd thor",
        "nn.optim",
        "~compat.inner.gradient_scaling",
        *_IMPORTED,
    ),
    **_below(
        "nn.wrap", "cell_wrapper grad_reducer loss_scale", "nn.wrap", "~compat.inner.gradient_scaling", *_IMPORTED
    ),
    "nn.layer": ("nn.layer", "~nn"),
    "mint.nn.layer": ("mint.nn",),
    **_below("mint.nn.layer", "_functions activation basic conv normalization padding pooling", "mint.nn"),
    **_below(
        "nn.probability.bnn_layers",
        "bnn_cell_wrapper conv_variational dense_variational layer_distribution",
        "nn.probability.bnn_layers",
    ),
    "nn.sparse": ("nn.layer.mathematics.sparse_products",),
    "nn.sparse.sparse": ("nn.layer.mathematics.sparse_products",),
    "nn.utils": ("common.parameter.postponing",),
    "nn.grad": ("compat.inner.gradient_cells", "autograd.jacobian"),
    "nn.grad.cell_grad": ("compat.inner.gradient_cells", "autograd.jacobian"),
    "nn.dynamic_lr": ("nn.dynamic_lr", "nn"),
    "nn.metrics": ("train.metrics",),
    # operations
    "nn": ("nn", "train.metrics"),
    "boost": ("boost",),
    **_below(
        "boost",
        "adasum base boost boost_cell_wrapper dim_reduce grad_accumulation grad_freeze group_loss_scale_manager "
        "less_batch_normalization",
        "boost",
        "boost.accumulation",
    ),
    # devices
    "tools": ("runtime.without_device", "~runtime.data_corruption"),
    "utils": ("compat.inner.dlpack", "~runtime.data_corruption"),
    "utils.dlpack": ("compat.inner.dlpack",),
    **_below("ops", "primitive", "ops", "common.jit", "~compat.inner.decorators"),
    **_below("ops", "_utils _utils.utils", "~compat.inner.decorators", "~ops"),
    "ops": ("ops", "~compat.inner.operations.ascend_operations"),
    "ops.operations": ("ops.operations", "~compat.inner.operations.ascend_operations"),
    "ops.function": ("ops.function", "ops"),
    "ops.functional": ("ops.functional", "compat.inner.plain_values", "~ops.composite"),
    "ops.op_info_register": ("ops.custom.registration", "ops.custom.platform_registration"),
    "ops.vm_impl_registry": ("ops.custom.platform_registration",),
    "ops.signature": ("compat.inner.signatures",),
    "ops._primitive_cache": ("compat.inner.primitive_cache",),
    **_below(
        "ops.function",
        "array_func clip_func debug_func fft_func image_func linalg_func math_func nn_func other_func "
        "parameter_func random_func sparse_func sparse_unary_func spectral_func vmap_func",
        "ops",
    ),
    "ops.function.reshard_func": ("~ops",),
    "ops.function.comm_func": ("mint.distributed", "communication.comm_func"),
    "ops.function.grad": ("~", "autograd", "~ops"),
    "ops.function.grad.grad_func": ("~", "autograd", "~ops"),
    **_below(
        "ops.operations",
        "array_ops comm_ops control_ops custom_ops debug_ops image_ops inner_ops linalg_ops math_ops nn_ops other_ops "
        "random_ops spectral_ops _quant_ops _thor_ops "
        "_embedding_cache_ops _map_tensor_ops _infer_ops _ocr_ops _rl_inner_ops",
        "ops.operations",
        "ops",
        "~compat.inner.operations.ascend_operations",
        "~compat.inner.plain_values",
    ),
    **_below(
        "ops.operations",
        "_inner_ops _scalar_ops _sequence_ops",
        "ops.operations",
        "ops",
        "~compat.inner.operations.plain_primitives",
        "~compat.inner.plain_values",
        "~communication.management",
    ),
    "ops.operations._csr_ops": ("compat.inner.operations.csr_operations", "~ops.operations", "~ops"),
    "ops.operations.sparse_ops": ("compat.inner.operations.sparse_operations", "~ops.operations", "~ops"),
    "ops.operations._grad_ops": ("ops.backward", "ops.operations", "~ops"),
    "ops.composite": ("ops.composite", "~compat.inner.plain_values"),
    **_below("ops.composite", "base math_ops", "ops.composite", "ops", "~compat.inner.plain_values"),
    "ops.composite.multitype_ops": ("compat.inner.operators", "ops.composite", "ops", "~compat.inner.plain_values"),
    "ops.auto_generate": ("ops.auto_generate", "~ops.backward", "~compat.inner.operations.generated_primitives"),
    "ops.auto_generate.gen_ops_prim": (
        "ops.auto_generate",
        "~ops.backward",
        "~compat.inner.operations.generated_primitives",
    ),
    "ops.auto_generate.gen_ops_def": ("ops.auto_generate",),
    "ops.functional_overload": ("ops.functional_overload",),
    # training
    "train.callback": ("train.callback", "~train"),
    **_below(
        "train.callback",
        "_backup_and_restore _callback _checkpoint _early_stop _history _lambda_callback _loss_monitor "
        "_lr_scheduler_callback _on_request_exit _reduce_lr_on_plateau _summary_collector _time_monitor",
        "train.callback",
        "train.callback.callback",
        "train",
    ),
    **_below(
        "train.metrics",
        "accuracy auc bleu_score confusion_matrix cosine_similarity dice error fbeta hausdorff_distance loss "
        "mean_surface_distance metric occlusion_sensitivity perplexity precision recall roc "
        "root_mean_square_surface_distance topk",
        "train.metrics",
    ),
    **_below("train", "amp loss_scale_manager", "amp", "train"),
    "train": ("train", "~parallel", "~train.refused", "~train.sinking", "~train.thor"),
    "safeguard": ("train.obfuscation",),
    "safeguard.rewrite_obfuscation": ("train.obfuscation",),
    **_below("train", "dataset_helper data_sink", "train", "~train.sinking", "~"),
    **_below("train", "model serialization", "train", *_IMPORTED),
    "train._utils": ("compat.inner.training_values", *_IMPORTED),
    "train.summary.summary_record": ("train.summary.record",),
    **_below("train.train_thor", "convert_utils dataset_helper model_thor", "train", "train.thor"),
    "train.train_thor": ("train", "train.thor"),
    "train.node_strategy_pb2": (),
    # data
    "dataset.audio.utils": ("dataset.audio",),
    "dataset.utils": ("dataset.line_reader", "dataset.vision.drawing"),
    "dataset.text.utils": ("dataset.text",),
    "dataset.vision.utils": ("dataset.vision",),
    "dataset.core": (),
    "dataset.core.validator_helpers": ("compat.inner.number_limits",),
    "dataset.ds": ("dataset",),
    "dataset.vision.py_transforms_util": ("dataset.vision.pil_functions",),
    # what MindSpore 1 had, and many programs still import
    **_below("dataset.vision", "c_transforms", "dataset.vision"),
    **_below("dataset.vision", "py_transforms", "dataset.vision.older_names", "dataset.vision"),
    **_below("dataset.transforms", "c_transforms py_transforms", "dataset.transforms"),
    # distribution
    "communication.management": ("communication.management", "communication", "~compat.inner.group_functions"),
    "communication._comm_helper": ("compat.inner.group_functions", "~communication"),
    "communication.comm_func": ("communication.comm_func", "communication"),
    "parallel": ("parallel", "~train.refused", "~parallel.plain_settings", "~"),
    "parallel.strategy": ("compat.inner.planned_cuts", "parallel", "~"),
    "parallel.checkpoint_convert": ("train.checkpoint.dividing.transform",),
    "parallel.checkpoint_transform": ("train.checkpoint.dividing.transform", "parallel"),
    "parallel.transform_safetensors": ("train.checkpoint.dividing.safetensors", "train.checkpoint.dividing.unified"),
    **_below("parallel.nn", "parallel_cell_wrapper parallel_grad_reducer", "parallel.nn"),
    "parallel.distributed": ("nn.wrap.distributed_data_parallel",),
    "parallel.distributed.distributed_data_parallel": ("nn.wrap.distributed_data_parallel",),
    "parallel.distributed.flatten_grad_buffer": ("nn.wrap.gradient_buffers",),
    "parallel.function": ("~ops",),
    "parallel.function.reshard_func": ("~ops",),
    "parallel._auto_parallel_context": ("compat.parallel_settings",),
    "parallel._utils": ("compat.parallel_settings", "~communication", "~common.random.seed"),
    "parallel._ps_context": ("compat.server_roles",),
    "parallel._cost_model_context": ("compat.inner.cost_model",),
    **_below("parallel", "algo_parameter_config", "common.settings.search_settings"),
    **_below("parallel", "auto_parallel checkpoint_transform parameter_broadcast shard", "parallel", "~"),
}
