"""The commands of `python -m benchmarks`, each a file that is loaded when it is named."""
