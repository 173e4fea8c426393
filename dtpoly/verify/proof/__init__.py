"""Proves what must be shown of a launch, layer by layer, and reports it."""
