"""COOTensor and CSRTensor."""
