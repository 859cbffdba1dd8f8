"""Values and small functions of MindSpore's inner modules: training, parallel settings, decorators."""

import logging

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.compat import parallel_settings as settings
from dist_ms.compat.inner import decorators, plain_values, training_values
from dist_ms.compat.inner.attention_function import multi_head_attention_forward


def test_batches_as_tensors():
    to = training_values._to_tensor
    assert isinstance(to(np.ones(2)), ms.Tensor) and to(3) == (3,)
    first, second, scale = to([1, np.ones(2)], 2)
    assert first == 1 and second.shape == (2,) and scale == 2 and scale.dtype == ms.float32


def test_types_and_shapes_of_a_data_set():
    data = ms.dataset.NumpySlicesDataset(np.ones((4, 2), np.float32)).batch(2)
    assert training_values._get_types_and_shapes(data) == ([ms.float32], [[2, 2]])
    (zeros,) = training_values._construct_tensor_list([ms.float32], [[2, 3]], 2)
    assert zeros.shape == (4, 3) and zeros.dtype == ms.float32
    with pytest.raises(ValueError, match="'shapes' must be of 1 shapes, one per type"):
        training_values._construct_tensor_list([ms.float32], [])


def test_values_have_types():
    training_values.check_value_type("a", 1, [int, str])
    with pytest.raises(TypeError, match="'a' must be of type int, but got bool"):
        training_values.check_value_type("a", True, int)


def test_a_folder_is_made(tmp_path):
    made = training_values._make_directory(str(tmp_path / "a" / "b"))
    assert (tmp_path / "a" / "b").is_dir() and made == str((tmp_path / "a" / "b").resolve())
    with pytest.raises(TypeError, match="'path' must be a text that is not empty, but got ' '"):
        training_values._make_directory(" ")


def test_progress_is_shown(capsys):
    assert list(training_values._progress_bar([1, 2])) == [1, 2]
    assert capsys.readouterr().out == "\r1/2\r2/2\n"
    assert training_values._rotate_list_elements(1, [1, 2, 3]) == [2, 3, 1]


def test_parallel_settings_that_are_always_so():
    assert settings._get_stage_device_num() == 1 and not settings._is_parallel_mode() and not settings._need_to_full()
    assert not settings._get_grad_accumulation_shard() and not settings._is_sharding_propagation()
    assert settings._grads_divided_by_device_num_if_recomputation([1]) == [1]
    settings._check_full_batch()
    settings._reset_op_id()
    settings._parallel_predict_check()
    settings._device_number_check("data_parallel", 8)
    settings._parameter_broadcast_check("data_parallel", True)
    with pytest.raises(ValueError, match="'device_number' must be 1, but got 2"):
        settings._device_number_check("stand_alone", 2)
    with pytest.raises(ValueError, match="'parameter_broadcast' must be False, but got True"):
        settings._parameter_broadcast_check("stand_alone", True)
    ms.set_auto_parallel_context(full_batch=True)
    try:
        with pytest.raises(RuntimeError, match="'full_batch' must be False in the parallel mode 'stand_alone'"):
            settings._check_full_batch()
    finally:
        ms.reset_auto_parallel_context()


def test_a_function_that_will_go_says_so_once(caplog):
    @decorators.deprecated("2.0", "other", use_substitute_name=True, module_prefix="m.")
    def old():
        return 1

    logging.getLogger("dist_ms").propagate = True
    with caplog.at_level(logging.WARNING, "dist_ms"):
        assert old() == old() == 1
    assert old.__name__ == "other"
    assert len([r for r in caplog.records if "is deprecated from version 2.0 on; use 'other'" in r.message]) == 1


def test_shapes_that_are_not_known():
    assert decorators.is_dim_unknown((-2,)) and not decorators.is_dim_unknown((-1,))
    assert decorators.is_shape_unknown((-2,)) and not decorators.is_shape_unknown((1,))
    assert decorators._primexpr(lambda x: x + 1)(2) == 3
    assert decorators._function_forbid_reuse(len) is len


def test_attention_of_given_weights_is_that_of_the_layer():
    rng = np.random.default_rng(0)
    layer = ms.nn.MultiheadAttention(4, 2, add_bias_kv=True, add_zero_attn=True).set_train(False)
    query, key = (ms.Tensor(rng.normal(size=(n, 2, 4)).astype(np.float32)) for n in (3, 5))
    padding = ms.Tensor([[False] * 4 + [True], [False] * 5])
    given = (layer.in_proj_weight, layer.in_proj_bias, layer.bias_k, layer.bias_v, True, 0.0)
    out = (layer.out_proj.weight, layer.out_proj.bias)
    got = multi_head_attention_forward(query, key, key, 4, 2, *given, *out, False, padding)
    for a, b in zip(got, layer(query, key, key, padding)):
        assert np.allclose(a.asnumpy(), b.asnumpy(), atol=1e-6)
    alone = multi_head_attention_forward(query[:, 0], key[:, 0], key[:, 0], 4, 2, *given, *out, False)
    assert [a.shape for a in alone] == [(3, 4), (3, 7)]


def test_attention_of_given_weights_one_by_one():
    rng = np.random.default_rng(1)
    x = ms.Tensor(rng.normal(size=(3, 2, 4)).astype(np.float32))
    weight, out = (ms.Tensor(rng.normal(size=(n, 4)).astype(np.float32)) for n in (12, 4))
    parts = dict(zip(("q_proj_weight", "k_proj_weight", "v_proj_weight"), ms.ops.split(weight, 4)))
    whole = multi_head_attention_forward(x, x, x, 4, 2, weight, None, None, None, False, 0.0, out, None, False)
    apart = multi_head_attention_forward(
        x, x, x, 4, 2, None, None, None, None, False, 0.0, out, None, False, use_separate_proj_weight=True, **parts
    )
    k, v = (
        ms.ops.reshape(ms.ops.transpose(ms.ops.reshape(ms.ops.dense(x, w), (3, 4, 2)), (1, 0, 2)), (4, 3, 2))
        for w in (parts["k_proj_weight"], parts["v_proj_weight"])
    )
    static = multi_head_attention_forward(
        x, x, x, 4, 2, weight, None, None, None, False, 0.0, out, None, False, static_k=k, static_v=v
    )
    for found in (apart, static):
        assert np.allclose(whole[0].asnumpy(), found[0].asnumpy(), atol=1e-6)
    with pytest.raises(ValueError, match="'attn_mask' must be given with 'is_causal'"):
        multi_head_attention_forward(
            x, x, x, 4, 2, weight, None, None, None, False, 0.0, out, None, False, is_causal=True
        )
    with pytest.raises(ValueError, match="'query' must be of embeddings of the length 6, a multiple of 2"):
        multi_head_attention_forward(x, x, x, 6, 2, weight, None, None, None, False, 0.0, out, None)


def test_types_and_rows():
    assert plain_values.typeof(ms.Tensor([1.0])) == ms.TensorType(ms.float32) and plain_values.typeof(1) is ms.int64
    assert plain_values.is_tensor_bool_cond(ms.Tensor(True))
    with pytest.raises(ValueError, match=r"'x' must be of the shape \(\) or \(1,\), but got \(2,\)"):
        plain_values.is_tensor_bool_cond(ms.Tensor([1, 2]))
    rows = plain_values.make_row_tensor(ms.Tensor([1]), ms.Tensor([[2.0]]), (3, 1))
    assert plain_values.row_tensor_get_indices(rows).asnumpy().tolist() == [1]
    assert plain_values.row_tensor_get_values(rows).asnumpy().tolist() == [[2]]
    assert plain_values.row_tensor_get_dense_shape(rows) == (3, 1)
