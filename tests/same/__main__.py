"""`python -m tests.same`: see command.py, which other processes can import by its name."""

import sys

from tests.same.command import main

if __name__ == "__main__":
    sys.exit(main())
