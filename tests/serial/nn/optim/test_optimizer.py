"""Optimizer: states and their names, hyper-parameters, what users' subclasses call, memory."""

import inspect
import tracemalloc

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Parameter, Tensor, nn
from dist_ms.nn.optim.optimizer import opt_init_args_register
from tests.serial.nn.optim.steps import four_steps, gradients, parameters

STATES = [
    (lambda p: nn.ASGD(p), ["mu_w", "mu_m", "eta_w", "eta_m", "ax_.w", "ax_.m"]),
    (
        lambda p: nn.AdaFactor(p),
        [
            *("exp_avg.w", "exp_avg.m", "exp_avg_sq_row_w", "exp_avg_sq_row_m", "exp_avg_sq_col_w"),
            *("exp_avg_sq_col_m", "exp_avg_sq_w", "exp_avg_sq_m", "afactor_step"),
        ],
    ),
    (lambda p: nn.AdaMax(p), ["beta1_power", "moment1.w", "moment1.m", "moment2.w", "moment2.m"]),
    (lambda p: nn.Adadelta(p), ["accum.w", "accum.m", "accum_update.w", "accum_update.m"]),
    (lambda p: nn.Adagrad(p), ["accum.w", "accum.m"]),
    (lambda p: nn.Adam(p), ["beta1_power", "beta2_power", "moment1.w", "moment1.m", "moment2.w", "moment2.m"]),
    (
        lambda p: nn.Adam(p, use_amsgrad=True),
        [
            *("beta1_power", "beta2_power", "moment1.w", "moment1.m", "moment2.w", "moment2.m"),
            *("vhat.w", "vhat.m"),
        ],
    ),
    (lambda p: nn.AdamOffload(p), ["beta1_power", "beta2_power", "moment1.w", "moment1.m", "moment2.w", "moment2.m"]),
    (lambda p: nn.AdamWeightDecay(p), ["adam_m.w", "adam_m.m", "adam_v.w", "adam_v.m"]),
    (lambda p: nn.FTRL(p), ["moments.w", "moments.m", "linear.w", "linear.m"]),
    (lambda p: nn.Lamb(p, 0.1), ["lamb_m.w", "lamb_m.m", "lamb_v.w", "lamb_v.m"]),
    (lambda p: nn.LazyAdam(p), ["beta1_power", "beta2_power", "moment1.w", "moment1.m", "moment2.w", "moment2.m"]),
    (lambda p: nn.Momentum(p, 0.1, 0.9), ["momentum", "moments.w", "moments.m"]),
    (lambda p: nn.ProximalAdagrad(p), ["accum.w", "accum.m"]),
    (lambda p: nn.RMSProp(p), ["mean_square.w", "mean_square.m", "moment.w", "moment.m"]),
    (
        lambda p: nn.RMSProp(p, centered=True),
        ["mean_grad.w", "mean_grad.m", "mean_square.w", "mean_square.m", "moment.w", "moment.m"],
    ),
    (lambda p: nn.Rprop(p), ["prev.w", "prev.m", "step_size.w", "step_size.m"]),
    (lambda p: nn.SGD(p), ["momentum", "accum.w", "accum.m", "stat.w", "stat.m"]),
]


@pytest.mark.parametrize("make, states", STATES, ids=range(len(STATES)))
def test_state_names_are_mindspores(make, states):
    optimizer = make(parameters())
    names = ["global_step", "learning_rate", "w", "m", *states]
    assert [p.name for p in optimizer.get_parameters()] == names
    assert list(optimizer.parameters_dict()) == names


def test_state_names_of_lars_are_mindspores():
    lars = nn.LARS(nn.Momentum(parameters(), 0.1, 0.9))
    assert [path for path, _ in lars.parameters_and_names()] == [
        *("global_step", "learning_rate", "fake_param", "w", "m"),
        *("opt.learning_rate", "opt.momentum", "opt.moments.w", "opt.moments.m"),
    ]
    assert list(lars.parameters_dict())[:3] == ["global_step", "fake_lr", "fake_param"]


MAKERS = [*(make for make, _ in STATES), lambda p: nn.LARS(nn.Momentum(p, 0.1, 0.9))]


@pytest.mark.parametrize("make", MAKERS)
def test_a_loaded_state_goes_on_where_it_stopped(make):
    """Two and two steps with a checkpoint between equal four steps."""
    _, _, together = four_steps(make)
    first = make(parameters())
    for i in (1, 2):
        first(tuple(Tensor(g) for g in gradients(i)))
    params = parameters()
    second = make(params)
    saved = {p.name: p.asnumpy().copy() for p in first.get_parameters()}
    for p in second.get_parameters():
        p.set_data(Tensor(saved[p.name]))
    for i in (3, 4):
        second(tuple(Tensor(g) for g in gradients(i)))
    np.testing.assert_array_equal(np.concatenate([p.asnumpy().reshape(-1) for p in params]), together)


def test_states_follow_their_parameter():
    p = Parameter(Tensor(np.zeros((2, 3), np.float16)), name="w", layerwise_parallel=True)
    state = nn.Momentum([p], 0.1, 0.9).moments[0]
    assert state.shape == (2, 3) and state.dtype == ms.float16 and state.layerwise_parallel


def test_the_update_is_in_place():
    for make in MAKERS:
        params = parameters()
        held = [p.asnumpy() for p in params]
        make(params)((Tensor([1.0, 1.0, 1.0]), Tensor(np.ones((2, 2), np.float32))))
        assert all(a is p.asnumpy() for a, p in zip(held, params))


def test_gradients_are_not_changed():
    for make in MAKERS:
        g = (Tensor([1.0, -1.0, 2.0]), Tensor(np.ones((2, 2), np.float32)))
        make(parameters())(g)
        np.testing.assert_array_equal(g[0].asnumpy(), [1.0, -1.0, 2.0])
        np.testing.assert_array_equal(g[1].asnumpy(), 1.0)


def test_gradients_of_any_layout_and_type():
    base = np.arange(6, dtype=np.float32).reshape(2, 3)
    for make in (
        lambda p: nn.Momentum(p, 0.1, 0.9),
        lambda p: nn.Adagrad(p, learning_rate=0.1),
        lambda p: nn.AdaMax(p),
    ):
        found = []
        for g in (np.ascontiguousarray(base.T), base.T, base.T.astype(np.float16), base.T.astype(np.float64)):
            w = Parameter(Tensor(np.ones((3, 2), np.float32)), name="w")
            make([w])((Tensor.from_numpy(g),))
            found.append(w.asnumpy())
        for other in found[1:]:
            np.testing.assert_allclose(other, found[0], rtol=1e-6)


def test_a_parameter_of_any_layout():
    for make in (lambda p: nn.Momentum(p, 0.1, 0.9), lambda p: nn.Adagrad(p, learning_rate=0.1)):
        straight = Parameter(Tensor(np.arange(6, dtype=np.float32).reshape(2, 3)), name="w")
        turned = Parameter(Tensor(np.zeros((2, 3), np.float32)), name="w")
        turned._data = np.asfortranarray(straight.asnumpy())
        g = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3) - 2)
        make([straight])((g,))
        make([turned])((g,))
        np.testing.assert_array_equal(turned.asnumpy(), straight.asnumpy())


@pytest.mark.parametrize("shape", [(), (0,), (1,), (40000,), (3, 20000)])
def test_all_sizes(shape):
    """Blocks end where they should: each element moves as a single one does."""
    g = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    for make in MAKERS:
        if "Lamb" in type(make(parameters())).__name__ or isinstance(make(parameters()), (nn.LARS, nn.AdaFactor)):
            continue
        w = Parameter(Tensor(np.ones(shape, np.float32)), name="w")
        make([w])((Tensor(g),))
        flat = g.reshape(-1)
        for i in (0, -1) if flat.size else ():
            one = Parameter(Tensor([1.0]), name="w")
            make([one])((Tensor(flat[i : i + 1 or None]),))
            np.testing.assert_allclose(w.asnumpy().reshape(-1)[i], one.asnumpy()[0], rtol=1e-6)


def test_a_step_allocates_little():
    """A large parameter's step takes a few blocks, not copies of the parameter."""
    shape = (2_000_000,)
    w, g = Parameter(Tensor(np.ones(shape, np.float32)), name="w"), Tensor(np.ones(shape, np.float32))
    for make in (nn.Adam, nn.SGD, nn.Adagrad, nn.Adadelta, nn.AdaMax, nn.RMSProp, nn.Rprop, nn.FTRL, nn.ASGD):
        optimizer = make([w])
        optimizer((g,))
        tracemalloc.start()
        optimizer((g,))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < 8_000_000 / 4, (make.__name__, peak)


def test_values_saved_for_a_gradient_are_kept():
    """A step between forward and backward does not change the gradient."""
    w = Parameter(Tensor([3.0]), name="w")
    optimizer = nn.SGD([w], 1.0)

    def forward(x):
        y = w * w * x
        optimizer((Tensor([1.0]),))
        return y

    _, grads = ms.value_and_grad(forward, None, [w])(Tensor([1.0]))
    assert grads[0].asnumpy()[0] == 6.0 and w.asnumpy()[0] == 2.0


# ---- learning rates
def test_learning_rate_can_be_assigned():
    w = Parameter(Tensor([1.0, 2.0]), name="w")
    optimizer = nn.SGD([w], 0.1)
    optimizer.learning_rate.set_data(Tensor(1.0))
    optimizer((Tensor([1.0, 1.0]),))
    np.testing.assert_allclose(w.asnumpy(), [0.0, 1.0])
    ms.ops.assign(optimizer.learning_rate, 0.5)
    optimizer((Tensor([1.0, 1.0]),))
    np.testing.assert_allclose(w.asnumpy(), [-0.5, 0.5])
    optimizer.learning_rate = Parameter(Tensor(2.0), name="other")
    optimizer((Tensor([1.0, 1.0]),))
    np.testing.assert_allclose(w.asnumpy(), [-2.5, -1.5])


def test_list_of_rates_ends():
    w = Parameter(Tensor([1.0]), name="w")
    optimizer = nn.SGD([w], [0.1, 0.2])
    for _ in range(2):
        optimizer((Tensor([1.0]),))
    with pytest.raises(IndexError, match="2 entries"):
        optimizer((Tensor([1.0]),))


@pytest.mark.parametrize(
    "rates", [[0.5], (0.5,), np.array([0.5]), Tensor([0.5]), (r for r in [0.5]), Tensor(0.5), np.float32(0.5)]
)
def test_forms_of_a_rate(rates):
    w = Parameter(Tensor([1.0]), name="w")
    optimizer = nn.SGD([w], rates)
    assert optimizer.get_lr().shape == () and float(optimizer.get_lr()) == 0.5
    optimizer((Tensor([1.0]),))
    assert w.asnumpy()[0] == 0.5


class _Rate(nn.LearningRateSchedule):
    """A user's schedule, by operators on the step."""

    def construct(self, global_step):
        return 0.5 / (ms.ops.cast(global_step, ms.float32) + 1.0)


def test_schedule_of_a_user():
    w = Parameter(Tensor([1.0]), name="w")
    optimizer = nn.SGD([w], _Rate())
    assert float(optimizer.get_lr()) == 0.5 and optimizer.get_lr().shape == ()
    optimizer((Tensor([1.0]),))
    assert float(optimizer.get_lr()) == 0.25 and w.asnumpy()[0] == 0.5


def test_beta_and_gamma_do_not_decay():
    _, _, plain = four_steps(lambda p: nn.Momentum(p, 0.1, 0.9))
    _, _, decayed = four_steps(lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1), names=("bn.gamma", "bn.beta"))
    np.testing.assert_array_equal(decayed, plain)
    _, _, decayed = four_steps(lambda p: nn.Momentum(p, 0.1, 0.9, weight_decay=0.1), names=("fc.bias", "fc.weight"))
    assert np.all(decayed != plain)


# ---- subclasses
class _Plain(nn.Optimizer):
    """SGD as users write it, with MindSpore's methods in MindSpore's order."""

    def __init__(self, params, learning_rate, weight_decay=0.0, loss_scale=1.0):
        super().__init__(learning_rate, params, weight_decay, loss_scale)
        self.moments = self.parameters.clone(prefix="moments", init="zeros")

    def construct(self, gradients):
        gradients = self.flatten_gradients(gradients)
        gradients = self.decay_weight(gradients)
        gradients = self.gradients_centralization(gradients)
        gradients = self.scale_grad(gradients)
        rates = self.get_lr()
        self.assignadd(self.global_step, self.global_step_increase_tensor)
        for i, (p, g) in enumerate(zip(self.parameters, gradients)):
            ms.ops.assign_sub(p, (rates[i] if self.is_group_lr else rates) * g)
        return True


@pytest.mark.parametrize(
    "groups",
    [
        lambda p: p,
        lambda p: [{"params": p[:1], "lr": 0.3}, {"params": p[1:], "weight_decay": 0.2, "grad_centralization": True}],
        lambda p: [{"params": p[:1], "lr": [0.1, 0.2, 0.3, 0.4]}, {"params": p[1:]}],
        lambda p: [{"params": p[1:], "weight_decay": nn.WarmUpLR(0.2, 3)}, {"params": p[:1]}, {"order_params": p}],
    ],
    ids=range(4),
)
def test_a_subclass_equals_the_built_in_rule(groups):
    mine, _, found = four_steps(lambda p: _Plain(groups(p), 0.1, 0.1, 4.0))
    _, _, expected = four_steps(lambda p: nn.Momentum(groups(p), 0.1, 0.0, 0.1, 4.0))
    np.testing.assert_allclose(found, expected, rtol=1e-6)
    assert int(mine.global_step.asnumpy()[0]) == 4


def test_fields_that_subclasses_read():
    optimizer = nn.Momentum(parameters(), 0.1, 0.9, weight_decay=0.1, loss_scale=4.0)
    assert isinstance(optimizer.weight_decay, Tensor) and float(optimizer.weight_decay) == np.float32(0.4)
    assert optimizer.get_weight_decay() is optimizer.weight_decay
    assert float(optimizer.reciprocal_scale) == 0.25 and optimizer.need_scale and optimizer.loss_scale == 4.0
    assert optimizer.decay_flags == (True, True) and optimizer.dynamic_decay_flags is False
    assert optimizer.optim_filter == (True, True) and not optimizer.use_parallel and optimizer.param_length == 2
    assert not (optimizer.dynamic_lr or optimizer.dynamic_weight_decay or optimizer._is_dynamic_lr_or_weight_decay())
    assert optimizer.exec_weight_decay and not optimizer.grad_centralization and optimizer.target == "CPU"
    assert optimizer.unique and optimizer._parameters is optimizer.parameters
    assert optimizer.init_args == {"momentum": 0.9, "weight_decay": 0.1, "loss_scale": 4.0, "use_nesterov": False}
    assert optimizer.map_(lambda x: x + 1, (1, 2)) == optimizer.hyper_map_reverse(lambda x: x + 1, (1, 2)) == (2, 3)
    changing = nn.Momentum(parameters(), 0.1, 0.9, nn.ExponentialDecayLR(0.1, 0.5, 2), 2.0)
    assert changing.dynamic_weight_decay and float(changing.get_weight_decay()) == np.float32(0.2)


def test_init_arguments_are_remembered():
    rates = nn.SGD(parameters(), Tensor([0.5, 0.25]))
    assert rates.init_learning_rate == [0.5, 0.25] and rates.init_args["nesterov"] is False
    assert nn.SGD(parameters(), nn.WarmUpLR(0.1, 2)).init_learning_rate is None
    params = parameters()
    lars = nn.LARS(nn.SGD(params))
    assert lars.init_params == {"params": params} and lars.init_args["coefficient"] == 0.001


def test_an_own_optimizers_remembered_arguments_are_not_in_its_signature():
    class Own(nn.Optimizer):
        @opt_init_args_register
        def __init__(self, params, learning_rate=0.5, clip=False):
            super().__init__(learning_rate, params)

    assert list(inspect.signature(Own.__init__).parameters) == ["self", "args", "kwargs"]
    made = Own(parameters(), clip=True)
    assert made.init_learning_rate == 0.5 and made.init_args == {"clip": True}
    assert "momentum" in inspect.signature(nn.SGD).parameters


def test_lars_shows_its_optimizers_settings():
    optimizer = nn.Momentum(parameters(), [0.1, 0.2], 0.9)
    lars = nn.LARS(optimizer)
    assert lars.global_step is optimizer.global_step and lars.parameters is optimizer.parameters
    assert float(lars.get_lr()) == np.float32(0.1)
    ms.ops.assign(optimizer.learning_rate.learning_rate, Tensor([0.5, 0.5]))
    assert float(lars.get_lr()) == 0.5 and lars.loss_scale == 1.0


def test_unique_follows_the_parameters():
    p = parameters()
    p[0].unique = True
    optimizer = nn.SGD(p)
    assert not optimizer.unique
    optimizer.unique = True
    assert optimizer.unique


@pytest.mark.parametrize("rates", [[0.1, 0.2], Tensor([0.1, 0.2])], ids=["list", "tensor"])
def test_a_learning_rate_per_step_has_the_shape_of_the_step(rates):
    optimizer = nn.SGD(parameters(), rates)
    assert optimizer.learning_rate(Tensor([1], ms.int32)).shape == (1,)
    assert float(optimizer.learning_rate(optimizer.global_step)[0]) == np.float32(0.1)
    np.testing.assert_allclose(optimizer.learning_rate(Tensor([[1, 0]], ms.int32)).asnumpy(), [[0.2, 0.1]], rtol=1e-7)
    assert optimizer.learning_rate(Tensor(1, ms.int32)).shape == optimizer.get_lr().shape == ()
    with pytest.raises(IndexError, match="step 3 needs one more"):
        optimizer.learning_rate(Tensor([2], ms.int32))
