"""Bijectors: functions that can be turned back, for distributions of what they make."""

from dist_ms.nn.probability.bijector.bijector import *
from dist_ms.nn.probability.bijector.exp import *
from dist_ms.nn.probability.bijector.gumbel_cdf import *
from dist_ms.nn.probability.bijector.invert import *
from dist_ms.nn.probability.bijector.power_transform import *
from dist_ms.nn.probability.bijector.scalar_affine import *
from dist_ms.nn.probability.bijector.softplus import *
