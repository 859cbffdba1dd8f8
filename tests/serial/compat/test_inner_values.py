"""Values and small functions of MindSpore's inner modules: training, parallel settings, decorators."""

import logging

import numpy as np
import pytest

import dist_ms as ms
from dist_ms.compat import parallel_settings as settings
from dist_ms.compat.inner import decorators, training_values


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
