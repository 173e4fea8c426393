"""Steps that a program does once, before its blocks or after them, for how its kernel is launched.

A kernel may be placed on the device while others run. Some of its warps may load for the others.
Its rows may begin at multiples of four numbers. A launch says at compile time which of that is so,
and each step here does nothing where it is not.
"""

from dtpoly.frozen import dataclass


@dataclass(frozen=True, slots=True)
class WaitForLaunch:
    """Wait until all that was launched before has ended, if the kernel was placed before that.

    `in_first_panel` says that it waits in the first panel of a launch in panels, and in no other:
    it needs nothing of the panels before.
    """

    in_first_panel: bool = False


@dataclass(frozen=True, slots=True)
class LetNextBegin:
    """Let the next launch begin: all programs of this one have their places by now."""


@dataclass(frozen=True, slots=True)
class MakeDescriptor:
    """Set `name` to a descriptor of a tensor, in place of the caller's, if some warps load.

    The caller's blocks cannot be cut into halves for two groups of warps. `tensor` is the variable
    of the tensor, and `sizes` are those of its axes.
    """

    name: str
    tensor: str
    sizes: tuple[str, ...]
    block: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class TellFours:
    """Write strides and lengths of rows so that Triton sees that they are multiples of four.

    `rows` are parameters. Dividing and multiplying them changes no value where that is so.
    """

    rows: tuple[str, ...]


LaunchStep = WaitForLaunch | LetNextBegin | MakeDescriptor | TellFours
