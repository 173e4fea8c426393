"""Names of operations on bounds that say in how many bits a bound is computed.

They change no value: without them a bound is computed in the bits of its variables.
"""

LARGE = "large"  # in 64 bits
WIDE = "wide"  # in the type of offsets
