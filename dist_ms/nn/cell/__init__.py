"""Cell: the base class of networks and layers, in parts."""

from dist_ms.nn.cell.cell import Cell, GraphCell, register_cell_buffer_registration_hook

__all__ = ["Cell", "GraphCell", "register_cell_buffer_registration_hook"]
