"""Tests that what `dtpoly.load` and `dtpoly.parse` return can be called: `softmax(x)`."""

import copy
import pickle
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import dtpoly
from dtpoly.api import Scheduled
from dtpoly.cli.main import entry
from dtpoly.diagnostics import DtpolyError
from tests.cli.process import environment

ROOT = Path(__file__).parent.parent
SOFTMAX = ROOT / "examples" / "softmax.dt"
COMPILE: Callable[..., Any] = vars(torch)["compile"]
NESTED: Callable[..., torch.Tensor] = vars(torch.nested)["nested_tensor"]
PADDED: Callable[..., torch.Tensor] = vars(torch.nested)["to_padded_tensor"]
TWO = "Func e, f; In A; Var x; e[x] = exp(A[x]); f[x] = e[x] + 1; f.block(x:4);"
REFUSED = """
Func softmax, total;
In A;
Var x;
RVar y;
total[x] = rsum(exp(A[x, y]), y);
softmax[x, y] = exp(A[x, y]) / reshape(total[x], x, 1);
total.fuse_at(softmax, y);
softmax.compile();
"""
TO_SKEW = "Func f; In A; Var x, y; f[x, y] = exp(A[x, y]); f.skew(x, y);"


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("DTPOLY_CACHE_DIR", str(tmp_path / "cache"))
    return tmp_path / "cache"


def kept(folder: Path) -> list[Path]:
    return sorted((folder / "texts").glob("*"))


def test_a_file_is_called() -> None:
    softmax = dtpoly.load(SOFTMAX)
    A = torch.randn(5, 70)
    torch.testing.assert_close(softmax(A), A.softmax(1))
    torch.testing.assert_close(softmax(A=A[::2].t()), A[::2].t().softmax(1))
    out = torch.empty(70, 5).t()
    assert softmax(A, out=out) is out
    torch.testing.assert_close(out, A.softmax(1))


@pytest.mark.long
def test_a_file_may_import_the_runtime() -> None:
    """So says the word `runtime`, which steps and copies keep."""
    carried = dtpoly.load(SOFTMAX)
    short = dtpoly.load(SOFTMAX, runtime="import")
    line = "\nfrom dtpoly.runtime import dt_function\n"
    assert line in short.source
    assert line not in carried.source
    assert len(short.source) < len(carried.source) / 4
    A = torch.randn(5, 70)
    assert torch.equal(short(A), carried(A))
    for other in (copy.deepcopy(short), pickle.loads(pickle.dumps(short)), short.without()):
        assert other.source == short.source
    text = "Func f; In A; Var x; f[x] = A[x];"
    assert line in dtpoly.parse(text, runtime="import").f.block(x=4).compile().source
    with pytest.raises(ValueError, match="runtime='imports' is none of carry, import; did you"):
        dtpoly.parse(text, runtime="imports")  # type: ignore[arg-type]


def test_the_source_is_what_the_command_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert entry(["compile", str(SOFTMAX), "-o", "out.py"]) == 0
    capsys.readouterr()
    assert dtpoly.load(SOFTMAX).source == Path("out.py").read_text()


def test_each_schedule_has_a_function_of_its_own() -> None:
    k = dtpoly.parse(TWO)
    A = torch.randn(10)
    first = k.f.tensorize(x=2)
    second = k.f.tensorize(x=4).e.fuse_at("f", "x")
    for one in (k, first, second):
        torch.testing.assert_close(one(A), A.exp() + 1)
    assert len({one.source for one in (k, first, second)}) == 3
    assert second.focus == "e"


def test_the_func_that_is_compiled() -> None:
    A = torch.randn(3)
    only = dtpoly.parse(TWO).e.compile()
    torch.testing.assert_close(only.f(A), A.exp())
    both = only.f.compile()
    torch.testing.assert_close(both(A), A.exp() + 1)
    torch.testing.assert_close(both.e(A), A.exp())
    with pytest.raises(ValueError, match=r"<text> compiles e and f: turn to one, as in k\.e"):
        dtpoly.parse(str(both))(A)


def test_names_that_python_needs() -> None:
    k = dtpoly.parse("Func class; In lambda; Var x; class[x] = lambda[x] * 2;")
    assert k(torch.ones(2)).tolist() == [2, 2]
    assert k["class"](lambda_=torch.ones(2)).tolist() == [2, 2]


def test_sizes_and_numbers() -> None:
    k = dtpoly.parse("Func f; SIn a; Var x; f[x] = a * x;")
    assert k(0.5, x=3, device="cpu").tolist() == [0, 0.5, 1]


def test_what_is_refused_does_not_run() -> None:
    refused = dtpoly.parse(REFUSED)
    for ask in (lambda: refused(torch.ones(2, 2)), lambda: refused.source):
        with pytest.raises(DtpolyError, match="error"):
            ask()
    with pytest.raises(ValueError, match="has no Func"):
        dtpoly.parse("In A;")()


def test_the_report() -> None:
    softmax = dtpoly.parse(SOFTMAX.read_text(), name="softmax.dt")
    assert softmax.report.startswith("softmax.dt is legal for all sizes\n\nsoftmax.dt:")
    assert "Compute, in each iteration of a reader's loop" in softmax.report
    assert "no errors" not in softmax.report
    report = dtpoly.parse(REFUSED).report
    assert report.startswith("error")
    assert "recomputes" in report


def test_a_text_is_judged_and_generated_once(
    cache_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = dtpoly.load(SOFTMAX).source
    (path,) = kept(cache_folder)

    def never(*_: object) -> object:
        raise AssertionError

    monkeypatch.setattr("dtpoly.judged_schedule.prove", never)
    monkeypatch.setattr("dtpoly.api.code_of", never)
    assert dtpoly.load(SOFTMAX).source == made
    assert kept(cache_folder) == [path]
    with pytest.raises(AssertionError):
        _ = dtpoly.load(SOFTMAX).softmax.num_stages(2).source


def test_what_a_plugin_does_is_not_kept(cache_folder: Path) -> None:
    skewed = dtpoly.parse(TO_SKEW, plugins=[ROOT / "examples" / "skew.py"])
    A = torch.randn(3, 4)
    torch.testing.assert_close(skewed(A), A.exp())
    assert kept(cache_folder) == []


@pytest.mark.long
def test_under_torch_compile() -> None:
    torch.compiler.reset()
    softmax = dtpoly.load(SOFTMAX)
    function = softmax.function
    A = torch.randn(5, 7)
    for one in (function, softmax):

        def twice(A: torch.Tensor, one: Any = one) -> Any:
            return one(one(A * 2)) + 1

        graph = COMPILE(twice, backend="aot_eager", fullgraph=True)
        torch.testing.assert_close(graph(A), (A * 2).softmax(1).softmax(1) + 1)
    torch.compiler.reset()


def test_a_call_is_not_a_step() -> None:
    k = dtpoly.load(SOFTMAX)
    before = str(k)
    k(torch.ones(2, 3))
    assert str(k) == before
    assert k == dtpoly.load(SOFTMAX)
    assert isinstance(k.softmax, Scheduled)


def python(code: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """A process without an interpreter of Triton's, unless a variable says so."""
    env = environment(**variables)
    if "TRITON_INTERPRET" not in variables:
        env.pop("TRITON_INTERPRET", None)
    command = [sys.executable, "-c", code]
    return subprocess.run(command, env=env, capture_output=True, text=True, check=False)


@pytest.mark.long
def test_the_cpu_only_when_asked() -> None:
    code = f"import dtpoly, torch; print(dtpoly.load({str(SOFTMAX)!r})(torch.zeros(2, 4))[0, 0])"
    done = python(code)
    assert done.stderr.splitlines()[-1] == (
        "ValueError: 'A' is on cpu: move it to a GPU, or start Python with TRITON_INTERPRET=1, "
        "and kernels run on the CPU in Triton's interpreter"
    )
    assert python(code, TRITON_INTERPRET="1").stdout == "tensor(0.2500)\n"


@pytest.mark.long
@pytest.mark.parametrize("missing", ["torch", "triton"])
def test_what_is_not_installed_is_only_missed_by_a_call(missing: str) -> None:
    code = (
        f"import sys; sys.modules[{missing!r}] = None\n"
        f"import dtpoly; k = dtpoly.load({str(SOFTMAX)!r}); assert 'softmax_plan = ' in k.source\n"
        "assert not {'torch', 'triton'} & {n for n, m in sys.modules.items() if m}; k(1)\n"
    )
    done = python(code)
    way = "pip install 'dtpoly[torch]' installs it, and what else kernels need"
    message = f"kernels need {missing}, which is not installed: {way}"
    assert done.stderr.splitlines()[-1] == f"ModuleNotFoundError: {message}"


ADD = "Func f; In A, B; Var x, y; f[x, y] = A[x, y] + B[y]; f.block(x:4); f.tensorize(y:16);"


def test_a_batch_needs_no_issue_on_github(capfd: pytest.CaptureFixture[str]) -> None:
    k = dtpoly.parse(ADD)
    A, B = torch.randn(2, 3, 4, 8), torch.randn(3, 8)
    assert torch.equal(
        torch.vmap(k, (1, None), out_dims=1)(A[0].movedim(0, 1), B[0]), (A[0] + B[0]).movedim(0, 1)
    )
    nested = torch.vmap(torch.vmap(k, (0, 0)), (0, None))
    assert torch.equal(nested(A, B), A + B[None, :, None, :])
    assert torch.vmap(k, (0, None))(torch.empty(0, 4, 8), B[0]).shape == (0, 4, 8)
    assert "issue" not in "".join(capfd.readouterr())


def test_a_batch_is_one_graph() -> None:
    k = dtpoly.parse(ADD)
    A, B = torch.randn(3, 4, 8), torch.randn(8)

    def batched(A: torch.Tensor) -> Any:
        return torch.vmap(k, (0, None))(A, B)

    assert torch.equal(COMPILE(batched, fullgraph=True, backend="eager")(A), A + B)


def test_a_batch_has_no_out() -> None:
    k = dtpoly.parse(ADD)
    B = torch.randn(8)

    def into(out: torch.Tensor, A: torch.Tensor) -> Any:
        return k(A, B, out=out)

    with pytest.raises(RuntimeError, match="call without out="):
        torch.vmap(into)(torch.empty(3, 4, 8), torch.randn(3, 4, 8))


@pytest.mark.parametrize("layout", [torch.jagged, torch.strided])
@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors:UserWarning")
def test_a_nested_tensor_is_refused(layout: torch.layout) -> None:
    k = dtpoly.parse(ADD)
    rows = [torch.randn(3, 8), torch.randn(2, 8)]
    given = NESTED(rows, layout=layout)
    with pytest.raises(TypeError, match=r"values\(\), or its to_padded_tensor"):
        k(given, torch.randn(8))
    with pytest.raises(TypeError, match=r"values\(\), or its to_padded_tensor"):
        k(A=given, B=torch.randn(8))
    padded: torch.Tensor = PADDED(given, 0)
    assert torch.equal(k(padded[1, :2], torch.zeros(8)), rows[1])


def test_autocast_is_told_to_change_nothing() -> None:
    k = dtpoly.parse(ADD)
    A, B = torch.randn(4, 8), torch.randn(8)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("default")
        k(A, B)
        assert found == []
        with torch.autocast("cpu", dtype=torch.bfloat16):
            for _ in range(3):
                assert torch.equal(k(A, B), A + B)
            with torch.autocast("cpu", enabled=False):
                k(A, B)
        (one,) = found
    assert "torch.autocast changes nothing here" in str(one.message)
    assert one.filename == __file__


def test_autocast_is_told_in_a_graph() -> None:
    k = dtpoly.parse(ADD)
    A, B = torch.randn(4, 8), torch.randn(8)

    def inside(A: torch.Tensor) -> Any:
        with torch.autocast("cpu", dtype=torch.bfloat16):
            return k(A, B)

    with pytest.warns(UserWarning, match="torch.autocast changes nothing here"):
        found = COMPILE(inside, fullgraph=True, backend="eager")(A)
    assert torch.equal(found, A + B)


PRODUCT = """
Func f; In A, B; Var m, n; RVar k;
f[m, n] = rdot({A}, B[k, n], k);
f.block(m:16, n:16); f.tensorize(m:16, n:16, k:16);
"""


def product(left: str = "A[m, k]") -> Any:
    return dtpoly.parse(PRODUCT.replace("{A}", left))


def test_a_product_of_two_types_is_told() -> None:
    k = product()
    A, B = torch.randn(4, 8).bfloat16(), torch.randn(8, 4)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        k(A, A.T.contiguous())
        k(A.float(), B)
        assert found == []
        k(A, B)
        k(B=B, A=A)
        k(A, B=B, out=torch.empty(4, 4))
    said = (
        "A[m, k] is bf16 and B[k, n] is f32: their product in 'f' is computed in f32; "
        "cast one of them before the call, or say that it is meant, as in cast(e, f32)"
    )
    assert [(str(one.message), one.filename) for one in found] == [(said, __file__)] * 3


def test_a_product_of_two_types_that_is_meant_is_not_told() -> None:
    A, B = torch.randn(4, 8).bfloat16(), torch.randn(8, 4)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        torch.testing.assert_close(product("cast(A[m, k], f32)")(A, B), A.float() @ B)


def test_a_product_of_two_types_is_told_in_a_graph() -> None:
    k = product()
    A, B = torch.randn(4, 8).bfloat16(), torch.randn(8, 4)
    with pytest.warns(UserWarning, match="their product in 'f' is computed in f32"):
        found = COMPILE(lambda: k(A, B), fullgraph=True, backend="eager")()
    torch.testing.assert_close(found, A.float() @ B)


BOTH = """
Func norm, rstd; In X, W; Var m; RVar d;
rstd[m] = 1 / sqrt(rsum(X[m, d] * X[m, d], d));
norm[m, d] = X[m, d] * reshape(rstd[m], m, 1) * reshape(W[d], 1, d);
norm.block(m:4); norm.tensorize(m:0, d:64); norm.compile();
rstd.block(m:4); rstd.tensorize(m:0, d:64); rstd.compile();
"""


def test_a_function_depends_on_an_input_that_its_func_does_not_read() -> None:
    """On its size and on its type: so each function takes all inputs, as docs/python.md says."""
    k = dtpoly.parse(BOTH)
    X, W = torch.rand(8, 64) + 1, torch.ones(64)
    with pytest.raises(ValueError, match=r"it is 64 by X.shape\[1\], but 3 by W.shape"):
        k.rstd(X, W[:3])
    narrow, wide = k.rstd(X, W), k.rstd(X, W.double())
    exact = (X.double() ** 2).sum(1).rsqrt()
    assert torch.equal(wide, exact.float())
    assert torch.equal(k.norm(X, W), X * narrow[:, None])
