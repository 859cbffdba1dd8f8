"""Names that scripts take from MindSpore's modules though they begin with an underscore, or are no part of its API."""

import copy

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor, nn
from dist_ms.dataset import GeneratorDataset, MappableDataset, NumpySlicesDataset, RepeatDataset, VisionBaseDataset
from dist_ms.dataset.vision.py_transforms_util import hwc_to_chw, is_numpy
from dist_ms.nn.layer import rnn_cells
from dist_ms.nn.layer.activation import _activation
from dist_ms.nn.wrap.loss_scale import _grad_overflow
from dist_ms.train.amp import _add_loss_network, _config_level, _do_keep_batchnorm_fp32
from dist_ms.train.callback._callback import InternalCallbackParam
from dist_ms.train.serialization import tensor_to_ms_type, tensor_to_np_type


@pytest.mark.parametrize(
    ("make", "step"),
    [
        (lambda: nn.RNNCell(3, 4), "_rnn_tanh_cell"),
        (lambda: nn.RNNCell(3, 4, nonlinearity="relu"), "_rnn_relu_cell"),
        (lambda: nn.GRUCell(3, 4), "_gru_cell"),
        (lambda: nn.LSTMCell(3, 4), "_lstm_cell"),
    ],
)
def test_steps_of_recurrent_layers_are_those_of_their_cells(make, step):
    cell, rng = make(), np.random.RandomState(0)
    x, h, c = (Tensor(rng.randn(2, n).astype(np.float32)) for n in (3, 4, 4))
    state = (h, c) if step == "_lstm_cell" else h
    weights = cell.weight_ih, cell.weight_hh, cell.bias_ih, cell.bias_hh
    found, wanted = getattr(rnn_cells, step)(x, state, *weights), cell(x, state)
    for one, other in zip(found, wanted, strict=True) if step == "_lstm_cell" else [(found, wanted)]:
        assert np.array_equal(one.asnumpy(), other.asnumpy())


def test_levels_of_precision():
    assert _config_level["O2"]["keep_batchnorm_fp32"] and _config_level["O3"]["cast_model_type"] is ms.float16
    assert [level for level in _config_level if _config_level[level]["loss_scale_manager"]] == ["O2"]
    net = nn.SequentialCell(nn.Dense(2, 3), nn.BatchNorm1d(3)).to_float(ms.float16)
    _do_keep_batchnorm_fp32(net)
    x = ms.ops.ones((4, 2))
    assert net[0](x).dtype is ms.float16 and net[1](net[0](x)).dtype is ms.float32


def test_a_loss_behind_a_low_network_is_in_float32():
    seen = []

    def loss(output, label):
        seen.append(output.dtype)
        return (output - label).sum()

    net = nn.Dense(2, 1).to_float(ms.float16)
    for kind in (ms.float16, ms.float32):
        cell = _add_loss_network(net, loss, kind)
        assert len(cell.trainable_params()) == 2 and cell(ms.ops.ones((1, 2)), ms.ops.ones((1, 1))).shape == ()
    assert seen == [ms.float32, ms.float16]


def test_overflows_of_gradients():
    assert _grad_overflow(Tensor([1.0, np.inf])).asnumpy() == 1 and _grad_overflow(Tensor([1.0])).asnumpy() == 0
    rows = ms.RowTensor(Tensor([1]), Tensor([[np.nan]]), (3, 1)) if hasattr(ms, "RowTensor") else None
    assert rows is None or _grad_overflow(rows).asnumpy() == 1


def test_what_callbacks_know_is_a_dict_with_attributes():
    facts = InternalCallbackParam(batch_num=3)
    facts.cur_step_num = 2
    assert facts == {"batch_num": 3, "cur_step_num": 2} and facts.batch_num == 3
    with pytest.raises(KeyError):
        _ = facts.none


def test_activations_by_name():
    assert _activation["relu"] is nn.ReLU and nn.get_activation("mish").__class__ is _activation["mish"]


def test_types_by_their_names_in_checkpoints():
    assert tensor_to_ms_type["BFloat16"] is ms.bfloat16 and tensor_to_ms_type["Bool"] is ms.bool_
    assert tensor_to_np_type("Int8") is np.int8 and tensor_to_np_type("Float32") is np.float32
    with pytest.raises(ValueError, match="'tensor_type_str' must be "):
        tensor_to_np_type("str")


def test_images_as_arrays():
    image = np.arange(12).reshape(2, 3, 2)
    assert is_numpy(image) and not is_numpy([1])
    assert np.array_equal(hwc_to_chw(image), np.moveaxis(image, 2, 0)) and hwc_to_chw(image[0]).shape == (3, 2)
    with pytest.raises(TypeError, match="'img' must be of 2 or 3 dimensions, but got 1"):
        hwc_to_chw(np.zeros(3))
    with pytest.raises(TypeError, match="'img' must be a NumPy array, but got list"):
        hwc_to_chw([1])


def test_classes_of_data_sets():
    data = NumpySlicesDataset([1, 2], shuffle=False)
    assert isinstance(data.repeat(2), RepeatDataset) and isinstance(data, VisionBaseDataset)
    assert isinstance(GeneratorDataset([1], "a"), MappableDataset) and not isinstance(data.batch(2), MappableDataset)


def test_a_tensor_takes_the_memory_of_a_deep_copy_by_name():
    x, memory = Tensor([1.0, 2.0]), {}
    twin = x.__deepcopy__(memodict=memory)
    twin[0] = 5
    assert x.asnumpy()[0] == 1 and copy.deepcopy(x).asnumpy()[1] == 2
