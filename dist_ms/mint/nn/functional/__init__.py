"""The functions of `mint.nn`, in PyTorch's form."""

from dist_ms.ops.extended.activation import *
from dist_ms.ops.extended.arithmetic import clamp
from dist_ms.ops.extended.convolution import *
from dist_ms.ops.extended.loss import *
from dist_ms.ops.extended.mapping import *
from dist_ms.ops.extended.normalization import *
from dist_ms.ops.extended.pooling import *
from dist_ms.ops.extended.sampling import *
from dist_ms.ops.extended.shaping import broadcast_to, flatten
