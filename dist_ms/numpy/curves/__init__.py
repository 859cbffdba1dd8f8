"""Polynomials, and curves given by points."""
