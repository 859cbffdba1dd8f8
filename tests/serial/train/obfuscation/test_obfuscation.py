"""Obfuscated weights: files, ratios, and networks that compute with them."""

import copy
import os
from pathlib import Path

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import nn
from tests.parity import obfuscated_checkpoints as parity

X = ms.Tensor(np.random.default_rng(1).standard_normal((4, 3)).astype(np.float32))
MUL = {"name": "mul", "input_x": "weight", "input_y": "obf_metadata"}
DRAWN = {"name": "obf_metadata", "shape": [1], "type": "random", "save_metadata": True, "metadata_op": "invert"}


class Block(nn.Cell):
    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Dense(3, 4, activation="tanh"), nn.Dense(4, 3, has_bias=False)

    def construct(self, x):
        return self.two(self.one(x))


class Network(nn.Cell):
    def __init__(self):
        super().__init__()
        self.blocks, self.head = nn.CellList([Block() for _ in range(3)]), Block()

    def construct(self, x):
        for block in self.blocks:
            x = x + block(x)
        return self.head(x)


@pytest.fixture
def net(tmp_path):
    found = Network()
    (tmp_path / "clear" / "inner").mkdir(parents=True)
    (tmp_path / "hidden").mkdir()
    ms.save_checkpoint(found, str(tmp_path / "clear" / "net.ckpt"), append_dict={"epoch": 3, "note": "a text"})
    ms.save_checkpoint(found, str(tmp_path / "clear" / "inner" / "a.b.ckpt"))
    (tmp_path / "clear" / "read.me").write_text("no checkpoint")
    return found


def obfuscate(net, tmp_path, *arguments, **options):
    ms.set_seed(5)
    ratios = ms.obfuscate_ckpt(net, str(tmp_path / "clear"), *arguments, saved_path=str(tmp_path / "hidden"), **options)
    return ratios, ms.load_checkpoint(str(tmp_path / "hidden" / "net_obf.ckpt"))


def factors(net, loaded):
    """By what weights were multiplied, of those that were."""
    found = {
        p.name: np.unique(np.rint(loaded[p.name].asnumpy() / p.asnumpy())) for p in net.get_parameters() if p.any()
    }
    return {name: value.item() for name, value in found.items() if value.tolist() != [1]}


def test_files_of_mindspore_give_the_clear_outputs():
    parity.check(ms, str(Path(__file__).parent / "fixtures"))


def test_files_are_written_with_all_else_that_they_hold(net, tmp_path):
    ratios, loaded = obfuscate(net, tmp_path, ["head", "one|two|three"])
    written = [
        os.path.relpath(os.path.join(at, f), tmp_path / "hidden")
        for at, _, fs in os.walk(tmp_path / "hidden")
        for f in fs
    ]
    assert sorted(written) == ["inner/a_obf.ckpt", "net_obf.ckpt"]
    assert int(loaded["epoch"]) == 3 and loaded["note"] == "a text"
    factor = round(1 / ratios["obf_metadata"].item())
    assert ratios["obf_metadata"].dtype == np.float16 and ratios["obf_metadata"].shape == (1,) and factor > 1
    assert factors(net, loaded) == dict.fromkeys(("head.one.weight", "head.one.bias", "head.two.weight"), factor)


def test_numpys_seed_decides(net, tmp_path):
    ratios = obfuscate(net, tmp_path, ["head", "one"])[0]
    np.random.seed(5)
    assert ratios["obf_metadata"] == np.reciprocal(np.float16(np.random.randint(1, 100, 1)))
    assert obfuscate(net, tmp_path, ["head", "one"], obfuscate_scale=2)[0] == {"obf_metadata": 1}


@pytest.mark.parametrize(("layers", "count"), [([], 3), (["obfuscate_layers:all"], 3), (["obfuscate_layers:2"], 2)])
def test_layers_of_a_list(net, tmp_path, layers, count):
    clear = net(X).asnumpy()
    targets = ["blocks", "one", *layers]
    ratios, loaded = obfuscate(net, tmp_path, targets)
    assert list(ratios) == ([f"obf_metadata_{i}" for i in range(count)] if layers else ["obf_metadata"])
    assert factors(net, loaded) == {
        f"blocks.{i}.one.{key}": round(1 / ratios[f"obf_metadata_{i}" if layers else "obf_metadata"].item())
        for i in range(count)
        for key in ("weight", "bias")
    }
    ms.load_param_into_net(net, loaded)
    kept = ms.Tensor(np.concatenate(list(ratios.values())))
    np.testing.assert_allclose(ms.load_obf_params_into_net(net, targets, kept)(X).asnumpy(), clear, rtol=1e-5)


def test_a_network_computes_with_the_clear_values(net, tmp_path):
    clear = net(X).asnumpy()
    targets = ["", "head"]
    with pytest.raises(ValueError, match="must name cells with a weight or a bias in the path ''"):
        ms.obfuscate_ckpt(net, str(tmp_path), targets)
    targets = ["head", "one|two"]
    ratios, loaded = obfuscate(net, tmp_path, targets)
    assert ms.load_obf_params_into_net(net, targets) is net
    np.testing.assert_array_equal(net(X).asnumpy(), clear)
    ms.load_param_into_net(net, loaded)
    obfuscated = net(X).asnumpy()
    assert not np.allclose(obfuscated, clear, rtol=0.1)
    for _ in range(2):  # a second time changes nothing
        assert ms.load_obf_params_into_net(net, targets, ratios) is net
        np.testing.assert_allclose(net(X).asnumpy(), clear, rtol=1e-5)
    np.testing.assert_allclose(copy.deepcopy(net)(X).asnumpy(), clear, rtol=1e-5)
    np.testing.assert_array_equal(net.head.one.weight.asnumpy(), loaded["head.one.weight"].asnumpy())
    ms.load_obf_params_into_net(net, targets, {"obf_metadata": np.ones(1, np.float16)})
    np.testing.assert_array_equal(net(X).asnumpy(), obfuscated)


def test_gradients_are_those_of_the_obfuscated_values(net, tmp_path):
    def gradient():
        return ms.grad(lambda x: net(x).sum(), None, net.head.one.weight)(X).asnumpy()

    clear = gradient()
    ratios, loaded = obfuscate(net, tmp_path, ["head", "one"])
    ms.load_param_into_net(net, loaded)
    ms.load_obf_params_into_net(net, ["head", "one"], ratios)
    np.testing.assert_allclose(gradient(), clear * ratios["obf_metadata"].astype(np.float32), rtol=1e-3)


def test_an_error_in_a_cell_leaves_its_weights(net, tmp_path):
    ratios, _ = obfuscate(net, tmp_path, ["head", "one"])
    ms.load_obf_params_into_net(net, ["head", "one"], ratios)
    with pytest.raises(ValueError):
        net.head.one(ms.ops.ones((2, 7)))
    assert isinstance(net.head.one.weight, ms.Parameter) and "weight" not in vars(net.head.one)


@pytest.mark.parametrize(
    "ops",
    [
        [{"name": "matmul", "input_x": "obf_metadata", "input_y": "weight", "transpose_a": True, "transpose_b": True}],
        [{"name": "matmul", "input_x": "weight", "input_y": "obf_metadata", "transpose_a": True, "transpose_b": True}]
        * 2,
        [{"name": "permuate", "input_x": "obf_metadata_order", "input_y": "weight"}, MUL],
    ],
)
def test_matrices_and_orders_are_undone(net, tmp_path, ops):
    clear = nn.Dense(3, 3)
    net.head = nn.SequentialCell(clear)
    ms.save_checkpoint(net, str(tmp_path / "clear" / "net.ckpt"))
    expected = net(X).asnumpy()
    order = {"name": "obf_metadata_order", "shape": [3], "type": "rearrange", "save_metadata": True}
    config = {
        "obf_metadata_config": [{"name": "obf_metadata", "shape": [3, 3], "save_metadata": True}, order],
        "weight_obf_config": [{"target": "head/0/weight", "weight_obf_ops": ops}],
        "network_obf_config": [],
    }
    ratios, loaded = obfuscate(net, tmp_path, obf_config=config)
    assert list(ratios) == ["obf_metadata", "obf_metadata_order"]
    ms.load_param_into_net(net, loaded)
    assert not np.allclose(net(X).asnumpy(), expected, rtol=0.1)
    ms.load_obf_params_into_net(net, obf_config=config, obf_ratios=ratios)
    np.testing.assert_allclose(net(X).asnumpy(), expected, rtol=1e-3, atol=1e-4)


def by_config(**changes):
    config = {
        "obf_metadata_config": [DRAWN],
        "weight_obf_config": [{"target": "head/one/weight", "weight_obf_ops": [MUL]}],
    }
    return {"obf_config": {k: v for k, v in (config | changes).items() if v is not None}}


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({}, TypeError, "'target_modules' must be a list where there is no 'obf_config', but got NoneType"),
        ({"target_modules": ["head"]}, ValueError, "must have two or three elements"),
        ({"target_modules": ["head", 1]}, TypeError, r"'target_modules\[1\]' must be a str, but got int"),
        ({"target_modules": ["he.ad", "one"]}, ValueError, "letters, digits, '_' and '/'"),
        ({"target_modules": ["head", ""]}, ValueError, "with '|' between them, but got ''"),
        ({"target_modules": ["tail", "one"]}, ValueError, "where 'tail' is none"),
        ({"target_modules": ["head", "three"]}, ValueError, "must name cells with a weight"),
        ({"target_modules": ["blocks", "one", "layers:1"]}, ValueError, "'obfuscate_layers:' and an int"),
        ({"target_modules": ["head", "one", "obfuscate_layers:1"]}, ValueError, "must lead through a CellList"),
        ({"target_modules": ["head", "one"], "obfuscate_scale": 1}, ValueError, "from 2 to 65504, but got 1"),
        ({"target_modules": ["head", "one"], "obfuscate_scale": "9"}, ValueError, "but got '9'"),
        ({"obf_config": 3}, TypeError, "must be of type dict"),
        ({"obf_config": {}}, ValueError, "but got an empty one"),
        (by_config(other=[]), TypeError, "'other'"),
        (
            by_config(weight_obf_config=None),
            TypeError,
            r"'obf_config\['weight_obf_config'\]' must be a list, but got none",
        ),
        (by_config(obf_metadata_config=[{**DRAWN, "shape": 1}]), TypeError, "must be of type list"),
        (by_config(obf_metadata_config=[{**DRAWN, "shape": [0]}]), ValueError, "positive ints"),
        (by_config(obf_metadata_config=[{**DRAWN, "type": "rearrange"}]), ValueError, "'invert' for what is 'random'"),
        (by_config(obf_metadata_config=[{**DRAWN, "name": "other"}]), ValueError, "but got 'obf_metadata'"),
        (by_config(weight_obf_config=[{"target": "a", "weight_obf_ops": [{**MUL, "name": "add"}]}]), ValueError, "add"),
        (by_config(weight_obf_config=[{"target": "a", "weight_obf_ops": [{"name": "mul"}]}]), TypeError, "input_x"),
        (
            by_config(
                weight_obf_config=[{"target": "a", "weight_obf_ops": [{**MUL, "name": "matmul", "input_y": "w"}]}]
            ),
            ValueError,
            "one of the inputs of 'matmul' must be metadata",
        ),
    ],
)
def test_obfuscate_refuses(net, tmp_path, options, error, text):
    with pytest.raises(error, match=text):
        ms.obfuscate_ckpt(net, str(tmp_path / "clear"), saved_path=str(tmp_path / "hidden"), **options)
    assert not list((tmp_path / "hidden").iterdir())


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ((1, "."), TypeError, "'network' must be a Cell, but got int 1"),
        ((Block(), 1), TypeError, "'ckpt_files' must be a str"),
        ((Block(), "nowhere"), ValueError, "'nowhere', which does not exist"),
        ((Block(), __file__), TypeError, "'ckpt_files' must be a folder, but got the file"),
    ],
)
def test_folders_are_looked_at(arguments, error, text):
    with pytest.raises(error, match=text):
        ms.obfuscate_ckpt(*arguments, ["", "one"])


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"obf_ratios": 0.5}, TypeError, "'obf_ratios' must be a Tensor or dict"),
        (
            {"obf_ratios": ms.Tensor(np.zeros(0, np.float16))},
            ValueError,
            r"a Tensor of 1 ratios, but got one of shape \(0,\)",
        ),
        ({"obf_ratios": {"other": 1.0}}, ValueError, "a dict with 'obf_metadata', but got one without it"),
        ({"obf_ratios": {"obf_metadata": np.ones(2)}}, ValueError, r"of shape \(1,\), but got \(2,\)"),
        ({"data_parallel_num": 0}, ValueError, "'data_parallel_num' must be a positive int, but got 0"),
        ({"ignored_func_decorators": "a"}, TypeError, "'ignored_func_decorators' must be a list of str"),
        ({"ignored": []}, TypeError, "there is no argument 'ignored'"),
        (by_config(), TypeError, "network_obf_config"),
        ({"obf_ratios": {}, "obf_config": {"network_obf_config": []}}, ValueError, "as there are 'obf_ratios'"),
    ],
)
def test_load_refuses(options, error, text):
    with pytest.raises(error, match=text):
        ms.load_obf_params_into_net(Network(), ["head", "one"], **options)


def test_metadata_that_was_not_kept_is_missed(net):
    config = by_config(obf_metadata_config=[{**DRAWN, "save_metadata": False}], network_obf_config=[])
    with pytest.raises(ValueError, match="a dict with 'obf_metadata'"):
        ms.load_obf_params_into_net(net, obf_ratios={"obf_metadata": np.ones(1)}, **config)
    other = by_config(weight_obf_config=[{"target": "nowhere/weight", "weight_obf_ops": [MUL]}], network_obf_config=[])
    with pytest.raises(ValueError, match="of parameters of the network, but got 'nowhere.weight'"):
        ms.load_obf_params_into_net(net, obf_ratios={"obf_metadata": np.ones(1)}, **other)


def test_mindspores_paths_lead_here():
    from dist_ms import compat

    compat.install()
    from mindspore.safeguard import obfuscate_ckpt
    from mindspore.safeguard.rewrite_obfuscation import load_obf_params_into_net

    assert obfuscate_ckpt is ms.obfuscate_ckpt and load_obf_params_into_net is ms.load_obf_params_into_net
