"""Estimates how long kernels take on a device, and what bounds them."""
