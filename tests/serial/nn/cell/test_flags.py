"""Training state, flags, and what is set on all parameters of a cell."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.common.initializer import initializer
from tests.serial.nn.cell.cells import Outer, names, numbers, tensor


def test_train_state():
    net = Outer()
    assert net.training is False and net.phase == "train"
    assert net.set_train() is net and net.a.training and net.phase == "train"
    net.set_train(False)
    assert not net.b.training and net.phase == "predict" and net.a.phase == "train"
    assert net.get_flags() == {"training": False}
    net.a.training = True
    assert not net.training and not net.b.training
    net.phase = "mine"
    assert net.phase == "mine"
    with pytest.raises(TypeError, match="'phase' must be string type"):
        net.phase = 3


def test_gradient_state():
    net = Outer()
    assert net.set_grad() is net and net.requires_grad and not net.a.requires_grad
    assert all(p.requires_grad for p in net.trainable_params())
    assert net.set_grad(False).requires_grad is False


def test_flags():
    net = nn.Cell(flags={"first": 1})
    assert net.first == 1 and net.get_flags() == {"first": 1}
    net = Outer()
    assert net.add_flags(x=3).x == 3 and net.get_flags() == {"x": 3} and net.a.get_flags() == {}
    assert net.add_flags_recursive(y=True) is net and net.a.y is True and net.b.get_flags() == {"y": True}
    assert net.set_broadcast_flag() is net and net.a.broadcast_flag is True


def test_communication_fusion():
    net = Outer()
    assert net.set_comm_fusion(2) is net
    assert {p.comm_fusion for p in net.trainable_params()} == {2} and net.a.u.comm_fusion == 1
    net.set_comm_fusion(5, recurse=False)
    assert [p.comm_fusion for p in net.trainable_params()] == [5, 2, 2]
    for wrong, error in ((-1, ValueError), ("a", TypeError), (True, TypeError)):
        with pytest.raises(error, match="'fusion_type' must be"):
            net.set_comm_fusion(wrong)


def test_parameter_servers():
    net = Outer()
    net.set_param_ps(recurse=False, init_in_server=True)
    assert net.w.is_param_ps and net.w.init_in_server and not net.a.v.is_param_ps
    net.set_param_ps()
    assert net.a.v.is_param_ps and not net.a.u.is_param_ps and not net.w.init_in_server


def test_lazy_parameters_get_their_values():
    with nn_without_values():
        net = nn.Dense(2, 3)
    assert net.weight.has_init
    replaced = net.init_parameters_data()
    assert not net.weight.has_init and replaced == {net.weight: net.weight, net.bias: net.bias}


def nn_without_values():
    from dist_ms.common.parameter import no_init_parameters

    return no_init_parameters()


def test_cells_made_on_the_meta_device():
    with ms.DeviceCtx("meta"):
        net = nn.Dense(3, 4)
    assert net.weight.has_init
    assert net.to_empty(device="CPU") is net and not net.weight.has_init and net.weight.shape == (4, 3)
    for name, error in (("zz", ValueError), ("GPU", RuntimeError), ("Ascend", RuntimeError)):
        with pytest.raises(error, match="For DeviceCtx, the name must be"), ms.DeviceCtx(name):
            pass
    with pytest.raises(ValueError, match="device_id must be None or 0"), ms.DeviceCtx("CPU", 1):
        pass
    with ms.DeviceCtx("CPU", 0):
        assert not nn.Dense(3, 4).weight.has_init


def test_flatten_weights():
    net = nn.SequentialCell(nn.Dense(2, 3), nn.Dense(3, 1))
    net.insert_param_to_cell("steps", Parameter(Tensor([1, 2], ms.int32), name="steps"))
    before = [numbers(p) for p in net.get_parameters()]
    net.flatten_weights()
    assert [numbers(p) for p in net.get_parameters()] == before
    blocks = [p.asnumpy().base for p in net.get_parameters()]
    assert [b.shape for b in blocks] == [(2,), (13,), (13,), (13,), (13,)] and len({id(b) for b in blocks}) == 2
    net[0].weight.set_data(initializer("zeros", [3, 2]))
    assert not blocks[1][:6].any() and np.shares_memory(net[0].weight.asnumpy(), blocks[1])
    net.flatten_weights(fusion_size=24)
    assert [p.asnumpy().base.size for p in net.get_parameters()] == [2, 6, 6, 6, 1]
    for wrong, error in ((-1, ValueError), (1.5, TypeError), (True, TypeError)):
        with pytest.raises(error, match="'fusion_size' must be"):
            net.flatten_weights(wrong)


def test_flattened_weights_are_trained():
    net = nn.Dense(2, 1, weight_init="ones", bias_init="zeros")
    net.flatten_weights()
    step = nn.TrainOneStepCell(net, nn.SGD(net.trainable_params(), 0.5))
    step(Tensor([[1.0, 2.0]]))
    assert numbers(net.weight) == [[0.5, 0.0]] and numbers(net.bias) == [-0.5]


def test_scopes():
    net = nn.SequentialCell(Outer())
    assert net.get_scope() is None
    net.generate_scope()
    assert net.get_scope() is None and net[0].a.get_scope() == "Default/0-Outer/a-Inner"


def test_kinds_of_cells():
    net = Outer()
    assert net.cell_type is None
    net.update_cell_type("second-order")
    assert net.cell_type == "second-order"


def test_everything_is_data_parallel():
    net = Outer()
    assert net.set_data_parallel() is None and net.get_flags() == {} and names(net)[0] == "explicit"


# ---- what MindSpore's compiler is asked
def test_stages():
    net = Outer()
    for name in ("pipeline_stage", "pipeline_segment"):
        assert not hasattr(net, name)
        setattr(net, name, 2)
        assert getattr(net, name) == 2
        for wrong, error in ((-1, ValueError), ("a", TypeError), (True, TypeError)):
            with pytest.raises(error, match=name):
                setattr(net, name, wrong)


@pytest.mark.parametrize(
    "name, empty",
    [("parameter_layout_dict", {}), ("parallel_parameter_name_list", ()), ("parallel_parameter_merge_net_dict", {})],
)
def test_notes_of_model_parallelism(name, empty):
    net = Outer()
    assert getattr(net, name) == empty
    kind = type(empty) if empty == {} else list
    setattr(net, name, kind())
    assert getattr(net, name) == kind() and getattr(Outer(), name) == empty
    with pytest.raises(TypeError, match=f"'{name}' must be {kind.__name__} type, but got type <class 'int'>"):
        setattr(net, name, 3)


def test_recorded_arguments():
    net = Outer()
    assert not hasattr(net, "cell_init_args")
    net.cell_init_args = "Outer()"
    assert net.cell_init_args == "Outer()"
    with pytest.raises(TypeError, match="'cell_init_args' must be string type"):
        net.cell_init_args = 3


def test_compiler_settings_are_kept():
    net = Outer()
    assert net.jit_config_dict == {} and net.compiled is False
    net.set_jit_config(ms.JitConfig(jit_level="O1"))
    net.set_jit_config(ms.JitConfig(jit_level="O0"))
    assert net.jit_config_dict["jit_level"] == "O1"
    with pytest.raises(AttributeError):
        Outer().set_jit_config(3)


def test_inputs_for_a_compiler():
    net, x = Outer(), Tensor(shape=[None], dtype=ms.float32)
    assert net.get_inputs() is None
    net.set_inputs(x)
    assert net.get_inputs() == (x,)
    assert numbers(net(tensor(1, 2))) == [3.0, 6.0]
    net.set_inputs(x=x)
    assert net.get_inputs() == {"arg_specified_infos": [[0, x]], "total_arg_length": 1}
    with pytest.raises(ValueError, match="should only set inputs or kwargs"):
        net.set_inputs(x, x=x)
    with pytest.raises(ValueError, match=r"valid key is \['x'\], but got zz!"):
        net.set_inputs(zz=x)


def test_compile_checks():
    net = Outer()
    net.compile(tensor(1))
    assert numbers(net.compile_and_run(tensor(1))) == [3.0]
    for wrong in ((), (tensor(1), tensor(1))):
        with pytest.raises(TypeError, match="For 'Outer', the arguments do not fit 'construct'"):
            net.compile(*wrong)
    with pytest.raises(ValueError, match="'other' of .* already exists"):
        Outer(auto_prefix=False).compile(tensor(1))
    net.remove_redundant_parameters()


def test_run_construct():
    net = Outer()
    net.register_forward_hook(lambda cell, args, out: out * 10)
    assert numbers(net.run_construct((tensor(1),), {})) == [30.0]
    assert numbers(net.run_construct((), {"x": tensor(2)})) == [60.0]


@pytest.mark.parametrize(
    "call, match",
    [
        (lambda net: net.offload(), "'offload' is not supported .*'recompute\\(\\)' saves memory"),
        (lambda net: net.get_func_graph_proto(), "'get_func_graph_proto' is not supported .* no compiled graph"),
    ],
)
def test_what_is_refused(call, match):
    with pytest.raises(RuntimeError, match=f"For 'Outer', {match}"):
        call(Outer())


def test_boost():
    net = Outer()
    assert net.set_boost("less_bn") is net and net.get_flags() == net.a.get_flags() == {"less_bn": True}


def test_unknown_boost():
    with pytest.raises(ValueError, match="'boost_type' must be 'less_bn', but got x"):
        Outer().set_boost("x")
