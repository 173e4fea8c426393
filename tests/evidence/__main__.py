"""Runs `python -m tests.evidence`: see `command`."""

from tests.evidence.command import main

if __name__ == "__main__":
    main()
