"""Schedule tree in, Triton text out. Nothing is emitted yet."""
