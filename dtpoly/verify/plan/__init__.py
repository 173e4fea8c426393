"""Reads the plans of a generated file: what its functions launch, and which calls they refuse."""
