"""Looks at a text of kernels from a file of results before it is run.

Files of results are passed on, and a text in one is a Python file that would be executed. The form
that the verifier takes has no way to reach anything but torch and Triton: what is of another form
is not run, whoever wrote it. Whether the text is right is another question, for the proof.
"""

from dtpoly.verify.algebra.values import Unread
from dtpoly.verify.triton.unit.allowed import check_unit
from dtpoly.verify.triton.unit.unit import read_unit


def why_not_run(text: str) -> str:
    """Say where a text leaves the form that dtpoly writes; the answer is empty if it does not."""
    try:
        check_unit(read_unit(text))
    except Unread as error:
        return f"its text has in line {error.line} what dtpoly does not write: {error.what}"
    except RecursionError:
        return "its text is nested too deeply"
    return ""
