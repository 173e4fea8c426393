"""Tests the texts of gradients, the Funcs they save, and messages of `dtpoly differentiate`."""

import json
from pathlib import Path

import pytest

from dtpoly.checking import check
from dtpoly.diagnostics import Severity
from dtpoly.source import Source
from tests.cli.conftest import Entry
from tests.conftest import Golden

EXAMPLES = Path(__file__).parent.parent.parent / "examples"
SHOWN = {
    "softmax": ("softmax", "A"),
    "rms_norm": ("rms_norm", "X,W"),
    "cross_entropy": ("cross_entropy", "L"),
    "swiglu": ("swiglu", "A,B"),
    "causal_attention": ("attention", "Q,K,V"),
    "max_pool2d": ("max_pool2d", "X"),
}
PAIR = b"Func f, g; In A; Var x; g[x] = exp(A[x]); f[x] = g[x] * g[x]; f.compile(g);"


@pytest.mark.parametrize("name", SHOWN)
def test_text(call: Entry, golden: Golden, name: str) -> None:
    of, by = SHOWN[name]
    path = str(EXAMPLES / f"{name}.dt")
    code, out, err = call("differentiate", path, "--of", of, "--by", by)
    assert (code, err) == (0, "")
    golden(f"gradients/{name}.dt", out)
    found = check(Source("gradient.dt", out)).diagnostics
    assert [one for one in found if one.severity is not Severity.NOTE] == []


def test_what_is_compiled_is_differentiated_by_all_that_it_depends_on(call: Entry) -> None:
    forward = str(EXAMPLES / "layer_norm_forward.dt")
    code, out, _ = call("differentiate", forward, "--json")
    document = json.loads(out)
    assert code == 0
    assert document["given"].keys() == {"normed", "mean", "rstd"}
    assert document["gradients"].keys() == {"X", "W", "B"}


def test_a_file_without_floats_has_nothing_to_differentiate(call: Entry) -> None:
    text = b"Func f; In A: i32; Var x; f[x] = A[x] + 1;"
    code, out, err = call("differentiate", "-", stdin=text)
    assert (code, out) == (1, "")
    assert "error[DT270]: there is no gradient of 'f', which is i32" in err


def test_a_result_of_numbers_alone_has_nothing_to_differentiate_by(call: Entry) -> None:
    text = b"Func f; In A: i32; SIn s; Var x; f[x] = A[x] * s;"
    code, out, err = call("differentiate", "-", stdin=text)
    assert (code, out) == (1, "")
    assert "error[DT271]: 'f' depends on no tensor of floats" in err
    assert call("differentiate", "-", "--by", "s", stdin=text)[0] == 0


def test_what_is_replaced_says_what_reads_it(call: Entry) -> None:
    text = b"Func f into A; In A; Var x; f[x] = A[x] * A[x]; f.compile();"
    err = call("differentiate", "-", stdin=text)[2]
    assert "error[DT273]" in err
    assert "note: 'd_A' of the gradient reads them" in err


def test_saved_funcs_are_inputs(call: Entry) -> None:
    given = ("differentiate", "-", "--of", "f", "--by", "A", "--save", "g", "--json")
    code, out, _ = call(*given, stdin=PAIR)
    document = json.loads(out)
    assert code == 0
    assert document["saved"] == ["g"]
    assert document["given"] == {"f": "d_f"}
    assert document["gradients"] == {"A": "d_A"}
    assert "In d_f, g;" in document["text"]
    assert "exp(" not in document["text"].partition("Func")[2].partition("# The rules")[0]


def test_a_size_that_nothing_shows_is_named(call: Entry) -> None:
    text = b"Func f; In A; RVar x; f[] = rsum(A[x], x);"
    out = call("differentiate", "-", "--of", "f", "--by", "A", "--json", stdin=text)[1]
    assert json.loads(out)["sizes"] == ["x"]


def test_the_gradient_is_written_to_a_file(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "gradient.dt"
    given = ("differentiate", "-", "--of", "f", "--by", "A", "-o", str(path))
    code, out, err = call(*given, stdin=PAIR)
    assert (code, out, err) == (0, "", f"wrote {path}\n")
    assert call("fmt", "--check", str(path))[0] == 0
    assert call("check", str(path))[0] == 0


def test_it_does_not_write_over_the_algorithm(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "f.dt"
    path.write_bytes(PAIR)
    code, _, err = call("differentiate", str(path), "--of", "f", "--by", "A", "-o", str(path))
    assert (code, path.read_bytes()) == (2, PAIR)
    assert "is the file to differentiate" in err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--of", "ff", "--by", "A"), "no Func 'ff'; did you mean 'f'?"),
        (("--of", "f", "--by", "X"), "no input 'X'; it has A"),
        (("--of", "f", "--by", "A", "--save", "h"), "no Func 'h'"),
    ],
)
def test_wrong_names(call: Entry, options: tuple[str, ...], message: str) -> None:
    code, out, err = call("differentiate", "-", *options, stdin=PAIR)
    assert (code, out) == (2, "")
    assert message in err


def test_what_has_no_gradient_is_refused(call: Entry) -> None:
    text = b"Func f; In A; Var x; f[x] = floor(A[x]); f.compile();"
    code, out, err = call("differentiate", "-", "--of", "f", "--by", "A", stdin=text)
    assert (code, out) == (1, "")
    assert "error[DT271]" in err


LINEAR = """\
Func linear;
In X, W, B;
Var m, n;
RVar k;

linear[m, n] = rdot(X[m, k], W[n, k], k) + B[n];
"""
DROPOUT = """\
Func dropped, s, top, e, total;
In Q, K, V;
SIn seed: i64, p;
Var m, n;
RVar l in [0, m + 1), k;

s[m, l] = rdot(Q[m, k], K[l, k], k) * rsqrt(len(k));
top[m] = rmax(s[m, l], l);
e[m, l] = exp(s[m, l] - reshape(top[m], m, 1));
total[m] = rsum(e[m, l], l);
dropped[m, n] = rdot(where(random(seed, m, l) < p, 0, e[m, l] / (1 - p)), V[l, n], l)
    / reshape(total[m], m, 1);
"""
BAND = """\
Func band;
In A, B;
Var m, n;
RVar k in [m - 1, n + 2);

band[m, n] = rdot(A[m, k], B[k, n], k);
"""
STATES = """\
Func ratio, num, den;
In K, V, decay;
Var t, c;
RVar s;

num[t, c] = scan_affine(exp(-decay[c]), exp(K[s, c]) * V[s, c], s, t, 0);
den[t, c] = scan_affine(exp(-decay[c]), exp(K[s, c]), s, t, 0);
ratio[t, c] = num[t, c] / den[t, c];
"""
TEXTS = {"linear": LINEAR, "dropout": DROPOUT, "band": BAND, "states": STATES}
KERNELS = {
    "dropout": ("dropped", "Q,K,V"),
    "band": ("band", "A,B"),
    "states": ("ratio", "K,V,decay"),
    "softmax": ("softmax", "A"),
    "rms_norm": ("rms_norm", "X,W"),
    "cross_entropy": ("cross_entropy", "L"),
    "swiglu": ("swiglu", "A,B"),
    "linear": ("linear", "X,W,B"),
    "attention": ("attention", "Q,K,V"),
    "causal_attention": ("attention", "Q,K,V"),
}


@pytest.mark.long
@pytest.mark.parametrize("name", KERNELS)
def test_kernels_of_gradients_are_proved(call: Entry, tmp_path: Path, name: str) -> None:
    of, by = KERNELS[name]
    path, kernels = tmp_path / "gradient.dt", tmp_path / "gradient.py"
    text = TEXTS.get(name) or (EXAMPLES / f"{name}.dt").read_text()
    given = ("differentiate", "-", "--of", of, "--by", by, "-o", str(path))
    assert call(*given, stdin=text.encode())[0] == 0
    assert call("compile", str(path), "-o", str(kernels), "--seconds", "120")[0] == 0
    verdict = kernels.read_text().splitlines()[1]
    assert verdict.startswith("# Verdict: PROVED")
    assert "UNKNOWN" not in verdict
