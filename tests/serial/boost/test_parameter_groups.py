"""Optimizers and groups made anew, as MindSpore makes them."""

import logging

import pytest

import dist_ms as ms
from dist_ms import boost, nn
from tests.serial.boost.recorded import FUSION, GROUPS, NEW_GROUPS


def network():
    net = nn.SequentialCell(nn.Conv2d(2, 4, 3, has_bias=True), nn.BatchNorm2d(4), nn.Conv2d(4, 4, 3, group=2))
    net.update_parameters_name()
    return net


def named(groups):
    """Groups with the names of their parameters."""
    told = []
    for group in groups:
        told.append({k: [p.name for p in v] if k in ("params", "order_params") else v for k, v in group.items()})
    return told


def test_gradients_are_centralised_where_mindspore_does():
    net = network()
    weights = net.trainable_params()
    opt = nn.Momentum([{"params": weights[:2], "weight_decay": 0.1}, {"params": weights[2:]}], 0.1, 0.9)
    made = boost.OptimizerProcess(opt)
    made.add_grad_centralization(net)
    assert named(made.origin_params) == GROUPS
    new = made.generate_new_optimizer()
    assert type(new) is nn.Momentum and new.init_args["momentum"] == 0.9
    by_name = dict(zip([p.name for p in new.parameters], new.grad_centralization_flags))
    assert by_name == {p.name: p.name == "0.weight" for p in weights}


def test_parameters_without_groups_stay(caplog):
    net = network()
    made = boost.OptimizerProcess(nn.Momentum(net.trainable_params(), 0.1, 0.9))
    with caplog.at_level(logging.WARNING, "dist_ms"):
        made.add_grad_centralization(net)
    assert "gradients are centralised in groups only" in caplog.text
    assert not any(made.generate_new_optimizer().grad_centralization_flags)


def test_lars_is_made_anew_around_its_optimizer():
    net = network()
    made = boost.OptimizerProcess(nn.LARS(nn.Momentum(net.trainable_params(), 0.25, 0.9), coefficient=0.5))
    new = made.generate_new_optimizer()
    assert type(new) is nn.LARS and type(new.opt) is nn.Momentum and new.coefficient == 0.5
    assert float(new.opt.learning_rate.asnumpy()) == 0.25


def test_parameters_get_the_groups_of_their_names():
    weights = network().trainable_params()
    origin = [{"params": weights[:2], "weight_decay": 0.1, "lr": 0.5}, {"params": weights[2:3]}]
    origin.append({"order_params": weights})
    assert named(boost.ParameterProcess.generate_group_params(weights[1:], origin)) == NEW_GROUPS
    assert named(boost.ParameterProcess.generate_group_params(weights[2:3], origin[:2])) == [{"params": ["1.gamma"]}]
    for wrong, error in (([], ValueError), ([3], TypeError)):
        with pytest.raises(error, match="For 'ParameterProcess', the optimizer's parameters must"):
            boost.ParameterProcess.generate_group_params(weights, wrong)


def test_buckets():
    weights = network().trainable_params()
    process = boost.ParameterProcess()
    process.assign_parameter_group(weights)
    found = [[p.comm_fusion for p in weights]]
    process.assign_parameter_group(weights, [1, 3])
    found.append([p.comm_fusion for p in weights])
    assert found == FUSION
    assert process.assign_parameter_group(None) is None


def test_an_optimizer_must_record_its_arguments():
    class Plain(nn.Optimizer):
        def __init__(self, params):
            super().__init__(0.1, params)

    with pytest.raises(ValueError, match="Plain has no 'init_args'"):
        boost.OptimizerProcess(Plain([ms.Parameter(ms.Tensor([1.0]), name="w")]))
