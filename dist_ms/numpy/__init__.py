"""NumPy's functions on tensors, with MindSpore's names, data types and gradients.

`import dist_ms.numpy as np` gives functions that take and return Tensors.
Floor rule: nothing here imports more than `common`, `autograd` and `ops`.
"""

from dist_ms.numpy.arithmetic import *
from dist_ms.numpy.creation import *
from dist_ms.numpy.differences import *
from dist_ms.numpy.drawing import *
from dist_ms.numpy.dtypes import *
from dist_ms.numpy.elementwise import *
from dist_ms.numpy.grids import *
from dist_ms.numpy.histograms import *
from dist_ms.numpy.indexing import *
from dist_ms.numpy.joining import *
from dist_ms.numpy.logic import *
from dist_ms.numpy.nan_reductions import *
from dist_ms.numpy.padding import *
from dist_ms.numpy.polynomials import *
from dist_ms.numpy.products import *
from dist_ms.numpy.rearranging import *
from dist_ms.numpy.reductions import *
from dist_ms.numpy.sets import *
from dist_ms.numpy.shapes import *
from dist_ms.numpy.statistics import *
from dist_ms.numpy.triangles import *
from dist_ms.numpy.windows import *
