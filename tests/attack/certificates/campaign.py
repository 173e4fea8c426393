"""Gives a forged certificate to the checker, and reports one that it accepts."""

import json
import os
import subprocess
import sys
import warnings
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

from dtpoly.checking import load
from dtpoly.diagnostics import DtpolyError
from dtpoly.source import Source
from dtpoly.verify.checker import check_certificate
from tests.attack.certificates.bases import Base
from tests.attack.certificates.forging import Forged, forged
from tests.attack.mutants.campaign import said
from tests.attack.outcome import Outcome, Verdict
from tests.cli.process import python_path
from tests.verify.texts import ROOT

# One forgery in this many is also given to the command, as a file.
COMMAND = 60
COMMAND_LINE = ("verify", "a.dt", "--kernel", "a.py", "--check", "a.json")
# The file that strings of hostile certificates would make if anything ran them.
TRACE = Path("/tmp/attacked")


def attempt(seed: int) -> Outcome:
    """Try one forgery; it is a finding if it is accepted, or if code in it runs."""
    os.environ["TRITON_INTERPRET"] = "1"
    one, made = forged(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        checked = check_certificate(made.certificate, made.dt, made.kernel)
        why = _reason(one, made) if checked.accepted else ""
    what = f"{one.subject.name}, {made.kind}: {made.what}"
    figures = {f"{made.kind}, {'accepted' if checked.accepted else 'rejected'}": 1}
    if TRACE.exists():
        return Outcome(Verdict.WRONG, f"{what}: it ran code", made.certificate, figures)
    if checked.accepted and not why:
        return Outcome(Verdict.WRONG, f"{what}: accepted", made.certificate, figures)
    if checked.accepted is bool(checked.complaints):
        return Outcome(Verdict.WRONG, f"{what}: rejected without a word", made.certificate, figures)
    if seed % COMMAND == 0:
        wrong = _told_by_command(made, checked.accepted)
        figures["given to the command"] = 1
        if wrong:
            return Outcome(Verdict.WRONG, f"{what}: {wrong}", made.certificate, figures)
    if checked.accepted:
        return Outcome(Verdict.AGREE, f"{what}: accepted, for {why}", figures=figures)
    return Outcome(Verdict.REFUSED, f"{what}: {checked.complaints[0][:200]}", figures=figures)


def _reason(one: Base, made: Forged) -> str:
    """Return why it is right to accept the text, or None if it is not.

    It is not for any text that is no certificate.
    """
    try:
        return _may_be_accepted(one, made)
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, DtpolyError):
        return ""


def _may_be_accepted(one: Base, made: Forged) -> str:
    """Return why it is right to accept the certificate, or None if it is not."""
    if (made.kernel, made.dt) != (one.kernel, one.dt):
        # The checker makes the proof again: it may only accept what is proved.
        subject = replace(one.subject, program=load(Source("a.dt", made.dt)))
        data = made.kernel.encode("utf-8", "surrogatepass")
        return "these kernels are proved" if said(subject, data)[0] == "proved" else ""
    document = json.loads(made.certificate)
    if _alike(document, one.document()):
        return "it says the same"
    for function in document["functions"]:
        function["witnesses"] = {}
    known = one.document()
    for function in known["functions"]:
        function["witnesses"] = {}
    # z3 finds each set empty with these witnesses, too, and nothing else has changed.
    return "other witnesses do" if _alike(document, known) else ""


def _alike(one: object, other: object) -> bool:
    return json.dumps(one, sort_keys=True) == json.dumps(other, sort_keys=True)


def _told_by_command(made: Forged, is_accepted: bool) -> str:
    """Return what is wrong with the answer of the command, or nothing if it gives the same one."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        for file, text in (("a.dt", made.dt), ("a.py", made.kernel), ("a.json", made.certificate)):
            (folder / file).write_bytes(text.encode("utf-8", "surrogatepass"))
        done = subprocess.run(
            [sys.executable, "-m", "dtpoly", *COMMAND_LINE],
            capture_output=True,
            text=True,
            check=False,
            cwd=folder,
            env={**os.environ, "PYTHONPATH": python_path(ROOT), "HOME": name},
        )
    said_by_it = f"{done.stdout}{done.stderr}"
    if "Traceback" in said_by_it:
        return f"the command ends with a traceback: {said_by_it[-400:]}"
    if done.returncode != (0 if is_accepted else 1):
        return f"the command ends with {done.returncode}: {said_by_it[-400:]}"
    return "" if is_accepted == said_by_it.startswith("accepted") else "the command says otherwise"
