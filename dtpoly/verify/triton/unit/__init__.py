"""Read units: what the verifier takes of a Python file, and the list of forms that it knows."""
