"""Says which commands run in a process of their own (see `dtpoly.system.apart`)."""

from collections.abc import Sequence

from dtpoly.system.apart import CAN_FORK

# The commands that only compute. The others drive devices, ask questions or start processes of
# their own.
COMMANDS = {
    *("check", "show", "explain", "why-not", "legal", "compile", "verify", "space", "cost"),
    "schedule",
}


def is_apart(arguments: Sequence[str]) -> bool:
    """True if a command line runs in a process of its own."""
    named = next((one for one in arguments if not one.startswith("-")), "")
    return CAN_FORK and named in COMMANDS
