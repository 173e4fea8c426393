"""Describes launches as data, which codegen makes, the runtime does and the verifier reads."""
