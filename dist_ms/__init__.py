"""dist_ms: MindSpore's Cell and Parameter API, trained data-parallel on CPU clusters with MPI.

`import dist_ms as ms` runs MindSpore user code alone, under `mpirun`, and with
parameter servers. Importing it starts no MPI and loads no kernel; NumPy arrays made after it come
from a caching allocator (see `dist_ms.allocator`).
"""

from dist_ms import allocator, collectives, common, communication, context, ops
from dist_ms import kernel_threads as _kernel_threads
from dist_ms.autograd.function import _Function
from dist_ms.autograd.grad import get_grad, grad, value_and_grad
from dist_ms.autograd.jacobian import jacfwd, jacrev, jvp, vjp
from dist_ms.autograd.recompute import recompute
from dist_ms.autograd.saved import register_saved_tensors_hooks, saved_tensors_hooks
from dist_ms.autograd.tape import no_grad as _no_grad
from dist_ms.autograd.vmap import vmap
from dist_ms.common import dtype
from dist_ms.common.dtype import *
from dist_ms.common.jit import (
    JitConfig,
    constexpr,
    jit,
    jit_class,
    lazy_inline,
    no_inline,
    set_recursion_limit,
)
from dist_ms.common.mutable import mutable
from dist_ms.common.parameter import Parameter, ParameterTuple
from dist_ms.common.parameter.device_context import DeviceCtx
from dist_ms.common.random.generator import (
    Generator,
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
)
from dist_ms.common.random.seed import get_seed, set_seed
from dist_ms.common.settings.context import (
    COMPATIBLE,
    GRAPH_MODE,
    LAX,
    PYNATIVE_MODE,
    STRICT,
    get_context,
    get_current_device,
    set_context,
    set_deterministic,
    set_device,
)
from dist_ms.common.settings.environment import check_names as _check_environment
from dist_ms.common.settings.parallel_context import (
    ParallelMode,
    get_auto_parallel_context,
    get_ps_context,
    reset_auto_parallel_context,
    reset_ps_context,
    set_auto_parallel_context,
    set_ps_context,
)
from dist_ms.common.tensor import Tensor, from_numpy, frombuffer, is_tensor, tensor
from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor, RowTensor, SparseTensor
from dist_ms.common.tensor.symbol import Symbol
from dist_ms.log import get_level, get_log_config

__version__ = "0.1.0"


def _take_role(world: communication.World) -> None:
    """Begin to serve, where this process is a server; that is the business of a higher floor than init()'s."""
    if world.roles is not None:
        from dist_ms.parallel.servers.leaving import leave_script

        leave_script(world)


communication.start.roles.ask_with(lambda: get_ps_context("enable_ps"))
communication.on_init(_take_role)

# The collectives stand above `ops` and are MindSpore's `ops` all the same.
ops.offer(collectives.PRIMITIVES)

# Packages that load when they are first used, so that importing dist_ms stays quick.
_LATER = tuple(
    "amp communication dataset experimental hal mint nn numpy parallel profiler rewrite runtime scipy train".split()
)

# Names of `dist_ms.train` that MindSpore also has here; a test compares them with it.
_OF_TRAIN = """
Accuracy BackupAndRestore BleuScore Callback CheckpointConfig ConfusionMatrix ConfusionMatrixMetric CosineSimilarity
DatasetHelper Dice DynamicLossScaleManager EarlyStopping F1 Fbeta FixedLossScaleManager HausdorffDistance History
LambdaCallback LearningRateScheduler Loss LossMonitor LossScaleManager MAE MSE MeanSurfaceDistance Metric Model
ModelCheckpoint OcclusionSensitivity OnRequestExit Perplexity Precision ProgressBar ROC Recall ReduceLROnPlateau
RootMeanSquareDistance RunContext SummaryCollector SummaryLandscape SummaryRecord TimeMonitor Top1CategoricalAccuracy
Top5CategoricalAccuracy TopKCategoricalAccuracy async_ckpt_thread_status auc build_train_network ckpt_to_safetensors
get_metric_fn load_checkpoint load_checkpoint_async load_param_into_net load_segmented_checkpoints names
rearrange_inputs safetensors_to_ckpt save_checkpoint
""".split()


# And of `dist_ms.runtime`.
_OF_RUNTIME = """
Event MemPool PluggableAllocator Stream StreamCtx StreamLimitCtx communication_stream current_stream default_stream
dispatch_threads_num empty_cache get_device_limit get_stream_limit launch_blocking max_memory_allocated
max_memory_reserved memory_allocated memory_replay memory_reserved memory_stats memory_summary
reset_max_memory_allocated reset_max_memory_reserved reset_peak_memory_stats reset_stream_limit
set_cpu_affinity set_cur_stream set_device_limit set_kernel_launch_capture set_kernel_launch_group set_memory
set_stream_limit synchronize use_mem_pool
""".split()

_HOMES = {
    **dict.fromkeys(_OF_TRAIN, "train"),
    **dict.fromkeys(_OF_RUNTIME, "runtime"),
    **dict.fromkeys("Node NodeType ScopedValue SymbolTree".split(), "rewrite"),
    **dict.fromkeys(
        "get_algo_parameters reset_algo_parameters set_algo_parameters".split(), "common.settings.search_settings"
    ),
    **dict.fromkeys("Layout merge_sliced_parameter".split(), "parallel"),
    "Profiler": "profiler",
    "ms_memory_recycle": "allocator",
    "run_check": "installation",
}


def __getattr__(name: str) -> object:
    """Load a package, or a name that one of them has, when it is first used."""
    import importlib

    if name in _LATER:
        return importlib.import_module(f"dist_ms.{name}")
    if name in _HOMES:
        value = getattr(importlib.import_module(f"dist_ms.{_HOMES[name]}"), name)
        globals()[name] = value
        return value
    from dist_ms.common.absent import missing

    raise missing("dist_ms", name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_LATER, *_HOMES})


_check_environment()
allocator.start()
_kernel_threads.start()

# MindSpore's names for three types; last, as they hide the built-ins in this file.
bool, int, float = dtype.bool_, dtype.int32, dtype.float32
