"""Steps of optimizers as operations on Parameters."""
