"""NumPy's functions on tensors, with MindSpore's names, data types and gradients.

`import dist_ms.numpy as np` gives functions that take and return Tensors.
Floor rule: nothing here imports more than `common`, `autograd` and `ops`.
"""

from dist_ms.numpy import fft
from dist_ms.numpy.creating.creation import *
from dist_ms.numpy.creating.drawing import *
from dist_ms.numpy.creating.grids import *
from dist_ms.numpy.creating.triangles import *
from dist_ms.numpy.creating.windows import *
from dist_ms.numpy.curves.differences import *
from dist_ms.numpy.curves.polynomials import *
from dist_ms.numpy.dtypes import *
from dist_ms.numpy.elementwise.arithmetic import *
from dist_ms.numpy.elementwise.functions import *
from dist_ms.numpy.elementwise.logic import *
from dist_ms.numpy.picking.indexing import *
from dist_ms.numpy.picking.sets import *
from dist_ms.numpy.products import *
from dist_ms.numpy.reducing.histograms import *
from dist_ms.numpy.reducing.nan_reductions import *
from dist_ms.numpy.reducing.reductions import *
from dist_ms.numpy.reducing.statistics import *
from dist_ms.numpy.shaping.joining import *
from dist_ms.numpy.shaping.padding import *
from dist_ms.numpy.shaping.rearranging import *
from dist_ms.numpy.shaping.shapes import *
