"""Reads how a file launches its kernels."""
