"""Each fault that is sown in the checker makes tests of the ordinary suite fail."""

import json
import subprocess
import sys

import pytest

from tests.conftest import Published
from tests.mutation.faults import FAULTS, Fault
from tests.mutation.sown import ROOT, edited

# Faults of every kind, for the ordinary suite; all are for the longer one.
SAMPLE = FAULTS[::8]


def outcomes(fault: Fault) -> dict[str, str]:
    """Return what becomes of the tests that must notice the fault."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.mutation.sown", fault.what, *fault.caught_by],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, str] = json.loads(done.stdout.splitlines()[-1])
    return found


def notices(fault: Fault) -> None:
    assert outcomes(fault) == dict.fromkeys(fault.caught_by, "failed")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.what)
def test_a_fault_is_an_edit_of_the_source_as_it_is(fault: Fault) -> None:
    compile(edited(fault), fault.file, "exec")


@pytest.mark.long
@pytest.mark.parametrize("fault", SAMPLE, ids=lambda fault: fault.what)
def test_a_fault_is_noticed(fault: Fault) -> None:
    notices(fault)


@pytest.mark.long
@pytest.mark.parametrize(
    "fault", [one for one in FAULTS if one not in SAMPLE], ids=lambda fault: fault.what
)
def test_each_fault_is_noticed(fault: Fault) -> None:
    notices(fault)


def test_the_table_of_faults(published: Published) -> None:
    lines = ["| fault | in | noticed by |", "| --- | --- | --- |"]
    for fault in FAULTS:
        tests = ", ".join(f"`{test.rpartition('::')[2]}`" for test in fault.caught_by)
        lines.append(f"| {fault.what} | `{fault.file.removeprefix('dtpoly/')}` | {tests} |")
    published("legality.md", "faults", "\n".join(lines) + "\n")


def test_there_are_enough_faults() -> None:
    assert len({fault.what for fault in FAULTS}) == len(FAULTS) >= 25
