"""What `import dist_ms as ms` gives: names, late packages, and how much it loads."""

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

import dist_ms
from dist_ms import runtime, train
from dist_ms.common import late_names
from dist_ms.compat.paths import PATHS
from dist_ms.ops.declared import declared as ops_names


def test_names_of_train_and_runtime_are_there():
    for package in (train, runtime):
        for name in package.__all__:
            assert getattr(dist_ms, name) is getattr(package, name)


LATE = """
dist_ms dist_ms.dataset dist_ms.dataset.vision dist_ms.dataset.transforms dist_ms.mindrecord dist_ms.communication
dist_ms.ops.backward dist_ms.amp dist_ms.parallel dist_ms.nn dist_ms.nn.layer dist_ms.nn.loss dist_ms.nn.optim
dist_ms.nn.wrap dist_ms.train dist_ms.train.callback dist_ms.train.metrics dist_ms.train.summary
"""


@pytest.mark.parametrize("package", LATE.split())
def test_what_a_package_declares_is_there(package):
    module = importlib.import_module(package)
    names = late_names.declared(package)
    assert names and set(names) <= set(dir(module))
    for name, (owner, item) in names.items():
        found = getattr(module, name)
        assert found is (sys.modules[f"{owner}.{item}"] if owner == package else getattr(sys.modules[owner], item))
        assert vars(module)[name] is found


def test_kernels_load_when_they_are_used():
    code = (
        "import sys\n"
        "from dist_ms.ops import kernels\n"
        "assert 'dist_ms._ext.scan' not in sys.modules and 'scipy' not in sys.modules\n"
        "assert kernels.scan.scan and 'dist_ms._ext.scan' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_metrics_have_their_names_in_nn_too():
    from dist_ms import nn
    from dist_ms.train import metrics

    for name in metrics.__all__:
        assert getattr(nn, name) is getattr(metrics, name) and name in dir(nn)
    with pytest.raises(AttributeError, match="module 'dist_ms.nn' has no attribute 'zzz'"):
        _ = nn.zzz
    code = "import sys, dist_ms.nn as nn; assert 'dist_ms.train' not in sys.modules; nn.Loss(), nn.loss.MSELoss"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_importing_a_file_takes_no_name_away():
    """A name that is that of a file beside it, which importing the file would hide, is guarded."""
    for package in (*LATE.split(), "dist_ms.ops"):
        names = {name for name, (owner, _) in late_names.declared(package).items() if owner != package}
        names |= {*ops_names()} if package == "dist_ms.ops" else set()
        beside = {path.stem for path in Path(importlib.import_module(package).__file__).parent.iterdir()}
        assert {f"{package}.{name}" for name in names & beside} <= {f"dist_ms.{path}" for path in PATHS}
    code = (
        "import sys, dist_ms.nn.optim.thor, dist_ms.train.metrics.auc, dist_ms as ms\n"
        "assert ms.nn.optim.thor is ms.nn.thor is sys.modules['dist_ms.nn.optim.thor'].thor\n"
        "assert ms.train.metrics.auc is sys.modules['dist_ms.train.metrics.auc'].auc"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("package", "dist_ms.nn dist_ms.nn.layer dist_ms.train dist_ms.ops".split())
def test_a_star_imports_what_loads_late(package):
    given = {}
    exec(f"from {package} import *", given)
    names = {*late_names.declared(package), *(ops_names() if package == "dist_ms.ops" else ())}
    assert len(names) > 30
    assert {name for name in names if not name.startswith("_")} <= set(given)


@pytest.mark.parametrize(
    "name",
    "nn.learning_rate_schedule.CosineDecayLR nn.layer.conv.Conv2d train.model.Model ops.primitive.Primitive".split(),
)
def test_a_module_of_a_package_loads_when_it_is_used(name):
    subprocess.run([sys.executable, "-c", f"import dist_ms as ms; ms.{name}"], check=True)


def test_a_script_loads_the_layers_it_uses():
    code = (
        "import sys, dist_ms as ms\n"
        "from dist_ms.train import Model, LossMonitor\n"
        "net = ms.nn.SequentialCell(ms.nn.Conv2d(1, 2, 3), ms.nn.ReLU(), ms.nn.Dense(2, 2))\n"
        "Model(net, ms.nn.MSELoss(), ms.nn.Momentum(net.trainable_params(), 0.1, 0.9))\n"
        "unused = 'nn.layer.transformer nn.optim.thor nn.loss.ctc train.metrics.roc train.summary ops.signals'\n"
        "assert not [name for name in unused.split() if f'dist_ms.{name}' in sys.modules]"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_packages_load_when_they_are_used():
    code = (
        "import sys, dist_ms as ms\n"
        "assert 'dist_ms.nn' not in sys.modules and 'dist_ms.train' not in sys.modules\n"
        "assert ms.nn.Dense(1, 1).weight.shape == (1, 1)\n"
        "assert ms.Model and 'nn' in dir(ms) and 'Model' in dir(ms)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'dist_ms' has no attribute 'zzz'"):
        _ = dist_ms.zzz


def test_operations_that_load_later_are_listed():
    from dist_ms import ops
    from dist_ms.ops.declared import _NOT_SHOWN, declared

    files = sorted((Path(ops.__file__).parent).glob("*/*.py"))
    for family, module in ((path.parent.name, path.stem) for path in files if path.parent.name not in _NOT_SHOWN):
        found = importlib.import_module(f"dist_ms.ops.{family}.{module}")
        for name in getattr(found, "__all__", ()):
            assert declared()[name] == f"dist_ms.ops.{family}.{module}"
            assert getattr(ops, name) is getattr(found, name)
            assert name in dir(ops)
    assert len(declared()) > 1000
    with pytest.raises(AttributeError, match="module 'dist_ms.ops' has no attribute 'zzz'"):
        _ = ops.zzz


def test_an_operation_has_one_owner():
    code = (
        "import sys\n"
        "from dist_ms import ops\n"
        "from dist_ms.ops.declared import declared\n"
        "for name, module in declared().items():\n"
        "    if module not in sys.modules:\n"
        "        assert name not in vars(ops), name\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    "module, name, remedy",
    [
        ("dist_ms.ops", "CustomOpBuilder", "ops.Custom"),
    ],
)
def test_names_that_make_no_sense_here_say_what_to_use(module, name, remedy):
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute '{name}': .*{remedy}"):
        getattr(importlib.import_module(module), name)
    assert not hasattr(importlib.import_module(module), name)


def test_absent_names_are_absent():
    from dist_ms.common.absent import _BY_NAME

    assert not [name for name in _BY_NAME if hasattr(dist_ms, name) or hasattr(dist_ms.ops, name)]
