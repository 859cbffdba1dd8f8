"""`mint.distributed`: process groups, and collectives that write into the tensors they are given."""

from dist_ms.collectives.messages import P2POp as _P2POp
from dist_ms.communication.store.tcp_store import TCPStore as _TCPStore
from dist_ms.mint.distributed.groups import *
from dist_ms.mint.distributed.messages import *
from dist_ms.mint.distributed.objects import *
from dist_ms.mint.distributed.scattering import *
from dist_ms.mint.distributed.tensors import *

P2POp = _P2POp
TCPStore = _TCPStore
