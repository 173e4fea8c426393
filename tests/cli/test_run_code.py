"""`dtpoly run`: generated kernels on made-up inputs, beside the reference."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from dtpoly.generate import Code, code_of
from dtpoly.runtime.tolerance import compared
from dtpoly.schedule.state import State
from tests.cli.conftest import Entry
from tests.cli.process import ROOT, dtpoly, environment

RUN = ("run", "--device", "cpu", "--size")
PRODUCT = """\
Func mm; In A, B; Var m, n; RVar k;
mm[m, n] = rdot(A[m, k], B[k, n], k);
mm.block(m:16, n:16); mm.tensorize(m:0, n:0, k:16); mm.compile();
"""
MANY = """\
Func best, count, shift; In A; SIn s; Var x; RVar k; Var n;
best[x] = rargmax(A[x, k], k);
count[x] = rsum(cast(A[x, k] > 0, i32), k);
shift[x, n] = A[x, 0] * s + n;
best.compile(); count.compile(); shift.compile();
"""


def test_softmax(call: Entry, good: Path) -> None:
    code, out, err = call(*RUN, "x=4,y=10", str(good))
    assert (code, err) == (0, "")
    head, _, row, sentence = out.splitlines()
    assert head.split("  ")[0] == "Func"
    assert row.startswith("softmax   [x=4, y=10]   f32     ")
    assert sentence.startswith("softmax agrees with the reference: within ")
    assert sentence.endswith(", on the CPU, in Triton's interpreter")


def test_json(call: Entry, good: Path) -> None:
    code, out, _ = call(*RUN, "x=4,y=10", "--seed", "3", "--json", str(good))
    assert code == 0
    document = json.loads(out)
    assert (document["version"], document["seed"], document["device"]) == (1, 3, "cpu")
    assert (document["sizes"], document["dtype"]) == ({"x": 4, "y": 10}, "f32")
    (func,) = document["funcs"]
    assert (func["name"], func["shape"], func["dtype"]) == ("softmax", [4, 10], "f32")
    assert func["elements"] == pytest.approx(func["reference"], rel=1e-5)
    assert 0 < func["error"] < func["allowed"] < 1e-4
    assert (func["wrong"], func["first_wrong"]) == (0, None)


def test_the_inputs_are_those_of_the_reference(call: Entry, good: Path) -> None:
    kernels = json.loads(call(*RUN, "x=4,y=10", "--seed", "5", "--json", str(good))[1])
    arguments = ("run", "--reference", "--size", "x=4,y=10", "--seed", "5", "--json", str(good))
    reference = json.loads(call(*arguments)[1])
    assert kernels["funcs"][0]["reference"] == reference["funcs"][0]["elements"][:3]


@pytest.mark.sampled
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f64", "f8e4m3", "f8e5m2"])
def test_dtypes(call: Entry, good: Path, dtype: str) -> None:
    code, out, _ = call(*RUN, "x=4,y=40", "--dtype", dtype, "--json", str(good))
    assert code == 0
    (func,) = json.loads(out)["funcs"]
    assert func["dtype"] == dtype
    assert func["error"] <= func["allowed"]


def test_products(call: Entry) -> None:
    for dtype in ("bf16", "f16", "f32", "f64"):
        words = (*RUN, "m=20,n=17,k=33", "--dtype", dtype, "--json", "-")
        code, out, _ = call(*words, stdin=PRODUCT.encode())
        assert code == 0
        (func,) = json.loads(out)["funcs"]
        assert 0 <= func["error"] <= func["allowed"]


@pytest.mark.long
def test_several_functions_and_whole_numbers(call: Entry) -> None:
    code, out, _ = call(*RUN, "x=3,k=7,n=2", "--json", "-", stdin=MANY.encode())
    assert code == 0
    best, count, shift = json.loads(out)["funcs"]
    assert (best["dtype"], best["error"], best["allowed"]) == ("i64", 0, 0)
    assert (count["dtype"], count["error"]) == ("i64", 0)
    assert shift["labels"] == ["x", "n"]
    code, out, _ = call(*RUN, "x=3,k=7,n=2", "-", stdin=MANY.encode())
    assert "best agrees with the reference: equal to it" in out


def test_sizes_of_zero(call: Entry, good: Path) -> None:
    code, out, _ = call(*RUN, "x=0,y=4", "--json", str(good))
    assert code == 0
    assert json.loads(out)["funcs"][0]["shape"] == [0, 4]


def test_a_wrong_kernel_is_told(call: Entry, good: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With generated code that was tampered with."""

    def dishonest(state: State) -> Code:
        code = code_of(state)
        text = code.text.replace("tl.exp(", "tl.exp2(")
        assert text != code.text
        return Code(code.stages, text)

    monkeypatch.setattr("dtpoly.cli.executed_kernels.code_of", dishonest)
    code, out, _ = call(*RUN, "x=4,y=10", str(good))
    assert code == 1
    last = out.splitlines()[-1]
    assert last.startswith("softmax is wrong: ")
    assert last.endswith("of 40 elements differ by more than rounding, first softmax[0, 0]")
    code, out, _ = call(*RUN, "x=4,y=10", "--json", str(good))
    (func,) = json.loads(out)["funcs"]
    assert (code, func["first_wrong"]) == (1, [0, 0])
    assert func["error"] > func["allowed"]


def test_a_product_may_lose_what_tf32_loses(call: Entry, monkeypatch: pytest.MonkeyPatch) -> None:
    """The interpreter's products are exact, so one operand is cut: to 10 bits, or to 1."""
    rough = PRODUCT.replace("rdot(A[m, k], B[k, n], k)", "sin(9 * rdot(A[m, k], B[k, n], k))")
    rough = rough.replace("mm.compile", "mm.precision(tf32); mm.compile")
    for kept, codes in (("-8192", (0, 1)), ("-4194304", (1, 1))):

        def cutting(state: State, kept: str = kept) -> Code:
            code = code_of(state)
            bits = f"A_tile.to(tl.int32, bitcast=True) & {kept}"
            cut = f"({bits}).to(tl.float32, bitcast=True)"
            text = code.text.replace("tl.dot(A_tile,", f"tl.dot({cut},")
            assert text != code.text
            return Code(code.stages, text)

        monkeypatch.setattr("dtpoly.cli.executed_kernels.code_of", cutting)
        for text, expected in zip((rough, rough.replace("tf32", "ieee")), codes, strict=True):
            code, out, _ = call(*RUN, "m=64,n=64,k=16", "-", stdin=text.encode())
            assert code == expected, out


INF, NAN = float("inf"), float("nan")


@pytest.mark.parametrize(
    ("got", "exact", "rough", "wrong"),
    [
        ([1.0, 2.0], [1.0, 2.0], [1.0, 2.0], 0),
        ([1.0, 2.1], [1.0, 2.0], [1.0, 2.0], 1),
        ([1.0, 2.1], [1.0, 2.0], [1.0, 2.01], 0),  # f32 itself is off by so much
        ([INF, 2.0], [INF, 2.0], [INF, 2.0], 0),
        ([NAN, 2.0], [NAN, 2.0], [NAN, 2.0], 0),
        ([1.0, 2.0], [NAN, 2.0], [NAN, 2.0], 1),
        ([NAN, 2.0], [1.0, 2.0], [1.0, 2.0], 1),
        ([-INF, 2.0], [INF, 2.0], [INF, 2.0], 1),
        ([INF, 2.0], [1e300, 2.0], [INF, 2.0], 0),  # more than f32 can hold
        ([INF, 2.0], [1e30, 2.0], [1e30, 2.0], 1),
    ],
)
def test_what_is_wrong(
    got: list[float], exact: list[float], rough: list[float], wrong: int
) -> None:
    wide = torch.tensor(exact, dtype=torch.float64)
    found = compared("f", ("x",), torch.tensor(got), wide, torch.tensor(rough), 1e-6)
    assert found.wrong == wrong
    assert (found.first is None) == (wrong == 0)


def test_whole_numbers_are_right_or_wrong() -> None:
    one, two = torch.tensor([1, 2]), torch.tensor([1, 3])
    assert compared("f", ("x",), one, one, one, 0.1).wrong == 0
    found = compared("f", ("x",), two, one, one, 0.1)
    assert (found.wrong, found.first, found.allowed) == (1, (1,), 0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("run", "--device", "cuda", "--size", "x=4,y=4"), "torch finds no GPU here; take cpu"),
        ((*RUN, "x=4"), "the size of 'y' must be passed"),
        ((*RUN, "x=100000,y=100000"), "needs about"),
        ((*RUN, "x=4,y=4", "--dtype", "i32"), "'i32' is not one of"),
    ],
)
def test_usage(
    call: Entry,
    good: Path,
    arguments: tuple[str, ...],
    message: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    code, out, err = call(*arguments, str(good))
    assert (code, out) == (2, "")
    assert message in err


def test_nothing_to_run(call: Entry) -> None:
    code, out, err = call("run", "-", stdin=b"Var x;")
    assert (code, out) == (1, "")
    assert err == "error: '<stdin>' has no Func, so there is nothing to run\n"


def test_a_refused_schedule(call: Entry) -> None:
    text = b"Func f; In A; Var x; f[x] = A[x]; f.block(y:4); f.compile();"
    code, out, err = call(*RUN, "x=4", "-", stdin=text)
    assert (code, out) == (1, "")
    assert "error[DT" in err


@pytest.mark.long
def test_a_whole_process(good: Path, tmp_path: Path) -> None:
    """Without a place to keep anything."""
    (tmp_path / "file").write_text("")
    env = {"DTPOLY_CACHE_DIR": str(tmp_path / "file"), "TRITON_INTERPRET": "0"}
    done = dtpoly("run", str(good), "--device", "cpu", "--size", "x=2,y=3", env=env)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"softmax agrees with the reference" in done.stdout


@pytest.mark.long
def test_without_triton(good: Path) -> None:
    code = (
        "import sys; sys.modules['triton'] = None\n"
        "from dtpoly.cli.main import entry; sys.exit(entry(sys.argv[1:]))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, "run", "--size", "x=2,y=3", str(good)],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
        env=environment(),
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("error[DT330]: triton is not installed\n")
    assert (
        "hint: pip install 'dtpoly[torch]' installs it, and what else kernels need\n" in done.stderr
    )


@pytest.mark.parametrize(
    ("name", "sizes"),
    [
        ("listing_3_20_sum_block", "x=2,k=500"),
        ("listing_3_13_swish_fused", "x=3,y=70"),
        ("listing_4_04_attention", "m=20,n=70,k=33,l=20"),
    ],
)
def test_listings(call: Entry, name: str, sizes: str) -> None:
    path = ROOT / "tests" / "data" / "thesis" / f"{name}.dt"
    code, out, err = call(*RUN, sizes, str(path))
    assert code == 0, err
    assert "agrees with the reference" in out


REFUSED = {
    "k=1048577": (
        "f[x] = rsum(A[x, k], k); f.tensorize(k:0);",
        "a tile of 'f' would have 2097152 elements",
    ),
    "k=0": ("f[x] = rargmax(A[x, k], k);", "'rargmax' has nothing to choose from"),
}


@pytest.mark.parametrize("size", REFUSED)
def test_sizes_that_a_function_refuses(call: Entry, tmp_path: Path, size: str) -> None:
    text, reason = REFUSED[size]
    path = tmp_path / "f.dt"
    path.write_text(f"Func f; In A; Var x; RVar k; {text} f.compile();")
    code, out, err = call(*RUN, f"x=2,{size}", str(path))
    assert (code, out) == (1, "")
    assert err.startswith(f"error: it does not run at these sizes: {reason}")


INLINED = "f[x] = A[x] * 2; f.inline();"


@pytest.mark.parametrize(
    "func",
    [
        "g[x] = pad(f, 1)[2 * x - 3];",
        "g[x] = pad(f, 1)[3 - x] + pad(f, 0)[x + 1];",
        "g[x] = pad(f, 1)[2 * x - 3] + B[x + 1];",
    ],
)
def test_what_is_inlined_shows_sizes(call: Entry, tmp_path: Path, func: str) -> None:
    """Only the Func that is inlined reads A as it is, so only it shows the size of x."""
    path = tmp_path / "f.dt"
    more = ", B" if "B" in func else ""
    path.write_text(f"Func f, g; In A{more}; Var x; {INLINED} {func} g.block(x:4); g.compile();")
    code, out, err = call(*RUN, "x=7", str(path))
    assert code == 0, err
    assert "g agrees with the reference" in out


@pytest.mark.parametrize("fused", [True, False])
def test_program_ids_of_fused_funcs(call: Entry, tmp_path: Path, fused: bool) -> None:
    """A Func that is inlined is computed by the programs of its reader, as the reference says."""
    path = tmp_path / "f.dt"
    how = "f.fuse_at(g, x);" if fused else "f.inline();"
    text = "f[x] = A[x] + program_id(0); g[x] = f[x] * 2;"
    path.write_text(f"Func f, g; In A; Var x; {text} {how} g.block(x:2); g.compile();")
    code, out, err = call(*RUN, "x=6", str(path))
    if fused:
        assert (code, out) == (1, "")
        assert "'f' has program_id, and is computed in a kernel of another Func" in err
    else:
        assert code == 0, err
        assert "g agrees with the reference" in out


@pytest.mark.parametrize("part", ["C[x] / 3", "sin(C[x])", "exp(cast(A[x], f32))"])
def test_single_numbers_beside_wide_ones(call: Entry, tmp_path: Path, part: str) -> None:
    """A value that is computed in f32 has no more digits if it becomes an f64 afterwards."""
    path = tmp_path / "f.dt"
    text = f"Func f; In A: f64, C: u8; Var x; f[x] = A[x] + C[x] + {part};"
    path.write_text(f"{text} f.block(x:8); f.compile();")
    code, out, err = call(*RUN, "x=40", str(path))
    assert code == 0, (out, err)
    (func,) = json.loads(call(*RUN, "x=40", "--json", str(path))[1])["funcs"]
    assert func["error"] < 1e-5


def test_wide_numbers_alone_are_held_to_their_digits(call: Entry, tmp_path: Path) -> None:
    path = tmp_path / "f.dt"
    path.write_text("Func f; In A: f64, C: u8; Var x; f[x] = sin(A[x]) + C[x]; f.compile();")
    (func,) = json.loads(call(*RUN, "x=40", "--json", str(path))[1])["funcs"]
    assert func["allowed"] < 1e-12


@pytest.mark.long
def test_which_is_largest_may_be_decided_by_rounding(call: Entry, tmp_path: Path) -> None:
    """Of numbers that are equal in f64 sums in f32 differ, and the largest is another one."""
    path = tmp_path / "f.dt"
    text = (
        "Func f; In B: bf16, C: f16, D: i32; Var x, z; RVar m; f[z, x] ="
        "rargmax(pow(reshape(B[z], z, 1, 1), 3) - ceil(C[m]) + D[z, x, m], m); f.compile();"
    )
    path.write_text(text)
    for seed in range(6):
        code, out, err = call(*RUN, "x=17,z=17,m=17", "--seed", str(seed), str(path))
        assert code == 0, (out, err)
