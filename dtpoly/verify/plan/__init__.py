"""How a file launches its kernels, as far as it is read."""
