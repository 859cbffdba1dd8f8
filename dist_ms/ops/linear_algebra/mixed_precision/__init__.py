"""Products whose factors are rounded to 16 bits: of layers, and of matrices."""
