"""Writes and checks certificates of proofs, and shows the dossier of fusions."""

import json
import sys
from collections.abc import Sequence
from pathlib import Path
from types import ModuleType

from dtpoly.algorithm.program import Program
from dtpoly.checking import Checked
from dtpoly.cli.lazy import load
from dtpoly.cli.output import shown, terminal_width, write
from dtpoly.cli.saving import save, tell_error
from dtpoly.codegen.header import with_verdict
from dtpoly.render.printable import printable
from dtpoly.source import Source

VERSION = 1  # of the JSON documents
# Of a certificate that is read; each character of those that dtpoly writes is one byte.
MOST_BYTES = 2**26


def write_proof(program: Program, source: Source, text: Source, path: str, seconds: float) -> bool:
    """Write the certificate of a proof to a file; it is about the text without a verdict."""
    made: ModuleType = load("dtpoly.verify.proof.certificate")
    plain = with_verdict(text.text)
    return save(Path(path), made.certificate(program, source.text, plain, seconds).encode())


def check_proof(
    source: Source,
    text: Source,
    path: str,
    wanted: Sequence[str],
    assumed: Sequence[str],
    as_json: bool,
) -> int:
    """Report whether the certificate in a file proves that these two texts belong together.

    None of the wanted Funcs may be left out. What was assumed to get the text is not covered.
    """
    given = _read(path)
    if given is None:
        return 1
    try:
        checker: ModuleType = load("dtpoly.verify.checker")
    except ModuleNotFoundError as error:
        if error.name != "z3":
            raise
        tell_error(str(error))
        return 1
    answer = checker.check_certificate(given, source.text, with_verdict(text.text))
    missing = [one for one in wanted if one not in answer.funcs] if answer.accepted else []
    complaints = [*answer.complaints, *(_left_out(one, answer.funcs) for one in missing)]
    is_accepted = answer.accepted and not missing
    if as_json:
        document = {
            "version": VERSION,
            "certificate": path,
            "accepted": is_accepted,
            "decided": answer.decided,
            "not_decided": answer.not_decided,
            "complaints": complaints,
            "not_covered": [*answer.not_covered, *assumed],
            "seconds": round(answer.seconds, 3),
        }
        write(json.dumps(document, indent=2) + "\n")
    else:
        word = "accepted" if is_accepted else "rejected"
        counts = f"{answer.decided} sets decided, {answer.not_decided} not"
        line = f"{word}: {counts}, in {answer.seconds:.2f} seconds"
        if is_accepted:
            line += f"; not covered: {', '.join([*answer.not_covered, *assumed])}"
        write(f"{line}\n")
        # The complaints quote the certificate, which anybody may have written.
        write("".join(f"  {printable(complaint)}\n" for complaint in complaints))
    return 0 if is_accepted else 1


def _read(path: str) -> str | None:
    """Return the text of a certificate that is not too long, or report why not and return None."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(MOST_BYTES + 1)
        if len(data) > MOST_BYTES:
            tell_error(f"cannot read '{path}': it has more than {MOST_BYTES:,} bytes")
            return None
        return data.decode("utf-8")
    except OSError as error:
        tell_error(f"cannot read '{path}': {error.strerror or error}")
    except UnicodeDecodeError:
        tell_error(f"cannot read '{path}': it is not UTF-8 text")
    return None


def _left_out(func: str, funcs: Sequence[str]) -> str:
    others = ", ".join(f"--func {one}" for one in funcs)
    return f"'{func}' is computed by no kernel; {others} checks the certificate of that alone"


def show_fusions(checked: Checked, file: str, as_json: bool) -> int:
    """Print for each fusion the sets that must be empty, so that a reader can repeat the proof."""
    assert checked.verdict is not None
    asked: ModuleType = load("dtpoly.schedule.dossier")
    told: ModuleType = load("dtpoly.pictures.shown_dossier")
    found = asked.dossiers(checked.verdict, checked.primitives)
    if as_json:
        document = {"version": VERSION, "file": file, "fusions": told.dossier_data(found)}
        write(json.dumps(document, indent=2) + "\n")
    elif found:
        write(shown(told.dossier_lines(found, terminal_width(sys.stdout)), sys.stdout))
    else:
        write("nothing is fused\n")
    return 0 if all(one.is_proved for one in found) else 1
