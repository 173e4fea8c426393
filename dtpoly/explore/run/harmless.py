"""Checks a text of kernels from a file of results before it is run.

Files of results are passed on, and a text in one is a Python file that would be executed. A text in
the form that the verifier accepts can reach nothing but torch and Triton. A text of any other form
is not run, whoever wrote it. Whether the text is right is another question, which the proof
answers.
"""

from dtpoly.verify.algebra.kernel_values import Unread
from dtpoly.verify.plan.kernel_files import check_file


def why_not_run(text: str) -> str:
    """Return where a text leaves the form that dtpoly writes, or "" if it does not."""
    try:
        check_file(text)
    except Unread as error:
        return f"its text has in line {error.line} what dtpoly does not write: {error.what}"
    except RecursionError:
        return "its text is nested too deeply"
    return ""
