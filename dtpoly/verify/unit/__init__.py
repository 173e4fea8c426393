"""Units: what the verifier takes of a Python file, and the list of forms that it knows.

A unit is a kernel, what launches it, and all that these reach. Of a file that dtpoly wrote, or
that says by `# verify:` how its kernels are launched, the unit is the whole file. A unit is taken
only if every line, statement, expression, name, attribute and decorator of it is of a known form:
there is no list of what is forbidden. docs/verify.md says which forms these are, and why.
"""
