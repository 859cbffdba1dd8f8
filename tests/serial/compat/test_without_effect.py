"""Names that change nothing on a CPU, in MindSpore either: they answer as it does, and say so once."""

import importlib
import logging

import pytest

import dist_ms as ms
import dist_ms.compat
from dist_ms.common import once


@pytest.fixture(autouse=True)
def installed(monkeypatch):
    monkeypatch.setattr(once, "_told", set())
    dist_ms.compat.install()


@pytest.mark.parametrize("path", ["tools", "utils"])
def test_products_are_not_checked(path, caplog):
    module = importlib.import_module(f"mindspore.{path}")
    with caplog.at_level(logging.WARNING, "dist_ms"):
        assert module.sdc_detect_start() is None is module.sdc_detect_start()
    assert [r.getMessage().startswith("'sdc_detect_start' checks nothing on a CPU") for r in caplog.records] == [True]
    assert module.get_sdc_detect_result() is False and module.sdc_detect_stop() is None


def test_no_parameter_is_cut(caplog):
    strategy = importlib.import_module("mindspore.parallel.strategy")
    net = ms.nn.Dense(2, 2)
    with caplog.at_level(logging.WARNING, "dist_ms"):
        assert strategy.enable_save_strategy_online() is None
    assert "no parameter is cut" in caplog.text
    assert strategy.get_strategy_metadata(net) is strategy.get_strategy_metadata(net, 0) is None
    assert strategy.get_current_strategy_metadata(net) is strategy.clear_strategy_metadata() is None
    for ask in (strategy.get_strategy_metadata, strategy.get_current_strategy_metadata):
        with pytest.raises(TypeError, match="'network' must be a Cell, but got str"):
            ask("net")
