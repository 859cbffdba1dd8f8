"""Networks as files of ONNX: `onnx.export`, MindSpore's name, and what makes the file.

`nodes` has what each Primitive is in ONNX, a file per family.
"""

import typing as _typing

from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.onnx.entry import export

__all__ = ["export"]

_late_names(__name__)
