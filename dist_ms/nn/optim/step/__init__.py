"""A step: gradients prepared, rules run over arrays, and the ranks' updates compared."""
