"""Operations in PyTorch's form, where that differs from MindSpore's older one; `dist_ms.mint` shows them.

MindSpore keeps most of them under `ops.function` and `ops.auto_generate`, as `<name>_ext` or `<name>_view`.
"""

from dist_ms.ops.extended.activation import *
from dist_ms.ops.extended.arithmetic import *
from dist_ms.ops.extended.convolution import *
from dist_ms.ops.extended.creation import *
from dist_ms.ops.extended.drawing import *
from dist_ms.ops.extended.grouped_products import *
from dist_ms.ops.extended.indexing import *
from dist_ms.ops.extended.loss import *
from dist_ms.ops.extended.mapping import *
from dist_ms.ops.extended.normalization import *
from dist_ms.ops.extended.pooling import *
from dist_ms.ops.extended.products import *
from dist_ms.ops.extended.reduction import *
from dist_ms.ops.extended.sampling import *
from dist_ms.ops.extended.shaping import *
