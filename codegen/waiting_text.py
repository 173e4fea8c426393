"""Writes the lines with which a kernel that may start while others run waits for them."""

from dtpoly.ir.kernel import EARLY, PANEL, TileKernel

from .line import Head, Line, about

# At the head of a kernel that is placed while others run: it reads and writes nothing before.
WAITING = (
    f"if {EARLY}:",
    "    tl.extra.cuda.gdc_wait()",
)
# At the head of the last kernel of a panel. All of its programs run by then: the next kernel may
# begin.
LETTING = "    tl.extra.cuda.gdc_launch_dependents()"
# At the head of the first kernel of a panel, which needs nothing of panels before. It ends as
# `WAITING`: when it has ended, all before it has.
WAITING_FIRST = (
    f"if {EARLY}:",
    f"    if {PANEL} == 0:",
    "        tl.extra.cuda.gdc_wait()",
)


def waiting_lines(kernel: TileKernel) -> list[Line]:
    """Give the first lines of a kernel that may start while others run."""
    if kernel.is_first_of_panel:
        return about(Head.WAITS, WAITING_FIRST)
    if kernel.is_last_of_panel:
        return about(Head.WAITS, (*WAITING, LETTING))
    return about(Head.WAITS, WAITING) if kernel.is_early else []
