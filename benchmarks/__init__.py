"""How fast the compiler itself is: `python -m benchmarks legality`."""
