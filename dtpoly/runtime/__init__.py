"""Generated text in, something that runs out."""
