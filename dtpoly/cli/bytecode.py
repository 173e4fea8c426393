"""Finds the damaged file in Python's cache if a module could not be loaded because of it.

Before version 3.14 Python may leave a compiled module half written when a disk is full. From then
on it cannot load that module.
"""

import traceback

LOADER = "_compile_bytecode"  # the function of importlib that reads a compiled module


def damaged(error: BaseException) -> str | None:
    """Return the message for a user if an error comes from reading a compiled module, or None."""
    if not isinstance(error, EOFError | ValueError | TypeError):
        return None
    frames = [frame for frame, _ in traceback.walk_tb(error.__traceback__)]
    if not frames or frames[-1].f_code.co_name != LOADER:
        return None
    path = frames[-1].f_locals.get("bytecode_path") or "__pycache__"
    return (
        f"error: Python cannot load a module that it has compiled before: {error}\n"
        f"  hint: its file is damaged, perhaps since a disk was full; delete it: {path}"
    )
