"""Errors of nn's optimizers: MindSpore's types, naming the argument."""

import numpy as np
import pytest

from dist_ms import Parameter, Tensor, nn

A, B = Parameter(Tensor([1.0, 2.0]), name="a"), Parameter(Tensor([[1.0, 2.0]]), name="b")
G = Tensor([1.0, 1.0])
LR = [
    (lambda: nn.SGD([A], -1.0), ValueError, "must >= 0"),
    (lambda: nn.SGD([A], float("nan")), ValueError, "must >= 0"),
    (lambda: nn.SGD([A], Tensor(-1.0)), ValueError, "must >= 0"),
    (lambda: nn.SGD([A], "x"), ValueError, "could not convert"),
    (lambda: nn.SGD([A], None), TypeError, "learning_rate"),
    (lambda: nn.SGD([A], nn.ReLU()), TypeError, "LearningRateSchedule"),
    (lambda: nn.SGD([A], []), ValueError, "one|none"),
    (lambda: nn.SGD([A], Tensor([[1.0]])), ValueError, "no or one dimension, but got 2"),
    (lambda: nn.SGD([A], np.array(0.1)), TypeError, "0-d"),
]
PARAMETERS = [
    (lambda: nn.SGD(None), ValueError, "can not be None"),
    (lambda: nn.SGD([]), ValueError, "must not be empty"),
    (lambda: nn.SGD(3), TypeError, "Iterable"),
    (lambda: nn.SGD(A), TypeError, "'parameters' must hold either Parameters or dicts"),
    (lambda: nn.SGD(Tensor(1.0)), TypeError, "'parameters' must hold either Parameters or dicts"),
    (lambda: nn.SGD([Tensor([1.0])]), TypeError, "'parameters' must hold either Parameters or dicts"),
    (lambda: nn.SGD("ab"), TypeError, "'parameters' must hold either Parameters or dicts"),
    (lambda: nn.SGD({"params": [A]}), TypeError, "'parameters' must hold either Parameters or dicts"),
    (lambda: nn.SGD([A, {"params": [B]}]), TypeError, "'parameters' must hold either Parameters or dicts"),
    (lambda: nn.SGD([A, Parameter(Tensor([1.0]), name="a")]), ValueError, "but 'a' already exists"),
    (lambda: nn.SGD([A, A]), ValueError, "'accum.a' already exists"),
]
GROUPS = [
    (lambda: nn.SGD([{"params": [A], "zz": 1}]), KeyError, "zz"),
    (lambda: nn.SGD([{"lr": 0.1}]), KeyError, "params"),
    (lambda: nn.SGD([{"params": []}]), ValueError, "must not be empty"),
    (lambda: nn.SGD([{"params": None}]), ValueError, "can not be None"),
    (lambda: nn.SGD([{"params": A}]), TypeError, "Parameter"),
    (lambda: nn.SGD([{"params": [3]}]), TypeError, "but got int at place 0"),
    (lambda: nn.SGD([{"params": [A]}, {"params": [A]}]), RuntimeError, "already exists"),
    (lambda: nn.SGD([{"params": [A, A]}]), RuntimeError, "already exists"),
    (lambda: nn.SGD([{"params": [A]}, {"order_params": [A, B]}]), ValueError, "'order_params' must list the"),
    (lambda: nn.SGD([{"params": [A]}, {"order_params": [B]}]), ValueError, "order_params"),
    (lambda: nn.SGD([{"order_params": [A]}]), ValueError, "'order_params' must list the"),
    (lambda: nn.SGD([{"params": [A]}, {"order_params": 3}]), TypeError, "order_params"),
    (lambda: nn.SGD([{"params": [A]}, {"order_params": [A], "lr": 0.1}]), ValueError, "order_params"),
    (lambda: nn.SGD([{"params": [A], "grad_centralization": 1}]), TypeError, "grad_centralization"),
    (lambda: nn.SGD([{"params": [A], "weight_decay": np.array([0.1])}]), TypeError, "weight_decay"),
    (lambda: nn.SGD([{"params": [A], "lr": None}]), TypeError, "learning_rate"),
    (
        lambda: nn.SGD([{"params": [A], "lr": [0.1, 0.2]}, {"params": [B], "lr": [0.1, 0.2, 0.3]}]),
        ValueError,
        "must have one length",
    ),
    (lambda: nn.SGD([{"params": [A], "lr": [0.1, 0.2]}], [0.1, 0.2, 0.3]), ValueError, "must have one length"),
]
COMMON = [
    (lambda: nn.SGD([A], 0.1, weight_decay=-1.0), ValueError, "weight_decay"),
    (lambda: nn.SGD([A], 0.1, weight_decay="x"), TypeError, "weight_decay"),
    (lambda: nn.SGD([A], 0.1, weight_decay=Tensor(0.1)), TypeError, "weight_decay"),
    (lambda: nn.SGD([A], 0.1, weight_decay=nn.WarmUpLR(0.1, 2)), TypeError, "weight_decay"),
    (lambda: nn.SGD([A], 0.1, loss_scale=0.0), ValueError, "loss_scale"),
    (lambda: nn.SGD([A], 0.1, loss_scale="x"), TypeError, "loss_scale"),
    (lambda: nn.Optimizer(0.1, [A])((G,)), NotImplementedError, "update rule"),
    (lambda: nn.SGD([A])(G), TypeError, "tuple"),
    (lambda: nn.SGD([A])((None,)), TypeError, "gradient of a must be a Tensor"),
    (lambda: nn.SGD([A])((G, G)), ValueError, "one entry per parameter"),
    (lambda: nn.SGD([A])((Tensor([1.0]),)), ValueError, r"the gradient of a must have its shape \(2,\)"),
    (lambda: nn.SGD([Parameter(Tensor([1]), name="i")])((Tensor([1]),)), TypeError, "float type"),
    (lambda: nn.SGD([A]).get_lr_parameter(B), ValueError, "this optimizer trains, but got b"),
    (lambda: nn.SGD([A]).get_lr_parameter((A,)), TypeError, "'list'"),
    (lambda: nn.SGD([A]).get_lr_parameter([3]), TypeError, "param"),
    (lambda: nn.SGD([A]).broadcast_params(True), RuntimeError, "use_parallel"),
    (lambda: setattr(nn.SGD([A]), "unique", 1), TypeError, "unique"),
    (lambda: setattr(nn.SGD([A]), "target", "CPU"), NotImplementedError, "target"),
    (lambda: setattr(nn.Adam([A]), "target", "GPU"), ValueError, "CPU"),
    (lambda: setattr(nn.Adam([A]), "target", 3), TypeError, "target"),
]
RULES = [
    (lambda: nn.ASGD([A], lambd=1), TypeError, "lambd"),
    (lambda: nn.ASGD([A], alpha=1), TypeError, "alpha"),
    (lambda: nn.ASGD([A], t0=1), TypeError, "t0"),
    (lambda: nn.AdaFactor([A], 0.1), ValueError, "relative_step"),
    (lambda: nn.AdaFactor([A], relative_step=False), ValueError, "learning_rate"),
    (lambda: nn.AdaFactor([A], 0.1, relative_step=False, warmup_init=True), ValueError, "warmup_init"),
    (lambda: nn.AdaFactor([A], eps=0.1), TypeError, "eps"),
    (lambda: nn.AdaFactor([A], eps=(1e-3,)), ValueError, "eps"),
    (lambda: nn.AdaFactor([A], eps=(1, 1e-3)), TypeError, "eps0"),
    (lambda: nn.AdaFactor([A], clip_threshold=1), TypeError, "clip_threshold"),
    (lambda: nn.AdaFactor([A], clip_threshold=-1.0), ValueError, "clip_threshold"),
    (lambda: nn.AdaFactor([A], decay_rate=1.0), ValueError, "decay_rate"),
    (lambda: nn.AdaFactor([A], weight_decay=1.0), ValueError, "weight_decay"),
    (lambda: nn.AdaFactor([A], weight_decay=1), TypeError, "weight_decay"),
    (lambda: nn.AdaFactor([A], beta1=-0.1), ValueError, "beta1"),
    (lambda: nn.AdaFactor([A], beta1="x"), TypeError, "beta1"),
    (lambda: nn.AdaFactor([A], scale_parameter=1), TypeError, "scale_parameter"),
    (lambda: nn.AdaMax([A], beta1=1), TypeError, "beta1"),
    (lambda: nn.AdaMax([A], beta2=1.0), ValueError, "beta2"),
    (lambda: nn.Adadelta([A], rho=1), TypeError, "rho"),
    (lambda: nn.Adadelta([A], rho=1.5), ValueError, "rho"),
    (lambda: nn.Adadelta([A], epsilon=-1.0), ValueError, "epsilon"),
    (lambda: nn.Adagrad([A], accum=1), TypeError, "accum"),
    (lambda: nn.Adagrad([A], accum=-1.0), ValueError, "accum"),
    (lambda: nn.Adagrad([A], update_slots=1), TypeError, "update_slots"),
    (lambda: nn.Adam([A], beta1=1.0), ValueError, "beta1"),
    (lambda: nn.Adam([A], beta1=1), TypeError, "beta1"),
    (lambda: nn.Adam([A], eps=0.0), ValueError, "eps"),
    (lambda: nn.Adam([A], zz=True), KeyError, "zz"),
    (lambda: nn.Adam([A], use_lazy=1), TypeError, "use_lazy"),
    (lambda: nn.Adam([A], use_lazy=True, use_offload=True), ValueError, "exclude"),
    (lambda: nn.Adam([A], use_lazy=True, use_amsgrad=True), ValueError, "exclude"),
    (lambda: nn.AdamOffload([A], use_nesterov=1), TypeError, "use_nesterov"),
    (lambda: nn.AdamWeightDecay([A], beta2=0.0), ValueError, "beta2"),
    (lambda: nn.FTRL([A], learning_rate=1), TypeError, "learning_rate"),
    (lambda: nn.FTRL([A], learning_rate=0.0), ValueError, "learning_rate"),
    (lambda: nn.FTRL([A], learning_rate=[0.1, 0.2]), ValueError, "learning_rate"),
    (lambda: nn.FTRL([{"params": [A], "lr": 0.1}]), ValueError, "learning_rate"),
    (lambda: nn.FTRL([A], lr_power=0.1), ValueError, "lr_power"),
    (lambda: nn.FTRL([A], l1=-1.0), ValueError, "l1"),
    (lambda: nn.LARS(3), TypeError, "optimizer"),
    (lambda: nn.LARS(nn.SGD([A]), epsilon=1), TypeError, "epsilon"),
    (lambda: nn.LARS(nn.SGD([A]), coefficient=1), TypeError, "coefficient"),
    (lambda: nn.LARS(nn.SGD([A]), use_clip=1), TypeError, "use_clip"),
    (lambda: nn.LARS(nn.SGD([A]), lars_filter=1), TypeError, "lars_filter"),
    (lambda: nn.LARS(nn.SGD([{"params": [A], "lr": [0.1, 0.2]}]), use_clip=True), ValueError, "use_clip"),
    (lambda: nn.Lamb([A]), TypeError, "learning_rate"),
    (lambda: nn.Lamb([A], 0.1, eps=0.0), ValueError, "eps"),
    (lambda: nn.LazyAdam([A], use_locking=1), TypeError, "use_locking"),
    (lambda: nn.Momentum([A], 0.1, 1), TypeError, "momentum"),
    (lambda: nn.Momentum([A], 0.1, -1.0), ValueError, "at least 0.0"),
    (lambda: nn.Momentum([A], 0.1, 0.9, use_nesterov=1), TypeError, "use_nesterov"),
    (lambda: nn.ProximalAdagrad([A], l2=-1.0), ValueError, "l2"),
    (lambda: nn.RMSProp([A], decay=1), TypeError, "decay"),
    (lambda: nn.RMSProp([A], epsilon=0.0), ValueError, "epsilon"),
    (lambda: nn.RMSProp([A], momentum=-1.0), ValueError, "momentum"),
    (lambda: nn.RMSProp([A], centered=1), TypeError, "centered"),
    (lambda: nn.Rprop([A], etas=[0.5, 1.2]), TypeError, "etas"),
    (lambda: nn.Rprop([A], etas=(0.5,)), ValueError, "etas"),
    (lambda: nn.Rprop([A], etas=(0.5, 1.0)), ValueError, "etaplus"),
    (lambda: nn.Rprop([A], etas=(0.5, 2)), TypeError, "etaplus"),
    (lambda: nn.Rprop([A], etas=(5.0, 2.0)), ValueError, "etaminus"),
    (lambda: nn.Rprop([A], step_sizes=(1.0, 0.1)), ValueError, "step_sizes"),
    (lambda: nn.Rprop([A], step_sizes=(1, 2)), TypeError, "min_step_sizes"),
    (lambda: nn.SGD([A], 0.1, nesterov=True), ValueError, "nesterov"),
    (lambda: nn.SGD([A], 0.1, "x"), TypeError, "momentum"),
    (lambda: nn.SGD([A], 0.1, 0.9, -1.0), ValueError, "dampening"),
    (lambda: nn.OptTFTWrapper(3), TypeError, "opt"),
    (lambda: nn.OptTFTWrapper(nn.SGD([A])), ValueError, "Ascend"),
    (lambda: nn.thor(nn.ReLU(), Tensor([0.1]), Tensor([0.1]), 0.9), ValueError, "must not be empty"),
    (lambda: nn.AdaSumByGradWrapCell(nn.SGD([A])), RuntimeError, "'parallel_mode' must be 'data_parallel'"),
    (lambda: nn.AdaSumByDeltaWeightWrapCell(3), TypeError, "optimizer"),
]


@pytest.mark.parametrize("call, error, text", [*LR, *PARAMETERS, *GROUPS, *COMMON, *RULES])
def test_errors(call, error, text):
    with pytest.raises(error, match=text):
        call()


def test_a_refused_step_changes_nothing():
    w = Parameter(Tensor([1.0]), name="w")
    optimizer = nn.Adam([w, B])
    with pytest.raises(ValueError, match="shape"):
        optimizer((Tensor([1.0]), Tensor([1.0])))
    assert w.asnumpy()[0] == 1.0 and int(optimizer.global_step.asnumpy()[0]) == 0
