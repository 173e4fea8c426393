"""`dtpoly verify`: what is proved of the kernels of a file, and of those of a user."""

import json
import re
from pathlib import Path

import pytest

from dtpoly.verification import FUNCTION
from tests.cli.conftest import Entry
from tests.cli.process import ROOT
from tests.cli.server import Server
from tests.cli.test_compile_verified import SUM, TWO, emit, here

__all__ = ["emit", "here"]

LAYERS = ["stores", "loads", "bounds", "lanes", "order", "value", "overflow"]
FUSED = ROOT / "examples" / "softmax.dt"
REFUSED = """\
Func softmax, total; In A; Var x; RVar y;
total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
total.fuse_at(softmax, y); softmax.compile();
"""


@pytest.fixture
def edited(call: Entry, here: Path) -> Path:
    """Return the kernels of f.dt, to be changed by hand."""
    assert call("compile", "f.dt")[0] == 0
    return here / "f.py"


def edit(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_all_is_proved(call: Entry) -> None:
    code, out, err = call("verify", "f.dt")
    assert (code, err) == (0, "")
    head, _, row = out.splitlines()
    assert head.split() == ["function", *LAYERS, "seconds"]
    assert row.split()[:-1] == ["f", *["PROVED"] * 7]


def test_a_kernel_that_was_changed_is_proved(call: Entry, edited: Path) -> None:
    edit(edited, "f_acc += A_value", "f_acc = A_value + f_acc")
    assert call("verify", "f.dt", "--kernel", "f.py")[0] == 0


def test_a_kernel_that_was_changed_is_refuted(call: Entry, edited: Path) -> None:
    edit(edited, "min(x_size, x_start + 4)", "x_start + 4")
    code, out, err = call("verify", "f.dt", "--kernel", "f.py")
    assert (code, err) == (1, "")
    assert "REFUTED" in out
    assert "error[DT312]: 'f' does not compute what it should" in out
    assert "  --> f.py:" in out
    assert "is not an element of the output" in out
    assert "= note: at x = 1, k = 0: stores out[1]" in out


def test_our_own_text_that_is_wrong_is_a_bug(call: Entry, emit: object) -> None:
    assert callable(emit)
    emit("range(0, k_size)", "range(1, k_size)")
    code, out, _ = call("verify", "f.dt")
    assert code == 3
    assert "error[DT310]: the code of 'f' would be wrong\n  --> <kernels>:" in out
    assert "please report it with this message and 'f.dt'" in out


def test_what_is_not_proved(call: Entry, edited: Path) -> None:
    edit(edited, '    "types":', '    "more": 1,\n    "types":')
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py")
    assert code == 1
    assert "warning[DT311]: 'f' is not proved" in out
    assert "a plan with 'more'" in out


def test_too_little_time(call: Entry) -> None:
    code, out, _ = call("verify", "f.dt", "--seconds", "1e-9")
    assert code == 1
    assert "it takes too long" in out
    assert "dtpoly verify --seconds 60 gives the proof more time" in out
    # What took too long is tried again.
    assert call("verify", "f.dt")[0] == 0


def test_json(call: Entry, edited: Path) -> None:
    edit(edited, "min(x_size, x_start + 4)", "x_start + 4")
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py", "--json")
    assert code == 1
    document = json.loads(out)
    assert (document["version"], document["kernel"]) == (1, "f.py")
    assert document["verdict"] == "refuted"
    (function,) = document["functions"]
    layers = {layer["name"]: layer for layer in function["layers"]}
    assert list(layers) == LAYERS
    assert layers["overflow"] == {
        "name": "overflow",
        "verdict": "proved",
        "line": None,
        "why": None,
        "witness": None,
    }
    bounds = layers["bounds"]
    assert bounds["verdict"] == "refuted"
    assert bounds["witness"]["at"] == {
        "program": [0],
        "loops": [["x_start_2", 1], ["k_start", 0]],
        "lane": [],
    }
    assert bounds["witness"]["what"] == "loads A[1, 0]"
    assert dict(bounds["witness"]["sizes"]) == {"x": 1, "k": 1}
    assert [one["code"] for one in document["diagnostics"]] == ["DT312"]
    assert json.loads(call("verify", "f.dt", "--json")[1])["verdict"] == "proved"


def test_one_func(call: Entry, here: Path) -> None:
    (here / "f.dt").write_text(TWO)
    assert call("verify", "f.dt")[1].count("PROVED") == 14
    code, out, _ = call("verify", "f.dt", "--func", "e")
    assert code == 0
    assert [line.split()[0] for line in out.splitlines()[2:]] == ["e"]
    assert call("compile", "f.dt", "--func", "e")[0] == 0
    assert call("verify", "f.dt", "--kernel", "f.py", "--func", "e")[0] == 0
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py", "--func", "f")
    assert code == 1
    assert "there is no function 'f'" in out
    code, _, err = call("verify", "f.dt", "--func", "ff")
    assert code == 2
    assert "did you mean 'f'?" in err


def test_a_func_that_no_kernel_computes_is_not_proved(call: Entry, here: Path) -> None:
    (here / "f.dt").write_text(TWO)
    assert call("compile", "f.dt", "--func", "e")[0] == 0
    code, out, err = call("verify", "f.dt", "--kernel", "f.py")
    assert (code, err) == (1, "")
    assert [line.split()[:2] for line in out.splitlines()[2:4]] == [
        ["e", "PROVED"],
        ["f", "UNKNOWN"],
    ]
    assert "there is no function 'f'" in out
    assert "this file computes 'e' alone: --func e asks about one Func" in out
    document = json.loads(call("verify", "f.dt", "--kernel", "f.py", "--json")[1])
    assert document["verdict"] == "unknown"


@pytest.mark.long
def test_a_function_that_has_almost_the_name_of_a_func_is_named(call: Entry, here: Path) -> None:
    (here / "f.dt").write_text(TWO.replace("f", "fine"))
    assert call("compile", "f.dt", "--func", "e")[0] == 0
    with (here / "f.py").open("a") as file:
        file.write("\n\ndef fyne(x):\n    return x\n")
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py")
    assert code == 1
    assert "PROVED" in out
    assert "did you mean 'fyne'? A function computes the Func that has its name" in out


@pytest.mark.parametrize("name", ["e_kernels", "dt_functions"])
def test_neither_a_kernel_nor_the_runtime_is_what_was_meant(
    call: Entry, here: Path, name: str
) -> None:
    (here / "f.dt").write_text(re.sub(r"\bf\b", name, TWO))
    assert call("compile", "f.dt", "--func", "e")[0] == 0
    text = (here / "f.py").read_text()
    assert "def e_kernel(" in text
    assert "def dt_function(" in text
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py")
    assert code == 1
    assert "did you mean" not in out
    assert "this file computes 'e' alone" in out


def test_functions_are_those_of_plans_and_of_python() -> None:
    text = """
@triton.jit
def f_kernel(
    A,
):
    pass

f_plan = {
}

def dt_device(a):
    def inner(b):
        pass

f = dt_function(f_plan, f_kernel)
g_ = dt_function(
    g_plan,
)

def test():
    f(1)
"""
    assert FUNCTION.findall(text) == ["f", "g_", "test"]


def test_a_func_that_no_kernel_by_hand_is_given_is_not_proved(call: Entry, here: Path) -> None:
    (here / "f.dt").write_text(TWO)
    (here / "f.py").write_text(
        "import triton\nimport triton.language as tl\n\n"
        "# verify: kernel[(cdiv(len(x), 64),)](A, e, A.stride(0), e.stride(0), len(x))\n"
        "# assume: len(x) <= 2**27, reach(A) < 2**31, reach(e) < 2**31\n\n\n"
        "@triton.jit\ndef kernel(a, b, stride_a, stride_b, n):\n"
        "    i = tl.program_id(0) * 64 + tl.arange(0, 64)\n"
        "    x = tl.load(a + i * stride_a, mask=i < n)\n"
        "    tl.store(b + i * stride_b, tl.exp(x), mask=i < n)\n"
    )
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py")
    assert code == 1
    assert "no kernel is given 'f' to compute" in out
    assert call("verify", "f.dt", "--kernel", "f.py", "--func", "e")[0] == 0


def test_a_function_that_accepts_no_call_is_not_proved(call: Entry, edited: Path) -> None:
    never = '    "demands": [{"size": "x", "is": "x + 1", "seen": "here"}],\n    "types": {'
    edit(edited, '    "types": {', never)
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py")
    assert code == 1
    assert "no call is accepted, so there is nothing to prove" in out
    assert " PROVED" not in out


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "the file has no plans"),
        ("def f(:\n", "this is not Python"),
        ("import os\n", "the file has no plans"),
        ("def g(A):\n    return A\n", "say in a comment how each kernel is launched"),
        ("\0", "this is not Python"),
    ],
)
def test_a_text_that_is_no_kernel(call: Entry, here: Path, text: str, why: str) -> None:
    (here / "k.py").write_text(text)
    code, out, _ = call("verify", "f.dt", "--kernel", "k.py")
    assert code == 1
    assert why in out
    assert "the file" in out


def test_files_that_cannot_be_read(call: Entry, here: Path) -> None:
    code, out, err = call("verify", "f.dt", "--kernel", "missing.py")
    assert (code, out) == (1, "")
    assert "cannot read 'missing.py'" in err
    assert call("verify", "missing.dt")[0] == 1
    (here / "f.dt").write_text("In A;\n")
    code, _, err = call("verify", "f.dt")
    assert code == 1
    assert "has no Func, so there is nothing to verify" in err


def test_a_refused_schedule(call: Entry, here: Path) -> None:
    (here / "f.dt").write_text(REFUSED)
    code, out, err = call("verify", "f.dt")
    assert (code, out) == (1, "")
    assert "error[DT203]" in err


def test_the_dossier_of_a_fusion(call: Entry, here: Path) -> None:
    code, out, err = call("verify", "--fuse-at", str(FUSED))
    assert (code, err) == (0, "")
    assert "total.fuse_at(softmax, x)" in out
    assert "theorem" in out
    (fusion,) = json.loads(call("verify", "--fuse-at", "--json", str(FUSED))[1])["fusions"]
    assert fusion["is_proved"]
    assert call("verify", "--fuse-at", "f.dt")[:2] == (0, "nothing is fused\n")
    (here / "f.dt").write_text(REFUSED)
    code, out, _ = call("verify", "--fuse-at", "f.dt")
    assert code == 1
    assert "not empty" in out


@pytest.mark.long
def test_the_ring(here: Path) -> None:
    (here / "f.dt").write_text(SUM)
    with Server.start() as command:
        assert command("compile", "f.dt")[0] == 0
        code, out, _ = command("verify", "f.dt", "--ring")
        assert code == 0
        assert out.splitlines()[0].split() == ["function", *LAYERS, "ring", "seconds"]
        assert out.splitlines()[2].split()[1:-1] == [*["PROVED"] * 7, "TESTED"]
        assert (
            "f, ring: equal at x = 1, k = 1; at x = 3, k = 5; at x = 5, k = 3; "
            "at x = 9, k = 5; at x = 4, k = 2; at x = 12, k = 20\n" in out
        )
        edit(here / "f.py", "f_acc += A_value", "f_acc += A_value + A_value")
        code, out, _ = command("verify", "f.dt", "--kernel", "f.py", "--ring")
        assert code == 1
        assert "ring: at x = 1, k = 1, 1 elements are others, first f[0]" in out
        edit(here / "f.py", "min(x_size, x_start + 4)", "x_start + 4")
        code, out, _ = command("verify", "f.dt", "--kernel", "f.py", "--ring")
        assert code == 1
        assert "ring: at x = 1, k = 1, 1 elements read outside of every tensor" in out


@pytest.mark.long
def test_the_ring_runs_nothing_that_is_written_by_hand(here: Path) -> None:
    (here / "f.dt").write_text("Func f; In A; Var x; f[x] = A[x]; f.compile();")
    (here / "by_hand.py").write_text(
        "import triton\nimport triton.language as tl\n\n\n"
        "# verify: kernel[(len(x),)](A, f)\n@triton.jit\ndef kernel(a, f):\n"
        "    tl.store(f + tl.program_id(0), tl.load(a + tl.program_id(0)))\n"
    )
    with Server.start() as command:
        _, out, err = command("verify", "f.dt", "--kernel", "by_hand.py", "--ring")
    said = "it runs functions that call kernels, and a file that is written by hand has none"
    assert said in " ".join((out + err).split())
    assert "dtpoly_generated" not in out + err


HANDWRITTEN = """\
import triton
import triton.language as tl


@triton.jit
def k(a_ptr, o_ptr, n, B: tl.constexpr):
    x = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(o_ptr + x, tl.load(a_ptr + x, mask=x < n), mask=x < n)


# verify: k[(cdiv(len(x), 64),)](A, f, len(x), B=64)
# assume: len(x) <= 2**30
"""
SEVERAL = "Func f, g, h; In A; Var x; f[x] = A[x]; g[x] = A[x]; h[x] = f[x]; {}"


@pytest.mark.sampled
@pytest.mark.parametrize(
    ("directives", "missing"),
    [
        ("f.compile();", []),
        ("f.compile(); g.compile();", ["g"]),
        ("h.compile(); f.compile(); g.compile();", ["g", "h"]),
        ("g.compile();", ["g"]),
        # Where nothing is compiled, the last one is what the file computes.
        ("", ["h"]),
    ],
)
@pytest.mark.parametrize("is_by_hand", [True, False])
def test_what_no_kernel_computes_is_not_proved(
    call: Entry, here: Path, directives: str, missing: list[str], is_by_hand: bool
) -> None:
    (here / "f.dt").write_text(SEVERAL.format(directives))
    (here / "k.py").write_text(HANDWRITTEN)
    if not is_by_hand:
        assert call("compile", "f.dt", "--func", "f", "-o", "k.py")[0] == 0
    code, out, _ = call("verify", "f.dt", "--kernel", "k.py")
    assert code == (1 if missing else 0)
    for one in missing:
        what = "no kernel is given" if is_by_hand else "there is no function"
        assert f"{what} '{one}'" in out
        assert "--func f asks about one Func" in out
    assert out.count("is not proved") == len(missing)
    # Of the one that is there all is proved, if that alone is asked for.
    code, out, _ = call("verify", "f.dt", "--kernel", "k.py", "--func", "f")
    assert (code, out.count("PROVED")) == (0, 7)


def test_a_sarif_log_has_the_line_of_a_mistake(call: Entry, edited: Path) -> None:
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py", "--sarif")
    assert code == 0
    assert json.loads(out)["runs"][0]["results"] == []
    edit(edited, "min(x_size, x_start + 4)", "x_start + 4")
    code, out, _ = call("verify", "f.dt", "--kernel", "f.py", "--sarif")
    assert code == 1
    (result,) = json.loads(out)["runs"][0]["results"]
    place = result["locations"][0]["physicalLocation"]
    assert (result["ruleId"], result["level"]) == ("DT312", "error")
    assert place["artifactLocation"]["uri"] == "f.py"
    assert "tl." in edited.read_text().splitlines()[place["region"]["startLine"] - 1]


def test_a_sarif_log_is_one_document(call: Entry, here: Path) -> None:
    for other in ("--json", "--fuse-at"):
        code, _, err = call("verify", "f.dt", "--sarif", other)
        assert code == 2
        assert "no other document" in err or "different things" in err
