"""SummaryLandscape: which weights a collector keeps, and the loss around them."""

import os

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from dist_ms.train import SummaryCollector, SummaryLandscape

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3)).astype(np.float32)
Y = X @ np.array([[1.0, 0.0], [0.5, -1.0], [0.0, 2.0]], np.float32)


def made():
    net = nn.Dense(3, 2)
    data = ms.dataset.NumpySlicesDataset((X, Y), shuffle=False).batch(4)
    metrics = {"Loss": nn.Loss()}
    model = ms.Model(net, nn.MSELoss(), nn.Momentum(net.trainable_params(), 0.2, 0.5), metrics=metrics)
    return model, net, data, metrics


@pytest.mark.parametrize("unit", ["step", "epoch"])
def test_the_loss_around_the_way_of_training(tmp_path, unit):
    options = {"landscape_size": 5, "unit": unit, "intervals": [[1, 2, 4, 6]], "num_samples": 12}
    collector = SummaryCollector(str(tmp_path), collect_specified_data={"collect_landscape": options})
    made_once = made()
    made_once[0].train(6, made_once[2], callbacks=[collector])
    kept = sorted(os.listdir(tmp_path / "ckpt_dir"))
    assert kept == [*(f"Dense_{n}_{unit}.ckpt" for n in (1, 2, 4, 6)), "train_metadata.json"]
    before = made_once[1].weight.asnumpy().copy()
    landscape = SummaryLandscape(str(tmp_path))
    landscape.gen_landscapes_with_multi_process(lambda: made_once, output=str(tmp_path / "out"))
    assert np.array_equal(made_once[1].weight.asnumpy(), before)
    pictures = {name: np.load(tmp_path / "out" / name) for name in os.listdir(tmp_path / "out") if name[-4:] == ".npz"}
    assert sorted(pictures) == [f"landscape_{kind}_1_6_{unit}.npz" for kind in ("interval", "result")]
    way = pictures[f"landscape_interval_1_6_{unit}.npz"]
    assert way["loss"].shape == (5, 5) and np.isfinite(way["loss"]).all() and way["path_x"].shape == (4,)
    assert abs(way["path_x"][-1]) < 1e-9 and way["x"].min() < way["path_x"].min() < way["path_x"].max() < way["x"].max()
    around = pictures[f"landscape_result_1_6_{unit}.npz"]["loss"]
    last = ms.load_checkpoint(str(tmp_path / "ckpt_dir" / f"Dense_6_{unit}.ckpt"))
    loss = np.mean((X @ last["weight"].asnumpy().T + last["bias"].asnumpy() - Y) ** 2)
    assert around[2, 2] == pytest.approx(loss, rel=1e-4)
    fewer = {"num_samples": 4, "create_landscape": {"train": False, "result": True}}
    landscape.gen_landscapes_with_multi_process(lambda: made_once, fewer, output=str(tmp_path / "few"))
    assert not np.allclose(np.load(tmp_path / "few" / f"landscape_result_1_6_{unit}.npz")["loss"], around)
    landscape.clean_ckpt()
    assert not (tmp_path / "ckpt_dir").exists()
    with pytest.raises(ValueError, match="must hold weights"):
        landscape.gen_landscapes_with_multi_process(made)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"landscape_size": 2}, ValueError),
        ({"unit": "day"}, ValueError),
        ({"intervals": [[1, 2]]}, ValueError),
        ({"intervals": 1}, TypeError),
        ({"create_landscape": {"train": 1}}, TypeError),
        ({"num_samples": 0}, ValueError),
        ({"color": 1}, ValueError),
    ],
)
def test_wrong_options(tmp_path, options, error):
    with pytest.raises(error):
        SummaryCollector(str(tmp_path), collect_specified_data={"collect_landscape": options})
    with pytest.raises(TypeError):
        SummaryLandscape(1)
