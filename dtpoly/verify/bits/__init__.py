"""Prove that the bits of an element do not depend on a size (see docs/same-bits.md)."""
