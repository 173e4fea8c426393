"""Turns what an exploration raises into errors that speak as all others of dtpoly do."""

from collections.abc import Generator
from contextlib import contextmanager

from dtpoly.diagnostics import Diagnostic, DtpolyError, Severity
from dtpoly.explore.extras import MissingExtra
from dtpoly.explore.run.session import NoModel
from dtpoly.explore.run.stopping import NoWorkers
from dtpoly.explore.store.database import StoreError
from dtpoly.explore.strategies.choice import STRATEGIES, NoStrategy
from dtpoly.explore.workers.process import NotOpened
from dtpoly.python_errors import error_of

CODE = "DT257"
# What is expected to fail, and the way out of it.
WAYS_OUT: dict[type[Exception], str] = {
    StoreError: "name the file of an exploration: output=... writes it, dtpoly.results reads it",
    NoWorkers: "try again with fewer workers, or look why they end",
    NotOpened: "measure where the device is; simulate=True invents times, and needs none",
    NoStrategy: f"take {', '.join(STRATEGIES)}, or a file FILE.py with a strategy of your own",
    NoModel: "take another strategy, or name a device that is like it, as in model='h200'",
    MissingExtra: "install it with the command that the message names",
}


@contextmanager
def telling_errors() -> Generator[None]:
    """Let each expected failure be a DtpolyError, whose text is what a person reads."""
    try:
        yield
    except tuple(WAYS_OUT) as error:
        way = next(way for kind, way in WAYS_OUT.items() if isinstance(error, kind))
        raise error_of([Diagnostic(CODE, Severity.ERROR, str(error), None, hint=way)]) from None
    except DtpolyError as error:
        raise error_of(error.diagnostics) from None
