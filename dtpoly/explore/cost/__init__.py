"""How long kernels should take on a device, and what bounds them."""
