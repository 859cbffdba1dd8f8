"""Layers, by subject."""

from dist_ms.nn.layer.activation import *
from dist_ms.nn.layer.adaptive_pooling import *
from dist_ms.nn.layer.attention import *
from dist_ms.nn.layer.basic import *
from dist_ms.nn.layer.container import *
from dist_ms.nn.layer.conv import *
from dist_ms.nn.layer.conv_transpose import *
from dist_ms.nn.layer.dense import *
from dist_ms.nn.layer.dropout import *
from dist_ms.nn.layer.embedding import *
from dist_ms.nn.layer.image import *
from dist_ms.nn.layer.normalization import *
from dist_ms.nn.layer.padding import *
from dist_ms.nn.layer.pooling import *
from dist_ms.nn.layer.rnn import *
from dist_ms.nn.layer.rnn_cells import *
from dist_ms.nn.layer.shaped_activation import *
from dist_ms.nn.layer.transformer import *
from dist_ms.nn.layer.transformer_layers import *
from dist_ms.nn.layer.unpooling import *
