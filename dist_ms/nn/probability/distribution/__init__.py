"""Distributions: their probabilities, moments, divergences and draws."""

from dist_ms.nn.probability.distribution.bernoulli import *
from dist_ms.nn.probability.distribution.beta import *
from dist_ms.nn.probability.distribution.categorical import *
from dist_ms.nn.probability.distribution.cauchy import *
from dist_ms.nn.probability.distribution.distribution import *
from dist_ms.nn.probability.distribution.exponential import *
from dist_ms.nn.probability.distribution.gamma import *
from dist_ms.nn.probability.distribution.geometric import *
from dist_ms.nn.probability.distribution.gumbel import *
from dist_ms.nn.probability.distribution.half_normal import *
from dist_ms.nn.probability.distribution.laplace import *
from dist_ms.nn.probability.distribution.log_normal import *
from dist_ms.nn.probability.distribution.logistic import *
from dist_ms.nn.probability.distribution.normal import *
from dist_ms.nn.probability.distribution.poisson import *
from dist_ms.nn.probability.distribution.student_t import *
from dist_ms.nn.probability.distribution.transformed_distribution import *
from dist_ms.nn.probability.distribution.uniform import *
