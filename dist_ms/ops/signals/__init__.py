"""Fourier transforms and the windows before them."""
