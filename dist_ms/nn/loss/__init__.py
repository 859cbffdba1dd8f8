"""Losses, by subject."""

from dist_ms.nn.loss.cross_entropy import *
from dist_ms.nn.loss.ctc import *
from dist_ms.nn.loss.likelihood import *
from dist_ms.nn.loss.loss import *
from dist_ms.nn.loss.margin import *
from dist_ms.nn.loss.sampled_softmax import *
from dist_ms.nn.loss.triplet_distance import *
