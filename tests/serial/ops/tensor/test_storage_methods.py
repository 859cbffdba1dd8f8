"""The memory under tensors, and what engines note on them, as MindSpore has it."""

import numpy as np
import pytest

import dist_ms as ms
from dist_ms import Tensor


def test_views_have_one_storage():
    x = Tensor(np.arange(6, dtype=np.float32).reshape(2, 3))
    storage = x.untyped_storage()
    assert (storage.size(), len(storage), storage.nbytes(), storage.element_size()) == (24, 24, 24, 1)
    assert (storage.device, storage.dtype, storage.is_shared()) == ("CPU", ms.float32, False)
    assert storage == x.untyped_storage() == x[1].storage() and storage.data_ptr() == x.data_ptr()
    y = Tensor(np.ones(6, np.float32))
    y.storage().copy_(storage)
    assert y.asnumpy().tolist() == list(range(6)) and storage.resize_(24) is storage
    with pytest.raises(TypeError, match="untyped_storage"):
        ms.UntypedStorage()
    with pytest.raises(NotImplementedError, match="'size' must be 24"):
        storage.resize_(8)


def test_a_tensor_lies_in_anothers_memory():
    x, y = Tensor([1.0, 2.0]), Tensor([3.0, 4.0, 5.0])
    assert x.set_(y) is x
    y[0] = 100
    assert x.asnumpy().tolist() == [100, 4, 5]
    assert Tensor([1.0]).set_(y.untyped_storage()).asnumpy().tolist() == [100, 4, 5]
    assert Tensor([1.0]).set_(y.untyped_storage(), 1, (2,)).asnumpy().tolist() == [4, 5]
    six = Tensor(np.arange(6, dtype=np.float32))
    assert Tensor([1.0]).set_(six, 0, (2, 2), (1, 3)).asnumpy().tolist() == [[0, 3], [1, 4]]
    assert Tensor([1.0]).set_(six, 0, (2, 3)).asnumpy().tolist() == [[0, 1, 2], [3, 4, 5]]
    assert Tensor([1.0]).set_(source=y, storage_offset=1, size=(1,)).asnumpy().tolist() == [4]
    assert Tensor([1.0]).set_().shape == (0,)
    for source, error in ((Tensor([1, 2]), RuntimeError), (1, TypeError)):
        with pytest.raises(error, match="'source' must be"):
            Tensor([1.0]).set_(source)
    with pytest.raises(ValueError, match="inside the 3 elements"):
        Tensor([1.0]).set_(y, 2, (5,))


def test_memory_is_shared_with_other_libraries():
    x = Tensor([1.0, 2.0])
    y = Tensor.from_dlpack(x.to_dlpack())
    y[0] = 7
    assert x.asnumpy().tolist() == y.asnumpy().tolist()
    assert Tensor.from_dlpack(np.arange(3.0)).asnumpy().tolist() == [0, 1, 2]
    capsule = x.to_dlpack()
    Tensor.from_dlpack(capsule)
    for wrong in (capsule, 1):
        with pytest.raises(RuntimeError, match="not used yet"):
            Tensor.from_dlpack(wrong)
    with pytest.raises(TypeError, match="BFloat16"):
        x.astype(ms.bfloat16).to_dlpack()


def test_notes_of_engines():
    x = Tensor([1.0, 2.0])
    assert (x.init_finished, x.init_flag, x.virtual_flag, x.param_info) == (True, False, False, None)
    assert (x.symbolic_shape, x.parent_tensor_, x.index_of_parent_) == (None, None, None)
    x.set_init_flag(True)
    x.virtual_flag, x.parent_tensor_ = True, x
    assert x.init_flag and x.virtual_flag and x.parent_tensor_ is x
    assert x.set_cast_dtype(ms.float16) is None and x.dtype == ms.float32
    assert x.data_sync(True) is None and x.to_("CPU") is x
    assert x.assign_value_cpp(Tensor([5, 6, 7])).asnumpy().tolist() == [5, 6, 7]
    assert ms.Parameter(x, name="w").param_info.name == "w"
    x.delete_()
    assert x.shape == (0,) and Tensor.remove_hook(1) is None
    for call, error in (
        (lambda: x.to_("xx"), ValueError),
        (lambda: x.pin_memory(), RuntimeError),
        (lambda: x.set_device_address(1, (1,), ms.float32), NotImplementedError),
        (lambda: Tensor.getitem_index_info(x, 0), NotImplementedError),
        (lambda: Tensor.setitem_index_info(x, 0, 0), NotImplementedError),
    ):
        with pytest.raises(error):
            call()


def test_numbers_drawn_in_the_shape_of_a_tensor():
    found = ms.ops.zeros((50,)).uniform(1.0, 2.0).asnumpy()
    assert found.min() >= 1 and found.max() < 2 and found.std() > 0.1
