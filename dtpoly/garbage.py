"""Decides how often a process looks for garbage."""

import gc


def look_seldom() -> None:
    """Let Python look for garbage seldom, since a compiler needs most objects until it ends.

    Looking for garbage as often as Python does takes a tenth of the time, since all that was
    loaded is looked at, too.
    """
    gc.set_threshold(500_000, 50, 50)
