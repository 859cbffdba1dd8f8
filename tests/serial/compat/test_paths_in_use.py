"""Names that public programs take from MindSpore's private paths: each is there and does its work, or says why not."""

import importlib

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.compat
from dist_ms import nn
from dist_ms.compat.special_names import REFUSED, SPECIAL


@pytest.fixture(autouse=True)
def as_mindspore():
    dist_ms.compat.install()
    yield
    dist_ms.compat.uninstall()


def taken(path, name, package="mindspore"):
    return getattr(importlib.import_module(f"{package}.{path}"), name)


@pytest.fixture(params=["mindspore", "dist_ms"])
def package(request):
    return request.param


NAMES = """
ops.functional make_range tuple_len mixed_precision_cast relu
ops.primitive constexpr Primitive
ops.composite add_flags core GradOperation
ops add_flags P F C
ops.auto_generate str_to_enum AddExt ReluGrad SplitTensor
ops.auto_generate.gen_ops_prim SumExt ReluGrad
ops.auto_generate.gen_ops_def chunk
ops.operations._grad_ops ReluGrad LayerNormGrad Conv2DBackpropFilter
ops._primitive_cache _get_cache_prim
train.model ParallelMode Model
train.serialization Tensor context load_checkpoint
train.summary.summary_record SummaryRecord
train.callback SummaryCollector _set_cur_net
train.callback._callback _handle_loss
train.train_thor.dataset_helper DatasetHelper
nn.loss.loss _Loss LossBase Tensor
nn.wrap.cell_wrapper _VirtualDatasetCell ParallelMode
nn.wrap.loss_scale grad_scale shard_grad_scale
nn.layer.conv _check_input_3d twice
common.api cells_compile_cache
common.initializer _INITIALIZER_ALIAS initializer
common.np_dtype bfloat16
common.seed _get_graph_seed get_seed
device_context.ascend.op_precision precision_mode
parallel._cost_model_context set_cost_model_context _set_multi_subgraphs
_c_expression Tensor Cell_ GradOperation_ init_exec_dataset disable_multi_thread typing op_enum
ops.operations._inner_ops MixedPrecisionCast bit_and string_in PsROIPooling get_rank
ops.operations._sequence_ops TupleToTensor tuple_lt sequence_len
ops.operations._scalar_ops ScalarAdd bit_or bool_not
ops.operations.sparse_ops SparseToDenseV2 SparseToDense SparseSlice
ops.signature make_sig sig_rw sig_dtype
dataset.core.validator_helpers INT32_MAX
common._utils is_shape_unknown
common._decorator deprecated
common.api _function_forbid_reuse jit
ops.primitive _primexpr prim_attr_register
ops._utils.utils is_shape_unknown
train._utils _to_tensor _make_directory
parallel._utils _get_stage_device_num _device_number_check get_group_size
dataset.ds GeneratorDataset
dataset SourceDataset TextBaseDataset Implementation BatchDataset
ops.function.nn_func multi_head_attention_forward
nn.layer.rnn_cells RNNCellBase
nn.layer Dense Conv2d TimeDistributed AvgPool1dExt EmbeddingExt LogSoftmaxExt
mint.nn.layer GroupNorm BatchNorm2d Threshold AdaptiveMaxPool1d
mint.nn.layer.padding ZeroPad1d ReflectionPad3d
mint.nn.layer.activation SiLU LogSigmoid
ops.function.sparse_unary_func coo_abs csr_tanh
ops.function.comm_func all_reduce TCPStore P2POp gather_object set_comm_ops_inplace
ops.function.grad.grad_func value_and_grad jvp jet linearize get_grad stop_gradient_
communication._comm_helper GlobalComm Backend _get_rank_helper _is_initialized _get_group_ranks
communication.management DEFAULT_WORLD_COMM_GROUP _get_group
_c_expression.typing Float Bool Int UInt type_to_type_id
version __version__
"""


@pytest.mark.parametrize("line", NAMES.strip().splitlines())
def test_names_are_there(line, package):
    path, *names = line.split()
    for name in names:
        assert taken(path, name, package) is not None


@pytest.mark.parametrize("path", SPECIAL)
def test_special_names_are_there(path, package):
    for name in SPECIAL[path]:
        assert taken(path, name, package) is not None


@pytest.mark.parametrize("path", REFUSED)
def test_refused_names_can_be_imported_and_say_why_when_used(path, package):
    for name in REFUSED[path]:
        found = taken(path, name, package)
        try:
            found()
        except NotImplementedError as error:
            assert f"'{name}' is not available: dist_ms " in str(error)
        except (TypeError, ValueError):
            pass  # built since: an argument is missing


def test_names_that_are_two_things():
    assert taken("ops.function.grad.grad_func", "grad") is ms.grad  # not the module of that name
    assert taken("nn", "CosineSimilarity") is ms.train.CosineSimilarity
    x = ms.Tensor([[3.0, 4.0], [1.0, 0.0]])
    for path in ("nn.layer", "nn.layer.math"):
        layer = taken(path, "CosineSimilarity")(dim=1)
        np.testing.assert_allclose(layer(x, ms.Tensor([[6.0, 8.0], [0.0, 2.0]])).asnumpy(), [1, 0])


def test_a_refused_name_says_why():
    with pytest.raises(
        NotImplementedError, match="'AkgRegOp' is not available: dist_ms has none of MindSpore's kernel"
    ):
        taken("ops.op_info_register", "AkgRegOp")("x")


def test_a_star_takes_no_names_that_mindspore_s_file_only_imports():
    found = {}
    exec("from mindspore.train.serialization import *\nfrom mindspore.nn.layer.conv import *", found)
    assert "save_checkpoint" in found and "Conv2d" in found
    assert not {"int", "float", "bool", "nn", "context", "Tensor"} & found.keys()


def test_a_path_of_the_table_comes_before_a_module_of_ours():
    import mindspore

    assert mindspore.ops.functional.tuple_len((1, 2)) == 2
    assert mindspore.ops.operations._inner_ops is importlib.import_module("mindspore.ops.operations._inner_ops")


def test_functions_of_plain_values():
    F = importlib.import_module("mindspore.ops.functional")
    assert F.make_range(3) == (0, 1, 2) and F.make_range(5, 0, -2) == (5, 3, 1)
    assert F.tuple_div((4, 6), (2, 3)) == (2, 2) and F.tuple_reversed((1, 2)) == (2, 1)
    assert F.scalar_div(1, 2) == 0.5 and F.shape_mul((2, 3)) == 6 and F.make_slice(1, 2, 3) == slice(1, 2, 3)
    assert F.list_setitem([4, 5], 1, 9) == [4, 9] and F.in_dict("a", {"a": 1}) and F.dict_setitem({}, 1, 2) == {1: 2}
    assert F.make_tuple(1, 2) == (1, 2) and F.make_list(1, 2) == [1, 2] and F.make_dict(("a",), (1,)) == {"a": 1}
    assert F.reduced_shape((2, 3), (-1,)) == (2, 1) and F.broadcast_gradient_args((2, 1), (2, 3)) == ((1,), ())
    assert F.bool_and(True, True) and F.bool_or(False, True) and not F.not_in_dict("a", {"a": 1})
    assert F.array_to_scalar(ms.Tensor(2.0)) == 2.0 and F.isconstant(1) and F.switch(True, 1, 2) == 1
    cast = F.mixed_precision_cast(ms.float16, (ms.Tensor([1.5], ms.float32), ms.Tensor([1], ms.int32), 3))
    assert [getattr(c, "dtype", None) for c in cast] == [ms.float16, ms.int32, None]


def test_a_tensor_cut_off_in_place():
    F = importlib.import_module("mindspore.ops.functional")
    assert ms.grad(lambda x: F.stop_gradient_(x * 2) * x)(ms.Tensor(3.0)) == 6


def test_flags():
    add_flags, core = taken("ops.composite", "add_flags"), taken("ops.composite.base", "core")

    @core
    @add_flags(has_effect=True)
    def function(x):
        return x

    assert function._func_graph_flags == {"has_effect": True, "core": True}
    cell = nn.ReLU()
    assert add_flags(cell, defer_inline=True) is cell and cell.defer_inline


def test_scaled_gradients():
    scale = taken("nn.wrap.loss_scale", "grad_scale")
    assert np.array_equal(scale(ms.Tensor(2.0), ms.Tensor([2.0, 4.0], ms.float16)).asnumpy(), np.float16([1, 2]))
    rows = ms.RowTensor(ms.Tensor([1]), ms.Tensor([[4.0]]), (3, 1))
    assert scale(ms.Tensor(2.0), rows).values.asnumpy() == 2


def test_a_loss_as_a_number():
    handle = taken("train.callback._callback", "_handle_loss")
    losses = ms.Tensor([2.0, 4.0])
    assert handle((losses, ms.Tensor(True))) is losses and handle(losses) == 3 and handle(3.0) == 3


def test_seeds_of_operations_move_on():
    seeds = taken("common.seed", "_get_graph_seed")
    before = ms.get_seed()
    assert seeds(None, "paths")[1] in (0, 533697028) or before is not None
    ms.set_seed(3)
    assert [seeds(0, "paths in use"), seeds(0, "paths in use")] == [(3, 0), (3, 533697028)]


def test_numbers_of_types():
    typing = importlib.import_module("mindspore._c_expression.typing")
    assert typing.type_to_type_id(ms.float32) == 43 and typing.type_to_type_id(ms.bool_) == 30
    assert typing.type_to_type_id(ms.uint64) == 40 and typing.type_to_type_id(ms.bfloat16) == 45
    assert typing.type_id_to_type(35) is ms.int64 and typing.str_to_type("Float32") is ms.float32
    assert isinstance(ms.float16, typing.Float) and not isinstance(ms.float16, typing.Int)
    assert typing.is_subclass(ms.int8, typing.kInt) and not typing.is_subclass(ms.int8, typing.kFloat)
    with pytest.raises(TypeError, match="'type' must be a data type"):
        typing.type_to_type_id("x")
    with pytest.raises(ValueError, match="'type_id' must be the number"):
        typing.type_id_to_type(-1)
    with pytest.raises(ValueError, match="'text' must be the name"):
        typing.str_to_type("x")


def test_the_cost_model_keeps_its_figures():
    model = importlib.import_module("mindspore.parallel._cost_model_context")
    model.set_cost_model_context(costmodel_beta=3.0, run_phase=1)
    assert model.get_cost_model_context("costmodel_beta") == 3
    model.reset_cost_model_context()
    assert model.get_cost_model_context("run_phase") == 0
    with pytest.raises(TypeError, match="'device_memory_capacity' must be of type float"):
        model.set_cost_model_context(device_memory_capacity="a")
    with pytest.raises(ValueError, match="'costmodel_alpa' is not known"):
        model.set_cost_model_context(costmodel_alpa=1.0)
    for name, value in (("multi_subgraphs", True), ("algo_single_loop", True), ("rp_matmul_mem_coef", 0.5)):
        before = getattr(model, f"_get_{name}")()
        getattr(model, f"_set_{name}")(value)
        assert getattr(model, f"_get_{name}")() == value
        getattr(model, f"_set_{name}")(before)


def test_small_checks_of_layers():
    conv = importlib.import_module("mindspore.nn.layer.conv")
    conv._check_input_3d((1, 2, 3), "Net")
    assert conv.twice(3) == (3, 3)
    with pytest.raises(ValueError, match="For 'Net', 'input' must be a tensor of 3 dimensions"):
        conv._check_input_3d((1, 2), "Net")
    checks = importlib.import_module("mindspore._checkparam")
    assert checks.triple(2) == (2, 2, 2) and checks.twice([1, 2]) == (1, 2)
    with pytest.raises(TypeError, match="must be an int or 2 of them, but got 'a'"):
        checks.twice("a")


def test_the_network_in_training_is_a_cell():
    set_net = taken("train.callback", "_set_cur_net")
    set_net(nn.ReLU())
    with pytest.raises(TypeError, match="'net' must be a Cell or None, but got int"):
        set_net(1)


def test_operations_are_made_once():
    cached = taken("ops._primitive_cache", "_get_cache_prim")
    assert cached(ms.ops.ReduceSum)(True) is cached(ms.ops.ReduceSum)(True) is not cached(ms.ops.ReduceSum)(False)
    with pytest.raises(TypeError, match="'axis' must be an int, but got bool"):
        cached(ms.ops.Concat)(True)
    assert cached(ms.ops.Tile)() is cached(ms.ops.Tile)() and cached(ms.ops.Concat)(axis=1).axis == 1


def test_words_of_kernels_types():
    words = taken("ops.op_info_register", "DataType")
    assert words.F16_None == ("float16", "") and words.I8_Default == ("int8", "DefaultFormat")
    with pytest.raises(AttributeError, match="must be a type and a format"):
        assert words.X


def test_ranks_by_their_inner_names():
    helper = importlib.import_module("mindspore.communication._comm_helper")
    assert helper._get_rank_helper() == ms.communication.get_rank()
    assert helper._get_size_helper() == 1 and helper._is_available() and not helper._is_hccl_available()
    assert not helper._is_nccl_available() and helper._is_mpi_available() in (True, False)
    assert helper._is_initialized() is ms.communication.GlobalComm.INITED
    assert helper._get_backend() in ("hccl", "mccl") and helper.Backend("HCCL") == helper.Backend.HCCL
    with pytest.raises(TypeError, match="'name' must be a str, but got int"):
        helper.Backend(1)
    with pytest.raises(ValueError, match="'name' must be 'hccl', 'nccl' or 'mccl', but got 'x'"):
        helper.Backend("x")
    assert taken("communication.management", "_get_group")("g") == "g"


def test_one_parameter_takes_another_s_values():
    update = taken("train.serialization", "_update_param")
    weight = ms.Parameter(ms.Tensor([0.0, 0.0], ms.float32), name="weight")
    update(weight, ms.Parameter(ms.Tensor([1.0, 2.0], ms.float16), name="other"), False)
    assert weight.asnumpy().tolist() == [1, 2] and weight.name == "weight"
    with pytest.raises(RuntimeError, match=r"must have the shape \(2,\)"):
        update(weight, ms.Parameter(ms.Tensor([1.0]), name="other"), False)
    with pytest.raises(TypeError, match="'new_param' must be a Parameter, but got int"):
        update(weight, 1, False)


def test_a_signature_keeps_what_it_is_given():
    sig = importlib.import_module("mindspore.ops.signature")
    made = sig.make_sig("x", sig.sig_rw.RW_WRITE, dtype=sig.sig_dtype.T1)
    assert made.name == "x" and made.rw is sig.sig_rw.RW_WRITE and made.dtype is sig.sig_dtype.T1
