"""The functions of `mint.nn`, in PyTorch's form."""

from dist_ms.mint.nn.functional.activation import *
from dist_ms.mint.nn.functional.convolution import *
from dist_ms.mint.nn.functional.loss import *
from dist_ms.mint.nn.functional.mapping import *
from dist_ms.mint.nn.functional.normalization import *
from dist_ms.mint.nn.functional.pooling import *
from dist_ms.mint.nn.functional.sampling import *
from dist_ms.mint.shaping import flatten
