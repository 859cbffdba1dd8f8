"""Pooling over windows that adapt or are drawn, and back from maxima."""
