"""What was asked of a proof in; a certificate, its check, or the dossier of fusions out."""

import json
import sys
from pathlib import Path
from types import ModuleType

from dtpoly.algorithm.program import Program
from dtpoly.cli.lazy import load
from dtpoly.cli.output import shown, terminal_width, write
from dtpoly.cli.saving import save, tell_error
from dtpoly.codegen.header import with_verdict
from dtpoly.compile import Checked
from dtpoly.source import Source

VERSION = 1  # of the JSON documents


def write_proof(program: Program, source: Source, text: Source, path: str, seconds: float) -> bool:
    """Write the certificate of a proof to a file; it is of the text without a verdict."""
    made: ModuleType = load("dtpoly.verify.certificate")
    plain = with_verdict(text.text)
    return save(Path(path), made.certificate(program, source.text, plain, seconds).encode())


def check_proof(source: Source, text: Source, path: str, as_json: bool) -> int:
    """Say whether a certificate that lies in a file proves that these two texts belong together."""
    try:
        given = Path(path).read_text(encoding="utf-8")
    except OSError as error:
        tell_error(f"cannot read '{path}': {error.strerror or error}")
        return 1
    except UnicodeDecodeError:
        tell_error(f"cannot read '{path}': it is not UTF-8 text")
        return 1
    try:
        checker: ModuleType = load("dtpoly.verify.checker")
    except ModuleNotFoundError as error:
        if error.name != "z3":
            raise
        tell_error(str(error))
        return 1
    answer = checker.check_certificate(given, source.text, with_verdict(text.text))
    if as_json:
        document = {
            "version": VERSION,
            "certificate": path,
            "accepted": answer.accepted,
            "decided": answer.decided,
            "not_decided": answer.not_decided,
            "complaints": list(answer.complaints),
            "not_covered": list(answer.not_covered),
            "seconds": round(answer.seconds, 3),
        }
        write(json.dumps(document, indent=2) + "\n")
    else:
        word = "accepted" if answer.accepted else "rejected"
        counts = f"{answer.decided} sets decided, {answer.not_decided} not"
        line = f"{word}: {counts}, in {answer.seconds:.2f} seconds"
        if answer.accepted:
            line += f"; not covered: {', '.join(answer.not_covered)}"
        write(f"{line}\n")
        write("".join(f"  {complaint}\n" for complaint in answer.complaints))
    return 0 if answer.accepted else 1


def show_fusions(checked: Checked, file: str, as_json: bool) -> int:
    """Print for each fusion what makes it legal, or not, so that a reader can do it again."""
    assert checked.verdict is not None
    asked: ModuleType = load("dtpoly.schedule.dossier")
    told: ModuleType = load("dtpoly.pictures.dossier")
    found = asked.dossiers(checked.verdict, checked.primitives)
    if as_json:
        document = {"version": VERSION, "file": file, "fusions": told.dossier_data(found)}
        write(json.dumps(document, indent=2) + "\n")
    elif found:
        write(shown(told.dossier_lines(found, terminal_width(sys.stdout)), sys.stdout))
    else:
        write("nothing is fused\n")
    return 0 if all(one.is_proved for one in found) else 1
