"""Maxima and means over windows, and back."""
