"""Say in a report that the file was written by another version of dtpoly.

Such a file may have been right when it was written. If this verifier does not know something in it,
or would write it in another way today, that is no mistake in the file: so nothing in it is REFUTED.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from dtpoly import __version__
from dtpoly.frozen import dataclass
from dtpoly.verify.plan.runtime import MAKER, hash_of, lines_of_text
from dtpoly.verify.proof.report import FunctionReport, Layer, LayerVerdict, Report
from dtpoly.verify.triton.helpers import HELPERS, MEANINGS, RUNTIME
from dtpoly.verify.triton.unit.texts import WORD, fingerprint

WHY = "this file was written by another version of dtpoly: compile it again"
OWN = "dt_"  # begins the names of the functions that dtpoly writes into each file


@dataclass(frozen=True, slots=True)
class _Sign:
    """The evidence that another version wrote a file: the line, and what is different there."""

    line: int
    what: str


def of_other_version(report: Report, text: str, writer: str | None) -> Report:
    """Return the report, with this reason for all that is not proved if another version wrote it.

    `writer` is the version that the first line of the file names, if dtpoly wrote the file.
    """
    sign = None if writer is None else _sign(text, writer)
    if sign is None:
        return report
    return Report(tuple(_told(one, sign) for one in report.functions))


def _sign(text: str, writer: str) -> _Sign | None:
    """Return the evidence that another version wrote the file; None if there is none.

    It is another version in the first line, another runtime, or a shared function that this version
    does not write.
    """
    if writer != __version__:
        return _Sign(1, f"its first line names dtpoly {writer}, and this is dtpoly {__version__}")
    rows = text.splitlines()
    runtime = lines_of_text(rows)
    if runtime is not None and hash_of(rows[runtime[0] - 1 : runtime[1]]) not in RUNTIME[MAKER]:
        return _Sign(
            runtime[0], "this version writes another runtime; if you changed it, undo that"
        )
    found = next(_strangers(text, range(*runtime) if runtime else range(0)), None)
    if found is None:
        return None
    line, name = found
    return _Sign(line, f"this version writes no such '{name}'; if you changed it, undo that")


def _strangers(text: str, runtime: range) -> Iterator[tuple[int, str]]:
    """Yield the functions of dtpoly in a file whose text is not the known one, the simplest first.

    The lines of the runtime are left out, since it is known as a whole.
    A function of Triton that has no known text, such as `dt_max`, is read like any other function:
    so whatever is found about it is true of this file, whoever wrote it.
    """
    lines, texts, jitted = _texts(text, runtime)
    own = [one for one in texts if one.startswith(OWN) and (_known(one) or one not in jitted)]
    unknown = {one for one in own if fingerprint(texts, one) != _known(one)}
    # A function that uses an unknown function has an unknown text, too.
    used = {one: len(unknown.intersection(WORD.findall(texts[one]))) for one in unknown}
    for one in sorted(unknown, key=lambda name: (used[name], lines[name])):
        yield lines[one], one


def _known(name: str) -> str | None:
    return HELPERS.get(name) or MEANINGS.get(name, (None, ""))[0]


def _texts(
    text: str, runtime: range
) -> tuple[Mapping[str, int], Mapping[str, str], frozenset[str]]:
    """Return the first line and the text of each definition, and which are functions of Triton.

    For a file that Python cannot read, all of these are empty.
    """
    rows = text.splitlines()
    try:
        statements = ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}, {}, frozenset()
    found: dict[str, int] = {}
    texts: dict[str, str] = {}
    jitted: set[str] = set()
    for one in statements:
        match one:
            case ast.FunctionDef(name=name) | ast.Assign(targets=[ast.Name(id=name)]) if (
                one.lineno not in runtime
            ):
                found[name] = one.lineno
                own = rows[one.lineno - 1 : one.end_lineno]
                texts[name] = "\n".join(map(str.rstrip, own))
                if isinstance(one, ast.FunctionDef) and one.decorator_list:
                    jitted.add(name)
            case _:
                pass
    return found, texts, frozenset(jitted)


def _told(function: FunctionReport, sign: _Sign) -> FunctionReport:
    layers = tuple(
        replace(one, verdict=LayerVerdict.UNKNOWN, line=sign.line, why=WHY, way=sign.what)
        if _is_open(one)
        else one
        for one in function.layers
    )
    return replace(function, layers=layers)


def _is_open(layer: Layer) -> bool:
    return layer.verdict in (LayerVerdict.UNKNOWN, LayerVerdict.REFUTED)
