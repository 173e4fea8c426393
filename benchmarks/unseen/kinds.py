"""Names the kinds of peers: torch as it is, compiled by torch, and a call of its libraries."""

EAGER, COMPILED, LIBRARY = "torch", "compile", "library"
KINDS = (EAGER, COMPILED, LIBRARY)
