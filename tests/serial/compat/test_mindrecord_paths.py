"""MindSpore's module paths of mindrecord lead to the same objects."""

import subprocess
import sys

_SCRIPT = """
import dist_ms.compat
dist_ms.compat.install()
from mindspore.mindrecord import FileWriter
from mindspore.mindrecord.filewriter import FileWriter as same
from mindspore.mindrecord.common.exceptions import ParamValueError
from mindspore.mindrecord.config import set_enc_key
from mindspore.mindrecord.tools.cifar10_to_mr import Cifar10ToMR
from mindspore.mindrecord.core.shardutils import SUCCESS
import mindspore.mindrecord, dist_ms
assert mindspore.mindrecord.FileWriter is dist_ms.mindrecord.FileWriter is same is FileWriter
"""


def test_paths():
    subprocess.run([sys.executable, "-c", _SCRIPT], check=True, timeout=120)
