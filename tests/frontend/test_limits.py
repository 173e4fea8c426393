"""Inputs of extreme size or depth get an answer, or are told the limit, within seconds."""

import time

import pytest

from benchmarks.pace import is_kept
from dtpoly.checking import check
from dtpoly.codegen.header import MARK
from dtpoly.diagnostics import DtpolyError
from dtpoly.frontend.format import format_source
from dtpoly.frontend.reading import decode
from dtpoly.render.diagnostic_text import plain, render
from dtpoly.source import Source

SECONDS = 5.0  # of processor time
LINE = "Func f; Var x; In A; f[x] = A[x];\n"
SCALAR = "Func f; SIn a; f.compile(); f[] = "
NAME = "f" * 50_000
READ = "Func f; In A; Var x; f.compile(); f[x] = "

REFUSED = {
    "parentheses 10,000 deep": (SCALAR + "(" * 10_000 + "a" + ")" * 10_000 + ";", "DT106"),
    "sums in parentheses": (SCALAR + "a + (" * 5_000 + "a" + ")" * 5_000 + ";", "DT106"),
    "10,000 open parentheses": (SCALAR + "(" * 10_000, "DT106"),
    "10,000 closing brackets": ("]" * 10_000, "DT108"),
    "10,000 unary minus signs": (SCALAR + "-" * 10_000 + "a;", "DT106"),
    "10,000 nots": (SCALAR + "not " * 10_000 + "a;", "DT106"),
    "2,000 terms": (SCALAR + " + ".join(["a"] * 2_000) + ";", "DT106"),
    "10,000 nested calls": (SCALAR + "exp(" * 10_000 + "a" + ")" * 10_000 + ";", "DT106"),
    "10,000 nested index brackets": (READ + "A[" * 10_000 + "x" + "]" * 10_000 + ";", "DT106"),
    "10,000 indices in a row": (READ + "A" + "[x]" * 10_000 + ";", "DT106"),
    "2,000 arguments": (SCALAR + "exp(" + ", ".join(["a"] * 2_000) + ");", "DT129"),
    "a number of 190,000 digits": (SCALAR + "1" * 190_000 + ";", "DT131"),
    "a name of 1 MB": ("Func " + "f" * 1_000_000 + ";", "DT119"),
    "a file of 5 MB": (LINE * (5_000_000 // len(LINE)), "DT119"),
    "a line of 5 MB": ("x" * 5_000_000, "DT119"),
    "a line of many names": ("x + " * 45_000, "DT110"),
    "characters of no meaning": ("\N{GRINNING FACE}" * 100_000, "DT103"),
    "letters outside of ASCII": ("\N{GREEK SMALL LETTER ALPHA} " * 90_000, "DT102"),
    "statements without an end": ("f[x] = 1\n" * 20_000, "DT118"),
    "a file of quotes": ("'" * 100_000, "DT103"),
}
ANSWERED = {
    "nothing": "",
    "10,000 semicolons": ";" * 10_000,
    "10,000 comment lines": "#\n" * 10_000,
    "a comment of 190,000 characters": "#" + "x" * 190_000,
    "190,000 line ends": "\r\n" * 95_000,
    "a name of 50,000 letters": f"Func {NAME}; {NAME}[] = 1; {NAME}.compile();",
    "300 Funcs": "".join(f"Func f{i}; f{i}[] = 1; f{i}.compile();" for i in range(300)),
    "2,000 declarations": "In " + ", ".join(f"A{i}" for i in range(2_000)) + ";",
    "2,000 directives": LINE + "f.compile();" * 2_000,
}
LONG_REFUSED = {
    "20,000 terms": (SCALAR + " + ".join(["a"] * 20_000) + ";", "DT106"),
    "20,000 arguments": (SCALAR + "exp(" + ", ".join(["a"] * 20_000) + ");", "DT129"),
}
LONG_ANSWERED = {
    "100,000 semicolons": ";" * 100_000,
    "60,000 comment lines": "#\n" * 60_000,
    "2,000 Funcs": "".join(f"Func f{i}; f{i}[] = 1; f{i}.compile();" for i in range(2_000)),
}


@pytest.mark.sampled
@pytest.mark.parametrize(("text", "code"), REFUSED.values(), ids=REFUSED)
def test_refused_with_the_limit(text: str, code: str) -> None:
    refused(text, code)


@pytest.mark.long
@pytest.mark.parametrize(("text", "code"), LONG_REFUSED.values(), ids=LONG_REFUSED)
def test_more_is_refused_with_the_limit(text: str, code: str) -> None:
    refused(text, code)


def refused(text: str, code: str) -> None:
    start = time.process_time()
    checked = check(decode("big.dt", text.encode()))
    shown = plain(render(checked.diagnostics))
    assert is_kept(SECONDS, time.process_time() - start)
    assert checked.program is None
    assert code in {diagnostic.code for diagnostic in checked.diagnostics}
    assert code in shown


@pytest.mark.long
@pytest.mark.parametrize(
    "name", ["parentheses 10,000 deep", "a file of 5 MB", "statements without an end"]
)
def test_not_formatted(name: str) -> None:
    start = time.process_time()
    with pytest.raises(DtpolyError) as caught:
        format_source(Source("big.dt", REFUSED[name][0]))
    assert is_kept(SECONDS, time.process_time() - start)
    assert REFUSED[name][1] in {diagnostic.code for diagnostic in caught.value.diagnostics}


@pytest.mark.sampled
@pytest.mark.parametrize("text", ANSWERED.values(), ids=ANSWERED)
def test_answered(text: str) -> None:
    answered(text)


@pytest.mark.long
@pytest.mark.parametrize("text", LONG_ANSWERED.values(), ids=LONG_ANSWERED)
def test_more_is_answered(text: str) -> None:
    answered(text)


def answered(text: str) -> None:
    start = time.process_time()
    checked = check(decode("big.dt", text.encode()))
    plain(render(checked.diagnostics))
    assert is_kept(SECONDS, time.process_time() - start)
    assert checked.program is not None
    middle = time.process_time()
    formatted = format_source(checked.file.source)
    assert is_kept(SECONDS, time.process_time() - middle)
    assert check(Source("big.dt", formatted)).program == checked.program


def test_a_file_that_is_not_read_is_told_by_its_bytes_too() -> None:
    with pytest.raises(DtpolyError) as caught:
        decode("big.dt", b"\xff" * 5_000_000)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "DT101"


def test_a_hundred_remarks_are_told() -> None:
    text = "In " + ", ".join(f"A{i}" for i in range(300)) + "; Func f; f[] = 1; f.compile();"
    codes = [d.code for d in check(decode("big.dt", text.encode())).diagnostics]
    assert codes == ["DT175"] * 100 + ["DT118"]


def test_a_file_that_dtpoly_has_written_is_told_as_that() -> None:
    text = f"{MARK} 0.1.0 from f.dt; change that, not this.\nimport torch\n\nf = '?'\n"
    (diagnostic,) = check(decode("f.py", text.encode())).diagnostics
    assert diagnostic.code == "DT110"
    assert diagnostic.hint.endswith("dtpoly verify FILE.dt --kernel f.py")
