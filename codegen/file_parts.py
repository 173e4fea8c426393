"""Writes what a generated file has beside kernels and plans: its imports, and its functions."""

from collections.abc import Collection, Iterable, Mapping, Set

from dtpoly.frozen import dataclass
from dtpoly.plan.plan import Plan
from dtpoly.plan.runtime_text import IMPORTS, OFFERED

from .python_layout import call

LAST = "import threading\n"  # of Python's own modules
FUNCTION = "dt_function"  # which makes a function of each plan


@dataclass(frozen=True, slots=True)
class CallingText:
    """A part of a file, and the functions beside those of torch and Python that it calls."""

    text: str
    called: frozenset[str]

    @classmethod
    def of(cls, lines: Iterable[str], called: Collection[str] = ()) -> "CallingText":
        """The part of these lines."""
        return cls("".join(f"{line}\n" for line in lines), frozenset(called))


def function_lines(plan: Plan, name: str) -> list[str]:
    """Write the statement that makes a function of its plan and its kernels."""
    kernels = dict.fromkeys(launch.kernel for launch in plan.launches)
    return call(f"{plan.function} = {FUNCTION}", [name, *kernels], indent=0)


def imports_of(called: Set[str], *, carries_runtime: bool, has_test: bool) -> str:
    """Write the imports of a file that calls these functions of the runtime."""
    if carries_runtime:
        return IMPORTS.replace(LAST, f"import sys\n{LAST}") if has_test else IMPORTS
    own = "import sys\n\nimport torch\n" if has_test else ""
    used = sorted(called & OFFERED.keys())
    runtime = f"from dtpoly.runtime import {', '.join(used)}\n"
    return f"{own}import triton\nimport triton.language as tl\n{runtime}"


def shared_by(called: Set[str], known: Mapping[str, str]) -> list[str]:
    """Return the texts of the called functions, in a fixed order; none of them calls another."""
    return [part for name, part in known.items() if name in called]
