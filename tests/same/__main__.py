"""Runs `python -m tests.same`. The code is in command.py, which other processes can import."""

import sys

from tests.same.command import main

if __name__ == "__main__":
    sys.exit(main())
