"""`python -m dtpoly`: the same as the `dtpoly` command."""

import sys

from dtpoly.cli.main import entry

if __name__ == "__main__":
    sys.exit(entry())
