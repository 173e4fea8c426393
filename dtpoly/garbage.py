"""How often a process looks for garbage."""

import gc


def look_seldom() -> None:
    """Most of what a compiler makes it needs until a text is done.

    Looking for garbage as often as Python does takes a tenth of the time, since all that was
    loaded is looked at, too.
    """
    gc.set_threshold(500_000, 50, 50)
