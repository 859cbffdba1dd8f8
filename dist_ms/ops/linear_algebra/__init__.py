"""Products of matrices, their factors, triangles and diagonals."""
