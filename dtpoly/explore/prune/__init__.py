"""Takes a point to its text and through a compiler, without a GPU."""
