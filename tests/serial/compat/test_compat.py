"""MindSpore scripts run unedited, and the module paths they import are there."""

import importlib
import subprocess
import sys

import pytest

import dist_ms
import dist_ms.compat
from dist_ms.compat import checkparam
from dist_ms.compat.modules import ALIASES
from dist_ms.compat.paths import TableModule

SCRIPT = """
import sys
import mindspore as ms
import mindspore.nn as nn
from mindspore import Tensor, ops
from mindspore.common.initializer import initializer
import dist_ms
import mindspore.amp
assert nn.Cell is dist_ms.nn.Cell and ms.nn is nn and ms.Tensor is Tensor is dist_ms.Tensor
assert ms.amp is dist_ms.amp and ms.amp.__spec__.name == "dist_ms.amp"
assert ms.__version__ == "2.10.0"
print(__name__, sys.argv[1:], ops.add(Tensor([1.0]), Tensor([2.0])), initializer("ones", [2]).init_data())
"""


def run(args, cwd):
    return subprocess.run([sys.executable, *args], cwd=cwd, capture_output=True, text=True, check=False)


@pytest.fixture
def as_mindspore():
    dist_ms.compat.install()
    yield
    dist_ms.compat.uninstall()


def test_a_script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run(["-m", "dist_ms.compat", "script.py", "-x", "1"], tmp_path)
    assert done.stdout == "__main__ ['-x', '1'] [3.] [1. 1.]\n", done.stderr


def test_a_module(tmp_path):
    (tmp_path / "mod.py").write_text(SCRIPT)
    done = run(["-m", "dist_ms.compat", "-m", "mod", "a"], tmp_path)
    assert done.stdout == "__main__ ['a'] [3.] [1. 1.]\n", done.stderr


ROWS = """
import mindspore as ms

ms.set_context(device_target="Ascend")

class Rows:
    def __len__(self):
        return 3

    def __getitem__(self, index):
        return ms.Tensor([index]).asnumpy()
"""


def test_worker_processes_find_the_same_modules(tmp_path):
    (tmp_path / "rows.py").write_text(ROWS)
    (tmp_path / "script.py").write_text(
        "import rows\n"
        "import mindspore.dataset as ds\n"
        "data = ds.GeneratorDataset(rows.Rows(), 'x', shuffle=False, num_parallel_workers=2, max_rowsize=1)\n"
        "print([int(row['x'][0]) for row in data.create_dict_iterator(output_numpy=True)])\n"
    )
    done = run(["-m", "dist_ms.compat", "--cpu", "script.py"], tmp_path)
    assert done.stdout == "[0, 1, 2]\n", done.stderr
    (tmp_path / "own.py").write_text((tmp_path / "script.py").read_text().replace("mindspore", "dist_ms"))
    (tmp_path / "rows.py").write_text(ROWS.replace("mindspore", "dist_ms").replace("Ascend", "CPU"))
    assert run(["own.py"], tmp_path).stdout == done.stdout


def test_a_script_that_asks_for_another_device(tmp_path):
    (tmp_path / "script.py").write_text(
        "import mindspore as ms\n"
        "ms.set_context(device_target='Ascend', device_id=3)\n"
        "ms.set_device('GPU')\n"
        "print(ms.get_context('device_target'), ms.get_current_device().device_target)\n"
    )
    done = run(["-m", "dist_ms.compat", "script.py"], tmp_path)
    assert "must be 'CPU', but got 'Ascend'" in done.stderr and "compat --cpu" in done.stderr
    done = run(["-m", "dist_ms.compat", "--cpu", "script.py"], tmp_path)
    assert done.stdout == "CPU CPU\n" and done.stderr.count("this runs on the CPU") == 1, done.stderr


def test_a_script_imports_its_neighbours(tmp_path):
    (tmp_path / "model.py").write_text("from mindspore import nn\nnet = nn.ReLU()\n")
    (tmp_path / "script.py").write_text("from model import net\nprint(net)\n")
    done = run(["-m", "dist_ms.compat", str(tmp_path / "script.py")], "/")
    assert done.stdout == "ReLU()\n", done.stderr


def test_install_from_python(tmp_path):
    code = (
        "import dist_ms.compat as c; c.install(); c.install()\n" + SCRIPT + "\nc.uninstall()\n"
        "import importlib.util; print(importlib.util.find_spec('mindspore'))"
    )
    done = run(["-c", code], tmp_path)
    assert done.stdout.splitlines()[0] == "__main__ [] [3.] [1. 1.]", done.stderr


def test_the_real_mindspore_is_not_replaced_halfway(tmp_path):
    (tmp_path / "mindspore.py").write_text("")
    done = run(["-c", "import mindspore, dist_ms.compat\ndist_ms.compat.install()"], tmp_path)
    assert done.returncode == 1 and "mindspore must not be imported before, but it is, from" in done.stderr


def test_a_missing_module_is_an_import_error(tmp_path):
    code = "import dist_ms.compat as c; c.install()\nimport mindspore.nope"
    done = run(["-c", code], tmp_path)
    assert done.returncode == 1 and "ModuleNotFoundError: No module named 'mindspore.nope'" in done.stderr


def test_a_missing_script_is_named(tmp_path):
    done = run(["-m", "dist_ms.compat", "nope.py"], tmp_path)
    assert done.returncode == 2 and "'nope.py' does not exist" in done.stderr


@pytest.mark.parametrize("path", ALIASES)
def test_every_listed_path_can_be_imported(as_mindspore, path):
    module = importlib.import_module(f"mindspore.{path}")
    assert module is importlib.import_module(f"dist_ms.{path}")
    exec(f"from mindspore.{path} import *", {})
    with pytest.raises(AttributeError, match="zzz"):
        _ = module.zzz


def test_paths_below_dist_ms_itself_in_a_new_interpreter(tmp_path):
    (tmp_path / "script.py").write_text(
        "import dist_ms as ms\n"
        "from dist_ms.dataset.vision.utils import Inter\n"
        "from dist_ms.train.callback import SummaryCollector, TimeMonitor\n"
        "from dist_ms.train.model import Model, ParallelMode\n"
        "from dist_ms.device_context.ascend.op_precision import precision_mode\n"
        "import dist_ms.train.train_thor as thor\n"
        "assert SummaryCollector is ms.SummaryCollector and Model is ms.Model and ParallelMode is ms.ParallelMode\n"
        "assert Inter is ms.dataset.vision.Inter and thor.ConvertModelUtils and ms.train.train_thor is thor\n"
        "assert ms.train.model.__spec__.name == ms.train.model.__name__ == 'dist_ms.train.model'\n"
        "assert ms.utils.dlpack.to_dlpack and ms.boost.AutoBoost\n"
        "print(ms.train.model.__file__)\n"
    )
    done = run(["script.py"], tmp_path)
    assert done.stdout.endswith("model.py\n"), done.stderr


def test_a_module_of_a_function_s_name_leaves_the_function_usable(as_mindspore):
    for path in ("parallel.shard", "ops.vm_impl_registry", "train.metrics.auc", "run_check"):
        parent, _, name = path.rpartition(".")
        for package in ("dist_ms", "mindspore"):
            assert isinstance(importlib.import_module(f"{package}.{path}"), type(sys))
            found = getattr(importlib.import_module(f"{package}.{parent}".rstrip(".")), name)
            assert not isinstance(found, type(sys)), path
    assert {type(m) for name, m in sys.modules.items() if name.startswith("dist_ms")} <= {type(sys), TableModule}
    with pytest.raises(TypeError, match="in_strategy"):
        dist_ms.parallel.shard(dist_ms.nn.ReLU())


def test_a_module_keeps_its_own_reason_for_a_missing_name():
    with pytest.raises(AttributeError, match="write an ops.Primitive or an ops.Custom"):
        _ = dist_ms.ops.CustomOpBuilder
    with pytest.raises(AttributeError, match="module 'dist_ms.train.model' has no attribute 'zzz'"):
        _ = dist_ms.train.model.zzz


@pytest.mark.parametrize("path", "generator seed sparse_tensor symbol".split())
def test_modules_in_folders_keep_mindspore_s_paths(path):
    module = importlib.import_module(f"dist_ms.common.{path}")
    assert module.__name__ in (f"dist_ms.common.random.{path}", f"dist_ms.common.tensor.{path}")
    assert importlib.import_module(module.__name__) is module


@pytest.mark.parametrize(
    "path, names",
    [
        ("common.api", "_pynative_executor _cell_graph_executor jit"),
        ("common.initializer", "initializer Normal XavierUniform"),
        ("common.parameter", "Parameter ParameterTuple _Buffer _is_parameter_generated"),
        ("common.tensor", "Tensor"),
        ("common.dtype", "float32 int32"),
        ("common.generator", "Generator default_generator"),
        ("common.seed", "set_seed get_seed"),
        ("common.sparse_tensor", "COOTensor CSRTensor RowTensor"),
        ("common.symbol", "Symbol"),
        ("common.hook_handle", "HookHandle"),
        ("common", "set_seed Tensor"),
        ("context", "set_context GRAPH_MODE set_auto_parallel_context ParallelMode"),
        ("nn.cell", "Cell GraphCell"),
        ("nn.layer.activation", "ReLU GELU Softmax get_activation"),
        ("nn.layer.basic", "Dense Dropout Flatten"),
        ("nn.layer.conv", "Conv2d Conv2dTranspose"),
        ("nn.layer.container", "SequentialCell CellList"),
        ("nn.layer.normalization", "BatchNorm2d LayerNorm GroupNorm"),
        ("nn.layer.pooling", "MaxPool2d AdaptiveAvgPool2d"),
        ("nn.loss.loss", "LossBase SoftmaxCrossEntropyWithLogits"),
        ("nn.optim.optimizer", "Optimizer"),
        ("nn.optim.adam", "Adam AdamWeightDecay"),
        ("nn.wrap.cell_wrapper", "TrainOneStepCell WithLossCell"),
        ("nn.wrap.grad_reducer", "DistributedGradReducer"),
        ("nn.wrap.loss_scale", "TrainOneStepWithLossScaleCell"),
        ("nn.learning_rate_schedule", "LearningRateSchedule"),
        ("ops.operations", "MatMul Conv2D"),
        ("ops.operations.nn_ops", "ReLU"),
        ("ops.functional", "relu add"),
        ("ops.composite", "GradOperation MultitypeFuncGraph HyperMap"),
        ("ops.primitive", "Primitive constexpr"),
        ("train.callback", "Callback LossMonitor ModelCheckpoint CheckpointConfig"),
        ("train.callback._callback", "Callback RunContext"),
        ("train.serialization", "save_checkpoint load_checkpoint load_param_into_net"),
        ("train.metrics", "Accuracy"),
        ("train.model", "Model"),
        ("train.amp", "auto_mixed_precision build_train_network"),
        ("train.loss_scale_manager", "FixedLossScaleManager DynamicLossScaleManager"),
        ("communication.management", "init get_rank get_group_size"),
        ("parallel._utils", "_get_parallel_mode _get_device_num _get_gradients_mean"),
        ("parallel._ps_context", "_is_role_worker _is_role_pserver _is_role_sched _is_ps_mode"),
        ("dataset", "GeneratorDataset NumpySlicesDataset"),
        ("log", "warning info get_level"),
    ],
)
def test_names_are_where_mindspore_has_them(as_mindspore, path, names):
    module = importlib.import_module(f"mindspore.{path}")
    for name in names.split():
        assert getattr(module, name) is not None


def test_nothing_is_left_behind():
    assert dist_ms.nn.WithLossCell and dist_ms.nn.ReLU  # names that load when they are used
    before = {name: set(vars(module)) for name, module in sys.modules.items() if name.startswith("dist_ms")}
    dist_ms.compat.install()
    import mindspore.nn.layer.activation
    import mindspore.nn.wrap.cell_wrapper

    assert mindspore.nn.wrap.cell_wrapper.WithLossCell is dist_ms.nn.WithLossCell
    assert mindspore.nn.layer.activation.ReLU is dist_ms.nn.ReLU
    dist_ms.compat.uninstall()
    after = {name: set(vars(sys.modules[name])) for name in before}
    assert after == before
    assert not [name for name in sys.modules if name.split(".")[0] == "mindspore"]


def test_parts_of_the_top_module_are_found_as_attributes(as_mindspore):
    import mindspore

    assert mindspore.version.version == "2.10.0"
    assert mindspore.log.get_level() == "2"
    with pytest.raises(AttributeError, match="module 'mindspore' has no attribute 'nope'"):
        mindspore.nope  # noqa: B018


def test_parallel_settings(as_mindspore):
    from mindspore.parallel._auto_parallel_context import auto_parallel_context

    settings = auto_parallel_context()
    assert settings.get_device_num_is_set() is False
    settings.set_device_num(4)
    assert settings.get_device_num() == 4 and settings.get_device_num_is_set()
    assert dist_ms.get_auto_parallel_context("device_num") == 4
    settings.reset()
    assert settings.get_device_num() == 1
    with pytest.raises(ValueError, match="zz is not recognized"):
        settings.get_zz()


def test_server_roles(as_mindspore, monkeypatch):
    from mindspore.parallel import _ps_context

    for role, wanted in (("MS_WORKER", "worker"), ("MS_PSERVER", "pserver"), ("MS_SERVER", "pserver"), (None, "")):
        monkeypatch.delenv("MS_ROLE", raising=False)
        if role:
            monkeypatch.setenv("MS_ROLE", role)
        found = [r for r in ("worker", "pserver", "sched") if getattr(_ps_context, f"_is_role_{r}")()]
        assert found == ([wanted] if wanted else [])
    assert _ps_context._is_ps_mode() is False


def test_cells_record_their_arguments(as_mindspore):
    from mindspore._extends import cell_attr_register

    class Scale(dist_ms.nn.Cell):
        @cell_attr_register(attrs=["factor"])
        def __init__(self, factor):
            super().__init__()
            self.factor = factor * 2

    assert Scale(3).cell_init_args == "Scale{'factor': 6}"
    with pytest.raises(ValueError, match="'attrs' must be a string or a list of strings"):
        cell_attr_register(attrs=3)


@pytest.mark.parametrize(
    "call, error, match",
    [
        (lambda c: c.check_positive_int(-1, "n", "Net"), ValueError, "For 'Net', 'n' must be a positive int, but got"),
        (lambda c: c.check_int(3, 4, c.GE, "n", "Net"), ValueError, "'n' must be >= the limit, which is 4, but got 3"),
        (lambda c: c.check_int_range(4, 0, 4, c.INC_LEFT, "n", "Net"), ValueError, r"in \[0, 4\), but got 4"),
        (lambda c: c.check_float_range(0.0, 0.0, 1.0, c.INC_RIGHT, "n"), ValueError, r"in \(0.0, 1.0\], but got 0.0"),
        (lambda c: c.check_string("z", ["x", "y"], "mode", "Net"), ValueError, r"'mode' must be one of \['x', 'y'\]"),
        (lambda c: c.check_value_type("n", True, [int], "Net"), TypeError, "'n' must be an int, but got bool True"),
        (lambda c: c.check_is_int(1.0, "n", "Net"), TypeError, "'n' must be an int"),
        (lambda c: c.check_equal_int(3, 4, "n"), ValueError, "== the limit, which is 4"),
        (lambda c: c.check_subclass("t", dist_ms.int32, [dist_ms.float32], "Net"), TypeError, "a subclass of"),
        (lambda c: c.check_type_name("t", dist_ms.int32, [dist_ms.float32], "Net"), TypeError, r"one of \['Float32'\]"),
        (lambda c: c.check_isinstance("t", 3, str), ValueError, "an instance of"),
        (lambda c: c.check("a", 3, "b", 3, c.NE, "Net", KeyError), KeyError, "'a' must be != b, which is 3"),
    ],
)
def test_checks_refuse(call, error, match):
    with pytest.raises(error, match=match):
        call(checkparam)


def test_checks_return_the_value():
    assert checkparam.check_int(5, 4, checkparam.GE, "n", "Net") == 5
    assert checkparam.check_int_range(0, 0, 4, checkparam.INC_LEFT, "n", "Net") == 0
    assert checkparam.check_value_type("n", [1], (list, tuple), "Net") == [1]
    assert checkparam.check_number_range(0.5, 0, 1, checkparam.INC_NEITHER, float, "p", "Net") == 0.5
    assert checkparam.check_type_name("t", dist_ms.int32, [dist_ms.int32], "Net") is dist_ms.int32
    checkparam.check_subclass("t", dist_ms.int32, [dist_ms.int32], "Net")
