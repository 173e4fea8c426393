"""GPUs as numbers: those that are known, and how another one is measured."""
