"""While it lasts, whoever makes a certificate says of each set that should have a point: it has."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from dtpoly.verify.algebra.proof_run import Obligation, ProofRun
from dtpoly.verify.algebra.regions import Region


def _say_that_there_is_one(run: ProofRun, region: Region) -> bool:
    run.inhabited.append(Obligation(run.part, run.line, run.what, region))
    return True


@contextmanager
def points_everywhere() -> Generator[None]:
    """Make every run say, and write down, that a set which must have a point has one."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ProofRun, "has_a_point", _say_that_there_is_one)
        yield
