"""dist_ms: MindSpore's Cell and Parameter API, trained data-parallel on CPU clusters with MPI.

`import dist_ms as ms` runs MindSpore user code alone, under `mpirun`, and with
parameter servers. Importing it starts no MPI and loads no kernel; NumPy arrays made after it come
from a caching allocator (see `dist_ms.allocator`).
"""

import typing as _typing

from dist_ms import allocator, collectives, communication, ops
from dist_ms import kernel_threads as _kernel_threads
from dist_ms.collectives.offered import FROM_ABOVE as _FROM_ABOVE
from dist_ms.common import dtype
from dist_ms.common.dtype import *
from dist_ms.common.late_names import late_names as _late_names
from dist_ms.common.late_names import offer as _offer
from dist_ms.common.settings.environment import check_names as _check_environment
from dist_ms.common.settings.environment import value_of as _value_of
from dist_ms.common.settings.parallel_context import get_ps_context
from dist_ms.common.tensor import Tensor
from dist_ms.common.tensor import slices as _slices
from dist_ms.compat.paths import install as _offer_paths

__version__ = "0.1.0"


def _joined(world: communication.World) -> None:
    """Do what floors above init() have to do when ranks have joined; a server begins to serve."""
    if len(world.processes) > 1:
        from dist_ms import parallel  # a rank's status and its share of the cores
    if world.roles is not None:
        from dist_ms.parallel.servers.leaving import leave_script

        leave_script(world)


communication.start.roles.ask_with(lambda: get_ps_context("enable_ps"))
communication.on_init(_joined)
_slices.set_rank_source(communication.get_rank)

# The collectives stand above `ops` and are MindSpore's `ops` all the same.
_offer("dist_ms.ops", collectives.PRIMITIVES)
_offer("dist_ms.ops", _FROM_ABOVE)
# So do layers in PyTorch's form stand above `nn`.
_offer(
    "dist_ms.nn",
    {
        "dist_ms.mint.nn.other_names": (
            *("AvgPool1dExt", "AvgPool2dExt", "AvgPool3dExt", "EmbeddingExt", "L1LossExt", "LogSoftmaxExt"),
            "MaxPool2dExt",
        ),
    },
)
# A callback that records stands above `profiler`.
_offer("dist_ms.profiler", {"dist_ms.train.profiling_monitor": ("DynamicProfilerMonitor",)})
# So do networks and checkpoints stand above `parallel`.
_offer(
    "dist_ms.parallel",
    {
        "dist_ms.train.checkpoint.dividing.transform": (
            "convert_checkpoint_by_rank",
            "convert_checkpoints",
            "load_distributed_checkpoint",
            "rank_list_for_convert",
            "rank_list_for_transform",
            "transform_checkpoint_by_rank",
            "transform_checkpoints",
        ),
        "dist_ms.nn.cell.compiler": ("shard",),
        "dist_ms.nn.wrap.auto_parallel": ("AutoParallel",),
        "dist_ms.train.checkpoint.dividing.unified": ("unified_safetensors",),
        "dist_ms.train.serialization": ("load_segmented_checkpoints",),
    },
)

# What loads when it is first used, so that importing dist_ms stays quick.
if _typing.TYPE_CHECKING:
    from dist_ms import (
        amp,
        boost,
        common,
        context,
        dataset,
        device_context,
        elastic,
        experimental,
        hal,
        interruption,
        mindrecord,
        mint,
        multiprocessing,
        nn,
        numpy,
        onnx,
        parallel,
        profiler,
        rewrite,
        runtime,
        scipy,
        train,
    )
    from dist_ms.allocator import ms_memory_recycle
    from dist_ms.autograd.function import _Function
    from dist_ms.autograd.grad import get_grad, grad, value_and_grad
    from dist_ms.autograd.jacobian import jacfwd, jacrev, jvp, vjp
    from dist_ms.autograd.recompute import recompute
    from dist_ms.autograd.saved import register_saved_tensors_hooks, saved_tensors_hooks
    from dist_ms.autograd.tape import no_grad as _no_grad
    from dist_ms.autograd.vmap import vmap
    from dist_ms.common.jit import (
        JitConfig,
        constexpr,
        jit,
        jit_class,
        lazy_inline,
        no_inline,
        set_recursion_limit,
    )
    from dist_ms.common.mutables import mutable
    from dist_ms.common.parameter import Parameter, ParameterTuple
    from dist_ms.common.parameter.device_context import DeviceCtx
    from dist_ms.common.quantised import *
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
    from dist_ms.common.settings.parallel_context import (
        ParallelMode,
        get_auto_parallel_context,
        reset_auto_parallel_context,
        reset_ps_context,
        set_auto_parallel_context,
        set_ps_context,
    )
    from dist_ms.common.settings.search_settings import (
        get_algo_parameters,
        reset_algo_parameters,
        set_algo_parameters,
    )
    from dist_ms.common.tensor import Tensor, from_numpy, frombuffer, is_tensor, tensor
    from dist_ms.common.tensor.sparse_tensor import COOTensor, CSRTensor, RowTensor, SparseTensor
    from dist_ms.common.tensor.storage import UntypedStorage
    from dist_ms.common.tensor.swapping import swap_tensors
    from dist_ms.common.tensor.symbol import Symbol
    from dist_ms.installation import run_check
    from dist_ms.launch.function import run
    from dist_ms.log import get_level, get_log_config
    from dist_ms.nn.cell.compiler import shard
    from dist_ms.nn.wrap.declared_shapes import enable_dynamic
    from dist_ms.parallel import Layout, merge_sliced_parameter
    from dist_ms.parallel.plain_settings import parameter_broadcast, sync_pipeline_shared_parameters
    from dist_ms.profiler import Profiler
    from dist_ms.rewrite import Node, NodeType, ScopedValue, SymbolTree
    from dist_ms.runtime import *
    from dist_ms.runtime.without_device import *
    from dist_ms.train import (
        DatasetHelper,
        DynamicLossScaleManager,
        ExponentialMovingAverage,
        FixedLossScaleManager,
        LearningRates,
        LossScaleManager,
        Model,
        build_train_network,
        find_learning_rate,
        load_run,
        save_run,
    )
    from dist_ms.train.callback import *
    from dist_ms.train.flops import flops_collection
    from dist_ms.train.metrics import *
    from dist_ms.train.obfuscation import *
    from dist_ms.train.refused import *
    from dist_ms.train.serialization import *
    from dist_ms.train.sinking import *
    from dist_ms.train.summary import *
    from dist_ms.train.thor import *

_late_names(__name__)
_late_names("dist_ms.communication")  # which does not know this floor
_offer_paths()

_check_environment()
allocator.start()
_kernel_threads.start()
if _value_of("DIST_MS_TRACE"):
    from dist_ms.profiler import tracing as _tracing

    _tracing.start(_value_of("DIST_MS_TRACE"))

# MindSpore's names for three types; last, as they hide the built-ins in this file.
bool, int, float = dtype.bool_, dtype.int32, dtype.float32
