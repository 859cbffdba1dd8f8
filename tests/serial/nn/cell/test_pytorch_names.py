"""PyTorch's names of methods, which networks here may give to their children."""

import pytest

from dist_ms import nn

NAMES = ["eval", "forward", "named_parameters", "parameters", "train", "zero_grad"]


@pytest.mark.parametrize("name", NAMES)
def test_the_error_names_what_stands_for_it(name):
    assert not hasattr(nn.ReLU(), name)
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'. (PyTorch's|Gradients)"):
        getattr(nn.ReLU(), name)


@pytest.mark.parametrize("name", NAMES)
def test_a_child_may_have_the_name(name):
    net = nn.Cell()
    setattr(net, name, nn.ReLU())
    assert isinstance(getattr(net, name), nn.ReLU)
