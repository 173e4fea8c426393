"""From a point to its text, and to what a compiler makes of it; no GPU is needed."""
