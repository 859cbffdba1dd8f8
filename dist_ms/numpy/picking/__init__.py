"""Elements chosen by index or condition, and tensors as sets."""
