"""Functions, matrices and derivatives as layers."""
