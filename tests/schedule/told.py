"""Reads a .dt text and returns what the checks of its schedule say, for tests to compare."""

from dtpoly.algorithm.program import Program
from dtpoly.diagnostics import Diagnostic, has_errors
from dtpoly.directives.built_in import DIRECTIVES
from dtpoly.frontend.parse import parse
from dtpoly.frontend.resolve import resolve
from dtpoly.schedule.static_checks import check_schedule
from dtpoly.source import Source


def read(text: str) -> Program:
    """The Program of a text whose algorithm is right."""
    parsed = parse(Source("test.dt", text))
    resolved = resolve(parsed.file)
    assert not has_errors((*parsed.found, *resolved.found))
    assert resolved.program is not None
    return resolved.program


def diagnostics(text: str) -> list[Diagnostic]:
    """Return what is said of a schedule; the Program stays as it was."""
    program = read(text)
    found = check_schedule(program, DIRECTIVES)
    assert program == read(text)
    return found


def told(text: str) -> list[str]:
    """Each diagnostic as its code and the text that it points at: `DT183 x:48`."""
    return [f"{d.code} {d.span.text if d.span else ''}" for d in diagnostics(text)]


def only(text: str) -> Diagnostic:
    """The one diagnostic there is."""
    (found,) = diagnostics(text)
    return found


MAP = """
Func f; In A; Var x, y;
f[x, y] = exp(A[x, y]);
f.compile();
"""

SUM = """
Func total; In A; Var x; RVar k;
total[x] = rsum(A[x, k], k);
total.compile();
"""

TWO = """
Func f, g; In A, B; Var x, y;
g[x, y] = exp(A[x, y]);
f[x, y] = g[x, y] * B[x, y];
f.compile();
"""

# Thesis, listing 4.3.
TWO_PRODUCTS = """
Func _2mm, mm; In A, B, C; Var m, n; RVar k, l;
mm[m, l] = rdot(A[m, k], B[k, l], k);
_2mm[m, n] = rdot(mm[m, l], C[l, n], l);
_2mm.compile_to_kernel();
"""

# Thesis, listing 4.4.
ATTENTION = """
Func attention, mm, e, sm, dvsr; In A, B, C; Var m, n; RVar k, l;
mm[m, l] = rdot(A[m, k], B[k, l], k) / sqrt(len(l));
e[m, l] = exp(mm[m, l]);
dvsr[m] = rsum(e[m, l], l);
sm[m, l] = e[m, l] / reshape(dvsr[m], m, 1);
attention[m, n] = rdot(sm[m, l], C[l, n], l);
attention.compile();
"""
