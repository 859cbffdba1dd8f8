"""Tensors made of values, ranges, grids, triangles, windows and random numbers."""
