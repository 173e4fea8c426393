"""Numbers, terms and sets: what proofs compute with, and what a Program asks for."""
