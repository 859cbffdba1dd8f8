"""Files that MindSpore 2.10.0 wrote (tests/parity/checkpoint_parity.py --fixtures)."""

import numpy as np
import pytest

from dist_ms.common.tensor import Tensor
from dist_ms.train.serialization import load_checkpoint, load_param_into_net, save_checkpoint
from tests.parity.checkpoint_parity import EXTRA, KEY, MODES, NARROW, TYPES, lenet, logits
from tests.serial.train.checkpoint.checkpoint_cases import FIXTURES, assert_same

NAMES = [*TYPES, "scalar", "one", "transposed", "\u00fcnicode.\u4e2d"]
SEALS = [
    ("kinds.ckpt", {}),
    ("kinds_crc.ckpt", {"crc_check": True}),
    ("kinds.safetensors", {"crc_check": True, "format": "safetensors"}),
    *((f"kinds_{mode}.ckpt", {"dec_key": KEY, "dec_mode": mode}) for mode in MODES),
]


def expected(name):
    from dist_ms.common import dtype as mstype

    if name in TYPES:
        return np.array([[0, 1, 2], [3, 100, 1]]).astype(getattr(mstype, name).np)
    return {
        "scalar": np.float32(2.5),
        "one": np.array([4], np.float32),
        "transposed": np.arange(6, dtype=np.float32).reshape(2, 3).T,
        NAMES[-1]: np.array([1, 2], np.int32),
    }[name]


@pytest.mark.parametrize(("file", "options"), SEALS)
def test_every_type_and_seal(file, options):
    loaded = load_checkpoint(str(FIXTURES / file), **options)
    names = [n for n in NAMES if n != "bfloat16" or file != "kinds.safetensors"]
    assert [n for n in loaded if n not in EXTRA] == (sorted(names) if "format" in options else names)
    for name in names:
        assert_same(loaded[name], np.asarray(expected(name)))


def test_appended_values():
    loaded = load_checkpoint(str(FIXTURES / "kinds.ckpt"))
    for name, value in EXTRA.items():
        found = loaded[name] if isinstance(value, str) else loaded[name].asnumpy().item()
        assert found == value and type(found) is type(value)


@pytest.mark.parametrize(("file", "options"), [("kinds.ckpt", {}), ("kinds_crc.ckpt", {"crc_check": True})])
def test_what_dist_ms_writes_has_the_same_bytes(file, options, tmp_path):
    appended = EXTRA if file == "kinds.ckpt" else None
    items = {name: Tensor(np.asarray(expected(name))) for name in NAMES}
    save_checkpoint(items, str(tmp_path / file), append_dict=appended, **options)
    assert (tmp_path / file).read_bytes() == (FIXTURES / file).read_bytes()


@pytest.mark.parametrize("file_format", ["ckpt", "safetensors"])
def test_a_lenet_trained_in_mindspore_gives_the_same_logits(file_format):
    import dist_ms
    import dist_ms.nn

    net = lenet(dist_ms, **NARROW)
    net.set_train(False)
    loaded = load_checkpoint(str(FIXTURES / f"lenet.{file_format}"), format=file_format)
    rest = ["step"] if file_format == "ckpt" else []
    assert load_param_into_net(net, loaded, strict_load=True) == ([], rest)
    wanted = np.load(FIXTURES / "logits.npy")
    np.testing.assert_allclose(logits(dist_ms, net, NARROW["size"]), wanted, rtol=0, atol=1e-5)


def test_names_of_a_network_and_its_optimizer():
    layers = [
        "conv1.weight",
        "bn1.moving_mean",
        "bn1.moving_variance",
        "bn1.gamma",
        "bn1.beta",
        "conv2.weight",
    ]
    layers += [f"fc{i}.{kind}" for i in (1, 2, 3) for kind in ("weight", "bias")]
    assert sorted(load_checkpoint(str(FIXTURES / "lenet.ckpt"))) == sorted([*layers, "step"])
    state = load_checkpoint(str(FIXTURES / "optimizer.ckpt"))
    trained = [name for name in layers if "moving" not in name]
    own = ["global_step", "learning_rate", "momentum"]
    assert sorted(state) == sorted([*own, *trained, *(f"moments.{name}" for name in trained)])
