"""Decoupled Triton, polyhedral: algorithm and schedule apart, every schedule proved or refused."""

from importlib import import_module

TYPE_CHECKING = False  # `typing` is not loaded for it: this runs before all else
if TYPE_CHECKING:
    from dtpoly.api import Scheduled, load, parse
    from dtpoly.diagnostics import Diagnostic, DtpolyError
    from dtpoly.spaces.exploration_results import Results, results
    from dtpoly.spaces.schedule_choice import ScheduleChoice, choose_schedule
    from dtpoly.spaces.schedule_space import ScheduleSpace, space
    from dtpoly.training.differentiable import Differentiable, differentiable
    from dtpoly.watching.launch_watch import watch

__version__ = "0.1.0"

__all__ = [
    "Diagnostic",
    "Differentiable",
    "DtpolyError",
    "Results",
    "ScheduleChoice",
    "ScheduleSpace",
    "Scheduled",
    "__version__",
    "choose_schedule",
    "differentiable",
    "load",
    "parse",
    "results",
    "space",
    "watch",
]

# Loaded when it is first asked for, so that `import dtpoly` costs next to nothing.
_HOMES = {
    "Diagnostic": "dtpoly.diagnostics",
    "Differentiable": "dtpoly.training.differentiable",
    "DtpolyError": "dtpoly.diagnostics",
    "Results": "dtpoly.spaces.exploration_results",
    "ScheduleChoice": "dtpoly.spaces.schedule_choice",
    "ScheduleSpace": "dtpoly.spaces.schedule_space",
    "Scheduled": "dtpoly.api",
    "choose_schedule": "dtpoly.spaces.schedule_choice",
    "differentiable": "dtpoly.training.differentiable",
    "load": "dtpoly.api",
    "parse": "dtpoly.api",
    "results": "dtpoly.spaces.exploration_results",
    "space": "dtpoly.spaces.schedule_space",
    "watch": "dtpoly.watching.launch_watch",
}


# Type checkers and editors see the imports above, and so tell of a name that is not there.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> object:
        """Load a name that the package offers when it is first used."""
        if name not in _HOMES:
            raise AttributeError(f"module 'dtpoly' has no attribute '{name}'", name=name)
        try:
            value = getattr(import_module(_HOMES[name]), name)
        except ModuleNotFoundError as error:
            raise import_module("dtpoly.missing_package").explained(error) from None
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
