"""Names, shapes, dtypes and sizes together: every mistake once, in source order, and no echoes."""

from itertools import permutations

import pytest

from dtpoly.algorithm.expressions import Affine, Apply, Float, Index, Integer, Read, Reduce, Size
from dtpoly.algorithm.program import Argument, Label, Program, Scalar, Split, Tensor
from dtpoly.checking import check, load
from dtpoly.diagnostics import Diagnostic, Severity, apply_edits
from dtpoly.source import Source


def program(text: str) -> Program:
    return load(Source("test.dt", text))


def told(text: str) -> list[tuple[int, str]]:
    """Line and code of everything that is said of a text, in the order in which it is said."""
    diagnostics = check(Source("test.dt", text)).diagnostics
    return [(next(d.span.lines()), d.code) for d in diagnostics if d.span]


def errors(text: str) -> list[Diagnostic]:
    diagnostics = check(Source("test.dt", text)).diagnostics
    return [d for d in diagnostics if d.severity is Severity.ERROR]


def expected(text: str) -> list[tuple[int, str]]:
    """Line and codes of the comments `#: DT120 DT134` of a text."""
    return [
        (number, code)
        for number, line in enumerate(text.splitlines(), start=1)
        if "#:" in line
        for code in line.partition("#:")[2].split()
    ]


ATTENTION = """\
Func s, p, total, o, q;             #: DT123
In Q, K V;                          #: DT111
SIn scale: fp32;                    #: DT130
Var m, d;
Var n: i32;                         #: DT164
RVar l, e;

s[m, l] = rdot(Q[m, e], K[l, e], e) * scal;              #: DT120
p[m, l] = exp(s[m, l] - rmax(s[m, l], m));               #: DT146
total[m] = rsum(p[m, l]);                                #: DT129
o[m, d] = rdot(p[m, l], V[l, d], l) / total;             #: DT126
o[m, n] = o[m, n] + 1;                                   #: DT122
o.block(m:16.5);                                         #: DT113
o.compile();
"""

NORM = """\
Func mean, var, normed, scaled;
In X, W;
SIn eps;
Var x, y;
RVar k;

mean[x] = sum(X[x, k], k) / len(X);                      #: DT128 DT150
var[x] = rsum(pow(X[x, k] - mean[x, k], 2), k);          #: DT134
normed[x, y] = X[x, y] * rsqrt(var[x] + eps[0]);         #: DT127
scaled[x, y] = normed[x, y] + W[x];                      #: DT140
scaled[y, y] = 0;                                        #: DT122 DT133
W.block(x:16);                                           #: DT155
scaled.compile();
"""

STENCIL = """\
Func g, h, loop, back;
In A: i8, B: f8e4m3, C: bf16, M: bool, A;                #: DT121
Var x, y, unused;                                        #: DT175 DT175

g[x] = A[x - 1] + A[x / 2];                              #: DT135
h[x] = B[x] * C[x] + where(A[x], -M[x], 0);              #: DT161 DT160 DT162
loop[x] = back[x] + 1;                                   #: DT125
back[x] = loop[x] * 0.5;
h.compile();
"""

SCHEDULE = """\
Func f, g;
In A, B;
Var x, y;
RVar k;

f.blok(x:16);                                            #: DT180
f[x, y] = rdot(A[x, k], B[k, y], k);
f.tensorize(x:48);                                       #: DT183
f.block(x:0);                                            #: DT182
g.compile();
f.fuse_at(h, x);                                         #: DT184
g[x, y] = f[x, y] * 2;
"""


@pytest.mark.parametrize("text", [ATTENTION, NORM, STENCIL, SCHEDULE])
def test_many_mistakes_in_one_file(text: str) -> None:
    assert told(text) == expected(text)


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        # What a mistake leaves without a meaning makes no second mistake.
        ("Func f; In A; Var x; f[x] = A[x] + g[x] + g[x] + g[x, x];", ["DT120"]),
        ("Func f; In A; Var x; f[x] = B[x]; f.compile(); f.block(x:16);", ["DT120"]),
        ("In A; Var x; f[x] = A[x]; f.compile(); f.block(x:16);", ["DT120"]),
        ("Func f; In A; Var x f[x] = A[x];", ["DT111"]),
        ("Func f In A; Var x; f[x] = A[x];", ["DT109"]),
        ("Func f; In A B; Var x; f[x] = A[x] + B[x];", ["DT111"]),
        ("Func f, g; In A; Var x; f[x] = A[x; g[x] = f[x];", ["DT107"]),
        ("Func f, g; In A; Var x, y; f[x] = A[x, y]; g[x, y] = f[x] + f[y];", ["DT141", "DT140"]),
        ("Func f; In A; Var x; f[x] = exp(foo(A[x], A));", ["DT128"]),
        ("Func f; In A; Var x, y; f[x, y] = exp(A[x, y] + A[y, x] + A[x, y]);", ["DT140"]),
        ("Func f; In A; Var x; RVar k; f[x] = rsum(A[x], k) + A[k];", ["DT147"]),
        ("Func f; In A: half; Var x; f[x] = A[x] and A[x];", ["DT130"]),
        ("Func f, g; In A; Var x; f[x] = g[x]; g[x] = f[x] + g[x, x];", ["DT134"]),
        ("Func f; In A; Var k; RVar k; f[] = rsum(A[k], k);", ["DT121"]),
        ("Func f, f; In A; Var x; f[x] = A[x];", ["DT121"]),
    ],
)
def test_no_echoes(text: str, codes: list[str]) -> None:
    assert [d.code for d in errors(text)] == codes


@pytest.mark.parametrize(
    ("body", "codes"),
    [
        ("f[m] = rsum(reshape(d[m], m, l), l) + rsum(A[m, l], l);", []),
        ("f[m] = rdot(reshape(d[m], m, l), A[m, l], l);", []),
        ("f[m] = rsum(reshape(d[m], m, l) * A[m, l], l);", ["DT145"]),
    ],
)
def test_a_reshape_may_repeat_what_a_reduction_needs(body: str, codes: list[str]) -> None:
    text = f"Func f; In A, d; Var m; RVar l; {body} f.compile();"
    assert [one.code for one in check(Source("k.dt", text)).diagnostics] == codes


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("Func f; In A; Var x; f[x] = A[x]; f.compile(); Var y;", ["DT175"]),
        ("Func f; In A, B; Var x; f[x] = A[x]; f.compile();", ["DT175"]),
        ("Func f; In A; Var x, y; f[x] = A[x]; f.block(x:16); f.compile();", ["DT175"]),
        ("Func f; In A; SIn exp; Var x; f[x] = A[x] * exp; f.compile();", ["DT176"]),
        ("Func f; In A; Var x; f[x] = A[x];", ["DT177"]),
        ("Func f; In A; Var x; f[x] = pad(A, 0)[x]; f.compile();", ["DT174"]),
        ("", ["DT179"]),
        ("# nothing\n", ["DT179"]),
        (" ;; ", ["DT179"]),
    ],
)
def test_warnings_and_notes(text: str, codes: list[str]) -> None:
    checked = check(Source("test.dt", text))
    assert [d.code for d in checked.diagnostics] == codes
    assert checked.program is not None


def test_an_unused_name_that_was_meant_is_not_told_twice() -> None:
    text = "Func total; In values, weights; Var x; total[x] = values[x] * weight[x];"
    checked = check(Source("test.dt", text))
    assert [d.code for d in checked.diagnostics] == ["DT120"]


def test_a_misspelt_name_is_mended_everywhere() -> None:
    text = "Func total; In values; Var x; total[x] = value[x] * value[x]; total.compile();"
    (error,) = errors(text)
    mended = apply_edits(text, error.edits)
    assert mended == text.replace("value[", "values[")
    assert errors(mended) == []


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Func out; In input; Var x; out[x] = inptu[x];", "input"),
        ("Func out; In A; Var x; out[x] = a[x];", "A"),
        ("Func out; In A; Var row; out[row] = A[rwo];", "row"),
        ("Func out; In A; SIn alpha; Var x; out[x] = A[x] * aplha;", "alpha"),
        ("Func out; In A; Var x; RVar depth; out[x] = rsum(A[x, depth], dpeth);", "depth"),
        ("Func out, part; In A; Var x; part[x] = A[x]; out[x] = prat[x];", "part"),
    ],
)
def test_near_names(text: str, meant: str) -> None:
    first = errors(text)[0]
    assert (first.code, first.hint) == ("DT120", f"did you mean {meant}?")


@pytest.mark.parametrize(
    ("text", "declaration"),
    [
        ("Func f; In A; Var x; f[x] = A[x] + B[x];", "In B;"),
        ("Func f; In A; Var x; f[x] = A[x] + alpha;", "SIn alpha;"),
        ("Func f; In A; Var x; f[x, y] = A[x, y];", "Var y;"),
        ("Func f; In A; Var x; f[x] = rsum(A[x, k], k);", "RVar k;"),
        ("Func f; In A, B; Var m, n; f[m, n] = rdot(A[m, k], B[k, n], k);", "RVar k;"),
        ("In A; Var x; f[x] = A[x];", "Func f;"),
        ("Func f; In A; Var x; f[x] = A[x]; f.compile(); g.compile();", "Func g;"),
    ],
)
def test_missing_declarations(text: str, declaration: str) -> None:
    (error,) = errors(text)
    assert error.hint == f"declare it: {declaration}"
    mended = errors(apply_edits(text, error.edits))
    assert all(d.code != "DT120" for d in mended)


def test_the_program_of_a_file() -> None:
    text = """
        SIn alpha: f32; In A, B: i8; Var x; RVar k; Func f: f64;
        f[x] = rsum(A[2 * (x + 1) - k, k] * -x, k) + len(k) * alpha + inf;
        f.map(x:xi/8, -2, g.k:3);
    """
    found = check(Source("test.dt", text))
    resolved = program(text.partition("f.map")[0])
    assert found.program is None
    assert resolved.labels == (Label("x"), Label("k", reducible=True))
    assert [type(i) for i in resolved.inputs] == [Scalar, Tensor, Tensor]
    assert [i.dtype for i in resolved.inputs] == ["f32", None, "i8"]
    func = resolved.func("f")
    assert (func.labels, func.dtype) == (("x",), "f64")
    assert isinstance(func.body, Apply)
    assert func.body.operands[1] == Float(float("inf"))
    total = func.body.operands[0]
    assert isinstance(total, Apply)
    assert isinstance(total.operands[1], Apply)
    assert total.operands[1].operands[0] == Size("k")
    reduction = total.operands[0]
    assert isinstance(reduction, Reduce)
    assert reduction.labels == ("k",)
    index = Affine((("x", 2), ("k", -1)), 2)
    read = Read("A", (index, Affine((("k", 1),))))
    assert reduction.operand == Apply("mul", (read, Apply("neg", (Index("x"),))))


def test_arguments_of_directives() -> None:
    text = "Func f; In A; Var x; f[x] = A[x]; f.user(x:xi/8, -2, g.k:3, x:y, mm . l);"
    arguments = check(Source("test.dt", text)).file.statements[-1]
    assert [d.code for d in errors(text)] == ["DT180"]
    assert "mm . l" in arguments.span.text
    assert Argument("x", Split("xi", 8)) != Argument("x", "xi")


@pytest.mark.parametrize(
    ("index", "meant"),
    [
        ("x", Affine((("x", 1),))),
        ("x + 1", Affine((("x", 1),), 1)),
        ("2 * y + r", Affine((("y", 2), ("r", 1)))),
        ("(x - 1) * 3 + 4", Affine((("x", 3),), 1)),
        ("-(-x)", Affine((("x", 1),))),
        ("x + x - y + y", Affine((("x", 2),))),
        ("7", Affine((), 7)),
        ("0 * x + 2 * 3", Affine((), 6)),
    ],
)
def test_indices(index: str, meant: Affine) -> None:
    text = f"Func f; In A; Var x, y, r; f[x, y, r] = pad(A, 0)[{index}];"
    assert program(text).func("f").body == Read("A", (meant,), Integer(0))


LAYOUTS = [order for size in range(4) for order in permutations("xyz", size)]


@pytest.mark.sampled
@pytest.mark.parametrize("left", LAYOUTS, ids="".join)
def test_operands_line_up_or_are_mended(left: tuple[str, ...]) -> None:
    for right in LAYOUTS:
        text = f"""Func f; In A, B; Var x, y, z;
            f[x, y, z] = A[{", ".join(left)}] * B[{", ".join(right)}];"""
        for error in errors(text):
            contradicting = any(
                left.index(a) < left.index(b) and right.index(a) > right.index(b)
                for a, b in permutations(set(left) & set(right), 2)
            )
            assert error.code == "DT140"
            assert bool(error.edits) != contradicting
            assert contradicting or errors(apply_edits(text, error.edits)) == []


def test_a_reshape_that_does_not_line_up_is_written_anew_and_not_reshaped_again() -> None:
    text = "Func f; In A, B; Var m; RVar k; f[m] = rsum(A[m, k] - reshape(B[m], m, 1, 1), k);"
    (error,) = errors(text)
    assert error.hint == "line up by label: reshape(B[m], m, 1)"
    assert errors(apply_edits(text, error.edits)) == []
