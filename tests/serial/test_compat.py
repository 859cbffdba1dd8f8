"""MindSpore scripts run unedited."""

import subprocess
import sys

SCRIPT = """
import sys
import mindspore as ms
import mindspore.nn as nn
from mindspore import Tensor, ops
from mindspore.common.initializer import initializer
import dist_ms
assert ms is dist_ms and nn is dist_ms.nn and ms.Tensor is Tensor is dist_ms.Tensor
assert ms.__spec__.name == "dist_ms"
print(__name__, sys.argv[1:], ops.add(Tensor([1.0]), Tensor([2.0])), initializer("ones", [2]).init_data())
"""


def run(args, cwd):
    return subprocess.run([sys.executable, *args], cwd=cwd, capture_output=True, text=True, check=False)


def test_a_script(tmp_path):
    (tmp_path / "script.py").write_text(SCRIPT)
    done = run(["-m", "dist_ms.compat", "script.py", "-x", "1"], tmp_path)
    assert done.stdout == "__main__ ['-x', '1'] [3.] [1. 1.]\n", done.stderr


def test_a_module(tmp_path):
    (tmp_path / "mod.py").write_text(SCRIPT)
    done = run(["-m", "dist_ms.compat", "-m", "mod", "a"], tmp_path)
    assert done.stdout == "__main__ ['a'] [3.] [1. 1.]\n", done.stderr


def test_install_from_python(tmp_path):
    code = (
        "import dist_ms.compat as c; c.install(); c.install()\n" + SCRIPT + "\nc.uninstall()\n"
        "import importlib.util; print(importlib.util.find_spec('mindspore'))"
    )
    done = run(["-c", code], tmp_path)
    assert done.stdout.splitlines()[0] == "__main__ [] [3.] [1. 1.]", done.stderr


def test_a_missing_module_is_an_import_error(tmp_path):
    code = "import dist_ms.compat as c; c.install()\nimport mindspore.nope"
    done = run(["-c", code], tmp_path)
    assert done.returncode == 1 and "ModuleNotFoundError: No module named 'mindspore.nope'" in done.stderr


def test_a_missing_script_is_named(tmp_path):
    done = run(["-m", "dist_ms.compat", "nope.py"], tmp_path)
    assert done.returncode == 2 and "'nope.py' does not exist" in done.stderr
