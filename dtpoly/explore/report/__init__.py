"""Shows what was measured: as numbers, pictures and a page."""
