"""Estimates what a program of a kernel needs: registers and shared memory."""
