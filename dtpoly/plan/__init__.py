"""A launch as data: what codegen completes, the runtime carries out, and the verifier reads."""
