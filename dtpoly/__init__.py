"""Decoupled Triton, polyhedral: algorithm and schedule apart, every schedule proved or refused."""

__version__ = "0.1.0"
