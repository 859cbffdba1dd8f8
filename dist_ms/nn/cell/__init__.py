"""Cell: the base class of networks and layers, in parts."""

from dist_ms.nn.cell.cell import Cell, register_cell_buffer_registration_hook
from dist_ms.nn.cell.graph_cell import GraphCell

__all__ = ["Cell", "GraphCell", "register_cell_buffer_registration_hook"]
