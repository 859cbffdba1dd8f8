"""Layers in PyTorch's form."""

from dist_ms.mint.nn import functional
from dist_ms.mint.nn.activations import *
from dist_ms.mint.nn.convolution import *
from dist_ms.mint.nn.losses import *
from dist_ms.mint.nn.mapping import *
from dist_ms.mint.nn.normalization import *
from dist_ms.mint.nn.padding import *
from dist_ms.mint.nn.pooling import *
from dist_ms.mint.nn.sampling import *
from dist_ms.mint.nn.sync_batch_norm import *
from dist_ms.nn.layer.basic import Identity
