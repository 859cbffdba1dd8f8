"""Model: order of callbacks, facts, iterables, evaluation, errors."""

import numpy as np
import pytest

import dist_ms as ms
import dist_ms.dataset as ds
from dist_ms import nn
from dist_ms.amp import DynamicLossScaleManager, FixedLossScaleManager
from dist_ms.train import Callback, LossMonitor, Model
from dist_ms.train.callback.callback import MOMENTS
from tests.serial.train.model_cases import batches, model, network


class Record(Callback):
    """Writes down each moment with the numbers of epoch and step."""

    def __init__(self):
        self.calls = []
        self.facts = {}

    def __enter__(self):
        self.calls.append("enter")
        return self

    def __exit__(self, *exc):
        self.calls.append(f"exit {exc[0] and exc[0].__name__}")


def _writer(moment):
    def write(self, run_context):
        run = run_context.original_args()
        self.calls.append(f"{moment} {run.get('cur_epoch_num')} {run.cur_step_num}")
        self.facts[moment] = dict(run)

    return write


for _moment in MOMENTS:
    setattr(Record, _moment, _writer(_moment))


def test_training_calls_in_mindspores_order():
    record = Record()
    model().train(3, batches(), callbacks=record, initial_epoch=1)
    assert record.calls == [
        "enter",
        "on_train_begin None 0",
        "on_train_epoch_begin 2 0",
        "on_train_step_begin 2 1", "on_train_step_end 2 1", "on_train_step_begin 2 2", "on_train_step_end 2 2",
        "on_train_epoch_end 2 2",
        "on_train_epoch_begin 3 2",
        "on_train_step_begin 3 3", "on_train_step_end 3 3", "on_train_step_begin 3 4", "on_train_step_end 3 4",
        "on_train_epoch_end 3 4",
        "on_train_end 3 4",
        "exit None",
    ]  # fmt: skip


def test_training_tells_its_facts():
    record, trained = Record(), model()
    trained.train(3, batches(), callbacks=[record], initial_epoch=1)
    facts = record.facts["on_train_begin"]
    expected = {
        "batch_num": 2, "epoch_num": 2, "mode": "train", "device_number": 1, "parallel_mode": "stand_alone",
        "dataset_sink_mode": False, "list_callback": [record], "latest_ckpt_file": None, "last_save_ckpt_step": None,
        "loss_scale_mananger": None, "network": trained._network, "train_network": trained.train_network,
        "optimizer": trained._optimizer, "loss_fn": trained._loss_fn, "train_dataset_element": None,
    }  # fmt: skip
    assert {name: facts[name] for name in expected} == expected
    assert "cur_epoch_num" not in facts
    step = record.facts["on_train_step_end"]
    assert [x.shape for x in step["train_dataset_element"]] == [(4, 2), (4, 1)]
    assert isinstance(step["net_outputs"], ms.Tensor)


def test_evaluation_calls_in_mindspores_order():
    record = Record()
    result = model(metrics={"loss"}).eval(batches(), callbacks=record)
    assert result == {"loss": pytest.approx(1.09, rel=1e-6)}
    steps = [f"on_eval_step_{end} None {n}" for n in (1, 2) for end in ("begin", "end")]
    assert record.calls == [
        "enter", "on_eval_begin None 0", "on_eval_epoch_begin None 0", *steps, "on_eval_epoch_end None 2",
        "on_eval_end None 2", "exit None",
    ]  # fmt: skip
    assert record.facts["on_eval_end"]["metrics"] == result
    assert "metrics" not in record.facts["on_eval_epoch_end"]


def test_fit_evaluates_every_so_many_epochs(capsys):
    record = Record()
    model(metrics={"loss", "mse"}).fit(
        3, batches(), batches(3, scale=2.0), valid_frequency=2, callbacks=[record, LossMonitor()]
    )
    assert [c for c in record.calls if "eval_begin" in c or "epoch_end" in c] == [
        "on_train_epoch_end 1 2",
        "on_eval_begin 2 0",
        "on_eval_epoch_end 2 3",
        "on_train_epoch_end 2 4",
        "on_train_epoch_end 3 6",
    ]
    pinned = {"mse": 17.477167467276256, "loss": 17.4771661957105}
    assert record.facts["on_eval_end"]["metrics"] == pytest.approx(pinned, rel=1e-6)
    # MindSpore's eval_loss is the loss of the last batch; here it is the mean over all of them.
    assert record.facts["on_eval_end"]["eval_results"] == pytest.approx(
        {**pinned, "eval_loss": pinned["loss"]}, rel=1e-6
    )
    lines = capsys.readouterr().out.splitlines()
    assert len([line for line in lines if line.startswith("epoch: ")]) == 6  # LossMonitor sees no evaluation step
    assert [line[:28] for line in lines if line.startswith("Eval")] == ["Eval result: epoch 2, metric"]
    assert "eval_results" not in record.facts["on_train_end"]


def test_fit_evaluates_after_listed_epochs():
    record = Record()
    model(metrics={"loss"}).fit(4, batches(), batches(), valid_frequency=[1, 4], callbacks=record)
    assert [c for c in record.calls if "on_eval_end" in c] == ["on_eval_end 1 2", "on_eval_end 4 2"]


def test_fit_restores_the_facts_of_training():
    record = Record()
    model(metrics={"loss"}).fit(1, batches(2), batches(5), callbacks=record)
    facts = record.facts["on_train_epoch_end"]
    assert (facts["batch_num"], facts["cur_step_num"], facts["mode"]) == (2, 2, "train")
    assert isinstance(facts["net_outputs"], ms.Tensor)


def test_modes_of_the_network():
    class Modes(Callback):
        def __init__(self):
            self.seen = []

        def on_train_step_end(self, run_context):
            self.seen.append(run_context.original_args().network.training)

        def on_eval_step_end(self, run_context):
            self.seen.append(run_context.original_args().network.training)

    modes = Modes()
    trained = model(metrics={"loss"})
    trained.fit(2, batches(1), batches(1), callbacks=modes)
    assert modes.seen == [True, False, True, False]
    trained.predict(ms.Tensor(np.ones((1, 2), np.float32)))
    assert trained.predict_network.training is False


class StopAt(Callback):
    def __init__(self, step):
        self.step = step

    def on_train_step_end(self, run_context):
        if run_context.original_args().cur_step_num == self.step:
            run_context.request_stop()


def test_a_stop_ends_the_run_after_the_step():
    record = Record()
    model().train(3, batches(), callbacks=[record, StopAt(3)])
    assert record.calls[-4:] == ["on_train_step_end 2 3", "on_train_epoch_end 2 3", "on_train_end 2 3", "exit None"]


def test_exceptions_pass_through_and_leave_callbacks():
    class Fails(Callback):
        def on_train_step_end(self, run_context):
            raise RuntimeError("boom")

    record = Record()
    with pytest.raises(RuntimeError, match="boom"):
        model().train(1, batches(), callbacks=[record, Fails()])
    assert record.calls[-1] == "exit RuntimeError"


def test_a_callback_may_be_replaced_and_may_swallow_an_exception():
    inner = Record()

    class Outer(Callback):
        def __enter__(self):
            return inner

        def __exit__(self, *exc):
            return True

    with pytest.raises(ValueError, match="empty"):
        model().train(1, [], callbacks=Outer())
    model().train(1, iter([(np.ones((1, 3), np.float32), np.ones((1, 1), np.float32))]), callbacks=Outer())
    assert inner.calls == ["on_train_begin None 0", "on_train_epoch_begin 1 0", "on_train_step_begin 1 1"]


@pytest.mark.parametrize(
    "data",
    [
        batches(),
        [{"x": x, "y": y} for x, y in batches()],
        [list(pair) for pair in batches()],
        [(ms.Tensor(x), ms.Tensor(y)) for x, y in batches()],
        ds.NumpySlicesDataset(tuple(np.concatenate(c) for c in zip(*batches(), strict=True)), shuffle=False).batch(4),
    ],
    ids=["tuples", "dicts", "lists", "tensors", "dataset"],
)
def test_any_iterable_of_batches_trains_alike(data):
    net = network()
    model(net).train(2, data)
    assert net.weight.asnumpy().ravel() == pytest.approx([0.9405309, 0.9367750], abs=1e-6)


def test_a_generator_serves_one_epoch():
    record = Record()
    model().train(1, (pair for pair in batches(3)), callbacks=record)
    assert record.facts["on_train_end"]["batch_num"] == 3
    with pytest.raises(ValueError, match="gave no batch"):
        model().train(2, (pair for pair in batches(3)))


def test_eval_network_and_indexes():
    class Evaluate(nn.Cell):
        def __init__(self, net):
            super().__init__()
            self.net = net

        def construct(self, x, y):
            out = self.net(x)
            return y, (out - y).square().mean(), out

    net = network()
    with_indexes = Model(net, metrics={"loss", "mse"}, eval_network=Evaluate(net), eval_indexes=[1, 2, 0])
    result = with_indexes.eval(batches())
    assert result["loss"] == pytest.approx(1.09, rel=1e-6)
    assert result["mse"] == pytest.approx(1.09, rel=1e-6)
    chosen = {"mse": ms.train.MSE().set_indexes([2, 0]), "loss": ms.train.Loss().set_indexes([1])}
    assert Model(net, metrics=chosen, eval_network=Evaluate(net)).eval(batches()) == pytest.approx(result)


def test_a_loss_scale_manager_that_drops_overflows_is_told():
    manager = DynamicLossScaleManager(init_loss_scale=2**10, scale_window=2)
    net = network()
    record = Record()
    model(net, loss_scale_manager=manager).train(1, batches(2), callbacks=record)
    assert manager.get_loss_scale() == 2**11
    _, overflow, scale = record.facts["on_train_step_end"]["net_outputs"]
    assert (bool(overflow.asnumpy()), float(scale.asnumpy())) == (False, 2**10)
    fixed = FixedLossScaleManager(8.0, drop_overflow_update=False)
    again = network()
    Model(again, nn.MSELoss(), nn.SGD(again.trainable_params(), 0.01, loss_scale=8.0), loss_scale_manager=fixed).train(
        1, batches(2)
    )
    np.testing.assert_allclose(again.weight.asnumpy(), net.weight.asnumpy(), rtol=1e-6)


@pytest.mark.parametrize("level", ["O1", "O2", "O3", "auto"])
def test_levels_of_mixed_precision_train_and_evaluate(level):
    plain, low = network(), network()
    model(plain).train(2, batches())
    scale = {"loss_scale_manager": FixedLossScaleManager(64.0)} if level == "O2" else {}
    trained = model(low, metrics={"loss", "mse"}, amp_level=level, **scale)
    trained.train(2, batches())
    np.testing.assert_allclose(low.weight.asnumpy(), plain.weight.asnumpy(), atol=2e-3)
    assert low.weight.dtype is ms.float32
    result = trained.eval(batches())
    assert result["loss"] == pytest.approx(result["mse"], rel=1e-5)


def test_a_model_without_optimizer_runs_the_network():
    net = network()
    record = Record()
    Model(net, nn.MSELoss()).train(1, batches(1), callbacks=record)
    assert record.facts["on_train_step_end"]["net_outputs"].asnumpy() == pytest.approx(0.29)
    np.testing.assert_array_equal(net.weight.asnumpy(), [[1, 1]])


class NoOutput(nn.Cell):
    def construct(self, x):
        return None


def _predict(*args, **kwargs):
    return lambda: model().predict(*args, **kwargs)


X = ms.Tensor(np.ones((1, 2), np.float32))
ERRORS = {
    "epoch 0": (lambda: model().train(0, batches()), ValueError),
    "epoch str": (lambda: model().train("a", batches()), TypeError),
    "epoch bool": (lambda: model().train(True, batches()), TypeError),
    "sink": (lambda: model().train(1, batches(), dataset_sink_mode=1), TypeError),
    "sink size 0": (lambda: model().train(1, batches(), sink_size=0), ValueError),
    "sink size str": (lambda: model().train(1, batches(), sink_size="a"), TypeError),
    "initial str": (lambda: model().train(1, batches(), initial_epoch="a"), TypeError),
    "initial -1": (lambda: model().train(1, batches(), initial_epoch=-1), ValueError),
    "initial 1": (lambda: model().train(1, batches(), initial_epoch=1), ValueError),
    "callbacks": (lambda: model().train(1, batches(), callbacks=3), TypeError),
    "callbacks list": (lambda: model().train(1, batches(), callbacks=[3]), TypeError),
    "dataset": (lambda: model().train(1, None), TypeError),
    "dataset array": (lambda: model().train(1, np.ones((2, 2))), TypeError),
    "empty": (lambda: model().train(1, []), ValueError),
    "one element": (lambda: model().train(1, [(X,)]), ValueError),
    "eval without metrics": (lambda: model().eval(batches()), ValueError),
    "eval callbacks": (lambda: model(metrics={"loss"}).eval(batches(), callbacks=3), TypeError),
    "eval sink": (lambda: model(metrics={"loss"}).eval(batches(), dataset_sink_mode=3), TypeError),
    "eval empty": (lambda: model(metrics={"loss"}).eval([]), ValueError),
    "fit frequency": (lambda: model(metrics={"loss"}).fit(1, batches(), batches(), valid_frequency="a"), TypeError),
    "fit metrics": (lambda: model().fit(1, batches(), batches()), ValueError),
    "fit sink": (lambda: model().fit(1, batches(), valid_dataset_sink_mode=1), TypeError),
    "metrics list": (lambda: model(metrics=["loss"]), TypeError),
    "metrics name": (lambda: model(metrics={"x"}), KeyError),
    "metrics None": (lambda: model(metrics={"a": None}), TypeError),
    "network": (lambda: Model(3), TypeError),
    "loss": (lambda: Model(network(), 3), TypeError),
    "optimizer": (lambda: Model(network(), nn.MSELoss(), 3), TypeError),
    "eval_indexes": (lambda: model(metrics={"loss"}, eval_network=network(), eval_indexes=[0, 1]), ValueError),
    "metrics without loss": (lambda: Model(network(), metrics={"loss"}), ValueError),
    "keyword": (lambda: Model(network(), foo=1), ValueError),
    "amp_level": (lambda: model(amp_level="x"), ValueError),
    "amp_level type": (lambda: model(amp_level=3), TypeError),
    "amp without optimizer": (lambda: Model(network(), amp_level="O2"), ValueError),
    "boost_level": (lambda: model(boost_level="x"), ValueError),
    "manager without optimizer": (lambda: Model(network(), loss_scale_manager=FixedLossScaleManager()), ValueError),
    "manager": (lambda: model(loss_scale_manager=3), TypeError),
    "keep_batchnorm_fp32": (lambda: model(keep_batchnorm_fp32=3), TypeError),
    "predict list": (_predict([X]), TypeError),
    "predict array": (_predict(np.ones((1, 2))), TypeError),
    "predict empty": (_predict(ms.Tensor(np.ones((0, 2), np.float32))), ValueError),
    "predict backend": (_predict(X, backend="x"), ValueError),
    "predict None": (lambda: Model(NoOutput()).predict(X), RuntimeError),
    "build": (lambda: model().build(), ValueError),
    "build metrics": (lambda: model().build(valid_dataset=batches()), RuntimeError),
    "context": (lambda: ms.train.RunContext(3), TypeError),
}


@pytest.mark.parametrize("name", ERRORS)
def test_wrong_arguments(name):
    call, kind = ERRORS[name]
    with pytest.raises(kind):
        call()


def test_old_names_of_moments_work_in_train_and_not_in_fit():
    class Old(Callback):
        steps = 0

        def step_end(self, run_context):
            self.steps += 1

    old = Old()
    model().train(1, batches(3), callbacks=old)
    assert old.steps == 3
    with pytest.raises(ValueError, match="Old must not define step_end"):
        model().fit(1, batches(), callbacks=old)


def test_unknown_facts():
    record = Record()
    model().train(1, batches(1), callbacks=record)
    run = ms.train.callback._InternalCallbackParam(a=1)
    run.b = 2
    assert (run.a, run["b"], hasattr(run, "c"), run.get("c")) == (1, 2, False, None)
    for kind in (KeyError, AttributeError):
        with pytest.raises(kind, match="'c' must be a fact of this run, one of"):
            getattr(run, "c")  # noqa: B009


def test_predict_on_the_lite_backend_runs_the_network(caplog):
    result = model().predict(X, backend="lite")
    np.testing.assert_array_equal(result.asnumpy(), [[2]])
    assert "no lite backend" in caplog.text


def test_build_finds_two_parameters_of_one_name():
    class Twice(nn.Cell):
        def __init__(self):
            super().__init__(auto_prefix=False)
            self.a, self.b = nn.Dense(1, 1), nn.Dense(1, 1)

        def construct(self, x):
            return self.b(self.a(x))

    with pytest.raises(ValueError, match="weight"):
        Model(Twice(), nn.MSELoss()).build(batches())
