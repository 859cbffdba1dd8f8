"""MindRecord: files of rows with an index, as MindSpore writes and reads them."""

import typing as _typing

from dist_ms.common.late_names import declared as _declared
from dist_ms.common.late_names import late_names as _late_names

if _typing.TYPE_CHECKING:
    from dist_ms.mindrecord.converters.examples import *
    from dist_ms.mindrecord.converters.images import *
    from dist_ms.mindrecord.converters.tables import *
    from dist_ms.mindrecord.encryption import *
    from dist_ms.mindrecord.exceptions import *
    from dist_ms.mindrecord.page import *
    from dist_ms.mindrecord.reader import *
    from dist_ms.mindrecord.status import *
    from dist_ms.mindrecord.writer import *

__all__ = sorted(_declared(__name__))

_late_names(__name__)
