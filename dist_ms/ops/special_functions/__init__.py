"""Functions that NumPy lacks: of gamma, beta, Bessel and the error integral."""
