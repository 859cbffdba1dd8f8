"""What operations attach to Tensor: operators and methods."""
