"""Tests of the proof that the bits of a row do not depend on the size of its batch."""
