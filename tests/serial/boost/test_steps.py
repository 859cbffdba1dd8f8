"""AutoBoost, and the steps that do what it has chosen."""

import logging

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import boost, nn
from dist_ms.boost.principal_components import principal_components, save_shares

X = ms.Tensor(np.random.RandomState(0).randn(8, 3).astype(np.float32))
Y = ms.Tensor(np.random.RandomState(1).randn(8, 2).astype(np.float32))


@pytest.fixture(autouse=True)
def nothing_chosen():
    boost.AutoBoost.forget()
    yield
    boost.AutoBoost.forget()


def network():
    ms.set_seed(1)
    net = nn.SequentialCell(nn.Dense(3, 4), nn.Tanh(), nn.Dense(4, 2))
    net.update_parameters_name()
    return net


def trained(step, steps=3):
    return [step(X, Y) for _ in range(steps)]


def numbers(net):
    return np.concatenate([p.asnumpy().ravel() for p in net.trainable_params()])


def test_levels_and_modes():
    choose = boost.AutoBoost
    on = lambda made: {way for way, chosen in made.boost_config.items() if chosen}  # noqa: E731
    assert on(choose("O1")) == {"less_bn", "grad_freeze"}
    choose.forget()
    assert on(choose("O2")) == {"less_bn", "grad_freeze", "adasum"}
    choose.forget()
    assert on(choose("nothing")) == set()
    choose.forget()
    assert on(choose("O1", {"boost": {"mode": "manual", "less_bn": False, "dim_reduce": True}})) == {
        "grad_freeze",
        "dim_reduce",
    }
    choose.forget()
    assert len(on(choose("O0", {"boost": {"mode": "enable_all"}}))) == 6
    choose.forget()
    assert on(choose("O2", {"boost": {"mode": "disable_all"}})) == set()
    choose.forget()
    made = choose("O1", {"common": {"device_number": 2}, "dim_reduce": {"rho": 0.1}, "less_bn": {"gc_flag": False}})
    assert (made.device_number, made.rho, made.gc_flag, made.fn_flag) == (2, 0.55, False, True)
    choose.forget()
    with pytest.raises(ValueError, match="the mode must be one of"):
        choose("O1", {"boost": {"mode": "some"}})
    with pytest.raises(ValueError, match="'less_bn' of 'boost_config_dict' must have names of .*but got 'x'"):
        choose("O1", {"less_bn": {"x": 1}})


def test_the_first_choice_stays(caplog):
    first = boost.AutoBoost("O1")
    with caplog.at_level(logging.WARNING, "dist_ms"):
        assert boost.AutoBoost("O1") is first is boost.AutoBoost()
        assert not caplog.records
        assert boost.AutoBoost("O2") is first and first.level == "O1"
    assert "they are not followed" in caplog.text


def test_a_plain_step_is_that_of_nn():
    ours, theirs = network(), network()
    step = boost.BoostTrainOneStepCell(nn.WithLossCell(ours, nn.MSELoss()), nn.SGD(ours.trainable_params(), 0.1))
    plain = nn.TrainOneStepCell(nn.WithLossCell(theirs, nn.MSELoss()), nn.SGD(theirs.trainable_params(), 0.1))
    assert [float(v) for v in trained(step)] == [float(v) for v in trained(plain)]
    np.testing.assert_array_equal(numbers(ours), numbers(theirs))


def test_accumulated_steps_update_once():
    boost.AutoBoost("O0", {"boost": {"mode": "manual", "grad_accumulation": True}, **ACCUMULATE})
    net = network()
    loss = nn.WithLossCell(net, nn.MSELoss())
    step = boost.BoostTrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.1))
    before, grads = numbers(net), ms.grad(loss, None, net.trainable_params())(X, Y)
    trained(step, 2)
    np.testing.assert_array_equal(numbers(net), before)
    trained(step, 1)
    wanted = before - 0.1 * np.concatenate([g.asnumpy().ravel() for g in grads])
    np.testing.assert_allclose(numbers(net), wanted, rtol=1e-5, atol=1e-7)


ACCUMULATE = {"grad_accumulation": {"grad_accumulation_step": 3}}


def test_loss_scales():
    ours, theirs = network(), network()
    make = lambda net, kind: kind(  # noqa: E731
        nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1), nn.DynamicLossScaleUpdateCell(8, 2, 2)
    )
    found = trained(make(ours, boost.BoostTrainOneStepWithLossScaleCell))
    wanted = trained(make(theirs, nn.TrainOneStepWithLossScaleCell))
    for a, b in zip(found, wanted):
        assert [float(v.asnumpy()) for v in a] == [float(v.asnumpy()) for v in b]
    np.testing.assert_array_equal(numbers(ours), numbers(theirs))
    with pytest.raises(TypeError, match="got a FreezeOpt"):
        boost.BoostTrainOneStepWithLossScaleCell(ours, boost.FreezeOpt(nn.SGD(ours.trainable_params())), ms.Tensor(1.0))


class InGroups(nn.Cell):
    def __init__(self, manager):
        super().__init__()
        self.manager, self.a, self.b = manager, nn.Dense(3, 4), nn.Dense(4, 2)

    def construct(self, x):
        x = ms.ops.tanh(self.a(self.manager(x, 0, 1)))
        return self.manager(self.b(self.manager(x, 1, 2)), 2, 3)


def in_groups(scale):
    manager = boost.GroupLossScaleManager(scale, [])
    ms.set_seed(1)
    net = InGroups(manager)
    manager.loss_scale_groups = [net.a.trainable_params(), net.b.trainable_params()]
    boost.AutoBoost("O1", {"boost": {"mode": "manual", "loss_scale_group": True, "less_bn": False}})
    return net, manager


def test_groups_have_scales_of_their_own():
    net, manager = in_groups([4.0, 32.0])
    loss = nn.WithLossCell(net, nn.MSELoss())
    weights = net.trainable_params()
    plain = ms.grad(loss, None, weights)(X, Y)
    before = numbers(net)
    step = boost.BoostTrainOneStepWithLossScaleCell(loss, nn.SGD(weights, 0.1), manager)
    scaled = ms.grad(loss, None, weights)(X, Y)
    for g, p, factor in zip(scaled, plain, (4.0, 4.0, 32.0, 32.0)):
        np.testing.assert_allclose(g.asnumpy(), p.asnumpy() * factor, rtol=1e-5)
    _, overflows, scale = step(X, Y)
    assert int(overflows) == 0 and float(scale) == 4.0
    wanted = before - 0.1 * np.concatenate([g.asnumpy().ravel() for g in plain])
    np.testing.assert_allclose(numbers(net), wanted, rtol=1e-5, atol=1e-7)
    after = [float(p.asnumpy()) for p in manager.dynamic_loss_scale]
    np.testing.assert_allclose(after, [1, 4 * 2**0.001, 32 * 2**0.001, 1], rtol=1e-6)


def test_a_group_that_overflows_lowers_its_own_scale():
    net, manager = in_groups([1e38, 1e38])
    net.b.weight.set_data(net.b.weight * 1e3)
    step = boost.BoostTrainOneStepWithLossScaleCell(
        nn.WithLossCell(net, nn.MSELoss("sum")), nn.SGD(net.trainable_params(), 0.1), manager
    )
    before = numbers(net)
    _, overflows, _ = step(X, Y)
    assert int(overflows) > 0
    np.testing.assert_array_equal(numbers(net), before)
    assert float(manager.dynamic_loss_scale[1].asnumpy()) < 1e38 * 0.71


def test_groups_must_hold_every_parameter():
    net, manager = in_groups(2.0)
    manager.loss_scale_groups = [net.a.trainable_params()]
    loss, opt = nn.WithLossCell(net, nn.MSELoss()), nn.SGD(net.trainable_params(), 0.1)
    with pytest.raises(ValueError, match="must hold every parameter"):
        boost.BoostTrainOneStepWithLossScaleCell(loss, opt, manager)
    with pytest.raises(TypeError, match="must be a GroupLossScaleManager"):
        boost.BoostTrainOneStepWithLossScaleCell(loss, opt, ms.Tensor(1.0))
    assert manager.get_update_cell() is manager and manager.get_loss_scale() == 2.0
    with pytest.raises(ValueError, match="one entry per group, 3, but got 1"):
        manager.set_loss_scale_status(3, [1.0])


def test_components_of_weights():
    rows = np.random.RandomState(2).randn(5, 7)
    found = principal_components(rows, 3)
    np.testing.assert_allclose(found @ found.T, np.eye(3), atol=1e-12)
    centred = rows - rows.mean(0)
    values = np.sort(np.linalg.eigvalsh(centred.T @ centred))[::-1]
    np.testing.assert_allclose(((centred @ found.T) ** 2).sum(0), values[:3])
    with pytest.raises(ValueError, match="at most the number of checkpoints, 5, but got 6"):
        principal_components(rows, 6)


def test_steps_in_few_dimensions(tmp_path):
    net = network()
    loss = nn.WithLossCell(net, nn.MSELoss())
    walk = nn.TrainOneStepCell(loss, nn.SGD(net.trainable_params(), 0.05))
    for number in range(4):
        walk(X, Y)
        ms.save_checkpoint(net, str(tmp_path / f"w{number}.ckpt"))
    numbers_of = {"n_components": 3, "weight_load_dir": str(tmp_path), "timeout": 5, "alpha": 0.01}
    choice = boost.AutoBoost("O0", {"boost": {"mode": "manual", "dim_reduce": True}, "dim_reduce": numbers_of})
    same, opt = choice.network_auto_process_train(net, nn.Momentum(net.trainable_params(), 0.1, 0.9))
    assert same is net and opt.dim_reduce and choice.network_auto_process_eval(net) is net
    components = np.load(choice.local_pca_mat_path)
    assert components.shape == (3, numbers(net).size) and (tmp_path / "pca_mat_temp.npy").exists()
    step = boost.BoostTrainOneStepCell(loss, opt)
    before, grads = numbers(net), ms.grad(loss, None, net.trainable_params())(X, Y)
    g = np.concatenate([v.asnumpy().ravel() for v in grads])
    losses = [float(step(X, Y))]
    inside = components.T @ (components @ g)  # the first inverse Hessian is 1, the first momentum the rest
    candidates = [before - rho * inside - 0.01 * (g - inside) for rho in (1.0, 0.55, 0.0)]
    assert min(np.abs(numbers(net) - c).max() for c in candidates) < 1e-5
    losses += [float(step(X, Y)) for _ in range(10)]
    assert losses[-1] < losses[0]


def test_shares_of_components(tmp_path):
    save_shares(np.arange(10.0).reshape(5, 2), tmp_path / "c.npy", 2)
    first, second = (np.load(tmp_path / f"c_rank_{rank}.npy") for rank in range(2))
    np.testing.assert_array_equal(np.concatenate([first, second]), [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [0, 0]])


def test_adaptive_sums_of_one_group():
    w = ms.Parameter(ms.Tensor([1.0, 2.0]), name="w")
    cell = boost.AdaSum(0, 1, 1, (w,))
    cell((ms.Tensor([0.5, 0.5]),), (w,), (ms.Tensor([3.0, 3.0]),))
    np.testing.assert_array_equal(w.asnumpy(), [2.5, 2.5])
    with pytest.raises(ValueError, match="'group_number' must be a power of 2, but got 3"):
        boost.AdaSum(0, 1, 3, (w,))


def test_a_model_is_boosted():
    net = network()
    config = {"grad_freeze": {"param_groups": 2, "total_steps": 10}, "less_bn": {"fn_flag": True}}
    opt = nn.Momentum([{"params": net.trainable_params()}], 0.1, 0.9)
    model = ms.Model(net, nn.MSELoss(), opt, boost_level="O1", boost_config_dict=config)
    assert type(model.train_network) is boost.BoostTrainOneStepCell
    assert type(net[2]) is boost.CommonHeadLastFN
    before = numbers(net)
    model.train(2, [(X, Y)] * 3)
    assert not np.array_equal(numbers(net), before)
    with pytest.raises(ValueError, match="'boost_level'"):
        ms.Model(net, nn.MSELoss(), opt, boost_level="O3")
    with pytest.raises(ValueError, match="'boost_level' must be 'O0' with gradients"):
        ms.Model(net, nn.MSELoss(), nn.SGD(net.trainable_params()), boost_level="O1", gradient_clip_norm=1.0)
